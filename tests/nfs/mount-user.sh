#!/usr/bin/env bash
# An ordinary user mounts: fusermount3, ports above 1023, a server that wants others. needs: full
# shellcheck disable=SC1091,SC2154,SC2086 # the rig is sourced; paths without blanks
set -euo pipefail
. tests/support/nfs_rig.bash

for program in fusermount3 setpriv; do
    command -v $program >/dev/null || { echo "skipped: no $program"; exit 77; }
done
# Where only root may open /dev/fuse (containers), a copy of it for all, in a view of the machine of its own.
if [ -e /dev/fuse ] && [ "$(stat -c %a /dev/fuse)" != 666 ] && [ -z "${OWN_VIEW-}" ]; then
    rm -r "$rig"
    OWN_VIEW=yes exec unshare -m "$0"
fi
rig_up
. tests/support/mount_rig.bash
if [ -n "${OWN_VIEW-}" ]; then
    mknod -m 666 $rig/fuse c 10 229
    mount --bind $rig/fuse /dev/fuse
fi
rig_vip_add $server1 10.77.0.11
rig_vip_add $server2 10.77.0.21
rig_server $server1
# A server that takes calls from ports below 1024 only, as Linux exports do unless they say `insecure`.
eval "$(declare -f rig_config | sed '1s/.*/plain_config ()/')"
rig_config() { plain_config $1 | sed 's/Squash = none;/Squash = none; PrivilegedPort = true;/'; }
rig_server $server2

user=65534 # nobody, whom fusermount3 knows by name
home=$rig/home
mkdir -p $home/mnt $home/run
cp "$BIN/nfsbal" $home/nfsbal # the build may be where others can't look
chmod 755 $rig $home
chown -R $user:$user $home
mkdir -m 700 $rig/export/his
echo his >$rig/export/his/file
chown -R $user:$user $rig/export/his
mkdir -m 700 $rig/export/roots
exec 9<.
as_user() {
    nsenter --net=/run/netns/$client setpriv --reuid $user --regid $user --clear-groups --inh-caps=-all \
        env HOME=$home XDG_RUNTIME_DIR=$home/run PATH=/usr/bin:/bin ASAN_OPTIONS=${ASAN_OPTIONS-} "$@" 9<&-
}
cd $home

echo "--- mounted, used, unmounted"
as_user $home/nfsbal mount -o nolock,mountport=20048,spread=stripe 10.77.0.11:$rig/export $home/mnt
expect "who" "$(as_user stat -c %u $home/mnt/his)" $user
expect "his file" "$(as_user cat $home/mnt/his/file)" his
as_user dd if=/dev/zero of=$home/mnt/his/large bs=1M count=20 status=none
expect "size" "$(stat -c '%s %u' $rig/export/his/large)" "20971520 $user"
! as_user ls $home/mnt/roots 2>/dev/null || fail "he sees root's directory"
! as_user touch $home/mnt/roots/x 2>/dev/null || fail "he writes to root's directory"
! ls $home/mnt 2>/dev/null || fail "root sees a user's mount, which the kernel does not allow without allow_other"
as_user $home/nfsbal stat $home/mnt | grep -q 10.77.0.11
as_user $home/nfsbal stat --json $home/mnt >$rig/stat
python3 - $rig/stat <<'PY'
import json, sys
ports = [p for path in json.load(open(sys.argv[1]))["paths"] for p in path.get("ports", [])]
assert all(p >= 1024 for p in ports), ports
PY
! as_user $home/nfsbal mount -o nolock,mountport=20048,allow_other 10.77.0.11:$rig/export $home/run 2>$rig/err || fail "allow_other"
grep -q 'allow_other' $rig/err || { cat $rig/err; fail "no word of allow_other"; }
as_user $home/nfsbal umount $home/mnt
! mountpoint -q $home/mnt || fail "still mounted"
as_user $home/nfsbal mount -o nolock,mountport=20048 10.77.0.11:$rig/export $home/mnt
as_user fusermount3 -u $home/mnt
rig_wait "! pgrep -u $user nfsbal >/dev/null" "its process to end"

echo "--- a server that wants ports below 1024"
! as_user $home/nfsbal mount -o nolock,soft,mountport=20048 10.77.0.21:$rig/export $home/mnt 2>$rig/err || fail "mounted"
grep -q '1023.*insecure' $rig/err || { cat $rig/err; fail "it does not say why"; }
! mountpoint -q $home/mnt || fail "left mounted"
nsenter --net=/run/netns/$client "$BIN/nfsbal" mount -o nolock,mountport=20048,resvport 10.77.0.21:$rig/export $mnt
expect "as root" "$(cat $mnt/his/file)" his
"$BIN/nfsbal" umount $mnt
! as_user $home/nfsbal mount -o nolock,soft,mountport=20048,resvport 10.77.0.11:$rig/export $home/mnt 2>$rig/err || fail "a user got a port below 1024"
grep -q 'resvport: this user' $rig/err || { cat $rig/err; fail "resvport: it does not say why"; }
