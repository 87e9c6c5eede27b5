#!/usr/bin/env bash
# nfsbal copy with real servers: whole or not at all. needs: full
# shellcheck disable=SC2086,SC2046 # paths of the rig have no blanks; lists of process-IDs are lists
# shellcheck disable=SC1091,SC2154 # the rig's variables
set -euo pipefail
. tests/support/nfs_rig.bash

rig_up
rig_vip_add $server1 10.77.0.11 10.77.0.12
rig_server $server1

copy() { in_client "$BIN/nfsbal" copy -q --bound 300ms "$@"; }
url="nfs://10.77.0.[11-12]$rig/export"
nothing_left() { ! find $rig/export $rig/local | grep part- || fail "a part is left"; }

mkdir $rig/local
head -c 5000001 /dev/urandom >$rig/local/odd
head -c 40000000 /dev/zero >$rig/local/holes
printf x | dd of=$rig/local/holes bs=1 seek=33000000 conv=notrunc 2>/dev/null
: >$rig/local/empty
touch -d 2001-02-03 $rig/local/odd
chmod 751 $rig/local/odd

echo "--- in, between, out"
copy -p $rig/local/odd $url/odd
copy --preserve $url/odd $url/again
copy -p $url/again $rig/local/back
cmp $rig/local/odd $rig/local/back || fail "came back changed"
[ "$(stat -c '%a %Y' $rig/local/odd)" = "$(stat -c '%a %Y' $rig/local/back)" ] || fail "mode or time"
copy $rig/local/holes $rig/local/empty $url
cmp $rig/local/holes $rig/export/holes || fail "holes"
[ "$(stat -c %b $rig/export/holes)" -lt 8000 ] || fail "no holes"
[ "$(stat -c %s $rig/export/empty)" = 0 ] || fail "empty"
copy --json --full $rig/local/holes $url/full >$rig/copy.json
/usr/bin/python3 tests/support/schema.py $rig/copy.json || fail "not as in docs/nfsbal-copy.schema.json"
[ "$(stat -c %b $rig/export/full)" -gt 70000 ] || fail "--full left holes"
nothing_left

echo "--- what can't be"
! copy -n $rig/local/odd $url/odd 2>/dev/null || fail "-n replaced"
! copy $url/nothing $rig/local/x 2>/dev/null || fail "copied nothing"
! copy $rig/local $url/x 2>/dev/null || fail "copied a directory"
[ ! -e $rig/local/x ] || fail "left x"
nothing_left

echo "--- a VIP that goes, a copy that is interrupted"
head -c 300000000 /dev/urandom >$rig/local/large
copy $rig/local/large $url/large &
sleep 0.15
rig_vip_del $server1 10.77.0.12
wait $! || fail "copy while a VIP goes"
cmp $rig/local/large $rig/export/large || fail "large"
rm $rig/export/large
in_client "$BIN/nfsbal" copy -q $rig/local/large nfs://10.77.0.11$rig/export/large 2>/dev/null &
# Not before it writes: a process that bash has put in the background ignores the signal until it has a handler.
for _ in $(seq 1000); do
    [ -z "$(find $rig/export -name '*large*' -size +0)" ] || break
    sleep 0.005
done
kill -INT $(pgrep -P $! nfsbal || echo $!)
rc=0
wait $! || rc=$?
[ $rc = 130 ] || fail "interrupted, and ended with $rc"
[ ! -e $rig/export/large ] || fail "half a file"
nothing_left
