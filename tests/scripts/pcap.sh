#!/usr/bin/env bash
# needs: full
# tshark reads the captures of a run: no malformed frame, right checksums, a TCP that it has nothing to say about, the
# frames and the rate that the result states, ARP before anything else.
set -euo pipefail

command -v tshark >/dev/null || { echo "no tshark: scripts/setup installs it"; exit 77; }
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT

fail() {
    echo "FAILED: $1"
    exit 1
}

# tshark without its remarks about root.
shark() {
    tshark "$@" 2>"$tmp/tshark.err" || { cat "$tmp/tshark.err"; fail "tshark $*"; }
}

# $1: file, $2: detail
check_run() {
    local folder=$tmp/$2
    emu run --detail "$2" --case two-links --pcap "$folder" --json "$tmp/$2.json" --quiet "$1" >/dev/null
    local files=("$folder"/two-links/*.pcap) file link
    [ ${#files[@]} -eq 4 ] || fail "${#files[@]} captures, not 4: ${files[*]}"
    for file in "${files[@]}"; do
        [ "$(head -c 4 "$file" | od -An -tx1 | tr -d ' ')" = 4d3cb2a1 ] || fail "$file: no classic pcap with nanoseconds"
        shark -r "$file" -o ip.check_checksum:TRUE -o tcp.check_checksum:TRUE -T fields -e frame.time_epoch -e frame.len \
            -e ip.src -e ip.checksum.status -e tcp.checksum.status -e _ws.malformed -e _ws.short >"$file.txt"
        # A checksum is 1: good, 2: not to be verified (the payload is cut off), or absent.
        awk -F '\t' '$1 < last { print "out of order: " $0; bad = 1 }
                     $4 == 0 && $4 != "" || $5 == 0 && $5 != "" || $6 || $7 { print; bad = 1 }
                     { last = $1; verified += $5 == 1 } END { exit bad || !verified }' "$file.txt" >"$tmp/bad" ||
            { head "$tmp/bad"; fail "$file: malformed frames or wrong checksums"; }
    done

    # Both directions of a connection may take different cables: all of the host's together show it whole.
    mergecap -F nsecpcap -w "$tmp/host.pcap" "$folder"/two-links/esx1.*.pcap
    shark -r "$tmp/host.pcap" -Y 'tcp.analysis.flags and not tcp.analysis.window_full and not tcp.analysis.window_update' \
        >"$tmp/analysis"
    [ ! -s "$tmp/analysis" ] || { head "$tmp/analysis"; fail "$2: tshark finds fault with our TCP"; }
    shark -r "$tmp/host.pcap" -Y 'tcp.flags.syn == 1' -T fields -e tcp.flags.ack >"$tmp/syns"
    [ "$(sort "$tmp/syns" | uniq -c | awk '{print $1}' | xargs)" = "2 2" ] || fail "$2: not one handshake per connection"
    shark -r "$tmp/host.pcap" -Y 'arp.opcode == 1 and arp.dst.proto_ipv4 == 10.0.0.100' -c 100 >"$tmp/arp"
    [ -s "$tmp/arp" ] || fail "$2: no ARP request"

    # Wire bytes in the steady state against the result: each frame has 24 bytes of preamble, FCS and gap.
    for link in esx1.vmnic2--sw1.ge1 esx1.vmnic3--sw1.ge2; do
        local name=${link%%--*} load
        load=$(awk '$1 >= 0.05 && $1 < 0.1 && $3 == "10.0.0.11" { bytes += $2 + 24 } END { print bytes * 8 / 0.05 / 1e9 }' \
            "$folder/two-links/$link.pcap.txt")
        awk -v load="$load" -v name="\"${name/./:}>" '
            index($0, name) && match($0, /"utilisation": [0-9.]+/) { said = substr($0, RSTART + 15, RLENGTH - 15); exit }
            END { d = load - said; print said; exit !(said > 0.5 && d < 0.01 && d > -0.01) }' "$tmp/$2.json" >"$tmp/said" ||
            fail "$2: $link: the capture has a load of $load, the result $(tail -n 1 "$tmp/said")"
    done
}

check_run tests/golden/run/small.yaml train
check_run tests/golden/run/small.yaml frame
sed 's|address: 10.0.0.11/24}|address: 10.0.0.11/24, mtu: 9000}|; s|teaming: ip-hash}|teaming: ip-hash, mtu: 9000}|
     s|nics: "e\[0-1\]"|nics: "e[0-1]", mtu: 9000|; s|kind: switch|kind: switch\n    mtu: 9216|' \
    tests/golden/run/small.yaml >"$tmp/jumbo.yaml"
check_run "$tmp/jumbo.yaml" train
echo "tshark has nothing to complain about"

# A full disk: an error, and no file is left.
mkdir "$tmp/limit"
rc=0
(trap '' XFSZ && ulimit -f 64 && exec emu run --case two-links --pcap "$tmp/limit/a" --quiet tests/golden/run/small.yaml) \
    >/dev/null 2>"$tmp/err" || rc=$?
[ $rc -eq 1 ] || fail "a full disk: exit $rc, not 1"
[ -z "$(find "$tmp/limit" -type f)" ] || fail "left behind: $(find "$tmp/limit" -type f)"
