# What the benchmarks of live labs and their peers share. Source it.
# shellcheck shell=bash

[ "$(id -u)" = 0 ] || { echo "skipped: needs root for network namespaces"; exit 77; }
[ -e /dev/net/tun ] || { echo "skipped: no /dev/net/tun"; exit 77; }
need() { # PROGRAM PACKAGE
    command -v "$1" >/dev/null || { echo "skipped: $1 is not installed (Debian: $2)"; exit 77; }
}
need iperf3 iperf3
need ip iproute2

bench=$(mktemp -d)
export EMU_RUNDIR=$bench/labs
ns=bench$$- # names of namespaces and labs begin with this
cleanup=()  # commands for the end, the last first
at_end() {
    local rc=$? i
    set +e
    emu down -q --all >/dev/null 2>&1
    for ((i = ${#cleanup[@]} - 1; i >= 0; i--)); do
        eval "${cleanup[i]}" >/dev/null 2>&1
    done
    for name in $(ip netns list 2>/dev/null | awk -v n="$ns" 'index($1, n) == 1 { print $1 }'); do
        ip netns pids "$name" | xargs -r kill 2>/dev/null
        ip netns del "$name"
    done
    rm -rf "$bench"
    exit $rc
}
trap at_end EXIT
trap 'exit 1' INT TERM HUP

# Mbit/s of payload that iperf3 receives over so many seconds, the first one left out. The two words are how a command is run on
# the client and on the server.
measure() { # CLIENT SERVER ADDRESS SECONDS [ARGUMENT...]
    local client=$1 server=$2 address=$3 seconds=$4
    shift 4
    $server iperf3 -s -1 -D -p 5301
    for _ in $(seq 100); do
        ! $server ss -Hltn "sport = :5301" | grep -q . || break
        sleep 0.05
    done
    $client timeout $((seconds + 30)) iperf3 -c "$address" -p 5301 -t "$seconds" -O 1 -i 0 -f m -C cubic "$@" |
        awk '/receiver/ { for (i = 1; i <= NF; i++) if ($i == "Mbits/sec") r = $(i - 1) } END { print r + 0; exit !r }'
}

# The file of two hosts a and b on a switch.
two_hosts() { # SPEED MTU
    cat <<YAML
version: 1
name: live-pair
nodes:
  a: {kind: linux, kernel: "6.1", interfaces: {eth0: {address: 10.0.0.1/24, mtu: $2}}}
  b: {kind: linux, kernel: "6.1", interfaces: {eth0: {address: 10.0.0.2/24, mtu: $2}}}
  sw: {kind: switch, mtu: 9216}
links:
  - {ends: ["a:eth0", "sw:p1"], speed: $1}
  - {ends: ["b:eth0", "sw:p2"], speed: $1}
YAML
}

# Percent that are left when what was measured is off by the rest: 99 is one percent beside it.
accuracy() { awk -v m="$1" -v e="$2" 'BEGIN { d = m - e; print 100 - 100 * (d < 0 ? -d : d) / e }'; } # MEASURED EXPECTED

# Two namespaces ${ns}a and ${ns}b, each with a veth eth0 whose other end is p0 and p1 in a third, ${ns}sw. Without offloads a
# switch that doesn't know of them needs: frames as on a wire.
veth_pair() { # MTU
    local i=0 n
    for n in a b sw; do
        ip netns add "$ns$n"
        ip -n "$ns$n" link set lo up
    done
    for n in a b; do
        ip -n "$ns$n" link add eth0 type veth peer name p$i netns "${ns}sw"
        ip -n "$ns$n" addr add "10.0.0.$((i + 1))/24" dev eth0
        ip -n "$ns$n" link set eth0 mtu "$1" up
        ip -n "${ns}sw" link set p$i mtu "$1" up
        i=$((i + 1))
    done
}
# How a command is run in them.
# shellcheck disable=SC2034 # for who sources this
a="ip netns exec ${ns}a" b="ip netns exec ${ns}b" sw="ip netns exec ${ns}sw"
