#!/usr/bin/env bash
# nfsbal doctor: what can be used together and what can't. needs: full
# shellcheck disable=SC2086,SC2046 # paths of the rig have no blanks; lists of process-IDs are lists
# shellcheck disable=SC1091,SC2154 # the rig's variables
set -euo pipefail
. tests/support/nfs_rig.bash

rig_up
rig_vip_add $server1 10.77.0.11 10.77.0.12
rig_vip_add $server2 10.77.0.21
rig_server $server1
sleep 1.1 # nfs-ganesha's verifier is the second in which it started
rig_server $server2

doctor() { in_client "$BIN/nfsbal" doctor --bound 500ms "$@"; }

echo "--- one server with two addresses"
doctor --export $rig/export --write-test . '10.77.0.[11-12]' | tee $rig/out
[ "$(grep -c ' good$' $rig/out)" = 2 ] || fail "not good together"
! grep -q verifiers $rig/out || fail "one server has one verifier"
[ -z "$(ls -A $rig/export)" ] || fail "the test of writing left something"

echo "--- two servers over one directory"
doctor --export $rig/export --write-test . 10.77.0.11 10.77.0.21 | tee $rig/out
grep -q "verifiers differ" $rig/out || fail "two servers have two verifiers"

echo "--- the export is found"
doctor --json --write-test . 10.77.0.11 10.77.0.99 >$rig/doctor.json || true
/usr/bin/python3 tests/support/schema.py $rig/doctor.json || fail "not as in docs/nfsbal-doctor.schema.json"
doctor --json 10.77.0.11 | python3 -c "
import json, sys
d = json.load(sys.stdin)
assert d['together'] and d['servers'][0]['export'] == '$rig/export' and d['servers'][0]['link'] == 'eth0', d"

echo "--- what can't be"
! doctor --export $rig/nothing 10.77.0.11 >$rig/out || fail "an export that isn't there"
grep -q "NFS3ERR\|MNT" $rig/out || fail "why: $(cat $rig/out)"
! doctor --export $rig/export 10.77.0.11 10.77.0.99 >$rig/out || fail "nobody there"
grep -q "10.77.0.99.*\(no answer\|No route\|unreachable\)" $rig/out || fail "why: $(cat $rig/out)"
rig_server_kill $server2
mkdir $rig/elsewhere
mount -t tmpfs elsewhere $rig/elsewhere
rig_first=$rig/elsewhere rig_server $server2
! doctor --mountport 20048 10.77.0.11 10.77.0.21 >$rig/out || { cat $rig/out; fail "two file systems are not one"; }
cat $rig/out
grep -q "another root handle\|another fsid" $rig/out || fail "why"
