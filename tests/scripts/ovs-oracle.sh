#!/usr/bin/env bash
# Open vSwitch itself says which bucket a source MAC and VLAN fall into (ovs-appctl bond/hash); ours must be the same.
# Its packages are compiled either way, so the build is found out first: one of the two must match everywhere.
set -euo pipefail

for program in ovsdb-tool ovsdb-server ovs-vswitchd ovs-vsctl ovs-appctl; do
    if ! command -v "$program" >/dev/null; then
        echo "skipped: $program is not installed (Debian: openvswitch-switch)"
        exit 77
    fi
done

tmp=$(mktemp -d)
daemons=()
trap '[ ${#daemons[@]} -eq 0 ] || kill "${daemons[@]}" 2>/dev/null || true; wait; rm -rf "$tmp"' EXIT

# Everything below a folder of its own: no running Open vSwitch is touched, no kernel module needed.
export OVS_RUNDIR=$tmp OVS_LOGDIR=$tmp OVS_DBDIR=$tmp
schema=
for file in /usr/share/openvswitch/vswitch.ovsschema /usr/local/share/openvswitch/vswitch.ovsschema; do
    [ ! -e "$file" ] || schema=$file
done
[ -n "$schema" ] || { echo "skipped: vswitch.ovsschema is not where it usually is"; exit 77; }
ovsdb-tool create "$tmp/conf.db" "$schema"
ovsdb-server "$tmp/conf.db" --remote="punix:$tmp/db.sock" --unixctl="$tmp/ovsdb.ctl" >"$tmp/ovsdb.log" 2>&1 &
daemons+=($!)
for _ in $(seq 100); do
    [ ! -S "$tmp/db.sock" ] || break
    sleep 0.05
done
ovs-vsctl --db="unix:$tmp/db.sock" --no-wait init
ovs-vswitchd "unix:$tmp/db.sock" --enable-dummy=override --unixctl="$tmp/vswitchd.ctl" >"$tmp/vswitchd.log" 2>&1 &
daemons+=($!)
for _ in $(seq 100); do
    [ ! -S "$tmp/vswitchd.ctl" ] || ! ovs-appctl -t "$tmp/vswitchd.ctl" version >/dev/null 2>&1 || break
    sleep 0.05
done
ovs-appctl -t "$tmp/vswitchd.ctl" version || { cat "$tmp/vswitchd.log"; exit 1; }

# MACs and VLANs from a fixed recipe, and three seeds.
awk 'BEGIN {
    srand(20130501)
    print "smac\tvlan\tsrc\tdst"
    for (i = 0; i < 100; i++) {
        for (j = 0; j < 6; j++) printf "%s%02x", j ? ":" : "", int(rand() * 256)
        printf "\t%d\t10.0.0.1\t10.0.0.2\n", i % 4 ? int(rand() * 4095) + 1 : 0
    }
}' >"$tmp/flows"

failed=0 found=
for basis in 0 1 4242424242; do
    tail -n +2 "$tmp/flows" | while read -r mac vlan _; do
        ovs-appctl -t "$tmp/vswitchd.ctl" bond/hash "$mac" "$vlan" "$basis"
    done >"$tmp/theirs"
    agree=
    for build in generic sse42; do
        nfsbal hash -p ovs-slb --param "build=$build" --param "basis=$basis" -n 2 --flows "$tmp/flows" | awk -F '\t' '
            NR == 1 { for (i = 1; i <= NF; i++) if ($i == "hash") column = i; next }
            { h = tolower($column); high = index("0123456789abcdef", substr(h, length(h) - 1, 1)) - 1
              print high * 16 + index("0123456789abcdef", substr(h, length(h), 1)) - 1 }' >"$tmp/ours"
        same=$(paste "$tmp/theirs" "$tmp/ours" | awk '$1 == $2' | wc -l)
        echo "basis $basis: build=$build agrees on $same of $(wc -l <"$tmp/theirs")"
        [ "$same" -ne 100 ] || agree=$build
    done
    [ -n "$agree" ] || failed=1
    [ -z "$found" ] || [ "$found" = "$agree" ] || failed=1
    found=$agree
done
exit $failed
