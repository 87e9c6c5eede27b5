#!/usr/bin/env bash
# Two clients of one server: what one writes and closes the other sees when it opens. needs: full
# shellcheck disable=SC1091,SC2154,SC2086 # the rig is sourced; paths without blanks
set -euo pipefail
. tests/support/nfs_rig.bash

rig_up
. tests/support/mount_rig.bash
rig_vip_add $server1 10.77.0.11 10.77.0.12
rig_server $server1
a=$rig/a b=$rig/b
at=$a mount_up nolock 10.77.0.11
first=$mount_pid
at=$b mount_up nolock,spread=stripe 10.77.0.11,10.77.0.12

echo "--- close-to-open, 100 times each way"
for i in $(seq 100); do
    seq $i $((i + 20 * i)) >$a/f
    cmp $a/f $b/f || fail "$i: b does not see what a wrote"
    echo "line $i" >>$b/f
    expect "$i: the end" "$(tail -c $((${#i} + 6)) $a/f)" "line $i"
done

echo "--- renamed over, removed, made again"
for i in $(seq 5); do
    echo "$i" >$a/new
    mv $a/new $a/target
    rig_wait "[ \"\$(cat $b/target)\" = $i ]" "b to see $i"
done
rm $a/target
rig_wait "[ ! -e $b/target ]" "b to see that target is gone"

echo "--- an image: the second host opens it before the first has closed it"
python3 - $a/image $b/image <<'PY'
import mmap, os, sys
def direct(path): return os.open(path, os.O_RDWR | os.O_CREAT | os.O_DIRECT, 0o644)
one, two = direct(sys.argv[1]), direct(sys.argv[2])
block, back = mmap.mmap(-1, 65536), mmap.mmap(-1, 65536)
for i in range(200):
    here, there = (one, two) if i % 2 else (two, one)
    block[:] = bytes([i % 251]) * 65536
    assert os.pwritev(here, [block], 65536 * (i % 7)) == 65536
    assert os.preadv(there, [back], 65536 * (i % 7)) == 65536
    assert back[:] == block[:], f"a stale read of block {i % 7} at {i}"
PY

echo "--- locks: what was written before one is given back is there for who takes one afterwards, without a close"
timeout 60 python3 - $a/locked $b/locked $rig/export/locked <<'PY'
import fcntl, os, sys
here, there, server = sys.argv[1:]
one, two = os.open(here, os.O_RDWR | os.O_CREAT, 0o644), os.open(there, os.O_RDWR)
for i in range(100):
    writer, reader = (one, two) if i % 2 else (two, one)
    take = fcntl.lockf if i % 4 < 2 else fcntl.flock
    text = f"turn {i:4}\n".encode() * (1 if i % 3 else 9000)
    take(writer, fcntl.LOCK_EX)
    os.pwrite(writer, text, 0)
    take(writer, fcntl.LOCK_UN)
    with open(server, "rb") as f:
        assert f.read(len(text)) == text, f"{i}: not on the server when the lock was given back"
    take(reader, fcntl.LOCK_SH)
    assert os.pread(reader, len(text), 0) == text, f"{i}: an old byte under a lock"
    take(reader, fcntl.LOCK_UN)
os.pwrite(one, b"before", 0)
fcntl.lockf(one, fcntl.LOCK_EX, 1, 100)
with open(server, "rb") as f:
    assert f.read(6) == b"before", "not on the server when a lock was given"
PY

echo "--- a file that the other client removed"
echo x >$a/gone
exec 3<$b/gone
rm $a/gone
rig_wait "! cat <&3 2>/dev/null || ! stat $b/gone 2>/dev/null" "the handle to be stale"
python3 - <<'PY'
import errno, os
try:
    os.pread(3, 10, 0)
    os.posix_fadvise(3, 0, 0, os.POSIX_FADV_DONTNEED)
    os.pread(3, 10, 0)
except OSError as e:
    assert e.errno == errno.ESTALE, e
PY
exec 3<&-

echo "--- a name that leads elsewhere: looked up again"
mkdir $a/dir
echo old >$a/dir/f
cat $b/dir/f >/dev/null
rm -r $a/dir
mkdir $a/dir
echo new >$a/dir/f
expect "dir/f" "$(cat $b/dir/f)" new

umount $a
wait $first
at=$b mount_down
