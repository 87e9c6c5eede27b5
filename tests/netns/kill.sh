#!/usr/bin/env bash
# needs: full. The lab's process killed at random moments: afterwards `emu clean` leaves no namespace, process, mount or file.
# shellcheck disable=SC1091,SC2154,SC2086,SC2046,SC2015,SC2016,SC2012 # the rig's variables; names of labs and numbers have no blanks
# And many labs one after the other leak nothing. TEST_LONG=yes: 50 kills and 100 cycles instead of 5 and 10.
set -euo pipefail
. tests/support/lab_rig.bash

kills=5 cycles=10
[ "${TEST_LONG-no}" != yes ] || kills=50 cycles=100
RANDOM=${TEST_SEED:-1}
echo "TEST_SEED=${TEST_SEED:-1}"
file=topologies/fs7500/fig09-teaming.yaml
nas=(--no-nas)
if command -v ganesha.nfsd >/dev/null && command -v rpcbind >/dev/null; then nas=(--storage); fi
# With servers there is a storage under them, a process and mounts of its own.
sed 's/^\( *\)exports: .*/&\n\1storage: {limit: {read: 100MB\/s, write: 100MB\/s}}/' $file >"$rig/storage.yaml"
grep -q "storage: {limit" "$rig/storage.yaml" || fail "the file has changed"

# The process that is the lab: a child of `emu up` until it is ready, and named in lab.json.
lab_pid() { sed -n 's/^ *"pid": \([0-9]*\),$/\1/p' "$EMU_RUNDIR/$lab/lab.json" 2>/dev/null || true; }
child_of() { pgrep -P "$1" -x emu || true; }

# Labs whose `emu up` was killed a moment before they were ready end by themselves.
clean_until_gone() { # WHEN
    for _ in $(seq 50); do
        emu clean -q || fail "$1: emu clean"
        [ -n "$(leftovers $lab)" ] || return 0
        sleep 0.1
    done
    nothing_left "$1"
}

for round in $(seq $kills); do
    servers=("${nas[@]}")
    [ $((round % 3)) -eq 0 ] || servers=(--no-nas)
    emu up -q --name $lab "${servers[@]}" "$rig/storage.yaml" >"$rig/up" 2>&1 &
    up=$!
    case $((round % 2)) in
        0) # while it comes up: within the first 20 ms, with servers 400
            delay=$((RANDOM % 20))
            [ "${servers[*]}" != --storage ] || delay=$((delay * 20))
            sleep "$(printf 0.%03d $delay)"
            kill -9 $(child_of $up) $up $(lab_pid) 2>/dev/null || true
            # It may have been ready before it was hit.
            if wait $up 2>/dev/null; then kill -9 $(lab_pid) 2>/dev/null || true; fi
            ;;
        1) # while it carries frames, or goes down
            wait $up || fail "emu up: $(cat "$rig/up")"
            emu exec $lab fs7500:ctl1 -- iperf3 -s -D
            emu exec $lab esx1 -- iperf3 -c 10.10.5.101 -t 10 >/dev/null 2>&1 &
            sleep "$(printf 0.%03d $((RANDOM % 300)))"
            pid=$(lab_pid)
            [ $((RANDOM % 2)) -eq 0 ] || emu down -q $lab >/dev/null 2>&1 &
            sleep "$(printf 0.%03d $((RANDOM % 30)))"
            kill -9 "$pid" 2>/dev/null || true
            ;;
    esac
    clean_until_gone "round $round"
done
wait 2>/dev/null || true
echo "$kills kills"

# A dead lab is said to be one, and its name is free after `emu clean`.
emu up -q --no-nas --name $lab $file
kill -9 "$(lab_pid)"
sleep 0.1
emu list | grep -q "^$lab  dead" || fail "emu list: $(emu list)"
emu exec $lab esx1 -- true 2>"$rig/err" && fail "a dead lab is entered" || grep -q "is dead" "$rig/err" || fail "$(cat "$rig/err")"
emu up --no-nas --name $lab $file 2>"$rig/err" && fail "its name is used again" || [ $? -eq 2 ]
grep -q "emu clean. removes it" "$rig/err" || fail "$(cat "$rig/err")"
[ "$(emu clean)" = "lab $lab is gone" ] || fail "emu clean says something else"
nothing_left "a dead lab"

# What another boot of the machine has left is its folder; what has its names now is not its own. Nor is what only its file names.
emu up -q --no-nas --name $lab $file
kill -9 "$(lab_pid)"
sleep 0.1
sed -i 's/"boot": "[^"]*"/"boot": "00000000-0000-0000-0000-000000000000"/' "$EMU_RUNDIR/$lab/lab.json"
cp "$EMU_RUNDIR/$lab/lab.json" "$rig/lab.json"
emu clean -q
[ ! -e "$EMU_RUNDIR/$lab" ] && [ -e /run/netns/emu-$lab-esx1 ] || fail "a namespace is taken for that of an earlier boot"
mkdir "$EMU_RUNDIR/$lab"
echo >"$rig/precious"
sed "s/\"boot\": \"[^\"]*\"/\"boot\": null/; s|\"/run/netns/emu-$lab-esx1\"|\"$rig/precious\"|" "$rig/lab.json" >"$EMU_RUNDIR/$lab/lab.json"
emu clean 2>"$rig/err" && fail "a lab.json that names a file is believed"
grep -q "not an emu-lab/1" "$rig/err" && [ -e "$rig/precious" ] || fail "emu clean says: $(cat "$rig/err")"
sed 's/"boot": "[^"]*"/"boot": null/' "$rig/lab.json" >"$EMU_RUNDIR/$lab/lab.json"
emu clean -q
nothing_left "a lab of another boot"

# A living one is not cleaned away.
emu up -q --no-nas --name $lab $file
emu clean
emu exec $lab esx1 -- ping -q -c 1 -W 2 10.10.5.101 >/dev/null || fail "emu clean has hurt a living lab"
emu down -q $lab

# Cycles.
for i in $(seq $cycles); do
    emu up -q --no-nas --name $lab $file
    emu exec $lab esx1 -- ping -q -c 1 -W 2 10.10.5.102 >/dev/null || fail "cycle $i: no ping"
    emu down -q $lab 2>/dev/null
done
nothing_left "after $cycles cycles"
echo "$cycles cycles"

# In one lab: what comes and goes leaves no descriptor and no memory behind.
emu up -q --no-nas --name $lab $file
pid=$(lab_pid)
use() { # TIMES
    for i in $(seq "$1"); do emu exec $lab esx1 -- ping -q -c 1 -W 2 10.10.5.10$((i % 8 + 1)) >/dev/null; emu exec $lab esx1 -- true; done
}
use 5
fds=$(ls /proc/$pid/fd | wc -l) rss=$(awk '/VmRSS/ { print $2 }' /proc/$pid/status)
use 20
[ "$(ls /proc/$pid/fd | wc -l)" = "$fds" ] || fail "descriptors: $fds, then $(ls /proc/$pid/fd | wc -l)"
between "resident KiB after use" "$(awk '/VmRSS/ { print $2 }' /proc/$pid/status)" 1 $((rss + 1024))
emu down -q $lab 2>/dev/null
nothing_left "at the end"
echo "passed"
