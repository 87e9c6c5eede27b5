#!/usr/bin/env bash
# needs: full release. What is bound to a VMkernel interface leaves by it, though all are in one subnet and routing would take the first.
# shellcheck disable=SC1091,SC2154,SC2086 # the rig's variables; names of labs have no blanks
set -euo pipefail
. tests/support/lab_rig.bash

emu up -q --no-nas --name $lab topologies/examples/bound.yaml
sent() { # UPLINK : frames that have left by it
    emu top $lab --json --interval 100ms | sed -n "s/.*\"name\": \"esx1:$1>[^\"]*\".*\"frames\": \([0-9]*\).*/\1/p"
}
for i in 1 2 3 4; do
    emu exec $lab esx1 -- ip route get 10.0.0.101 from 10.0.0.${i}1 | grep -q " dev vmk$i " || fail "10.0.0.${i}1 does not leave by vmk$i"
    emu exec $lab esx1 -- ping -q -n -c 20 -i 0.01 -W 2 -I 10.0.0.${i}1 10.0.0.101 >/dev/null || fail "no answer to 10.0.0.${i}1"
    frames=$(sent vmnic$((i - 1)))
    ((frames >= 20 && frames < 40)) || fail "vmnic$((i - 1)) has sent $frames frames, not what 20 pings are"
done
emu down -q $lab
echo "datastores leave by what they are bound to"
