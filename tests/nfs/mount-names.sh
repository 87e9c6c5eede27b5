#!/usr/bin/env bash
# A server that is called by a name whose addresses change while it is mounted. needs: full
# shellcheck disable=SC1091,SC2154,SC2086 # the rig is sourced; paths without blanks
set -euo pipefail
[ "$(id -u)" = 0 ] || { echo "skipped: needs root"; exit 77; }
[ -n "${OWN_VIEW-}" ] || OWN_VIEW=yes exec unshare -m "$0" # for an /etc/hosts of its own
. tests/support/nfs_rig.bash

rig_up
. tests/support/mount_rig.bash
rig_vip_add $server1 10.77.0.11 10.77.0.12
rig_vip_add $server2 10.77.0.21
rig_server $server1
rig_server $server2
: >$rig/hosts
mount --bind $rig/hosts /etc/hosts
names() { for a; do echo "$a nas.rig"; done >/etc/hosts; }
paths() { "$BIN/nfsbal" stat --json $mnt | python3 -c 'import json, re, sys
print(*sorted(re.findall(r"[0-9.]{9,}", p["vip"] if "vip" in p else p["name"])[0] for p in json.load(sys.stdin)["paths"] if p["state"] != "down"))'; }

names 10.77.0.11 10.77.0.12
mount_up nolock,resolve=150ms,spread=stripe,failback=100ms,quarantine=300ms nas.rig
expect "at first" "$(paths)" "10.77.0.11 10.77.0.12"
timeout 60 python3 tests/support/journal.py write $mnt/f $rig/journal 1 2.5 &
writer=$!
names 10.77.0.11 10.77.0.12 10.77.0.21
rig_wait "[ \"\$(paths)\" = '10.77.0.11 10.77.0.12 10.77.0.21' ]" "the new address"
names 10.77.0.12 10.77.0.21
rig_wait "[ \"\$(paths)\" = '10.77.0.12 10.77.0.21' ]" "the old one to go"
rig_vip_del $server1 10.77.0.11
: >/etc/hosts # no answer is no reason to let anything go
"$BIN/nfsbal" vip $mnt down 10.77.0.12 2>/dev/null || "$BIN/nfsbal" vip $mnt down 'nas.rig(10.77.0.12)'
sleep 0.7
expect "without an answer" "$(paths)" "10.77.0.21"
rig_vip_add $server1 10.77.0.11
names 10.77.0.11 10.77.0.21
rig_wait "[ \"\$(paths)\" = '10.77.0.11 10.77.0.21' ]" "the first one again"
wait $writer
python3 tests/support/journal.py check $rig/export/f $rig/journal
"$BIN/nfsbal" stat $mnt | grep -q 'nas.rig(10.77.0.11)'
mount_down || { cat $rig/mount.log; fail "not everything was written"; }
expect "told" "$(grep -c 'a new address: added' $rig/mount.log)" 2
