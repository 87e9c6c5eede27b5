#!/usr/bin/env bash
# The same stream through vde_switch, with a vde_plug2tap at each end.
# shellcheck disable=SC1091,SC2154,SC2086,SC2034 # what live.bash has; commands of the rig are words, its paths have no blanks
set -euo pipefail
. tests/perf/live.bash
need vde_switch vde2
need vde_plug2tap vde2

vde_switch -s "$bench/vde" -daemon -p "$bench/vde.pid" </dev/null
cleanup+=("kill \$(cat $bench/vde.pid)")
i=1
for n in a b; do
    ip netns add "$ns$n"
    ip -n "$ns$n" link set lo up
    ip netns exec "$ns$n" vde_plug2tap -s "$bench/vde" -daemon -P "$bench/plug$i.pid" eth0
    cleanup+=("kill \$(cat $bench/plug$i.pid)")
    for _ in $(seq 50); do
        ! ip -n "$ns$n" link show eth0 >/dev/null 2>&1 || break
        sleep 0.1
    done
    ip -n "$ns$n" addr add 10.0.0.$i/24 dev eth0
    ip -n "$ns$n" link set eth0 up
    i=$((i + 1))
done
echo "bench: payload $(measure "$a" "$b" 10.0.0.2 5) Mbit/s"
