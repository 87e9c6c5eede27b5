#!/usr/bin/env bash
# needs: full release alone. Every key of emu set, and emu move: the effect measured by ping, iperf3 and a capture.
# shellcheck disable=SC1091,SC2154,SC2086 # the rig's variables; names of labs have no blanks
set -euo pipefail
. tests/support/lab_rig.bash

# esx1 has four uplinks under IP hash. 10.10.5.101 takes vmnic4 both ways, 10.10.5.102 vmnic3; the NAS answers by eth3.
emu up -q --no-nas --name $lab --case ip-hash topologies/fs7500/fig09-teaming.yaml
set_link() { emu set $lab "$@" || fail "emu set $*"; }
esx() { emu exec $lab esx1 -- "$@"; }
mean_ms() { esx ping -q -n -c 10 -i 0.02 -W 2 "${1-10.10.5.101}" | awk -F/ '/^rtt/ { print $5 }'; }
lost_of_100() { # ADDRESS
    esx ping -q -n -c 100 -i 0.005 -W 0.3 "$1" | sed -n 's/.* \([0-9.]*\)% packet loss.*/\1/p' || true
}
rate_of() { rate $lab esx1 fs7500:ctl1 10.10.5.101 1; }
field() { # DIRECTION FIELD : of emu top --json over 100 ms; a line per direction
    emu top $lab --json --interval 100ms | awk -v name="\"$1\"" -v field="\"$2\": " '
        index($0, "{\"name\": " name) { sub(".*" field, ""); sub("[,}].*", ""); gsub("\"", ""); print }'
}
refused() { # PATTERN COMMAND...
    local pattern=$1 rc=0
    shift
    "$@" >"$rig/out" 2>"$rig/err" || rc=$?
    [ $rc -eq 2 ] || fail "$*: exit $rc, not 2: $(cat "$rig/err")"
    grep -qE -- "$pattern" "$rig/err" || fail "$*: no \"$pattern\" in: $(cat "$rig/err")"
}

echo "-- rate"
between "untouched, Mbit/s" "$(rate_of)" 700 992
set_link esx1:vmnic4 rate=100M
between "at 100M, Mbit/s" "$(rate_of)" 85 99.2
[ "$(field 'pc7048:ge3>esx1:vmnic4' bit_per_s)" = 100000000 ] || fail "emu top shows another rate"
set_link esx1:vmnic4 rate=1G

echo "-- delay: one way each"
between "untouched, ms" "$(mean_ms)" 0 10
set_link "esx1:vmnic4>pc7048:ge3" delay=20ms
between "with 20ms, ms" "$(mean_ms)" 40 60
between "another link, ms" "$(mean_ms 10.10.5.102)" 0 10
set_link esx1:vmnic4 delay=1ms
between "throughput with 1ms, Mbit/s" "$(rate $lab esx1 fs7500:ctl1 10.10.5.101 2 -O 1)" 600 992
set_link esx1:vmnic4 delay=5us

echo "-- loss: there and back"
set_link esx1:vmnic4 loss=20%
between "with 20 %, lost %" "$(lost_of_100 10.10.5.101)" 15 60 # 36 expected, five deviations are 24
set_link esx1:vmnic4 loss=0%
between "without, lost %" "$(lost_of_100 10.10.5.101)" 0 0

echo "-- buffer: of the switch towards the NAS, where 100 Mbit/s meet 1 Gbit/s; 10.10.5.103 receives by eth1"
for buffer in 64KiB 1MiB; do
    set_link fs7500:ctl1.eth1 rate=100M buffer=$buffer
    emu exec $lab fs7500:ctl1 -- iperf3 -s -1 -D -p 6001 -B 10.10.5.103
    for _ in $(seq 100); do
        ! emu exec $lab fs7500:ctl1 -- ss -Hltn "sport = :6001" | grep -q . || break
        sleep 0.05
    done
    esx timeout 20 iperf3 -c 10.10.5.103 -p 6001 -u -b 300M -t 1 >/dev/null || fail "no UDP through a full queue"
    peak=$(field 'pc7048:ge12>fs7500:ctl1.eth1' queue_peak)
    case $buffer in
    64KiB) between "most that waited at 64KiB, bytes" "$peak" 57000 74600 ;;
    1MiB) between "most that waited at 1MiB, bytes" "$peak" 1039000 1057700 ;;
    esac
done

echo "-- state"
moved() { # BEFORE : frames that vmnic2, 3 and 5 have carried since
    local now
    now=$(($(field 'esx1:vmnic2>pc7048:ge1' frames) + $(field 'esx1:vmnic3>pc7048:ge2' frames) + $(field 'esx1:vmnic5>pc7048:ge4' frames)))
    echo $((now - $1))
}
set_link esx1:vmnic4 state=down
before=$(moved 0)
between "down: the others take over, lost %" "$(lost_of_100 10.10.5.101)" 0 0
between "down: frames on the others" "$(moved "$before")" 100 400
set_link esx1:vmnic4 state=up
before=$(moved 0)
between "up: lost %" "$(lost_of_100 10.10.5.101)" 0 0
between "up: frames on the others" "$(moved "$before")" 0 10
set_link esx1:vmnic4 state=blackhole
between "blackhole: lost %" "$(lost_of_100 10.10.5.101)" 100 100
between "blackhole: another flow, lost %" "$(lost_of_100 10.10.5.102)" 0 0
[ "$(field 'esx1:vmnic4>pc7048:ge3' state)" = blackhole ] || fail "emu top shows another state"
set_link "pc7048:ge3>esx1:vmnic4" state=one-way # answers get lost
before=$(field 'esx1:vmnic4>pc7048:ge3' frames)
between "one-way: lost %" "$(lost_of_100 10.10.5.101)" 100 100
between "one-way: the other direction, frames" "$(($(field 'esx1:vmnic4>pc7048:ge3' frames) - before))" 90 200
set_link esx1:vmnic4 state=up
between "healed: lost %" "$(lost_of_100 10.10.5.101)" 0 0

echo "-- move"
captures=() # the LAG has one member for it; which is the hash's affair
for port in 1 2 3 4; do
    emu capture $lab "pc7048:ge$port" -q -w "$rig/arp$port.pcap" &
    captures+=($!)
done
sleep 0.3
emu move $lab 10.10.5.101 ctl2
emu exec $lab fs7500:ctl2 -- ip -br addr | grep -q "10\.10\.5\.101/" || fail "the address has not come to ctl2"
emu exec $lab fs7500:ctl1 -- ip -br addr | grep -q "10\.10\.5\.101/" && fail "the address is still at ctl1"
emu exec $lab fs7500:ctl1 -- ip -br addr | grep -q "10\.10\.5\.103/.*10\.10\.5\.107/" || fail "others have gone with it"
between "moved: lost %" "$(lost_of_100 10.10.5.101)" 0 0
kill -INT "${captures[@]}"
wait "${captures[@]}"
if command -v tshark >/dev/null; then
    announced=0
    for port in 1 2 3 4; do
        n=$(tshark -r "$rig/arp$port.pcap" -Y "arp.isgratuitous == 1 && arp.src.proto_ipv4 == 10.10.5.101" 2>/dev/null | wc -l)
        announced=$((announced + n))
    done
    between "moved: gratuitous ARP" $announced 1 1
fi
emu move $lab --no-garp 10.10.5.101 fs7500:ctl1
between "moved quietly: lost %" "$(lost_of_100 10.10.5.101)" 90 100 # until the host asks anew
emu move $lab 10.10.5.101 ctl1
between "announced: lost %" "$(lost_of_100 10.10.5.101)" 0 0

echo "-- refused, and nothing changes"
refused 'did you mean `esx1:vmnic2`' emu set $lab esx1:vmnic1 state=down
refused 'a link has no `speed`' emu set $lab esx1:vmnic4 speed=1G
refused 'rate: `fast` is not' emu set $lab esx1:vmnic4 state=down rate=fast
[ "$(field 'esx1:vmnic4>pc7048:ge3' state)" = up ] || fail "half of a refused change was made"
refused 'no VIP `10.10.5.201`' emu move $lab 10.10.5.201 ctl1
refused 'no controller `ctl3`' emu move $lab 10.10.5.101 ctl3
refused 'lab .no-such-lab' emu set no-such-lab esx1:vmnic4 state=down
emu down -q $lab
nothing_left "after down"
