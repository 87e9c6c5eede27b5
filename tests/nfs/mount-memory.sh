#!/usr/bin/env bash
# Memory of the client's process: bounded whatever is written and read, and never so short that nothing moves. needs: full release
# shellcheck disable=SC1091,SC2154,SC2086 # the rig is sourced; paths without blanks
set -euo pipefail
. tests/support/nfs_rig.bash

rig_up
. tests/support/mount_rig.bash
rig_vip_add $server1 10.77.0.1{1,2,3,4,5,6,7,8}
rig_server $server1
cat >$rig/site.yaml <<YAML
version: 1
name: four
nodes:
  here: {kind: linux, interfaces: {eth0: {address: 10.77.0.1/24}}}
  sw: {kind: switch}
  nas: {kind: nas, controllers: {c: {nics: "eth[0-0]"}}, vips: {"10.77.0.[11-18]/24": {}}, exports: {$rig/export: {}}}
links:
  - {ends: ["here:eth0", "sw:p1"], speed: 1G}
  - {ends: ["nas:c.eth0", "sw:p2"], speed: 1G}
datastores:
  "ds[1-4]": {export: "nas:$rig/export", mounted: "10.77.0.[11-14]"}
allow: {alias-mount: "one export under four names"}
YAML
nsenter --net=/run/netns/$client "$BIN/nfsbal" mount -f -o nolock,mountport=20048 --host here $rig/site.yaml --at $mnt \
    >>$rig/mount.log 2>&1 &
mount_pid=$!
rig_wait "[ \$(grep -c $mnt/ds /proc/mounts) = 4 ] || ! kill -0 $mount_pid 2>/dev/null" "four mounts"
kill -0 $mount_pid || { cat $rig/mount.log; fail "not mounted"; }

echo "--- four mounts of eight VIPs, all written, then all read: less than 256 MiB"
for i in 1 2 3 4; do dd if=/dev/zero of=$mnt/ds$i/f$i bs=1M count=64 status=none & pids[i]=$!; done
wait ${pids[1]} ${pids[2]} ${pids[3]} ${pids[4]}
for i in 1 2 3 4; do dd if=$mnt/ds$((5 - i))/f$i of=/dev/null bs=1M status=none & pids[i]=$!; done
wait ${pids[1]} ${pids[2]} ${pids[3]} ${pids[4]}
most=$(awk '/VmHWM/ { print $2 }' /proc/$mount_pid/status)
echo "$most KiB at most"
[ $most -lt $((256 * 1024)) ] || fail "$most KiB"

echo "--- idle: less than 0.5 % of a core"
ticks() { awk '{ print $14 + $15 }' /proc/$mount_pid/stat; }
before=$(ticks)
sleep 2
expect "ticks of 10 ms in 2 s, beyond one" $(($(ticks) - before > 1)) 0
umount $mnt/ds*
wait $mount_pid

echo "--- pieces much smaller than the memory that each takes"
mount_up nolock,dirty=8MiB 10.77.0.11
cat >$rig/pieces.py <<'PY'
import os, sys
f = os.open(sys.argv[1], os.O_RDWR | os.O_CREAT)
for i in range(1000):
    os.pwrite(f, b"a" * 4096, i << 20)
    os.pwrite(f, b"b" * 4096, (i << 20) + 4096)
os.close(f)
PY
python3 $rig/pieces.py $mnt/pieces &
writer=$!
# Nothing else ends a program that waits for memory.
rig_wait "! kill -0 $writer 2>/dev/null" "the writer" || { kill -KILL $mount_pid; fail "stuck"; }
wait $writer
expect "pieces" "$(head -c 5000 $rig/export/pieces | tr -d a | wc -c)" $((5000 - 4096))
mount_down
