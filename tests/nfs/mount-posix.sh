#!/usr/bin/env bash
# POSIX behaviour (posix.py) and random operations (fsx.py) on nfsbal mount, over servers on tmpfs and ext4. needs: full
# shellcheck disable=SC1091,SC2154,SC2086 # the rig is sourced; paths without blanks
set -euo pipefail
. tests/support/nfs_rig.bash

rig_up
. tests/support/mount_rig.bash
seed=${TEST_SEED:-1}
long=; [ "${TEST_LONG-no}" != yes ] || long=long
# ext4 in a file where there are loop devices
exports="export"
truncate -s 400M $rig/image
if mkfs.ext4 -q -F $rig/image 2>/dev/null && mount -o loop $rig/image $rig/other 2>/dev/null; then
    chmod 777 $rig/other
    rm -r $rig/other/lost+found
    exports="export other"
else
    echo "no loop devices: without ext4"
fi
rig_vip_add $server1 10.77.0.11 10.77.0.12
rig_server $server1

posix() { # OPTIONS EXPORT
    echo "--- $2, $1"
    mount_up nolock,$1 10.77.0.11,10.77.0.12 $2
    mkdir $mnt/posix
    python3 tests/support/posix.py $mnt/posix $long >$rig/posix.out || { grep -v ^ok $rig/posix.out; fail "posix.py with $1"; }
    python3 tests/support/fsx.py $mnt/fsx ${fsx:-400} $seed 3000000 ${3-$rig/$2/fsx}
    rm -r $mnt/posix $mnt/fsx
    mount_down || { cat $rig/mount.log; fail "something was not written"; }
}

for e in $exports; do
    posix spread=stripe $e
done
posix cache=none,spread=file export
posix cache=write-behind,dirty=8MiB,wsize=16384,rsize=8192,nordirplus export ""
[ -z "$long" ] || for _ in $(seq 30); do
    seed=$((seed + 1)) fsx=2000 posix spread=stripe,noac export
done
