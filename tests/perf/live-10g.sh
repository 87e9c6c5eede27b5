#!/usr/bin/env bash
# A link of 10 Gbit/s: either TCP gets what the wire leaves of it, or the lab says that the machine fell short.
# shellcheck disable=SC1091,SC2154,SC2086,SC2034 # what live.bash has; commands of the rig are words, its paths have no blanks
set -euo pipefail
. tests/perf/live.bash

lab=${ns}lab
how_it_went() { if [ $said -eq 0 ]; then echo "kept up"; else cut -d: -f2- "$bench/said"; fi; }
honest=1 # each rate is honoured or the shortfall said
for mtu in 1500 9000; do
    two_hosts 10G $mtu >"$bench/site.yaml"
    expected=$(awk -v m=$mtu 'BEGIN { print 10000 * (m - 52) / (m + 38) }')
    emu up -q --no-nas --name "$lab" "$bench/site.yaml"
    rate=$(measure "emu exec $lab a --" "emu exec $lab b --" 10.0.0.2 5)
    said=0
    emu down -q --strict "$lab" 2>"$bench/said" || said=1
    echo "10 Gbit/s, MTU $mtu: $rate Mbit/s of $expected; the lab $(how_it_went)"
    echo "bench: accuracy-$mtu $(accuracy "$rate" "$expected") %"
    awk -v r="$rate" -v e="$expected" -v s=$said 'BEGIN { exit !(s || r > 0.95 * e) }' || honest=0
done
echo "bench: honoured-or-said $honest of 1"
