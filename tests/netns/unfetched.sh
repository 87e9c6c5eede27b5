#!/usr/bin/env bash
# needs: full. Frames that a machine does not fetch in time are lost, and everybody who asks hears of it.
# shellcheck disable=SC1091,SC2154,SC2086 # the rig's variables; names of labs and numbers have no blanks
set -euo pipefail
. tests/support/lab_rig.bash

pair 1G 1500 >"$rig/pair.yaml"
emu up -q --no-nas --name $lab "$rig/pair.yaml"
emu exec $lab a -- ping -q -c 1 -W 2 10.0.0.2 >/dev/null || fail "no ping"
emu top --once --json -i 100ms $lab >"$rig/before.json"
grep -q '"unfetched": 0}' "$rig/before.json" || fail "lost before anything was: $(cat "$rig/before.json")"

# A device holds 1,000; the lab's process stands still meanwhile, then has a second to itself.
pid=$(sed -n 's/.*"pid": \([0-9]*\).*/\1/p' "$EMU_RUNDIR/$lab/lab.json" | head -n 1)
kill -STOP "$pid"
emu exec $lab a -- python3 -c '
import socket
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
for i in range(1500): s.sendto(b"x" * 100, ("10.0.0.2", 9))'
kill -CONT "$pid"
sleep 0.6
emu top --once --json -i 100ms $lab >"$rig/after.json"
lost=$(sed -n 's/.*"unfetched": \([0-9]*\)}.*/\1/p' "$rig/after.json")
[[ $lost -ge 400 && $lost -le 600 ]] || fail "of 1500, 500 found no room, and emu top says $lost"
/usr/bin/python3 tests/support/schema.py "$rig/after.json" || fail "not as in docs/emu-top.schema.json"
emu top --once -i 100ms $lab >"$rig/top"
grep -q "; $lost trains of frames lost, not fetched in time" "$rig/top" || fail "emu top --once is silent"
emu metrics --once $lab >"$rig/metrics"
grep -qx "emu_lab_unfetched_total{lab=\"$lab\"} $lost" "$rig/metrics" || fail "emu metrics is silent"
rc=0
emu down -q --strict $lab 2>"$rig/err" || rc=$?
[ $rc -eq 1 ] || fail "emu down --strict ends with $rc"
grep -q "warning: $lost trains of frames that were sent in lab $lab were lost" "$rig/err" || fail "emu down says: $(cat "$rig/err")"
nothing_left "after down"
