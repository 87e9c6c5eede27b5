# Our client, mounted here, and the kernel's, mounted in the virtual machine, on the same directory: what one has written and closed
# the other sees when it opens. Sourced by client.bash and server.bash.
# shellcheck shell=bash disable=SC2154,SC2034 # tmp is the script's; others use what is set here

# Mounts with our client from a namespace; $ours is where, the process is $ours_pid.
ours_up() { # NAMESPACE OPTIONS SERVERS EXPORT
    ours=$tmp/mnt/ours
    mkdir -p "$tmp/mnt"
    # Shared: a machine that is started meanwhile, in a mount namespace of its own, lets go of what is unmounted here.
    mountpoint -q "$tmp/mnt" || { mount -t tmpfs mnt "$tmp/mnt" && mount --make-shared "$tmp/mnt"; }
    mkdir -p "$ours"
    nsenter --net="/run/netns/$1" "$(command -v nfsbal)" mount -f -o "nolock,$2" "$3:$4" "$ours" >>"$tmp/mount.log" 2>&1 &
    ours_pid=$!
    for _ in $(seq 300); do
        ! mountpoint -q "$ours" || return 0
        kill -0 "$ours_pid" 2>/dev/null || break
        sleep 0.05
    done
    fail "nfsbal mount: $(cat "$tmp/mount.log")"
}

ours_down() {
    local pid=${ours_pid-}
    [ -n "$pid" ] || return 0
    ours_pid=
    umount "$ours" && wait "$pid" || fail "not everything was written: $(cat "$tmp/mount.log")"
}

expect_sums() { # WHAT OURS THEIRS
    local a b
    a=$(sha256sum <"$ours/$2" | cut -c 1-64) b=$(vm "sha256sum <$3" | cut -c 1-64)
    [ "$a" = "$b" ] || fail "$1: our client and the kernel's read different things"
}

coherent() { # FOLDER-IN-THE-MACHINE TIMES
    local theirs=$1 i once
    for i in $(seq "$2"); do
        head -c $((i * 30011)) /dev/urandom >"$ours/shared"
        expect_sums "$i: we have written" shared "$theirs/shared"
        vm "head -c $((i * 20011)) /dev/urandom >$theirs/shared"
        expect_sums "$i: the kernel has written" shared "$theirs/shared"
        vm "echo line $i >>$theirs/shared"
        [ "$(tail -n 1 "$ours/shared" | tail -c $((${#i} + 6)))" = "line $i" ] || fail "$i: we do not see what the kernel appended"
        echo "ours $i" >>"$ours/shared"
        expect_sums "$i: we have appended" shared "$theirs/shared"
        # Names that were not there are believed to be missing for a while, by the kernel's client too: new ones each time.
        for once in 1 2; do
            echo "$i.$once" >"$ours/new$i.$once" && mv "$ours/new$i.$once" "$ours/target$i"
            [ "$(vm "cat $theirs/target$i")" = "$i.$once" ] || fail "$i.$once: the kernel does not see our rename"
            vm "echo k$i.$once >$theirs/knew$i.$once && mv $theirs/knew$i.$once $theirs/other$i"
            [ "$(cat "$ours/other$i")" = "k$i.$once" ] || fail "$i.$once: we do not see the kernel's rename"
        done
        rm "$ours/target$i"
        ! vm "cat $theirs/target$i" >/dev/null 2>&1 || fail "$i: the kernel still opens what we have removed"
        vm "rm $theirs/other$i"
        ! cat "$ours/other$i" >/dev/null 2>&1 || fail "$i: we still open what the kernel has removed"
    done
    vm "rm $theirs/shared"
    echo "$2 times each way: written, appended, renamed over, removed"
}
