#!/usr/bin/env bash
# The same stream through a Linux bridge: in the kernel, without a copy to user space; what one could have at most.
# shellcheck disable=SC1091,SC2154,SC2086,SC2034 # what live.bash has; commands of the rig are words, its paths have no blanks
set -euo pipefail
. tests/perf/live.bash

veth_pair 1500
ip -n "${ns}sw" link add br0 type bridge
ip -n "${ns}sw" link set br0 up
for p in p0 p1; do
    ip -n "${ns}sw" link set $p master br0
done
echo "bench: payload $(measure "$a" "$b" 10.0.0.2 5) Mbit/s"
