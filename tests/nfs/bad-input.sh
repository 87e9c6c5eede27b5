#!/usr/bin/env bash
# needs: full
# Labs with servers that can't be: nfs-ganesha or rpcbind missing, no user namespaces, a disk that is full at each step. A sentence,
# the exit code, and nothing left.
# shellcheck disable=SC1091,SC2086,SC2154,SC2016,SC2015 # the library's variables; names of labs have no blanks
set -euo pipefail
. tests/nfs/library.sh
need_root_and nfs-ganesha ganesha.nfsd rpcbind

file=topologies/nexenta/trunk.yaml
refused() { # EXIT PATTERN COMMAND...
    local wanted=$1 pattern=$2 rc=0
    shift 2
    "$@" >"$tmp/out" 2>"$tmp/err" || rc=$?
    [ $rc -eq "$wanted" ] || fail "$*: exit $rc, not $wanted: $(cat "$tmp/err")"
    grep -qE -- "$pattern" "$tmp/err" || fail "$*: no \"$pattern\" in: $(cat "$tmp/err")"
    [ "$(wc -l <"$tmp/err")" = 1 ] || fail "$*: more than a sentence: $(cat "$tmp/err")"
    [ ! -s "$tmp/out" ] || fail "$*: prints $(cat "$tmp/out")"
    nothing_left
}

# Programs behind a file that can't be run, in a mount namespace of its own.
without() { # PROGRAM COMMAND...
    local program
    program=$(command -v "$1")
    shift
    unshare --mount --propagation slave sh -c 'mount --bind /dev/null "$1"; shift; exec "$@"' - "$program" "$@"
}
for program in ganesha.nfsd rpcbind; do
    name=${program/ganesha.nfsd/nfs-ganesha}
    refused 2 "$name is not installed" without $program "$BIN/emu" up -q --name $lab $file
    refused 1 "$name is not installed" without $program "$BIN/emu" live -q $file
done
without ganesha.nfsd "$BIN/emu" up -q --no-nas --name $lab $file || fail "--no-nas wants a server"
emu down -q $lab 2>/dev/null

# A user whose user namespaces are used up: none, where the first one's limit is zero.
refused 1 "needs user namespaces.*not to be had" \
    unshare --user --map-root-user sh -c 'echo 0 >/proc/sys/user/max_user_namespaces; exec "$@"' - "$BIN/emu" up -q --rootless --no-nas --name $lab $file

# A disk that is full a little later each time: whatever could not be written is named, until all of it fits.
mkdir "$tmp/full"
trap 'umount "$tmp/full" 2>/dev/null || true; emu down --all >/dev/null 2>&1 || true; rm -rf "$tmp"' EXIT
up_on_full() { # SIZE INODES
    local rc=0
    mount -t tmpfs -o size=$1,nr_inodes=$2 full "$tmp/full"
    EMU_RUNDIR=$tmp/full/labs emu up -q --name $lab $file >"$tmp/out" 2>"$tmp/err" || rc=$?
    if [ $rc -eq 0 ]; then
        EMU_RUNDIR=$tmp/full/labs emu down -q $lab 2>/dev/null
    else
        [ $rc -eq 1 ] && grep -q "^emu up: .*$tmp/full/labs.*: No space left on device$" "$tmp/err" || fail "size $1, $2 inodes: exit $rc, $(cat "$tmp/err")"
        failed=$((failed + 1))
    fi
    [ -z "$(ls "$tmp/full/labs" 2>/dev/null)" ] || fail "size $1, $2 inodes: left: $(ls -R "$tmp/full")"
    umount "$tmp/full"
    nothing_left
    return $rc
}
failed=0
inodes=4
until up_on_full 1m $inodes; do
    inodes=$((inodes + 3))
    [ $inodes -lt 60 ] || fail "it never fits"
done
size=4
until up_on_full ${size}k 60; do
    size=$((size + 16))
    [ $size -lt 500 ] || fail "it never fits"
done
echo "$failed full disks; it fits in $inodes inodes, $size KiB"

# The files of a load.
mount -t tmpfs -o size=1m full "$tmp/full"
rc=0
EMU_RUNDIR=$tmp/full/labs command emu live -q $file >"$tmp/out" 2>"$tmp/err" || rc=$?
[ $rc -eq 1 ] && grep -q "No space left on device" "$tmp/err" || fail "emu live on a full disk: exit $rc, $(cat "$tmp/err")"
[ -z "$(ls "$tmp/full/labs")" ] || fail "emu live leaves: $(ls -R "$tmp/full")"
umount "$tmp/full"
nothing_left
