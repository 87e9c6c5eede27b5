#!/usr/bin/env bash
# needs: full release. IPv6 on real frames: neighbour discovery through the fabric, takeover by an unsolicited advertisement, a router
# between two subnets, and NFS over IPv6 on the links that the hashes name.
# shellcheck disable=SC1091,SC2154,SC2086,SC2015,SC2016 # the rig's variables; names of labs have no blanks
set -euo pipefail
. tests/support/lab_rig.bash

command -v tshark >/dev/null || { echo "skipped: tshark is not installed"; exit 77; }
cat >"$rig/site.yaml" <<'YAML'
version: 1
name: six
nodes:
  esx1:
    kind: linux
    kernel: "6.1"
    bonds: {bond0: {members: "eth[0-1]", mode: balance-xor, hash: layer2+3}}
    interfaces: {bond0: {address: "fd00::10/64"}}
  far: {kind: linux, nics: [eth0], interfaces: {eth0: {address: "fd01::20/64", gateway: "fd01::1"}}}
  gw: {kind: router, interfaces: {g0: {address: "fd00::1/64"}, g1: {address: "fd01::1/64"}}}
  sw: {kind: switch, hash: xor-src-dst-ip, lags: {po1: {to: "esx1:bond0", mode: static}}}
  nas:
    kind: nas
    controllers: {"ctl[1-2]": {nics: "e[0-1]", gateway: "fd00::1", team: {receive: vip, transmit: xor-dst-ip}, takeover: "ctl[2,1]"}}
    vips: {"fd00::[101-104]/64": {home: round-robin}}
    exports: {/vol: {}}
links:
  - {ends: ["esx1:eth[0-1]", "sw:p[1-2]"], speed: 1G}
  - {ends: ["nas:ctl[1-2].e[0-1]", "sw:p[11-14]"], speed: 1G}
  - {ends: ["gw:g0", "sw:p20"], speed: 1G}
  - {ends: ["gw:g1", "far:eth0"], speed: 1G}
datastores: {"ds[1-4]": {export: "nas:/vol", mounted: "fd00::[101-104]"}}
allow: {alias-mount: "one export under four names"}
YAML
nas=yes
command -v ganesha.nfsd >/dev/null && command -v rpcbind >/dev/null || nas=no
if [ $nas = yes ]; then emu up -q --name $lab "$rig/site.yaml"; else emu up -q --no-nas --name $lab "$rig/site.yaml"; fi
lost() { # NODE ADDRESS : percent of 10
    emu exec $lab $1 -- ping -q -n -c 10 -i 0.01 -W 0.3 $2 | sed -n 's/.* \([0-9.]*\)% packet loss.*/\1/p' || true
}

echo "-- neighbours are found, VIPs move"
captures=()
for n in 0 1; do
    emu capture $lab "esx1:eth$n" -q -w "$rig/esx$n.pcap" &
    captures+=($!)
done
sleep 0.3
for vip in 101 102 103 104; do between "fd00::$vip: lost %" "$(lost esx1 fd00::$vip)" 0 0; done
emu move $lab fd00::101 ctl2
[[ $(emu exec $lab nas:ctl2 -- ip -6 addr) == *" fd00::101/64 "* ]] || fail "the address has not come to ctl2"
[[ $(emu exec $lab nas:ctl1 -- ip -6 addr) != *" fd00::101/64 "* ]] || fail "the address is still at ctl1"
between "moved: lost %" "$(lost esx1 fd00::101)" 0 0
emu move --no-garp $lab fd00::101 ctl1
between "moved quietly: lost %" "$(lost esx1 fd00::101)" 90 100 # until the host asks anew
emu move $lab fd00::102 ctl1
emu move $lab fd00::101 ctl2
between "announced: lost %" "$(lost esx1 fd00::101)" 0 0
echo "-- through the router"
between "fd00::104 from fd01::20: lost %" "$(lost far fd00::104)" 0 0
kill -INT "${captures[@]}"
wait "${captures[@]}"
for n in 0 1; do # a line per frame: type, source, destination, solicited, the address told of, checksum (1: right), malformed
    tshark -r "$rig/esx$n.pcap" -T fields -e icmpv6.type -e ipv6.src -e ipv6.dst -e icmpv6.nd.na.flag.s \
        -e icmpv6.nd.na.target_address -e icmpv6.checksum.status -e _ws.malformed 2>/dev/null
done >"$rig/frames"
seen() { awk -F'\t' "$1 { n++ } END { print n + 0 }" "$rig/frames"; } # EXPRESSION : of awk
between "solicitations of the host" "$(seen '$1 == 135 && $2 == "fd00::10" && $3 == "ff02::1:ff00:101"')" 1 9
between "advertisements asked for" "$(seen '$1 == 136 && $4 == 1 && $5 == "fd00::101"')" 1 9
between "advertisements to all of fd00::101" "$(seen '$1 == 136 && $3 == "ff02::1" && $5 == "fd00::101"')" 2 2
between "right checksums" "$(seen '$6 == 1')" 80 1000
between "wrong checksums or malformed" "$(seen '$6 == 0 && $1 || $7 != ""')" 0 0

if [ $nas = yes ]; then
    echo "-- NFS"
    # Addresses are learned from neighbour discovery as from ARP: from here on no unicast frame is flooded.
    counter() {
        /usr/bin/python3 - "$EMU_RUNDIR/$lab/control" <<'PYTHON'
import json, socket, sys
s = socket.socket(socket.AF_UNIX)
s.connect(sys.argv[1])
s.sendall(b'{"do": "counters"}\n')
c = json.loads(s.makefile().readline())
print(c["flooded"], c["flaps"])
PYTHON
    }
    read -r flooded flaps < <(counter)
    emu exec $lab esx1 -- nfsbal load 'nfs://[fd00::101],[fd00::102],[fd00::103],[fd00::104]/vol' --op write --for 1s --json >"$rig/load" &
    load=$!
    sleep 0.6
    emu top $lab --json --interval 200ms >"$rig/top"
    wait $load || fail "nfsbal load: $(cat "$rig/load")"
    /usr/bin/python3 tests/support/schema.py "$rig/top" "$rig/load" "$EMU_RUNDIR/$lab/lab.json" || fail "not as in docs/*.schema.json"
    python3 - "$rig/top" "$rig/load" <<'PYTHON' || fail "NFS over IPv6"
import json, sys
top = json.load(open(sys.argv[1]))
flows = [f for f in top["flows"] if f["dport"] == 2049 or f["sport"] == 2049]
assert {f["dst"] for f in flows if f["dport"] == 2049} == {f"fd00::{n}" for n in (101, 102, 103, 104)}, flows
assert all(f["agrees"] for f in flows), [f for f in flows if not f["agrees"]]
end = json.loads(open(sys.argv[2]).read().splitlines()[-1])["jobs"][0]
assert end["written"] > 20e6 and not end["errors"], end
print(len(flows), "flows on links, all where the hashes put them;", end["written"] // 1000000, "MB written")
PYTHON
    mkdir "$rig/mnt"
    emu exec $lab esx1 -- bash -euc "nfsbal mount -o nolock '[fd00::101],[fd00::103]:/vol' $rig/mnt
        trap 'umount $rig/mnt' EXIT
        head -c 3000000 /dev/urandom >$rig/in; cp $rig/in $rig/mnt/f; cmp $rig/in $rig/mnt/f" || fail "nfsbal mount over IPv6"
fi
if [ $nas = yes ]; then
    read -r flooded_after flaps_after < <(counter)
    between "unicast frames flooded under load" $((flooded_after - flooded)) 0 0
    between "addresses that flap under load" $((flaps_after - flaps)) 0 0
fi
emu down -q $lab 2>/dev/null
nothing_left "after down"
