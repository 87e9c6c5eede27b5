#!/usr/bin/env bash
# needs: full release. Labs and mounts in a chroot, whose "/" is no mount point: up with servers, a mount in a host, down, nothing left.
# shellcheck disable=SC1091,SC2154,SC2086,SC2016,SC2015 # the rig's variables; names of labs have no blanks
set -euo pipefail
. tests/support/lab_rig.bash

command -v ganesha.nfsd >/dev/null && command -v rpcbind >/dev/null || { echo "skipped: no nfs-ganesha"; exit 77; }
root=$rig/root
mkdir -p "$root" "$rig/mnt"
# All in a mount namespace that goes with the script. The repository may be anywhere: $root has all of / but is a folder of it.
unshare --mount --propagation private bash -euc '
    root=$1 rig=$2
    for folder in /*; do
        [ -d "$folder" ] && [ ! -L "$folder" ] || { cp -a "$folder" "$root"; continue; }
        [ "$folder" != /lost+found ] || continue
        mkdir "$root$folder"
        mount --rbind "$folder" "$root$folder"
    done
    mount --make-rshared "$root/run" # as it is outside: names of namespaces go everywhere
    chroot "$root" bash -euc "cd $PWD; $3"
' - "$root" "$rig" "
    ! mountpoint -q / || { echo 'not a chroot'; exit 1; }
    emu up -q --name $lab --case ip-hash topologies/fs7500/fig09-teaming.yaml
    emu exec $lab esx1 -- ping -q -n -c 2 -i 0.05 10.10.5.101 >/dev/null
    [ \"\$(emu exec $lab esx1 -- ls /sys/class/net)\" = 'lo
vmk1' ]
    emu exec $lab esx1 -- bash -euc 'nfsbal mount -o nolock 10.10.5.101,10.10.5.102:/vol1 $rig/mnt
        trap \"umount $rig/mnt\" EXIT
        echo a line >$rig/mnt/f; grep -q \"a line\" $rig/mnt/f; nfsbal stat $rig/mnt >/dev/null'
    emu down -q $lab 2>/dev/null
    rc=0
    setpriv --reuid 65534 --regid 65534 --clear-groups env EMU_RUNDIR=/tmp/$lab emu up -q --rootless --no-nas topologies/fs7500/fig09-teaming.yaml \\
        2>$rig/err || rc=\$?
    [ \$rc = 1 ] && grep -q '/dev/net/tun\|a chroot never has them' $rig/err || { cat $rig/err; exit 1; }
    rmdir /tmp/$lab 2>/dev/null || true
" || fail "in a chroot"
nothing_left "after a chroot"
