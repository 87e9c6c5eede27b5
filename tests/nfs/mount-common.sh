#!/usr/bin/env bash
# What everybody does with a file system, on nfsbal mount and a real server. needs: full
# shellcheck disable=SC1091,SC2154,SC2086,SC2012 # the rig is sourced; paths without blanks
set -euo pipefail
. tests/support/nfs_rig.bash

rig_up
. tests/support/mount_rig.bash
rig_vip_add $server1 10.77.0.11 10.77.0.12
rig_server $server1
mount_up spread=stripe 10.77.0.11,10.77.0.12
export=$rig/export

echo "--- copy, list, move, link"
echo hello >$mnt/a
expect "a here" "$(cat $mnt/a)" hello
expect "a on the server" "$(cat $export/a)" hello
cp "$BIN/nfsbal" $mnt/program
cmp "$BIN/nfsbal" $export/program
mkdir $mnt/d
mv $mnt/a $mnt/d/b
ln $mnt/d/b $mnt/d/hard
ln -s b $mnt/d/soft
expect "soft" "$(cat $mnt/d/soft)" hello
expect "links" "$(stat -c %h $mnt/d/b)" 2
expect "names" "$(ls $mnt/d | tr '\n' ' ')" "b hard soft "

echo "--- a large file, both ways, and what its paths carried"
head -c 70000000 /dev/urandom >$rig/random
dd if=$rig/random of=$mnt/large bs=1M status=none
cmp $rig/random $export/large
cmp $rig/random <(dd if=$mnt/large iflag=direct bs=1M status=none)
"$BIN/nfsbal" stat --json $mnt >$rig/stat.json
/usr/bin/python3 tests/support/schema.py $rig/stat.json || fail "not as in docs/nfsbal-stat.schema.json"
python3 - $rig/stat.json <<'PY'
import json, sys
s = json.load(open(sys.argv[1]))
assert len(s["paths"]) == 2, s
for p in s["paths"]:
    assert p["state"] == "up" and p["written"] > 20e6 and p["read"] > 20e6, p
assert s["unwritten"] == 0 and s["not_committed"] == 0, s
PY
"$BIN/nfsbal" stat $mnt | grep -q 10.77.0.12
"$BIN/nfsbal" stat --prometheus $mnt | grep -q '^nfsbal_path_up{target=".*",vip="10.77.0.11"} 1$'

echo "--- tar"
mkdir $mnt/tree
tar -C docs -cf - . | tar -C $mnt/tree -xf -
diff -r docs $mnt/tree
diff -r docs $export/tree
rm -r $mnt/tree
[ ! -e $export/tree ] || fail "tree is still there"

echo "--- git"
git -c init.defaultBranch=main init -q $mnt/repository
cp -r docs $mnt/repository/
git -C $mnt/repository add .
git -C $mnt/repository -c user.name=t -c user.email=t@example.com commit -qm one
git clone -q $mnt/repository $mnt/clone
git -C $mnt/clone fsck --strict
expect "clone" "$(git -C $mnt/clone rev-parse HEAD)" "$(git -C $mnt/repository rev-parse HEAD)"

echo "--- SQLite"
if command -v sqlite3 >/dev/null; then
    sqlite3 $mnt/db 'create table t(i integer primary key, x text); with recursive n(i) as (select 1 union all select i+1 from n
        where i < 2000) insert into t select i, hex(i) from n; delete from t where i % 3 = 0; pragma integrity_check;' |
        grep -qx ok
    expect "rows" "$(sqlite3 $export/db 'select count(*) from t')" 1334
fi

echo "--- busy, then unmounted with everything written"
exec 3>$mnt/open
echo held >&3
! "$BIN/nfsbal" umount $mnt 2>/dev/null || fail "unmounted although a file is open"
exec 3>&-
mount_down
expect "open" "$(cat $export/open)" held
! grep -v 'locks are local' $rig/mount.log || fail "messages"
