#!/usr/bin/env bash
# The same stream through Open vSwitch in user space, with userspace-tso-enable.
# shellcheck disable=SC1091,SC2154,SC2086,SC2034 # what live.bash has; commands of the rig are words, its paths have no blanks
set -euo pipefail
. tests/perf/live.bash
. tests/perf/ovs.bash

veth_pair 1500
# Segments of 64 KiB and open checksums pass.
ovs_up tso
echo "bench: payload $(measure "$a" "$b" 10.0.0.2 5) Mbit/s"
