#!/usr/bin/env bash
# needs: full release alone
# Figures 9 and 12 of BP1024 (TEST_LONG=yes: 11 and 17 too, at MTU 9000 and 1500) with four NFS writers on real frames, against nfs-ganesha at full rate:
#
#       esx1 ==4x1G== pc7048 ==4x1G== ctl1, ctl2        port ID, MAC hash: one uplink; IP hash: all four
#
# Rates within 7 %, and emu compare holds them against the run in virtual time.
set -euo pipefail
. tests/nfs/library.sh
need_root_and nfs-ganesha ganesha.nfsd rpcbind

# Four seconds instead of thirty: the first is ramp.
live() { # FILE CASE [MTU] : into live.json
    sed "s/for: 30s/for: 4s/; s/mtu: 9000/mtu: ${3:-9000}/" "topologies/fs7500/$1" >"$tmp/$1"
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

# Jobs that end by bytes: from the first operation to the last COMMIT, so with slow start and without a ramp.
by_bytes() {
    sed 's/for: 30s/bytes: 128MiB/' topologies/fs7500/fig09-teaming.yaml >"$tmp/bytes.yaml"
    emu live --quiet --case ip-hash --json "$tmp/live.json" "$tmp/bytes.yaml" >/dev/null || fail "emu live by bytes"
    compare bytes.yaml ip-hash
    echo "by bytes: write $(ask_result "cases['ip-hash']['write']['rate'] / 1e6") MB/s"
}

# Frames that get lost, and an uplink that swallows them for a second: what TCP sends again, and how often its timer runs out, is
# counted here as there; only streams on the dead uplink (ds2) wait for the timer.
losses() {
    sed 's/for: 30s/for: 2s/; s/speed: 1G/speed: 1G, loss: 0.3%/' topologies/fs7500/fig09-teaming.yaml >"$tmp/losses.yaml"
    echo 'events: [{at: 500ms, link: "esx1:vmnic3", state: blackhole}, {at: 1500ms, link: "esx1:vmnic3", state: up}]' >>"$tmp/losses.yaml"
    emu live --quiet --case ip-hash --json "$tmp/live.json" "$tmp/losses.yaml" >/dev/null || fail "emu live with losses"
    emu run --quiet --case ip-hash --json "$tmp/virtual.json" "$tmp/losses.yaml" >/dev/null
    python3 - "$tmp/live.json" "$tmp/virtual.json" <<'PYTHON'
import json, sys
live, virtual = (json.load(open(name))["cases"][0] for name in sys.argv[1:])
for run in live, virtual:
    print(f"{run['engine']}: {run['retransmissions']} segments sent again, {run['timeouts']} timeouts")
assert virtual["retransmissions"] / 2 < live["retransmissions"] < 2 * virtual["retransmissions"]
uncounted = any("timeouts" in note for note in live["notes"])  # by kernels before 6.7
dead, others = live["datastores"][1], [d for d in live["datastores"] if d["name"] != "ds2"]
assert uncounted or 3 <= dead["timeouts"] <= 12, dead
assert all(d["timeouts"] <= 1 for d in others), others
PYTHON
}

up_to_three_times figure_9 port-id 1
up_to_three_times figure_9 mac-hash 1
up_to_three_times figure_9 ip-hash 4
for n in 1 2 3 4; do up_to_three_times figure_12 "$n"; done
up_to_three_times by_bytes
as_virtual() { # FILE CASE MTU
    live "$@"
    compare "$1" "$2"
    echo "$2 at MTU $3: write $(ask_result "cases['$2']['write']['rate'] / 1e6"), read $(ask_result "cases['$2']['read']['rate'] / 1e6") MB/s"
}
if [ "${TEST_LONG-no}" = yes ]; then
    for mtu in 9000 1500; do
        for case in fs1-write fs1-read; do up_to_three_times as_virtual fig11-filesystems.yaml $case $mtu; done
        for case in one-host two-hosts; do up_to_three_times as_virtual fig17-hosts.yaml $case $mtu; done
        up_to_three_times as_virtual fig12-nics.yaml nics-4 $mtu
    done
fi
up_to_three_times losses
nothing_left
