#!/usr/bin/env bash
# needs: full release alone
# Figures 9 and 12 of BP1024 with four NFS writers on real frames, against nfs-ganesha at full rate:
#
#       esx1 ==4x1G== pc7048 ==4x1G== ctl1, ctl2        port ID, MAC hash: one uplink; IP hash: all four
#
# Rates within 10 %, and emu compare holds them against the run in virtual time.
set -euo pipefail
. tests/nfs/library.sh
need_root_and nfs-ganesha ganesha.nfsd rpcbind

# Eight seconds instead of thirty: a second of ramp, seven measured.
shorten() { sed 's/for: 30s/for: 8s/' "topologies/fs7500/$1" >"$tmp/$1"; }

live() { # FILE CASE... : runs the cases live and in virtual time
    local file=$1 options=()
    shift
    for name; do options+=(--case "$name"); done
    shorten "$file"
    emu live --quiet "${options[@]}" --json "$tmp/live.json" "$tmp/$file"
    emu run --quiet "${options[@]}" --json "$tmp/virtual.json" "$tmp/$file" >/dev/null
    emu compare --within 10% "$tmp/virtual.json" "$tmp/live.json" >"$tmp/compared" ||
        { cat "$tmp/compared"; fail "$file: live and virtual differ by more than 10 %"; }
}

live fig09-teaming.yaml port-id mac-hash ip-hash
# One link at MTU 9000 carries 123.5 MB/s of NFS payload, four 494.
expect_rate port-id write 123.5
expect_rate mac-hash write 123.5
expect_rate ip-hash write 494
expect_links port-id 1
expect_links mac-hash 1
expect_links ip-hash 4

live fig12-nics.yaml nics-1 nics-2 nics-3 nics-4
expect_rate nics-1 write 123.5
expect_rate nics-2 write 247
expect_rate nics-3 write 370.5
expect_rate nics-4 write 494
for n in 1 2 3 4; do expect_links "nics-$n" "$n"; done

nothing_left
