#!/usr/bin/env bash
# The same stream through a Linux bridge: in the kernel, without a copy to user space; what one could have at most.
set -euo pipefail
. tests/perf/live.bash

veth_pair 1500
ip -n "${ns}sw" link add br0 type bridge
ip -n "${ns}sw" link set br0 up
for p in p0 p1; do
    ip -n "${ns}sw" link set $p master br0
done
echo "bench: payload $(measure "$a" "$b" 10.0.0.2 5) Mbit/s"
