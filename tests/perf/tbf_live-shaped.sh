#!/usr/bin/env bash
# The same link as a Linux bridge with a token bucket of 1 Gbit/s each way.
# shellcheck disable=SC1091,SC2154,SC2086,SC2034 # what live.bash has; commands of the rig are words, its paths have no blanks
set -euo pipefail
. tests/perf/live.bash
need tc iproute2

for mtu in 1500 9000; do
    veth_pair $mtu
    ip -n "${ns}sw" link add br0 mtu $mtu type bridge
    ip -n "${ns}sw" link set br0 up
    for p in p0 p1; do
        ip -n "${ns}sw" link set $p master br0
        $sw tc qdisc add dev $p root tbf rate 1gbit burst 128kb latency 4ms
    done
    rate=$(measure "$a" "$b" 10.0.0.2 6)
    expected=$(awk -v m=$mtu 'BEGIN { print 1000 * (m - 52) / (m + 38) }')
    echo "MTU $mtu: $rate Mbit/s of $expected"
    echo "bench: accuracy-$mtu $(accuracy "$rate" "$expected") %"
    for n in a b sw; do
        ip netns del "$ns$n"
    done
    sleep 0.2
done
