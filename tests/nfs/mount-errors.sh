#!/usr/bin/env bash
# Errors of the server and of the user, each where it belongs. needs: full
# shellcheck disable=SC1091,SC2154,SC2086 # the rig is sourced; paths without blanks
set -euo pipefail
. tests/support/nfs_rig.bash

rig_up
. tests/support/mount_rig.bash
mount -t tmpfs -o size=24m,mode=777 small $rig/other
rig_vip_add $server1 10.77.0.11
rig_server $server1

mount_up nolock 10.77.0.11 other
echo "--- a full server: said to who writes, once, and not to others"
python3 - $mnt <<'PY'
import errno, os, sys
top = sys.argv[1]
ok = os.open(f"{top}/other", os.O_CREAT | os.O_WRONLY, 0o644)
os.write(ok, b"fits")
os.fsync(ok)
fd = os.open(f"{top}/big", os.O_CREAT | os.O_RDWR, 0o644)
told = 0
for i in range(64):
    try:
        os.write(fd, b"x" * (1 << 20))
    except OSError as e:
        assert e.errno == errno.ENOSPC, e
        told += 1
        break
try:
    os.fsync(fd)
except OSError as e:
    assert e.errno == errno.ENOSPC, e
    told += 1
assert told >= 1, "nobody was told"
os.fsync(fd)  # told already
os.fsync(ok)
os.close(ok)
os.ftruncate(fd, 0)
os.pwrite(fd, b"again", 0)
os.fsync(fd)
os.close(fd)
assert open(f"{top}/big").read() == "again" and open(f"{top}/other").read() == "fits"
# A close without fsync
fd = os.open(f"{top}/big2", os.O_CREAT | os.O_WRONLY, 0o644)
try:
    for i in range(30):
        os.write(fd, b"y" * (1 << 20))
    failed = 0
except OSError as e:
    assert e.errno == errno.ENOSPC, e
    failed = 1
try:
    os.close(fd)
except OSError as e:
    assert e.errno == errno.ENOSPC, e
    failed += 1
assert failed, "a full server went unnoticed"
os.unlink(f"{top}/big2")
PY
grep -q 'big: .* were not written: No space left' $rig/mount.log || { cat $rig/mount.log; fail "the log does not say what was lost"; }
umount $mnt
! wait $mount_pid || fail "the process says that all was written"

echo "--- read-only"
mount_up nolock,ro 10.77.0.11
! touch $mnt/x 2>$rig/err || fail "wrote to a read-only mount"
grep -q 'Read-only file system' $rig/err
mount_down

echo "--- what can't be mounted, and nothing is left"
refused() { # EXPECTED ARGUMENTS
    local rc=0 expected=$1
    shift
    nsenter --net=/run/netns/$client "$BIN/nfsbal" mount "$@" >$rig/err 2>&1 || rc=$?
    [ $rc != 0 ] || fail "mounted: $*"
    grep -q -- "$expected" $rig/err || { cat $rig/err; fail "$*: no word of $expected"; }
    ! mountpoint -q $mnt || fail "still mounted: $*"
}
refused 'No such file' 10.77.0.11:$rig/export $rig/nothing
refused 'Not a directory' 10.77.0.11:$rig/export $rig/err
refused "$rig/nothing" -o soft,mountport=20048 10.77.0.11:$rig/nothing $mnt
refused '10.77.0.99' -o soft,bound=300ms,timeo=3,retrans=0,mountport=20048 10.77.0.99:$rig/export $mnt
refused 'vers=4.1' -o vers=4.1 10.77.0.11:$rig/export $mnt
refused 'lock manager\|locks are local' -o lock 10.77.0.11:$rig/export $mnt
refused 'srcport=plan: no bond carries 10.77.0.1' -o srcport=plan 10.77.0.11:$rig/export $mnt
refused 'wsize' -o wsize=3 10.77.0.11:$rig/export $mnt
refused 'nonsense' -o nonsense 10.77.0.11:$rig/export $mnt
