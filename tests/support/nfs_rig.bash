# A client, a switch and NFS servers in network namespaces of their own, for tests of the NFS client. Source it.
#
#      $client 10.77.0.1 ----+
#                            +---- $switch (a bridge)
#      $server1 VIPs    -----+
#      $server2 VIPs    -----+
#
# Both servers export the same directories ($rig/export as /export, $rig/other as /other) with the same handles and a write
# verifier each, as two controllers of a NAS. Everything is gone when the script ends, however it ends.

[ "$(id -u)" = 0 ] || { echo "skipped: needs root for network namespaces"; exit 77; }
for program in ip unshare ganesha.nfsd rpcbind; do
    command -v $program >/dev/null || { echo "skipped: no $program"; exit 77; }
done

rig=$(mktemp -d)
client=nfsc$$ switch=nfsw$$ server1=nfs1-$$ server2=nfs2-$$
trap rig_down EXIT
trap 'exit 1' INT TERM HUP

rig_down() {
    set +e
    for ns in $client $server1 $server2 $switch; do
        [ -e /run/netns/$ns ] || continue
        pids=$(ip netns pids $ns)
        [ -z "$pids" ] || kill -CONT $pids 2>/dev/null
        [ -z "$pids" ] || kill -KILL $pids 2>/dev/null
        ip netns del $ns
    done
    umount -l $rig/* 2>/dev/null
    umount -l $rig
    rm -rf $rig
}

in_client() { ip netns exec $client "$@"; }

# A port of the switch for a namespace.
rig_plug() { # NAMESPACE
    ip netns add $1
    # Deleting the first address of a subnet leaves the others.
    ip netns exec $1 sysctl -qw net.ipv4.conf.all.promote_secondaries=1
    ip -n $1 link set lo up
    ip -n $1 link add eth0 type veth peer name to-$1 netns $switch
    ip -n $switch link set to-$1 master br0 up
    ip -n $1 link set eth0 up
    ip netns exec $1 sysctl -qw net.ipv4.conf.all.promote_secondaries=1 # else the first VIP that goes takes all
}

rig_up() {
    mount -t tmpfs -o size=2g rig $rig
    mount --make-shared $rig # a server that is started later lets go of what is unmounted here
    mkdir -p $rig/export $rig/other
    chmod 777 $rig/export $rig/other
    ip netns add $switch
    ip -n $switch link add br0 type bridge
    ip -n $switch link set br0 up
    rig_plug $client
    rig_plug $server1
    rig_plug $server2
    ip -n $client addr add 10.77.0.1/24 dev eth0
}

# VIPs come and go; gratuitous ARP is what a real takeover sends.
rig_vip_add() { # SERVER ADDRESS...
    local ns=$1 a
    shift
    for a; do
        ip -n $ns addr add $a/24 dev eth0
        ip -n $client neigh flush to $a || true
    done
}
rig_vip_del() {
    local ns=$1 a
    shift
    for a; do ip -n $ns addr del $a/24 dev eth0; done
}

rig_config() { # SERVER
    cat <<CONF
NFS_CORE_PARAM { Protocols = 3; NFS_Port = 2049; MNT_Port = 20048; Enable_NLM = false; Enable_RQUOTA = false;
  Enable_UDP = false; fsid_device = true; Plugins_Dir = "/usr/lib/x86_64-linux-gnu/ganesha"; }
NFSV4 { Graceless = true; RecoveryBackend = fs; RecoveryRoot = "$rig/$1"; }
EXPORT_DEFAULTS { Protocols = 3; Transports = TCP; Access_Type = RW; Squash = none; SecType = sys;
  MaxRead = 1048576; MaxWrite = 1048576; PrefRead = 1048576; PrefWrite = 1048576; }
EXPORT { Export_Id = 1; Path = "${rig_first:-$rig/export}"; Pseudo = "/export"; FSAL { Name = VFS; } }
EXPORT { Export_Id = 2; Path = "$rig/other"; Pseudo = "/other"; FSAL { Name = VFS; } }
LOG { Default_Log_Level = EVENT; }
CONF
}

rig_server() { # SERVER; returns when it serves
    local ns=$1 dir=$rig/$1
    mkdir -p $dir
    rig_config $ns >$dir/ganesha.conf
    : >$dir/log
    MALLOC_MMAP_THRESHOLD_=33554432 MALLOC_TRIM_THRESHOLD_=268435456 ip netns exec $ns unshare -m --propagation slave bash -c "
        mount -t tmpfs run /run; mkdir -p /run/rpcbind /run/ganesha
        rpcbind -f & for i in \$(seq 100); do [ -e /run/rpcbind.sock ] && break; sleep 0.05; done
        exec ganesha.nfsd -F -f $dir/ganesha.conf -p $dir/pid -L $dir/log" >/dev/null 2>&1 &
    disown
    rig_wait "grep -q 'NFS SERVER INITIALIZED' $dir/log" "$ns to serve"
}

rig_server_kill() { # SERVER
    local pids
    pids=$(ip netns pids $1)
    [ -z "$pids" ] || kill -KILL $pids
    rig_wait "[ -z \"\$(ip netns pids $1)\" ]" "$1 to end"
}

rig_wait() { # CONDITION WHAT
    local i
    for i in $(seq 300); do
        eval "$1" && return 0
        sleep 0.05
    done
    echo "waited in vain for $2"
    return 1
}

fail() {
    echo "FAILED: $*"
    exit 1
}
