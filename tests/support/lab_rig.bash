# Live labs for tests: a folder of their own for labs, names that no other test has, and nothing left when the script ends, however
# it ends. Source it.

[ "$(id -u)" = 0 ] || { echo "skipped: needs root for network namespaces"; exit 77; }
[ -e /dev/net/tun ] || { echo "skipped: no /dev/net/tun"; exit 77; }
for program in iperf3 ip ping; do
    command -v $program >/dev/null || { echo "skipped: no $program"; exit 77; }
done

. tests/support/leftovers.bash

rig=$(mktemp -d)
export EMU_RUNDIR=$rig/labs
lab=t$$ # names of labs begin with this
trap rig_down EXIT
trap 'exit 1' INT TERM HUP

rig_down() {
    local rc=$?
    set +e
    emu down -q --all >"$rig/down" 2>&1
    emu clean -q
    rm -rf "$rig"
    exit $rc
}

fail() {
    echo "FAILED: $*"
    for log in "$EMU_RUNDIR"/*/log; do
        [ ! -s "$log" ] || { echo "-- $log"; tail -n 20 "$log"; }
    done
    exit 1
}

nothing_left() { none_left "$1" $lab; } # WHEN

# Mbit/s that one iperf3 run receives. Further arguments go to the client.
rate() { # LAB CLIENT SERVER ADDRESS SECONDS [ARGUMENT...]
    local l=$1 client=$2 server=$3 address=$4 seconds=$5 port=$((5201 + RANDOM % 20000)) out
    shift 5
    emu exec "$l" "$server" -- iperf3 -s -1 -D -p $port
    for _ in $(seq 50); do
        ! emu exec "$l" "$server" -- ss -Hltn "sport = :$port" | grep -q . || break
        sleep 0.05
    done
    out=$(emu exec "$l" "$client" -- timeout $((seconds + 20)) iperf3 -c "$address" -p $port -t "$seconds" -i 0 -f m "$@") || {
        echo 0
        return
    }
    awk '/receiver/ && (!/SUM/ || !sum) { for (i = 1; i <= NF; i++) if ($i == "Mbits/sec") r = $(i - 1); if (/SUM/) sum = 1 }
        END { print r + 0 }' <<<"$out"
}

# Fails unless LOW <= VALUE <= HIGH.
between() { # WHAT VALUE LOW HIGH
    awk -v v="$2" -v low="$3" -v high="$4" 'BEGIN { exit !(v >= low && v <= high) }' ||
        fail "$1: $2, expected from $3 to $4"
    echo "$1: $2"
}

# Two Linux hosts on a switch, cables of the given rate and MTU.
pair() { # RATE MTU
    cat <<EOF
version: 1
name: pair
nodes:
  a: {kind: linux, kernel: "6.1", interfaces: {eth0: {address: 10.0.0.1/24, mtu: $2}}}
  b: {kind: linux, kernel: "6.1", interfaces: {eth0: {address: 10.0.0.2/24, mtu: $2}}}
  sw: {kind: switch, mtu: 9216}
links:
  - {ends: ["a:eth0", "sw:p1"], speed: $1}
  - {ends: ["b:eth0", "sw:p2"], speed: $1}
EOF
}
