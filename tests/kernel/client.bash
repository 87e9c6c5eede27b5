# The NFS client and the bonding driver of a real kernel as the host h1 of a lab. Sourced by scripts/kernel-oracle.
# shellcheck shell=bash disable=SC2154 # tmp, place_... are the script's and vm.bash's
. tests/kernel/vm.bash
. tests/kernel/coherent.bash
lab=kernel-client-$$
options=proto=tcp,port=2049,timeo=50,retrans=2

say() { echo "--- $*"; }
top() { emu top --json --interval 100ms $lab >"$tmp/top"; }
sum() { sha256sum "$1" | cut -d ' ' -f 1; }
guest_sum() { vm "sha256sum $1" | cut -d ' ' -f 1; }

# Source ports of the machine's connections to a VIP, in the order in which they were made.
ports_to() { # VIP
    vm "cat /proc/net/tcp" | awk -v vip="$1" '
        BEGIN { split(vip, b, "."); want = sprintf("%02X%02X%02X%02X:0801", b[4], b[3], b[2], b[1]) }
        $3 == want && $4 == "01" { split($2, l, ":"); print l[2] }' | while read -r port; do echo $((16#$port)); done | paste -sd,
}

# The links that the lab's rules name for the connections to a VIP carried the data, and a fair share each.
over_the_right_links() { # DATASTORE VIP write|read
    local ports
    ports=$(ports_to "$2")
    emu path --json --host h1 --datastore "$1" --sport "$ports" tests/kernel/site.yaml >"$tmp/path"
    top
    echo "$1, $3: ports $ports"
    python3 tests/kernel/flows.py "$tmp/path" "$tmp/top" "$3" || fail "$1: $3: not over the links that the rules name"
}

client_up() {
    mkdir -p "$tmp/exports"
    emu up -q --name $lab --scale 0.1 --exports "$tmp/exports" tests/kernel/site.yaml
    vm_takes_place $lab h1 bond0 4
    vm_start "${vm_cards[@]}"
    vm 'echo layer3+4 >/sys/class/net/bond0/bonding/xmit_hash_policy'
    vm "ip link set bond0 address $place_mac mtu $place_mtu up"
    vm 'for i in 0 1 2 3; do ip link set eth$i mtu '"$place_mtu"'; echo +eth$i >/sys/class/net/bond0/bonding/slaves; done'
    vm "ip address add $place_address dev bond0; hostname h1; mkdir -p /mnt/v3 /mnt/nconnect /mnt/v41; sleep 1"
    vm 'ping -c 3 -i 0.2 -w 10 10.9.0.11' | tail -n 2
}

mount_in_guest() { # DATASTORE VIP VERSION PATH
    vm "mount -i -t nfs -o $3,$options,addr=$2 $2:$4 /mnt/$1" || fail "mounting $1: $(vm 'dmesg | tail')"
}

# Write and read over a mount, both held against what is on the server.
copy_both_ways() { # DATASTORE VIP FOLDER
    local mount=/mnt/$1 there=$tmp/exports/nas/$3
    say "$1"
    head -c 25165824 /dev/urandom >"$there/from-$1"
    vm "echo 3 >/proc/sys/vm/drop_caches; cat $mount/from-$1 >/tmp/data"
    over_the_right_links "$1" "$2" read
    [ "$(guest_sum /tmp/data)" = "$(sum "$there/from-$1")" ] || fail "$1: read something else than is there"
    vm "cat /tmp/data >$mount/to-$1" || fail "$1: writing"
    over_the_right_links "$1" "$2" write
    [ "$(sum "$there/to-$1")" = "$(sum "$there/from-$1")" ] || fail "$1: something else arrived than was written"
    rm "$there/from-$1" "$there/to-$1"
}

# What the machine's own bond has sent over each of its cards since the last call is what each uplink of the lab carried: on the
# wire a little more, headers of segments and 24 bytes a frame.
same_as_the_bond() { # WHAT
    local i
    top
    python3 -c 'import json, sys
links = {l["name"]: l["bytes"] for l in json.load(open(sys.argv[1]))["links"]}
print(*(links[f"h1:eno{i}>sw:{i}"] for i in (1, 2, 3, 4)))' "$tmp/top" | tr ' ' '\n' >"$tmp/lab.now"
    vm 'cat /sys/class/net/eth[0-3]/statistics/tx_bytes' >"$tmp/bond.now"
    for i in lab bond; do [ -e "$tmp/$i.before" ] || printf '0\n0\n0\n0\n' >"$tmp/$i.before"; done
    paste "$tmp/bond.now" "$tmp/bond.before" "$tmp/lab.now" "$tmp/lab.before" | awk -v what="$1" '
        { bond = $1 - $2; lab = $3 - $4; printf "%s: eth%d %.2f MB, eno%d %.2f MB\n", what, NR - 1, bond / 1e6, NR, lab / 1e6 }
        lab < bond || lab > 1.10 * bond + 100000 { wrong = 1 }
        END { exit wrong }' || fail "$1: the kernel's bond and the lab's disagree"
    mv "$tmp/lab.now" "$tmp/lab.before"
    mv "$tmp/bond.now" "$tmp/bond.before"
}

# Copies /tmp/data to a mount while something happens, and holds what arrived against it.
copy_while() { # WHAT DATASTORE FOLDER COMMAND...
    local what=$1 mount=/mnt/$2 there=$tmp/exports/nas/$3 begin=$SECONDS
    shift 3
    rm -f "$there/copy"
    vm "rm -f /tmp/rc; (cat /tmp/data >$mount/copy; echo \$? >/tmp/rc) >/dev/null 2>/tmp/err &"
    sleep 0.6
    "$@"
    vm 'while [ ! -e /tmp/rc ]; do sleep 0.1; done; cat /tmp/err; exit $(cat /tmp/rc)' || fail "$what: the copy has failed"
    [ "$(sum "$there/copy")" = "$(guest_sum /tmp/data)" ] || fail "$what: something else arrived than was written"
    echo "$what: $(($(stat -c %s "$there/copy") / 1000000)) MB arrived whole, after $((SECONDS - begin)) s"
}

carrier() { # MEMBER down|up : of the machine's card and of the lab's link
    vm "ip link set eth$1 $2"
    emu set $lab "h1:eno$(($1 + 1))" "state=$2" >/dev/null
}

link_fails() {
    local member
    say "a link fails and heals during a copy"
    member=$(python3 -c 'import json, sys
print(json.load(open(sys.argv[1]))["flows"][0]["write"]["hops"][0]["index"])' "$tmp/path")
    same_as_the_bond "before"
    copy_while "link $member down" nconnect vol carrier "$member" down
    top
    vm 'cat /sys/class/net/eth[0-3]/statistics/tx_bytes' >"$tmp/bond.before"
    python3 -c 'import json, sys
links = {l["name"]: l["bytes"] for l in json.load(open(sys.argv[1]))["links"]}
print(*(links[f"h1:eno{i}>sw:{i}"] for i in (1, 2, 3, 4)))' "$tmp/top" | tr ' ' '\n' >"$tmp/lab.before"
    copy_while "three links" nconnect vol true
    same_as_the_bond "three links"
    copy_while "link $member up" nconnect vol carrier "$member" up
}

vip_moves() {
    local name=$1 vip=$2 before
    before=$(ports_to "$vip")
    copy_while "$name: $vip moves" "$name" "$3" emu move $lab "$vip" ctl2
    echo "$name: ports before the move $before, after it $(ports_to "$vip")"
    copy_while "$name: $vip moves back" "$name" "$3" emu move $lab "$vip" ctl1
    echo "$name: ports $(ports_to "$vip")"
}

client_main() {
    vm_kernel
    vm_root
    vm_module nfsv3
    vm_module nfsv4
    vm_module bonding "max_bonds=1 mode=balance-xor miimon=10"
    client_up
    v3=vers=3,mountport=20048,mountproto=tcp,nolock
    mount_in_guest v3 10.9.0.11 $v3 /vol
    mount_in_guest nconnect 10.9.0.12 $v3,nconnect=4 /vol
    mount_in_guest v41 10.9.0.13 vers=4.1,nconnect=4,clientaddr=10.9.0.1 /vol4
    copy_both_ways v3 10.9.0.11 vol
    copy_both_ways v41 10.9.0.13 vol4
    copy_both_ways nconnect 10.9.0.12 vol
    link_fails
    say "VIPs move"
    vip_moves v3 10.9.0.11 vol
    vip_moves nconnect 10.9.0.12 vol
    vip_moves v41 10.9.0.13 vol4
    say "the kernel's client and ours on the same files"
    ours_up emu-$lab-h2 mountport=20048 10.9.0.14 /vol
    coherent /mnt/v3 5
    ours_down
    ours_up emu-$lab-h2 mountport=20048 10.9.0.14 /vol4
    coherent /mnt/v41 5
    ours_down
}
