#!/bin/bash
# needs: full
# `nfsbal hash --pcap` on captures made here: pcap and pcapng, with and without VLAN tags, cut off, and of another link type.
set -euo pipefail
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT

python3 - "$tmp" <<'PYTHON'
import ipaddress, struct, sys

def frame(src, dst, sport, dport, size, vlan=None):
    ip = lambda a: ipaddress.ip_address(a).packed
    tag = struct.pack("!HH", 0x8100, vlan) if vlan else b""
    tcp = struct.pack("!HHIIBBHHH", sport, dport, 0, 0, 0x50, 0x10, 0, 0, 0)
    head = struct.pack("!BBHHHBBH", 0x45, 0, 20 + len(tcp) + size, 0, 0, 64, 6, 0) + ip(src) + ip(dst)
    return bytes.fromhex("0050566b2202" "0050566a1101") + tag + b"\x08\x00" + head + tcp + bytes(size)

frames = [frame("10.10.5.11", f"10.10.5.{101 + i % 4}", 700 + i % 4, 2049, 100 * (1 + i % 4), 50 if i % 2 else None)
          for i in range(40)]
order, kind = "<", sys.argv[1]
def pcap(name, linktype):
    with open(f"{kind}/{name}", "wb") as f:
        f.write(struct.pack("<IHHiIII", 0xa1b2c3d4, 2, 4, 0, 0, 65535, linktype))
        for i, data in enumerate(frames):
            f.write(struct.pack("<IIII", i, 0, len(data), len(data)) + data)
pcap("good.pcap", 1)
pcap("raw.pcap", 101)
with open(f"{kind}/good.pcapng", "wb") as f:
    def block(number, body):
        body += bytes(-len(body) % 4)
        f.write(struct.pack("<II", number, 12 + len(body)) + body + struct.pack("<I", 12 + len(body)))
    block(0x0a0d0d0a, struct.pack("<IHHq", 0x1a2b3c4d, 1, 0, -1))
    block(1, struct.pack("<HHI", 1, 0, 65535))
    for i, data in enumerate(frames):
        block(6, struct.pack("<IIIII", 0, 0, i, len(data), len(data)) + data)
PYTHON
head -c 3000 "$tmp/good.pcap" > "$tmp/cut.pcap"

expect() { # NAME EXPECTED-RC PATTERN... : runs the command on NAME and looks for each pattern
    local name=$1 rc=0 want=$2
    shift 2
    nfsbal hash -p esxi-ip-hash --members vmnic2,vmnic3,vmnic4,vmnic5 --pcap "$tmp/$name" > "$tmp/out" 2>&1 || rc=$?
    [ "$rc" = "$want" ] || { echo "$name: exit $rc, expected $want"; cat "$tmp/out"; exit 1; }
    for pattern; do
        grep -qE -- "$pattern" "$tmp/out" || { echo "$name: no line matches: $pattern"; cat "$tmp/out"; exit 1; }
    done
}

# 10.10.5.11 towards .101 to .104 over four uplinks: 2 1 0 3 (0x6E, 0x6D, 0x6C, 0x63). Each flow has ten frames of
# 54 + size bytes, tagged ones 4 more: .104 is the heaviest with 10 * (54 + 400 + 4) bytes.
for file in good.pcap good.pcapng; do
    expect $file 0 '^vmnic2 +10 +3540 .* 1$' '^vmnic3 +10 +2580 ' '^vmnic4 +10 +1540 ' '^vmnic5 +10 +4580 .* 1$' \
        '^40 frames, 12240 bytes, 4 flows; fullest link over the mean: 1.50$' \
        '^heaviest flows of link vmnic5$' '^10.10.5.11:703 > 10.10.5.104:2049 proto 6 +10 +4580$'
done
expect cut.pcap 1 'truncated' 'the frames before that are counted' '^vmnic5 +[1-9]'
expect raw.pcap 2 'link type RAW: only Ethernet captures can be hashed'
expect missing.pcap 2 'No such file'

nfsbal hash -p esxi-ip-hash -n 4 --pcap "$tmp/good.pcap" --json | python3 -c '
import json, sys
r = json.load(sys.stdin)
assert r["schema"] == "nfsbal-hash-pcap/1" and r["complete"] and r["frames"] == 40
assert [l["bytes"] for l in r["links"]] == [3540, 2580, 1540, 4580] and r["imbalance"] > 1.49
'
if nfsbal hash -p arista -n 4 --pcap "$tmp/good.pcap" > "$tmp/out" 2>&1; then
    echo "a policy that nobody has published picked a link"
    exit 1
fi
grep -q 'not published' "$tmp/out" || { cat "$tmp/out"; exit 1; }
echo "captures counted"
