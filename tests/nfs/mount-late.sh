#!/usr/bin/env bash
# The late write, by name: path 1 holds a WRITE back, in the network or in the server's socket; meanwhile it is written again over
# path 2, and newer data after it; then path 1 heals and the server does the late one. 20 s with --long. needs: full release
# shellcheck disable=SC1091,SC2154,SC2086,SC2046 # the rig is sourced; paths without blanks
set -euo pipefail
. tests/support/nfs_rig.bash

# SECONDS the late WRITE is held back; the quarantine that outlasts it, and one that doesn't.
held=1.2 enough=2s short=20ms
[ "${TEST_LONG-no}" != yes ] || held=20 enough=22s
rig_up
. tests/support/mount_rig.bash
rig_vip_add $server1 10.77.0.11
rig_vip_add $server2 10.77.0.21
rig_server $server1
rig_server $server2
in_client ping -qc 1 -s 1400 10.77.0.11 >/dev/null

# Two clients on the same two paths, a file each: one waits long enough, the other doesn't, to see that there is something to
# wait for.
start() {
    rig_wait "in_client ping -qc 1 -W 1 10.77.0.11 >/dev/null" "the first server to be reached"
    for kind in safe hasty; do
        at=$rig/$kind
        quarantine=$enough
        [ $kind = safe ] || quarantine=$short
        at=$at mount_up nolock,bound=300ms,failback=300ms,quarantine=$quarantine 10.77.0.11,10.77.0.21
        eval "$kind=$mount_pid"
        rig_wait "[ \$(\"$BIN/nfsbal\" stat --json $at | grep -c '\"state\": \"up\"') = 2 ]" "both paths"
    done
    cat >$rig/writer.py <<'PY'
import os, sys, time
path, held, go, out = sys.argv[1], float(sys.argv[2]), sys.argv[3], sys.argv[4]
fd = os.open(path, os.O_CREAT | os.O_RDWR | os.O_DIRECT, 0o644)
import mmap
page = mmap.mmap(-1, 4096)
def write(letter):
    page[:] = letter * 4096
    os.pwritev(fd, [page], 0)
    os.fsync(fd)
write(b"a")
open(out + ".ready", "w").close()
while not os.path.exists(go):
    time.sleep(0.01)
begin = time.monotonic()
write(b"b")  # goes out on path 1, is lost, and goes out again on path 2
second = time.monotonic() - begin
write(b"c")
print("b after %.2f s, c after %.2f s" % (second, time.monotonic() - begin))
assert second < 5, "not left within the bound"
assert second < held, "nothing was held back"
open(out + ".times", "w").write("%f" % (time.monotonic() - begin))
PY
}

run() { # NAME : both write; the caller lets go of path 1 after $held
    rm -f $rig/go $rig/*.ready $rig/*.times
    for kind in safe hasty; do
        timeout 90 python3 $rig/writer.py $rig/$kind/$1-$kind $held $rig/go $rig/$kind.out &
        eval "writer_$kind=$!"
    done
    rig_wait "[ -e $rig/safe.out.ready -a -e $rig/hasty.out.ready ]" "the writers"
}

finish() { # NAME
    wait $writer_safe || { cat $rig/mount.log; fail "$1: the writer"; }
    wait $writer_hasty || fail "$1: the hasty writer"
    sleep 0.3 # the late ones have been done by now
    expect "$1: with a quarantine of $enough" "$(head -c 1 $rig/export/$1-safe)" c
    expect "$1: with $short, which is too short: the late write" "$(head -c 1 $rig/export/$1-hasty)" b
    awk -v t="$(cat $rig/safe.out.times)" -v h=$held 'BEGIN { exit !(t > h) }' || fail "$1: c was written before the late write was done"
}

start
echo "--- in the network: packets to the first server stand in a queue for $held s"
run network
# A token bucket whose bucket the first large packet empties; the next would have to wait for half an hour.
ip netns exec $switch tc qdisc add dev to-$server1 root tbf rate 8bit burst 1600 limit 10mb
in_client ping -qc 1 -W 1 -s 1400 10.77.0.11 >/dev/null || true
touch $rig/go
sleep $held
ip netns exec $switch tc qdisc change dev to-$server1 root tbf rate 1gbit burst 100kb limit 10mb
in_client ping -qc 1 -W 1 10.77.0.11 >/dev/null || true # the queue looks at its rate when something comes
finish network
ip netns exec $switch tc qdisc del dev to-$server1 root
for kind in safe hasty; do umount $rig/$kind; done
wait $safe $hasty || { cat $rig/mount.log; fail "not everything was written"; }

start
echo "--- in the server's socket: it is stopped and its VIP goes; it goes on after $held s"
run socket
kill -STOP $(ip netns pids $server1)
touch $rig/go
sleep 0.1
rig_vip_del $server1 10.77.0.11
sleep $held
kill -CONT $(ip netns pids $server1)
finish socket
for kind in safe hasty; do umount $rig/$kind; done
wait $safe $hasty || fail "not everything was written"
