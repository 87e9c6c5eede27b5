# Open vSwitch in user space between two veth pairs, everything of it in a folder of its own. Source it after live.bash.
# shellcheck shell=bash disable=SC2154 # bench and sw are live.bash's

need ovs-vswitchd openvswitch-switch
need ovsdb-tool openvswitch-switch

ovs_up() { # tso|plain
    local schema=/usr/share/openvswitch/vswitch.ovsschema db=unix:$bench/db.sock
    [ -e $schema ] || { echo "skipped: no $schema"; exit 77; }
    export OVS_RUNDIR=$bench OVS_LOGDIR=$bench OVS_DBDIR=$bench
    ovsdb-tool create "$bench/conf.db" $schema
    cleanup+=("kill \$(cat $bench/ovsdb.pid $bench/vswitchd.pid); sleep 0.3")
    $sw ovsdb-server "$bench/conf.db" --remote="punix:$bench/db.sock" --detach --no-chdir --pidfile="$bench/ovsdb.pid" --log-file="$bench/db.log" 2>/dev/null
    ovs-vsctl --db="$db" --no-wait init
    [ "$1" = plain ] || ovs-vsctl --db="$db" --no-wait set Open_vSwitch . other_config:userspace-tso-enable=true
    $sw ovs-vswitchd "$db" --detach --no-chdir --pidfile="$bench/vswitchd.pid" --log-file="$bench/vswitchd.log" 2>/dev/null
    ovs-vsctl --db="$db" add-br br0 -- set bridge br0 datapath_type=netdev -- add-port br0 p0 -- add-port br0 p1
    sleep 0.5
}
