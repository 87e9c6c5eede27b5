# The NFS server of a real kernel (knfsd) as the controller ctl1 of a lab, under our client. Sourced by scripts/kernel-oracle.
# shellcheck shell=bash disable=SC2154 # tmp, seed, place_... are the script's and vm.bash's
. tests/kernel/vm.bash
. tests/kernel/coherent.bash
lab=kernel-server-$$
space=emu-$lab-h1

say() { echo "--- $*"; }
on_h1() { nsenter --net="/run/netns/$space" "$@"; }

server_image() {
    local tools file
    vm_kernel
    tools=$(vm_package nfs-kernel-server)
    vm_root
    mkdir -p "$tmp/root/var/lib/nfs/sm"
    vm_program "$tools"/usr/sbin/{rpc.mountd,rpc.nfsd,exportfs} "$(command -v rpcbind)"
    for file in netconfig services protocols; do cp "/etc/$file" "$tmp/root/etc/"; done
    printf 'root:x:0:0::/:/bin/sh\n_rpc:x:1:1::/:/bin/sh\n' >"$tmp/root/etc/passwd" # rpcbind wants to be _rpc
    ln -s /run "$tmp/root/var/run"
    printf '/srv/tmpfs *(rw,sync,no_root_squash,insecure,no_subtree_check,fsid=1)\n/srv/ext4 *(rw,sync,no_root_squash,insecure,no_subtree_check,fsid=2)\n' \
        >"$tmp/root/etc/exports"
    for file in nfsd nfsv3 nfsv4 virtio_blk; do vm_module $file; done
    truncate -s 400M "$tmp/disk"
    mkfs.ext4 -q -F "$tmp/disk"
}

# Boots the machine in the place of ctl1 and serves; a second time, as after a loss of power.
# NFS 4 clients wait for the grace period after a start, 90 s by default.
server_boot() {
    local vip
    vm_memory=768
    vm_start "${vm_cards[@]}" -drive "file=$tmp/disk,if=none,id=d,format=raw,cache=unsafe" -device virtio-blk-pci,drive=d
    vm "ip link set eth0 address $place_mac mtu $place_mtu up; hostname ctl1"
    for vip in $place_address; do vm "ip address add $vip dev eth0"; done
    vm 'mkdir -p /srv/tmpfs /srv/ext4 /var/lib/nfs/v4recovery /run/rpcbind; mount -t nfsd nfsd /proc/fs/nfsd'
    vm 'mount -t tmpfs -o size=300m,mode=777 t /srv/tmpfs; mount -t ext4 /dev/vda /srv/ext4; chmod 777 /srv/ext4'
    vm 'rpcbind; touch /var/lib/nfs/etab /var/lib/nfs/rmtab; while [ ! -e /run/rpcbind.sock ]; do sleep 0.1; done'
    vm 'exportfs -r && rpc.mountd -p 20048 && rpc.nfsd -G 10 -L 10 -V 3 -V 4.1 8' || fail "knfsd did not start: $(vm 'dmesg | tail')"
}

server_up() {
    emu up -q --no-nas --name $lab tests/kernel/site.yaml
    vm_takes_place $lab nas:ctl1 bond0 1
    server_boot
}

# POSIX behaviour and random operations on one file, through our client.
semantics() { # EXPORT OPTIONS
    say "$1, $2: POSIX behaviour, random operations, data that is read back"
    ours_up "$space" "$2" '10.9.0.[11-14]' "/srv/$1"
    mkdir "$ours/posix"
    timeout 120 python3 tests/support/posix.py "$ours/posix" >"$tmp/posix" || { grep -v ^ok "$tmp/posix"; fail "posix.py on $1"; }
    echo "posix.py: $(grep -c ^ok "$tmp/posix") topics"
    timeout 60 python3 tests/support/fsx.py "$ours/fsx" 200 "$seed" 3000000
    rm -r "$ours/posix" "$ours/fsx"
    ours_down
    on_h1 timeout 60 "$(command -v nfsbal)" load 'nfs://10.9.0.[11-14]'"/srv/$1/load" --export "/srv/$1" --mountport 20048 --op mixed \
        --pattern random --block 128KiB --size 32MiB --fill --for 4s --verify --json | tail -n 1 >"$tmp/load" || fail "$1: nfsbal load: $(cat "$tmp/load")"
    python3 -c 'import json, sys
j = json.load(open(sys.argv[1]))["jobs"][0]
print(f"""load: {j["read"] / 1e6:.0f} MB read, {j["written"] / 1e6:.0f} MB written, verified, {j["errors"]} errors""")' "$tmp/load"
}

# Writes through our client for a while, and meanwhile something happens to the server; what fsync acknowledged is there.
under_load() { # WHAT EXPORT SECONDS COMMAND...
    local what=$1 export=$2 seconds=$3 writer
    shift 3
    say "$what"
    rm -f "$tmp/journal"
    ours_up "$space" mountport=20048,spread=stripe,bound=500ms,failback=300ms,quarantine=500ms '10.9.0.[11-14]' "/srv/$export"
    timeout 120 python3 tests/support/journal.py write "$ours/journal" "$tmp/journal" "$seed" "$seconds" &
    writer=$!
    sleep 1
    "$@"
    wait $writer || fail "$what: the writer has failed: $(cat "$tmp/mount.log")"
    ours_down
    ours_up "$space" noac 10.9.0.11 "/srv/$export"
    python3 tests/support/journal.py check "$ours/journal" "$tmp/journal" || fail "$what: data is lost"
    ours_down
}

nfsd_restarts() {
    vm 'rpc.nfsd 0; sleep 0.5; rpc.nfsd -G 10 -L 10 -V 3 -V 4.1 8'
}

power_is_lost() {
    kill -KILL "$(pgrep -P "$vm_pid")"
    wait "$vm_pid" 2>/dev/null || true
    server_boot
}

# The write verifiers of the replies in a capture.
verifiers() {
    # The last packet may be cut short, of which tshark makes an error.
    { tshark -r "$1" -Y 'nfs.procedure_v3 == 21 && rpc.msgtyp == 1' -T fields -e nfs.verifier 2>/dev/null || true; } | sort | uniq -c
}

server_main() {
    server_image
    server_up
    on_h1 "$(command -v nfsbal)" doctor --export /srv/ext4 --write-test . '10.9.0.[11-14]'
    semantics tmpfs spread=stripe
    semantics ext4 spread=stripe
    on_h1 tshark -q -i bond0 -f 'port 2049' -w "$tmp/pcap" >/dev/null 2>&1 &
    capture=$!
    sleep 1
    under_load "nfsd stops and starts: another write verifier" tmpfs 5 nfsd_restarts
    kill $capture
    wait $capture || true
    verifiers "$tmp/pcap" | tee "$tmp/verifiers"
    [ "$(wc -l <"$tmp/verifiers")" -ge 2 ] || fail "the verifier has not changed"
    under_load "the server loses power: what was unstable is gone, another verifier" ext4 14 power_is_lost
    say "the kernel's client and ours on the same files"
    for version in vers=3,mountport=20048,mountproto=tcp,nolock vers=4.1,clientaddr=127.0.0.1; do
        vm "mkdir -p /mnt/own; mount -i -t nfs -o $version,proto=tcp,port=2049,addr=127.0.0.1 127.0.0.1:/srv/ext4 /mnt/own" || fail "mount -o $version"
        ours_up "$space" mountport=20048 10.9.0.11 /srv/ext4
        coherent /mnt/own 5
        ours_down
        vm 'umount /mnt/own'
    done
}
