#!/usr/bin/env bash
# needs: full release alone
# A VIP moves while a load writes to it:
#
#       h1 --1G-- sw --1G-- ctl1 (.11)  -->  ctl2 (.12)
#
# by an event of the file, and because the server of ctl1 is killed and the file says who takes over. The load goes on in both
# cases, and the move is announced by gratuitous ARP. And there and back, under a client that keeps its source port as the Linux
# kernel's does: the controller that gave the VIP up must not know the connection any more.
set -euo pipefail
. tests/nfs/library.sh
need_root_and nfs-ganesha ganesha.nfsd rpcbind
need_root_and tshark tshark

cat >"$tmp/site.yaml" <<'YAML'
version: 1
name: takeover
nodes:
  h1: {kind: linux, interfaces: {eth0: {address: 10.8.0.1/24}}}
  sw: {kind: switch}
  nas:
    kind: nas
    controllers:
      ctl1: {nics: e0, takeover: ctl2}
      ctl2: {nics: e0, takeover: ctl1}
    vips: {"10.8.0.11/24": {home: ctl1}, "10.8.0.12/24": {home: ctl2}}
    exports: {/vol: {}}
links:
  - {ends: ["h1:eth0", "sw:p0"], speed: 1G}
  - {ends: ["nas:ctl[1-2].e0", "sw:p[1-2]"], speed: 1G}
datastores: {ds1: {export: "nas:/vol", mounted: 10.8.0.11}}
workloads: {writer: {host: h1, datastores: ds1, op: write, block: 64KiB, outstanding: 8, for: 5s}}
events: [{at: 3s, vip: 10.8.0.11, to: ctl2}]
YAML

# By the event: both controllers have served a good part, and no job has failed.
event() {
    emu live --quiet --json "$tmp/live.json" "$tmp/site.yaml" >"$tmp/out" || { cat "$tmp/out"; fail "emu live"; }
    ask_result "[(k['name'], k['write']['rate'] / 1e6) for k in cases[None]['controllers']]"
    [ "$(ask_result "all(k['write']['rate'] > 20e6 for k in cases[None]['controllers'])")" = True ] ||
        fail "not both controllers have served"
    [ "$(ask_result "any('failed' in note for note in cases[None]['notes'])")" = False ] || fail "a job has failed"
}

# By the death of a server, in a lab by hand.
death() {
    local load capture written
    emu up --quiet --no-events --name $lab "$tmp/site.yaml"
    emu capture -w "$tmp/h1.pcap" --snap 128 --for 4s --quiet $lab h1:eth0 &
    capture=$!
    emu exec $lab h1 -- nfsbal load nfs://10.8.0.11/vol/file --export /vol --mountport 20048 --op write --block 64KiB \
        --outstanding 8 --for 4s --size 16MiB --quarantine 1ms --json >"$tmp/load" 2>"$tmp/load.err" &
    load=$!
    sleep 1.5
    kill -9 "$(python3 -c 'import json, sys; print([n["server"] for n in json.load(open(sys.argv[1]))["nodes"] if n["node"] == "nas:ctl1"][0])' \
        "$EMU_RUNDIR/$lab/lab.json")"
    wait $load || { cat "$tmp/load.err"; tail -n 1 "$tmp/load"; fail "the load has failed"; }
    wait $capture || fail "emu capture"
    emu exec $lab nas:ctl2 -- ip -br address | grep -q 10.8.0.11/ || fail "ctl2 has no 10.8.0.11"
    emu exec $lab nas:ctl1 -- ip -br address | grep -q 10.8.0.11/ && fail "ctl1 has 10.8.0.11 still"
    tshark -r "$tmp/h1.pcap" -Y 'arp.src.proto_ipv4 == 10.8.0.11 && arp.dst.proto_ipv4 == 10.8.0.11' 2>/dev/null | head -n 3 |
        grep . || fail "nobody announced the move"
    written=$(python3 -c 'import json, sys; lines = [json.loads(l) for l in open(sys.argv[1])]; w = [l["jobs"][0]["written"] for l in lines]; print((w[-1] - w[1]) // 1000000)' "$tmp/load")
    echo "$written MB written after the second second"
    [ "$written" -gt 50 ] || fail "the load did not go on"
    emu down --quiet $lab 2>/dev/null
}

# What ctl1 still holds open of 10.8.0.11.
held() { emu exec $lab nas:ctl1 -- ss -Htn state established src 10.8.0.11 | grep -c 2049 || true; }

is_held() { [ "$(held)" = 1 ]; }

back() {
    emu up --quiet --no-events --name $lab "$tmp/site.yaml"
    emu exec $lab h1 -- python3 - <<'PYTHON' &
import socket, time
s = socket.create_connection(("10.8.0.11", 2049), source_address=("", 700))
time.sleep(20)
PYTHON
    disown
    wait_for 5 "the connection" is_held
    emu move $lab 10.8.0.11 ctl2
    [ "$(held)" = 0 ] || fail "ctl1 gave 10.8.0.11 up and keeps its connections"
    emu down --quiet $lab 2>/dev/null
}

up_to_three_times event
up_to_three_times death
back
nothing_left
