#!/usr/bin/env bash
# The same stream through Open vSwitch in user space, with its default ports.
# shellcheck disable=SC1091,SC2154,SC2086,SC2034 # what live.bash has; commands of the rig are words, its paths have no blanks
set -euo pipefail
. tests/perf/live.bash
. tests/perf/ovs.bash

veth_pair 1500
# Its ports carry frames as they are on a wire: whole checksums, no segments of 64 KiB.
need ethtool ethtool
for end in "$a" "$b"; do
    $end ethtool -K eth0 tx off tso off gso off >/dev/null
done
ovs_up plain
echo "bench: payload $(measure "$a" "$b" 10.0.0.2 5) Mbit/s"
