#!/usr/bin/env bash
# needs: full. A lab of an ordinary user: up, pinged through, down, nothing left; and the sentence where the device is not to be had.
# shellcheck disable=SC1091,SC2154,SC2086,SC2016,SC2015 # the rig's variables
set -euo pipefail
. tests/support/lab_rig.bash

unshare --user true 2>/dev/null || { echo "skipped: no user namespaces here"; exit 77; }
pair 1G 1500 >"$rig/pair.yaml"
mkdir -m 0777 "$rig/user" "$rig/labs"
chmod 0755 "$rig"

# Runs a line of shell as nobody, with a /dev/net/tun of the given mode, in a mount namespace of its own.
as_nobody() { # MODE SHELL
    unshare --mount --propagation private bash -c '
        mkdir -p /dev/net && mount -t tmpfs tmpfs /dev/net && mknod -m "$1" /dev/net/tun c 10 200 && shift &&
        exec setpriv --reuid 65534 --regid 65534 --clear-groups env HOME=/ PATH="$PATH" EMU_RUNDIR="$1/user" bash -euc "$2"' \
        - "$1" "$rig" "$2"
}

as_nobody 0666 "
    emu up -q --rootless --no-nas --name $lab $rig/pair.yaml
    emu exec $lab a -- ping -q -n -c 3 -i 0.1 10.0.0.2
    emu list | grep -q rootless
    emu set $lab a:eth0 state=down
    ! emu exec $lab a -- ping -q -n -c 1 -W 1 10.0.0.2
    emu down -q $lab
    ! ls $rig/user | grep ." || fail "as an ordinary user"
nothing_left "a rootless lab"

rc=0
as_nobody 0600 "emu up -q --rootless --no-nas --name $lab $rig/pair.yaml" 2>"$rig/err" || rc=$?
[ $rc = 1 ] && grep -q "/dev/net/tun" "$rig/err" || fail "without the device: exit $rc, $(cat "$rig/err")"
rc=0
as_nobody 0666 "emu up -q --no-nas --name $lab $rig/pair.yaml" 2>"$rig/err" || rc=$?
[ $rc = 1 ] && grep -q -- "--rootless" "$rig/err" || fail "without --rootless: exit $rc, $(cat "$rig/err")"
rc=0
as_nobody 0666 "emu up -q --rootless --name $lab topologies/fs7500/fig09-teaming.yaml" 2>"$rig/err" || rc=$?
[ $rc = 2 ] && grep -q "rpcbind.*--no-nas" "$rig/err" || fail "servers without root: exit $rc, $(cat "$rig/err")"
[ -z "$(ls "$rig/user")" ] || fail "left behind: $(ls "$rig/user")"
