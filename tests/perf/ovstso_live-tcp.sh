#!/usr/bin/env bash
# The same stream through Open vSwitch in user space, with userspace-tso-enable.
set -euo pipefail
. tests/perf/live.bash
. tests/perf/ovs.bash

veth_pair 1500
# Segments of 64 KiB and open checksums pass.
ovs_up tso
echo "bench: payload $(measure "$a" "$b" 10.0.0.2 5) Mbit/s"
