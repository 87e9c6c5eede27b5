#!/usr/bin/env bash
# One TCP stream, MTU 1500, that nothing shapes: through a host's vSwitch with four uplinks under IP hash, a switch and its LAG.
# shellcheck disable=SC1091,SC2154,SC2086,SC2034 # what live.bash has; commands of the rig are words, its paths have no blanks
set -euo pipefail
. tests/perf/live.bash

cat >"$bench/site.yaml" <<'EOF'
version: 1
name: live-tcp
nodes:
  esx1:
    kind: esxi
    version: "7.0u3"
    vswitches: {vSwitch1: {uplinks: "vmnic[0-3]", teaming: ip-hash}}
    vmknics: {vmk1: {vswitch: vSwitch1, address: 10.0.0.1/24}}
  sw: {kind: switch, mtu: 9216, hash: xor-src-dst-ip, lags: {po1: {to: "esx1:vSwitch1", mode: static}}}
  b: {kind: linux, kernel: "6.1", interfaces: {eth0: {address: 10.0.0.2/24}}}
links:
  - {ends: ["esx1:vmnic[0-3]", "sw:p[0-3]"], speed: 100G, delay: 0us}
  - {ends: ["b:eth0", "sw:p4"], speed: 100G, delay: 0us}
EOF
lab=${ns}lab
emu up -q --no-nas --name "$lab" "$bench/site.yaml"
pid=$(sed -n 's/.*"pid": \([0-9]*\).*/\1/p' "$EMU_RUNDIR/$lab/lab.json" | head -n 1)
ticks() { awk '{ print $14 + $15 }' "/proc/$pid/stat"; }
before=$(ticks)
rate=$(measure "emu exec $lab esx1 --" "emu exec $lab b --" 10.0.0.2 5)
echo "bench: payload $rate Mbit/s"
awk -v t=$(($(ticks) - before)) -v hz="$(getconf CLK_TCK)" 'BEGIN { printf "the datapath took %.2f of a core\n", t / hz / 6 }'
emu down "$lab" | sed 's/^lab [^:]*: //' || true
