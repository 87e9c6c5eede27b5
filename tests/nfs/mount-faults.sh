#!/usr/bin/env bash
# Paths and servers that fail under a mount in use: nothing that fsync acknowledged is lost, nothing hangs. needs: full
# shellcheck disable=SC1091,SC2154,SC2086 # the rig is sourced; paths without blanks
set -euo pipefail
. tests/support/nfs_rig.bash

rig_up
. tests/support/mount_rig.bash
seed=${TEST_SEED:-1}
echo "seed $seed"
rig_vip_add $server1 10.77.0.11 10.77.0.12
rig_vip_add $server2 10.77.0.21
rig_server $server1
rig_server $server2
timers=nolock,bound=300ms,failback=300ms,quarantine=500ms

journal() { python3 tests/support/journal.py "$@"; }

# Writes for SECONDS while the rest happens, then holds the file on the server against the journal.
under_load() { # NAME SECONDS COMMAND...
    local name=$1 seconds=$2 rc=0 writer
    shift 2
    echo "--- $name"
    seed=$((seed + 1))
    rm -f $rig/journal $rig/export/$name
    timeout 60 python3 tests/support/journal.py write $mnt/$name $rig/journal $seed $seconds &
    writer=$!
    sleep 0.4
    "$@"
    wait $writer || rc=$?
    [ $rc = 0 ] || { cat $rig/mount.log; fail "$name: the writer ended with $rc"; }
    journal check $rig/export/$name $rig/journal
}

mount_up $timers,spread=stripe 10.77.0.11,10.77.0.12,10.77.0.21

vip_gone_and_back() {
    rig_vip_del $server1 10.77.0.12
    sleep 1
    rig_vip_add $server1 10.77.0.12
}
under_load gone 2.5 vip_gone_and_back
"$BIN/nfsbal" stat $mnt

vip_moves() {
    rig_vip_del $server1 10.77.0.11
    rig_vip_add $server2 10.77.0.11
    sleep 1
    rig_vip_del $server2 10.77.0.11
    rig_vip_add $server1 10.77.0.11
}
under_load moved 2.5 vip_moves

server_restarts() {
    rig_server_kill $server2
    sleep 0.5
    rig_server $server2
}
under_load restarted 3 server_restarts

all_gone() {
    rig_vip_del $server1 10.77.0.11 10.77.0.12
    rig_vip_del $server2 10.77.0.21
    sleep 1.5
    rig_vip_add $server1 10.77.0.11 10.77.0.12
    rig_vip_add $server2 10.77.0.21
}
under_load all 3 all_gone

paths_change() {
    "$BIN/nfsbal" vip $mnt down 10.77.0.11
    sleep 0.2
    "$BIN/nfsbal" vip $mnt remove 10.77.0.21
    "$BIN/nfsbal" vip $mnt up 10.77.0.11
    sleep 0.2
    "$BIN/nfsbal" vip $mnt add 10.77.0.21
    "$BIN/nfsbal" vip $mnt down 10.77.0.12
    sleep 0.4
    "$BIN/nfsbal" vip $mnt up 10.77.0.12
}
under_load paths 2 paths_change
! "$BIN/nfsbal" vip $mnt remove 10.77.0.99 2>/dev/null || fail "removed a VIP that is not there"
mount_down || { cat $rig/mount.log; fail "not everything was written"; }

echo "--- killed: what was synced is there, the directory can be used again"
mount_up $timers 10.77.0.11,10.77.0.21
rm -f $rig/journal
journal write $mnt/killed $rig/journal $seed 30 2>$rig/err &
writer=$!
sleep 1
kill -KILL $mount_pid
wait $writer && fail "the writer did not notice"
wait $mount_pid || true
journal check $rig/export/killed $rig/journal
umount -l $mnt
mount_up $timers 10.77.0.11,10.77.0.21
expect "a name" "$(cd $mnt && echo kill*)" killed

echo "--- SIGTERM: detached, written, ended"
exec 3>$mnt/open
echo kept >&3
kill -TERM $mount_pid
rig_wait "! mountpoint -q $mnt" "it to be detached"
echo more >&3
exec 3>&-
wait $mount_pid || { cat $rig/mount.log; fail "SIGTERM: not everything was written"; }
expect "open" "$(tr '\n' ' ' <$rig/export/open)" "kept more "

echo "--- a program that is killed ends although its server is gone, and the others go on when that is back"
mount_up $timers,dirty=8MiB 10.77.0.11
: >$rig/export/full
head -c 20000000 /dev/zero >$rig/export/large
rig_vip_del $server1 10.77.0.11
cat $mnt/large >/dev/null 2>&1 &
reader=$!
python3 - $mnt/full <<'PY' &
import os, sys
fd = os.open(sys.argv[1], os.O_WRONLY)
for _ in range(20):
    os.write(fd, b"x" * (1 << 20))
PY
writer=$!
sleep 0.7
kill -KILL $reader $writer
rig_wait "! kill -0 $reader 2>/dev/null" "the reader to end"
rig_vip_add $server1 10.77.0.11
timeout 10 cat $mnt/large | cmp - $rig/export/large || fail "others hang as well"
wait $writer || true
mount_down || fail "killed: not everything was written"

echo "--- soft: EIO when no server is left, once, and the log says what is missing"
mount_up $timers,soft,timeo=5,retrans=1 10.77.0.11
mkfifo $rig/go
python3 - $mnt/soft $rig/go <<'PY' &
import errno, os, sys
fd = os.open(sys.argv[1], os.O_CREAT | os.O_RDWR, 0o644)
open(sys.argv[2]).close()
os.write(fd, b"lost\n")
try:
    os.fsync(fd)
    raise SystemExit("fsync succeeded without a server")
except OSError as e:
    assert e.errno == errno.EIO, e
os.fsync(fd)  # told once
PY
writer=$!
rig_wait "[ -e $mnt/soft ]" "the file"
rig_vip_del $server1 10.77.0.11
: >$rig/go
wait $writer || fail "soft"
! cat $mnt/soft >/dev/null 2>&1 || fail "read without a server"
grep -q 'soft: 5 bytes at 0 were not written' $rig/mount.log || { cat $rig/mount.log; fail "no word of what was lost"; }
rig_vip_add $server1 10.77.0.11
rig_wait "cat $mnt/soft >/dev/null 2>&1" "the server to be used again"
umount $mnt
wait $mount_pid && fail "soft: it says that all was written"

echo "--- forced: without servers, at once"
mount_up $timers 10.77.0.11
rig_vip_del $server1 10.77.0.11
(cat $mnt/soft >/dev/null 2>$rig/err || true) &
reader=$!
sleep 0.7
timeout 5 "$BIN/nfsbal" umount -f $mnt || fail "umount -f"
wait $reader
wait $mount_pid || true
! mountpoint -q $mnt || fail "still mounted"
