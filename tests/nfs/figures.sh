#!/usr/bin/env bash
# needs: full release alone
# Figures 9 and 12 of BP1024 with four NFS writers on real frames, against nfs-ganesha at full rate:
#
#       esx1 ==4x1G== pc7048 ==4x1G== ctl1, ctl2        port ID, MAC hash: one uplink; IP hash: all four
#
# Rates within 7 %, and emu compare holds them against the run in virtual time.
set -euo pipefail
. tests/nfs/library.sh
need_root_and nfs-ganesha ganesha.nfsd rpcbind

# Five seconds instead of thirty: one of ramp, four measured.
live() { # FILE CASE : into live.json
    sed 's/for: 30s/for: 5s/' "topologies/fs7500/$1" >"$tmp/$1"
    emu live --quiet --case "$2" --json "$tmp/live.json" "$tmp/$1" >"$tmp/out" || { cat "$tmp/out"; fail "emu live"; }
}

# FILE CASE : each datastore, controller and host has what virtual time gives it, within 7 %, streams that share a link as well.
compare() {
    emu run --quiet --case "$2" --json "$tmp/virtual.json" "$tmp/$1" >/dev/null
    emu compare --within 7% "$tmp/virtual.json" "$tmp/live.json" >"$tmp/compared" ||
        { cat "$tmp/compared"; fail "$1: live and virtual differ by more than 7 %"; }
}

# One link at MTU 9000 carries 123.5 MB/s of NFS payload, four 494.
figure_9() { # CASE LINKS
    live fig09-teaming.yaml "$1"
    expect_rate "$1" write "$((1235 * $2))e-1" 7
    expect_links "$1" "$2"
    compare fig09-teaming.yaml "$1"
}

figure_12() { # LINKS
    live fig12-nics.yaml "nics-$1"
    expect_rate "nics-$1" write "$((1235 * $1))e-1" 7
    expect_links "nics-$1" "$1"
    compare fig12-nics.yaml "nics-$1"
}

up_to_three_times figure_9 port-id 1
up_to_three_times figure_9 mac-hash 1
up_to_three_times figure_9 ip-hash 4
for n in 1 2 3 4; do up_to_three_times figure_12 "$n"; done
nothing_left
