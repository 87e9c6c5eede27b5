#!/usr/bin/env bash
# mount -t nfsbal: installed, with the fstab lines and units that nfsbal plan prints, as mount(8) and systemd call it.
# needs: full release
# shellcheck disable=SC1091,SC2154,SC2086,SC2015,SC2016 # the rig is sourced; paths without blanks
set -euo pipefail
. tests/support/nfs_rig.bash

rig_up
. tests/support/mount_rig.bash
rig_vip_add $server1 10.77.0.11 10.77.0.12
rig_server $server1

cmake --install $BUILD --prefix $rig/usr >$rig/install
expect "the link" "$(readlink $rig/usr/sbin/mount.nfsbal)" ../bin/nfsbal
cat >$rig/site.yaml <<YAML
version: 1
name: rig
nodes:
  host: {kind: linux, nics: [eth0], interfaces: {eth0: {address: 10.77.0.1/24}}}
  sw: {kind: switch}
  nas:
    kind: nas
    controllers: {c: {nics: [e0]}}
    vips: {"10.77.0.[11-12]/24": {}}
    exports: {"$rig/export": {}, "$rig/other": {}}
links:
  - {ends: ["host:eth0", "sw:p1"], speed: 1G}
  - {ends: ["nas:c.e0", "sw:p2"], speed: 1G}
datastores:
  one: {export: "nas:$rig/export", vip: 10.77.0.11}
  two: {export: "nas:$rig/other", vip: 10.77.0.12, nconnect: 2}
YAML
"$BIN/nfsbal" plan $rig/site.yaml --format nfsbal-fstab >$rig/fstab
"$BIN/nfsbal" plan $rig/site.yaml --format nfsbal-systemd >$rig/units
expect "lines" "$(grep -c '^10.77.0.1[12]:.* /mnt/\(one\|two\) nfsbal hard,nolock,_netdev,.*vips=10.77.0.1[12] 0 0$' $rig/fstab)" 2
findmnt --verify --tab-file $rig/fstab >$rig/verify 2>&1 || true
grep -q '^0 parse errors' $rig/verify || { cat $rig/verify; fail "findmnt does not understand the lines"; }

# A view of the machine of its own: /usr as if it had been installed there, /mnt, an empty /etc/fstab.
cat >$rig/inside <<'SH'
set -euo pipefail
rig=$1 export=$1/export
trap '[ $? = 0 ] || cat $rig/err' EXIT
fail() { echo "FAILED: $*"; exit 1; }
mount --make-rprivate /
mount -t overlay -o lowerdir=$rig/usr:/usr overlay /usr
mount -t tmpfs mnt /mnt
: >$rig/empty
mount --bind $rig/empty /etc/fstab
mkdir /mnt/one /mnt/two /mnt/a
mounted() { awk -v at=$1 '$2 == at { print $1, $3 }' /proc/self/mounts; }
process_of() { stat -fc %i $1 >/dev/null; pgrep -f "mount.nfsbal .* $1 " | head -n 1; }
# umount returns when it is detached; what serves it ends a moment later
gone() { for _ in $(seq 100); do pgrep -f "mount.nfsbal .* $1 " >/dev/null || return 0; sleep 0.05; done; fail "$1: its process stays"; }

echo "--- by hand, with the options that people have in their fstab"
mount -t nfsbal -o rw,noauto,nofail,_netdev,nosuid,relatime,user,x-systemd.automount,x-systemd.device-timeout=5,comment=x,vips=10.77.0.12 \
    10.77.0.11:$export /mnt/a 2>$rig/err
grep -q 'locks are local' $rig/err || fail "it does not say that locks are local"
[ "$(mounted /mnt/a)" = "10.77.0.11:$export fuse.nfsbal" ] || fail "$(mounted /mnt/a)"
echo hello >/mnt/a/hello
[ "$(cat $export/hello)" = hello ] || fail "not written"
findmnt -nt fuse.nfsbal -o OPTIONS /mnt/a | grep -q nosuid || fail "nosuid is lost"
nfsbal stat /mnt/a | grep -q 10.77.0.12 || fail "vips= is lost"
umount /mnt/a
gone /mnt/a

echo "--- fake, verbose, wrong"
mount -f -t nfsbal 10.77.0.11:$export /mnt/a
[ -z "$(mounted /mnt/a)" ] || fail "mount -f mounts"
! mount -t nfsbal -o nonsense 10.77.0.11:$export /mnt/a 2>$rig/err || fail "mounted with nonsense"
grep -q 'nonsense: unknown option' $rig/err
! mount -t nfsbal -o vers=4.1 10.77.0.11:$export /mnt/a 2>$rig/err || fail "mounted with NFS 4.1"
grep -q 'NFS 3' $rig/err
[ -z "$(mounted /mnt/a)" ] || fail "left mounted"

echo "--- the lines of fstab"
cat $rig/fstab >/etc/fstab
mount -at nfsbal 2>$rig/err
mount -at nfsbal # a second time: nothing to do
[ "$(mounted /mnt/one) $(mounted /mnt/two)" = "10.77.0.11:$export fuse.nfsbal 10.77.0.12:$rig/other fuse.nfsbal" ] ||
    fail "$(mounted /mnt/one) $(mounted /mnt/two)"
echo 1 >/mnt/one/1
echo 2 >/mnt/two/2
[ "$(cat $export/1 $rig/other/2)" = $'1\n2' ] || fail "fstab: not written"
nfsbal stat --json /mnt/two | grep -q '"connections": 2' || fail "fstab: nconnect is lost"
umount /mnt/two
gone /mnt/two
mount /mnt/two
[ "$(cat /mnt/two/2)" = 2 ] || fail "fstab: not read"
nfsbal umount /mnt/two
umount -at fuse.nfsbal
gone /mnt/one
: >/etc/fstab

echo "--- the units, as systemd calls mount(8)"
while IFS= read -r line; do
    case $line in
        '# /etc/systemd/system/'*) unit=$rig/${line##*/} ;;
        *) printf '%s\n' "$line" >>$unit ;;
    esac
done <$rig/units
systemd-analyze verify --man=no $rig/mnt-*.mount
for unit in $rig/mnt-*.mount; do
    value() { sed -n "s/^$1=//p" $unit; }
    mount "$(value What)" "$(value Where)" -t "$(value Type)" -o "$(value Options)"
    echo unit >"$(value Where)/unit"
    umount "$(value Where)" -c
    gone "$(value Where)"
done
[ "$(cat $export/unit $rig/other/unit)" = $'unit\nunit' ] || fail "units: not written"
SH
nsenter --net=/run/netns/$client unshare -m env PATH=/usr/bin:/usr/sbin:/bin:/sbin bash $rig/inside $rig

echo "--- a process for each datastore: one that is killed takes no other with it"
mkdir $rig/many
nsenter --net=/run/netns/$client "$BIN/nfsbal" mount -f -o nolock,vips=10.77.0.12 --process-per-datastore $rig/site.yaml --at $rig/many &
pid=$!
rig_wait "mountpoint -q $rig/many/one && mountpoint -q $rig/many/two" "both"
mapfile -t children < <(pgrep -P $pid)
expect "processes" ${#children[@]} 2
echo alive >$rig/many/two/alive
kill -KILL ${children[0]}
! ls $rig/many/one >/dev/null 2>&1 || fail "one: still there"
expect "two" "$(cat $rig/many/two/alive)" alive
exec 3>$rig/many/two/held
echo held >&3
kill -TERM $pid
rig_wait "! mountpoint -q $rig/many/two" "two to be detached"
exec 3>&-
! wait $pid || fail "it does not say that a process was killed"
expect "held" "$(cat $rig/other/held)" held
umount -l $rig/many/one

echo "--- all or none, told to the service manager when all are there"
sed "s|$rig/other|$rig/nothing|" $rig/site.yaml >$rig/wrong.yaml
! nsenter --net=/run/netns/$client "$BIN/nfsbal" mount -o nolock,soft --process-per-datastore $rig/wrong.yaml --at $rig/many 2>$rig/err ||
    fail "mounted what is not there"
grep -q "$rig/nothing" $rig/err
rig_wait "! grep -q $rig/many /proc/mounts" "nothing to be left"
python3 - $rig/notify >$rig/told <<'PY' &
import socket, sys
s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
s.bind(sys.argv[1])
s.settimeout(20)
print(s.recv(100).decode())
PY
listener=$!
rig_wait "[ -e $rig/notify ]" "the socket"
NOTIFY_SOCKET=$rig/notify nsenter --net=/run/netns/$client "$BIN/nfsbal" mount -f -o nolock --process-per-datastore $rig/site.yaml --at $rig/many &
pid=$!
wait $listener
expect "told" "$(cat $rig/told)" READY=1
mountpoint -q $rig/many/one && mountpoint -q $rig/many/two || fail "told before it was mounted"
kill -TERM $pid
wait $pid
systemd-analyze verify --man=no $BUILD/nfsbal@.service 2>$rig/err || true
! grep -v 'is not executable' $rig/err || fail "the unit"
