#!/usr/bin/env bash
# Faults under load, each once, with short timers; every block is checked afterwards. needs: full
# shellcheck disable=SC2086,SC2046 # paths of the rig have no blanks; lists of process-IDs are lists
# shellcheck disable=SC1091,SC2154 # the rig's variables
set -euo pipefail
. tests/support/nfs_rig.bash

rig_up
rig_vip_add $server1 10.77.0.11 10.77.0.12
rig_server $server1
rig_server $server2

fast="--bound 300ms --failback 200ms --mountport 20048"

# Runs a load in the background while a fault happens; it must end without an error, and with progress after the fault.
under_load() { # NAME SECONDS SERVERS OPTIONS... -- FAULT...
    local name=$1 seconds=$2 servers=$3 options=()
    shift 3
    while [ "$1" != -- ]; do options+=("$1"); shift; done
    shift
    echo "--- $name"
    in_client timeout 60 "$BIN/nfsbal" load "nfs://$servers$rig/export/$name.dat" --export $rig/export --json $fast --quarantine 500ms --size 16MiB --verify \
        --for ${seconds}s "${options[@]}" >$rig/$name.json 2>$rig/$name.err &
    local pid=$!
    sleep 0.8
    "$@"
    wait $pid || { cat $rig/$name.err; tail -n 1 $rig/$name.json | cut -c1-400; fail "$name"; }
    cat $rig/$name.err
    python3 - $rig/$name.json "$name" <<'PY'
import json, sys
lines = [json.loads(l) for l in open(sys.argv[1])]
end = lines[-1]["jobs"][0]
assert end["errors"] == 0 and end["problem"] is None, end["problem"]
done = [l["jobs"][0]["read"] + l["jobs"][0]["written"] for l in lines[:-1]]
assert done[-1] > done[-2], "no progress in the last second"
print("    %d operations, longest %.2f s, %d connections again, %d reissued" %
      (end["operations"], end["latency"]["max"], end["reconnects"], end["reissued"]))
PY
}

longest() { python3 -c "import json,sys; print(json.loads(open('$rig/$1.json').readlines()[-1])['jobs'][0]['latency']['max'])"; }
at_most() { python3 -c "import sys; sys.exit(not $(longest $1) <= $2)" || fail "$1: longest operation $(longest $1) s, not within $2 s"; }

vip_away() { rig_vip_del $server1 $1; sleep $2; rig_vip_add $server1 $1; }
vip_moves() { rig_vip_del $server1 $1; rig_vip_add $server2 $1; sleep 1; rig_vip_del $server2 $1; rig_vip_add $server1 $1; }
restart() { rig_server_kill $server1; sleep 0.5; rig_server $server1; }
frozen() { kill -STOP $(ip netns pids $server1); sleep 1.5; kill -CONT $(ip netns pids $server1); }

under_load alone 4 10.77.0.11 --op mixed --block 64KiB -- vip_away 10.77.0.11 1.2
under_load one-of-two 3 10.77.0.11,10.77.0.12 --op mixed --block 64KiB -- vip_away 10.77.0.12 1
at_most one-of-two 2.5
under_load moved 4 10.77.0.11 --op mixed --block 64KiB -- vip_moves 10.77.0.11
under_load moved-of-two 4 10.77.0.11,10.77.0.12 --op write --block 64KiB -- vip_moves 10.77.0.12
under_load restarted 5 10.77.0.11,10.77.0.12 --op mixed --block 64KiB -- restart
under_load frozen 4 10.77.0.11,10.77.0.12 --op mixed --block 64KiB -- frozen

# A server stops with WRITEs in its socket's buffer and its VIP goes; another serves on, and newer writes take the place of
# these. Then it goes on and does the late ones. Without the quarantine the load ends before that, and the file changes
# afterwards; with it the newer writes come when the late ones are done.
echo "--- late"
rig_vip_add $server2 10.77.0.21
in_client timeout 60 "$BIN/nfsbal" load "nfs://10.77.0.11,10.77.0.21$rig/export/late.dat" --export $rig/export $fast --size 512KiB \
    --verify --for 1500ms --op write --pattern random --block 16KiB --quarantine ${LATE_QUARANTINE-3s} --json >$rig/late.json &
load=$!
sleep 0.8
kill -STOP $(ip netns pids $server1)
sleep 0.1
rig_vip_del $server1 10.77.0.11
(sleep 1.7; kill -CONT $(ip netns pids $server1)) &
wait $load || { tail -n 1 $rig/late.json | cut -c1-400; fail "late"; }
before=$(sha256sum <$rig/export/late.dat)
sleep 1.5
[ "$before" = "$(sha256sum <$rig/export/late.dat)" ] || fail "late: an old write came after newer ones"
