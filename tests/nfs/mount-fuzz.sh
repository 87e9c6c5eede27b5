#!/usr/bin/env bash
# A real server whose replies are spoilt on their way, seen through a mount: no crash, no hang, and what was acknowledged has
# happened. Also errors that this rig's server can't be brought to: quotas, a file system that becomes read-only. needs: full
# shellcheck disable=SC1091,SC2154,SC2086,SC2231,SC2115,SC2295 # the rig is sourced; paths without blanks
set -euo pipefail
. tests/support/nfs_rig.bash

rig_up
. tests/support/mount_rig.bash
seed=${TEST_SEED:-1} rounds=1 seconds=2
[ "${TEST_LONG-no}" != yes ] || rounds=${ROUNDS:-20} seconds=10
rig_vip_add $server1 10.77.0.11
rig_server $server1
ip -n $client link set lo up

proxy() { # ADDRESS SEED
    nsenter --net=/run/netns/$client python3 tests/support/nfs_proxy.py $1 10.77.0.11 $2 $rig/rules >$rig/ready.$1 2>>$rig/proxy.log &
    rig_wait "grep -q ready $rig/ready.$1" "the proxy on $1"
}
rules() { echo "$1" >$rig/rules.new && mv $rig/rules.new $rig/rules; }

rules '{}'
proxy 127.0.0.2 $seed
first=$!
echo "--- a quota"
mount_up nolock 127.0.0.2
python3 - $mnt $rig <<'PY'
import errno, os, sys
top, rig = sys.argv[1:]
def rules(text):
    with open(rig + "/rules.new", "w") as f:
        f.write(text)
    os.rename(rig + "/rules.new", rig + "/rules")
def told(wanted, *calls):
    n = 0
    for call in calls:
        try:
            call()
        except OSError as e:
            assert e.errno == wanted, e
            n += 1
    return n
for code, status in ((errno.EDQUOT, 69), (errno.EROFS, 30), (errno.ENOSPC, 28)):
    ok, fd = (os.open(f"{top}/{n}{code}", os.O_CREAT | os.O_RDWR, 0o644) for n in "ab")
    os.write(ok, b"before")
    os.fsync(ok)
    rules('{"answer": {"7": %d, "8": %d, "9": %d, "12": %d, "14": %d, "2": %d}}' % ((status,) * 6))
    n = told(code, lambda: os.write(fd, b"x" * (1 << 20)), lambda: os.fsync(fd))
    assert n == 1, f"{errno.errorcode[code]}: told {n} times"
    assert told(code, lambda: os.fsync(fd), lambda: os.fsync(ok)) == 0, "told twice, or to somebody else"
    n = told(code, lambda: os.write(fd, b"x"), lambda: os.close(fd))
    assert n == 1, f"{errno.errorcode[code]}: a close told {n} times"
    assert told(code, lambda: os.open(f"{top}/new", os.O_CREAT | os.O_RDWR), lambda: os.mkdir(f"{top}/new"),
                lambda: os.unlink(f"{top}/a{code}"), lambda: os.rename(f"{top}/a{code}", f"{top}/c"),
                lambda: os.truncate(f"{top}/a{code}", 1)) == 5, errno.errorcode[code]
    rules("{}")
    os.pwrite(ok, b"after!", 0)
    os.fsync(ok)
    os.close(ok)
    assert open(f"{rig}/export/a{code}").read() == "after!"
    assert sorted(os.listdir(top)) == sorted(os.listdir(f"{rig}/export"))
PY
umount $mnt
wait $mount_pid && fail "it says that all was written"
for word in 'Disk quota exceeded' 'Read-only file system' 'No space left'; do
    grep -q "were not written: $word" $rig/mount.log || { cat $rig/mount.log; fail "the log says nothing of: $word"; }
done
kill $first
wait $first || true

for _ in $(seq $rounds); do
    echo "--- spoilt replies, seed $seed"
    rm -rf $rig/export/* $rig/mount.log
    rules '{}'
    proxy 127.0.0.2 $seed
    first=$!
    proxy 127.0.0.3 $((seed + 1000000))
    second=$!
    mount_up nolock,bound=300ms,failback=50ms,quarantine=100ms,actimeo=1,timeo=100,spread=stripe 127.0.0.2,127.0.0.3
    rules '{"mutate": 0.04}'
    timeout $((seconds + 60)) python3 tests/support/fuzz_work.py $mnt $rig/export $seed $seconds 20 || { tail -n 30 $rig/mount.log; fail "seed $seed"; }
    kill -0 $mount_pid || fail "seed $seed: it crashed"
    rules '{}'
    sleep 1.2 # attributes that were spoilt are believed for a second
    for f in $rig/export/f* $rig/export/d/*; do
        [ ! -e $f ] || cmp $f <(dd if=$mnt${f#$rig/export} iflag=direct bs=1M status=none) || fail "seed $seed: still wrong when the replies are right again"
    done
    rm -rf $mnt/* || fail "seed $seed: not usable when the replies are right again"
    umount $mnt
    wait $mount_pid || grep -q 'were not written' $rig/mount.log || { tail -n 20 $rig/mount.log; fail "seed $seed: how it ended"; }
    kill $first $second
    wait $first $second || true
    tail -n 2 $rig/proxy.log
    seed=$((seed + 1))
done
