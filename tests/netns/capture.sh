#!/usr/bin/env bash
# needs: full. What emu capture writes, read by tshark: real frames, none malformed, checksums right, the rate of the link; tags.
# shellcheck disable=SC1091,SC2154,SC2086 # the rig's variables; names of labs have no blanks
set -euo pipefail
. tests/support/lab_rig.bash

command -v tshark >/dev/null || { echo "skipped: tshark is not installed"; exit 77; }
# One host with its vmknic in VLAN 50 under IP hash, one NAS with an access port.
cat >"$rig/site.yaml" <<'EOF'
version: 1
name: capture
nodes:
  esx1:
    kind: esxi
    version: "7.0u3"
    vswitches: {vSwitch1: {uplinks: "vmnic[0-1]", teaming: ip-hash}}
    portgroups: {nfs: {vswitch: vSwitch1, vlan: 50}}
    vmknics: {vmk1: {portgroup: nfs, address: 10.0.0.16/24}}
  sw:
    kind: switch
    mtu: 9216
    hash: xor-src-dst-ip
    vlans: [50]
    lags: {po1: {to: "esx1:vSwitch1", mode: static, vlan: trunk}}
    ports: {p9: {vlan: 50}}
  nas: {kind: nas, controllers: {c: {nics: [e0]}}, exports: {/v: {}}, vips: {"10.0.0.[100-101]/24": {home: c}}}
links:
  - {ends: ["esx1:vmnic[0-1]", "sw:p[1-2]"], speed: 100M}
  - {ends: ["nas:c.e0", "sw:p9"], speed: 1G}
EOF
emu up -q --no-nas --name $lab "$rig/site.yaml"

# All that is asked of a capture, in one pass: a line per frame, its fields divided by blanks, "-" where there is none.
fields() { # FILE
    tshark -r "$1" -o ip.check_checksum:TRUE -o tcp.check_checksum:TRUE -T fields -E separator=, -E occurrence=f \
        -e frame.time_epoch -e frame.len -e frame.cap_len -e vlan.id -e ip.len -e tcp.dstport -e tcp.flags.syn -e icmp.type \
        -e ip.checksum.status -e tcp.checksum.status -e tcp.analysis.lost_segment -e tcp.analysis.ack_lost_segment \
        -e _ws.malformed 2>/dev/null | awk -F, -v OFS=" " '{ for (i = 1; i <= 13; i++) $i = $i == "" ? "-" : $i; gsub(/ /, "_", $13); print }'
}
# TIME, LEN ... name the columns for awk.
columns='{ time = $1; len = $2; cap = $3; vlan = $4; iplen = $5; port = $6; syn = $7; icmp = $8; ipsum = $9; tcpsum = $10; hole = $11 $12; bad = $13 }'
# Frames of a file of fields for which the expression holds.
count() { awk "$columns $2 { n++ } END { print n + 0 }" "$1"; } # FILE EXPRESSION
# Nothing that a dissector objects to (status 0: a wrong checksum), and no time that goes back.
sound() { # NAME : of .pcap; leaves .txt
    fields "$rig/$1.pcap" >"$rig/$1.txt" || fail "$1.pcap can't be read"
    [ "$(count "$rig/$1.txt" 'bad != "-" || ipsum == "0" || tcpsum == "0" || (iplen != "-" && iplen > 1500)')" = 0 ] ||
        fail "$1: $(awk "$columns"' bad != "-" || ipsum == "0" || tcpsum == "0" || (iplen != "-" && iplen > 1500)' "$rig/$1.txt" | head -n 3)"
    awk '$1 < last { exit 1 } { last = $1 }' "$rig/$1.txt" || fail "$1: not in order of time"
}

# 10.0.0.16 xor 10.0.0.100 is even, with 10.0.0.101 it is odd: vmnic0 and vmnic1.
emu exec $lab nas:c -- iperf3 -s -1 -D -p 5201
for _ in $(seq 100); do
    ! emu exec $lab nas:c -- ss -Hltn "sport = :5201" | grep -q . || break
    sleep 0.05
done
emu capture $lab esx1:vmnic0 -q -w "$rig/up.pcap" &
c1=$!
emu capture $lab "sw:p9" -q -s 100 -w "$rig/nas.pcap" &
c2=$!
emu capture $lab "esx1:vmnic1>sw:p2" -w "$rig/other.pcap" 2>"$rig/other.err" &
c3=$!
sleep 0.3
emu exec $lab esx1 -- ping -q -c 3 -i 0.1 10.0.0.101 >/dev/null
emu exec $lab esx1 -- timeout 30 iperf3 -c 10.0.0.100 -p 5201 -t 2 >/dev/null
kill -INT $c1 $c2 $c3
wait $c1 $c2 $c3 || fail "a capture ended with $?: $(cat "$rig/other.err")"

for file in up nas other; do
    sound $file
done
[ "$(count "$rig/up.txt" 'vlan != 50 && iplen != "-"')" = 0 ] || fail "frames without their tag"
[ "$(count "$rig/nas.txt" 'vlan != "-"')" = 0 ] || fail "tags on an access port"
[ "$(count "$rig/up.txt" 'port == 5201 && syn ~ /1|True/')" -ge 1 ] || fail "no SYN"
[ "$(count "$rig/up.txt" 'hole != "--"')" = 0 ] || fail "holes in the capture"
[ "$(count "$rig/nas.txt" 'cap > 100')" = 0 ] || fail "--snap is not kept"
[ "$(count "$rig/nas.txt" 'len == 1514')" -ge 1000 ] || fail "--snap changes the length of frames"
[ "$(count "$rig/other.txt" 'icmp != "-"')" = 3 ] || fail "one direction of a ping: $(cat "$rig/other.txt")"
grep -q "^$(count "$rig/other.txt" 1) frames captured, " "$rig/other.err" || fail "says: $(cat "$rig/other.err")"
# Full frames of 1,518 bytes and 24 more at 100 Mbit/s: 8,106 a second, 123.36 us apart when back to back.
awk "$columns port == 5201 && len == 1518 { print time }" "$rig/up.txt" >"$rig/full.txt"
second=$(awk 'NR == 1 { begin = $1 + 0.2 } $1 >= begin && $1 < begin + 1 { n++ } END { print n }' "$rig/full.txt")
between "full frames in a second at 100 Mbit/s" "$second" 6900 8107
closest=$(awk 'NR > 1 { d = ($1 - last) * 1e6; if (!least || d < least) least = d } { last = $1 } END { print least }' "$rig/full.txt")
between "two full frames, us apart at least" "$closest" 122 124

# A pipe that begins at once, ends after a count, and whose end is an error.
emu exec $lab esx1 -- ping -q -c 30 -i 0.1 10.0.0.100 >/dev/null &
[ "$(timeout 20 emu capture $lab esx1:vmnic0 -q -c 5 -w - | tshark -r - 2>/dev/null | wc -l)" = 5 ] || fail "a pipe of five frames"
rc=0
timeout 20 emu capture $lab esx1:vmnic0 -q -w - 2>"$rig/err" | true || rc=$?
wait
grep -q "writing standard output: Broken pipe" "$rig/err" || fail "a closed pipe: $(cat "$rig/err")"
! timeout 20 emu capture $lab esx1:vmnic0 -q --for 5s -w /dev/full 2>"$rig/err" || fail "a full disk is no error"
grep -q "/dev/full: No space left on device" "$rig/err" || fail "a full disk: $(cat "$rig/err")"
timeout 20 emu capture $lab esx1:vmnic0 -q --for 200ms -w "$rig/for.pcap" || fail "--for"
tshark -r "$rig/for.pcap" >/dev/null 2>&1 || fail "a capture without frames can't be read"

refused() { # PATTERN COMMAND...
    local pattern=$1 rc=0
    shift
    "$@" >"$rig/out" 2>"$rig/err" || rc=$?
    [ $rc -eq 2 ] || fail "$*: exit $rc, not 2: $(cat "$rig/err")"
    grep -qE -- "$pattern" "$rig/err" || fail "$*: no \"$pattern\" in: $(cat "$rig/err")"
}
refused 'did you mean `esx1:vmnic0`' emu capture $lab esx1:vmnic5 -w "$rig/none.pcap"
refused '-w FILE is missing' emu capture $lab esx1:vmnic0
refused '65 bytes|no integer from 64' emu capture $lab esx1:vmnic0 -s 10 -w "$rig/none.pcap"
[ ! -e "$rig/none.pcap" ] || fail "a refused capture leaves a file"

# The lab ends under a capture: the file is whole.
emu capture $lab sw:p9 -q -w "$rig/end.pcap" &
c1=$!
sleep 0.2
emu exec $lab esx1 -- ping -q -c 3 -i 0.05 10.0.0.100 >/dev/null
emu down -q $lab
wait $c1 || fail "the end of the lab is an error"
sound end
[ "$(count "$rig/end.txt" 'icmp != "-"')" = 6 ] || fail "frames are missing at the end: $(cat "$rig/end.txt")"
nothing_left "after down"
