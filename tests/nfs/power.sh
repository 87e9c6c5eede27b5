#!/usr/bin/env bash
# needs: full release
# A controller without power, by an event of the file: its server is gone at once and answers nothing, nobody takes over unless the
# file says so, and when the power comes back it serves again; a load goes on where it was.
# shellcheck disable=SC1091,SC2086,SC2154 # the library's variables; names of labs have no blanks
set -euo pipefail
. tests/nfs/library.sh
need_root_and nfs-ganesha ganesha.nfsd rpcbind

cat >"$tmp/site.yaml" <<'YAML'
version: 1
name: power
nodes:
  h1: {kind: linux, interfaces: {eth0: {address: 10.8.0.1/24}}}
  sw: {kind: switch}
  nas:
    kind: nas
    controllers: {ctl1: {nics: e0, takeover: ctl2}, ctl2: {nics: e0, takeover: ctl1}}
    vips: {"10.8.0.11/24": {home: ctl1}, "10.8.0.12/24": {home: ctl2}}
    exports: {/vol: {}}
links:
  - {ends: ["h1:eth0", "sw:p0"], speed: 1G}
  - {ends: ["nas:ctl[1-2].e0", "sw:p[1-2]"], speed: 1G}
datastores: {ds1: {export: "nas:/vol", mounted: 10.8.0.11}}
events:
  - {at: 800ms, node: "nas:ctl1", state: down}
  - {at: 1600ms, node: "nas:ctl1", state: up}
YAML

emu up --quiet --name $lab "$tmp/site.yaml"
server() { # CONTROLLER : its first process
    /usr/bin/python3 -c 'import json, sys; print([n["server"] for n in json.load(open(sys.argv[1]))["nodes"] if n["node"] == "nas:" + sys.argv[2]][0])' \
        "$EMU_RUNDIR/$lab/lab.json" "$1"
}
first=$(server ctl1) other=$(server ctl2)
emu exec $lab h1 -- nfsbal load nfs://10.8.0.11/vol/file --op write --block 64KiB --outstanding 8 --for 3s --size 16MiB \
    --quarantine 1ms --verify --json >"$tmp/load" 2>"$tmp/load.err" &
load=$!
gone() { [ ! -e /proc/$first ]; }
wait_for 3 "the server to lose its power" gone
! emu exec $lab h1 -- ping -q -n -c 3 -i 0.05 -W 0.1 10.8.0.11 >/dev/null || fail "it answers without power"
emu exec $lab h1 -- ping -q -n -c 1 -W 1 10.8.0.12 >/dev/null || fail "the other controller is off as well"
[ -z "$(emu exec $lab nas:ctl1 -- ss -Hnt state established)" ] || fail "connections outlive the power"
[[ $(emu exec $lab nas:ctl2 -- ip -br address) != *" 10.8.0.11/"* ]] || fail "ctl2 has taken over, which the file does not say"
serves() { [ "$(server ctl1)" != "$first" ] && emu exec $lab nas:ctl1 -- ss -Hlnt 'sport = :2049' | grep -c . >/dev/null; }
wait_for 5 "the server to come back" serves
[ "$(server ctl2)" = "$other" ] || fail "the other server has been started anew"
wait $load || { cat "$tmp/load.err"; tail -n 1 "$tmp/load"; fail "the load has failed"; }
/usr/bin/python3 - "$tmp/load" <<'PYTHON'
import json, sys
lines = [json.loads(line) for line in open(sys.argv[1])]
end = lines[-1]["jobs"][0]
print(end["written"] // 1000000, "MB written,", end["reconnects"], "reconnects")
assert end["reconnects"] >= 1 and end["errors"] == 0 and end["written"] > 20e6, end
PYTHON
emu down --quiet $lab 2>/dev/null
nothing_left
