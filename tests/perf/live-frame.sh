#!/usr/bin/env bash
# --detail frame: each frame is read and written by itself. What a link of which rate gets, and whether the lab says where it falls short.
# shellcheck disable=SC1091,SC2154,SC2086,SC2034 # what live.bash has; commands of the rig are words, its paths have no blanks
set -euo pipefail
. tests/perf/live.bash

lab=${ns}lab
how_it_went() { if [ $said -eq 0 ]; then echo "kept up"; else cut -d: -f2- "$bench/said"; fi; }
honest=1 # each rate is honoured or the shortfall said
for link in "100M 1500" "250M 1500" "1G 1500" "1G 9000"; do
    read -r speed mtu <<<"$link"
    two_hosts $speed $mtu >"$bench/site.yaml"
    expected=$(awk -v m=$mtu -v s=$speed 'BEGIN { print s * (s ~ /G/ ? 1000 : 1) * (m - 52) / (m + 38) }')
    emu up -q --no-nas --detail frame --name "$lab" "$bench/site.yaml"
    rate=$(measure "emu exec $lab a --" "emu exec $lab b --" 10.0.0.2 4)
    said=0
    emu down -q --strict "$lab" 2>"$bench/said" || said=1
    echo "frame by frame, $speed, MTU $mtu: $rate Mbit/s of $expected; the lab $(how_it_went)"
    echo "bench: accuracy-$speed-$mtu $(accuracy "$rate" "$expected") %"
    awk -v r="$rate" -v e="$expected" -v s=$said 'BEGIN { exit !(s || r > 0.95 * e) }' || honest=0
done
echo "bench: honoured-or-said $honest of 1"
