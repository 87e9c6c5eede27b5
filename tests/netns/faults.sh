#!/usr/bin/env bash
# needs: full. Faults of networks, on real frames: VLANs keep hosts apart, frames too large for a switch, uplinks that fail and come
# back with a notification, a bundle that one side does not know of, LACP against a standard vSwitch.
# shellcheck disable=SC1091,SC2154,SC2086,SC1010,SC2015 # the rig's variables; names of labs have no blanks
set -euo pipefail
. tests/support/lab_rig.bash

lost() { # LAB NODE ADDRESS [PING ARGUMENT...] : percent of 20
    local l=$1 node=$2 address=$3
    shift 3
    emu exec $l $node -- ping -q -n -c 20 -i 0.01 -W 0.3 "$@" $address | sed -n 's/.* \([0-9.]*\)% packet loss.*/\1/p' || true
}
counter() { # LAB NAME : of all switches, from the lab's control socket
    /usr/bin/python3 - "$EMU_RUNDIR/$1/control" "$2" <<'EOF'
import json, socket, sys
s = socket.socket(socket.AF_UNIX)
s.connect(sys.argv[1])
s.sendall(b'{"do": "counters"}\n')
print(json.loads(s.makefile().readline())[sys.argv[2]])
EOF
}

echo "-- VLANs: equal subnets, one switch"
cat >"$rig/vlan.yaml" <<'EOF'
version: 1
nodes:
  a: {kind: linux, interfaces: {eth0: {address: 10.0.0.1/24}}}
  b: {kind: linux, interfaces: {eth0: {address: 10.0.0.2/24}}}
  c: {kind: linux, interfaces: {eth0.20: {vlan: 20, address: 10.0.0.3/24}}}
  sw: {kind: switch, vlans: [10, 20], ports: {p1: {vlan: 10}, p2: {vlan: 20}, p3: {vlan: trunk}}}
links: [{ends: ["[a,b,c]:eth0", "sw:p[1-3]"], speed: 1G}]
EOF
emu up -q --no-nas --name ${lab}v "$rig/vlan.yaml"
between "VLAN 20, access and tagged: lost %" "$(lost ${lab}v b 10.0.0.3)" 0 0
between "VLAN 10 and 20: lost %" "$(lost ${lab}v a 10.0.0.2)" 100 100
emu down -q ${lab}v

echo "-- frames larger than a switch passes"
pair 1G 9000 | sed 's/mtu: 9216/mtu: 1500/' >"$rig/mtu.yaml"
emu up -q --no-nas --name ${lab}m "$rig/mtu.yaml"
between "1400 bytes: lost %" "$(lost ${lab}m a 10.0.0.2 -M do -s 1400)" 0 0
between "8000 bytes: lost %" "$(lost ${lab}m a 10.0.0.2 -M do -s 8000)" 100 100
between "giants dropped" "$(counter ${lab}m giants)" 20 40
emu down -q ${lab}m

echo "-- an uplink of a team by port fails, comes back: the first port is on vmnic2"
file=topologies/fs7500/fig09-teaming.yaml
emu up -q --no-nas --name ${lab}p --case port-id $file
captures=()
for n in 2 3 4 5; do
    emu capture ${lab}p "esx1:vmnic$n" -q -w "$rig/notify$n.pcap" &
    captures+=($!)
done
sleep 0.3
emu set ${lab}p esx1:vmnic2 state=down
sleep 0.1
between "down: lost %" "$(lost ${lab}p esx1 10.10.5.101)" 0 5
emu set ${lab}p esx1:vmnic2 state=up
sleep 0.1
between "up again: lost %" "$(lost ${lab}p esx1 10.10.5.101)" 0 5
kill -INT "${captures[@]}"
wait "${captures[@]}"
for n in 2 3 4 5; do
    tshark -r "$rig/notify$n.pcap" -Y 'eth.type == 0x8035' 2>/dev/null | sed "s/^/vmnic$n /" || true
done >"$rig/notified"
between "notifications, away and back" "$(wc -l <"$rig/notified")" 2 4
grep -q "^vmnic2 " "$rig/notified" && grep -q "^vmnic[345] " "$rig/notified" || fail "not on both uplinks: $(cat "$rig/notified")"
emu down -q ${lab}p

echo "-- IP hash without the bundle on the switch: its addresses wander"
sed '/lags:/,/po1:/d' $file >"$rig/no-lag.yaml"
emu up -q --no-nas --name ${lab}f --case ip-hash "$rig/no-lag.yaml" 2>/dev/null
for _ in 1 2 3 4 5; do
    for vip in 101 102; do
        emu exec ${lab}f esx1 -- ping -q -n -c 2 -i 0.01 -W 0.3 10.10.5.$vip >/dev/null || true
    done
done
between "MAC addresses that flap on the switch" "$(counter ${lab}f flaps)" 5 1000
emu down -q ${lab}f

echo "-- LACP against a standard vSwitch: the bundle does not come up"
sed 's/mode: static} # channel-group/mode: lacp} # channel-group/' $file >"$rig/lacp.yaml"
grep -q "mode: lacp" "$rig/lacp.yaml" || fail "the file has changed"
emu check --case ip-hash "$rig/lacp.yaml" >"$rig/out" && fail "emu check has no objection to LACP on a standard vSwitch"
grep -q lacp-on-standard-vswitch "$rig/out" || fail "emu check says: $(cat "$rig/out")"
emu up -q --no-nas --name ${lab}l --case ip-hash "$rig/lacp.yaml" 2>/dev/null
between "lost %" "$(lost ${lab}l esx1 10.10.5.101)" 100 100
emu down -q ${lab}l
nothing_left "after all"
