# A mount of the client of nfs_rig.bash, for tests of `nfsbal mount`. Source it after rig_up.
#
# The client's process lives in $client's network; the mount is seen from here.

BIN=${BIN:-$PWD/build/bin}
mnt=$rig/mnt
mkdir -p $mnt
umask 022

# Mounts at $mnt (or $at) in the foreground, messages in $rig/mount.log; returns when it is mounted.
mount_up() { # OPTIONS SERVERS [EXPORT]
    local at=${at:-$mnt}
    mkdir -p $at
    nsenter --net=/run/netns/$client "$BIN/nfsbal" mount -f -o mountport=20048,"$1" "$2:$rig/${3:-export}" $at \
        >>$rig/mount.log 2>&1 &
    mount_pid=$!
    rig_wait "mountpoint -q $at || ! kill -0 $mount_pid 2>/dev/null" "the mount"
    mountpoint -q $at || { cat $rig/mount.log; fail "not mounted"; }
}

# Unmounts and waits for the process: what it says is whether all was written.
mount_down() {
    local at=${at:-$mnt}
    umount $at
    wait $mount_pid
}

expect() { # WHAT IS WANTED
    [ "$2" = "$3" ] || fail "$1: $2 instead of $3"
}
