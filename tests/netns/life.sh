#!/usr/bin/env bash
# needs: full. The life of labs: up, in use, down; several at once; what is refused, and that nothing is left of it.
# shellcheck disable=SC1091,SC2154,SC2086,SC2046,SC2015,SC2016 # the rig's variables; names of labs and numbers have no blanks
set -euo pipefail
. tests/support/lab_rig.bash

pair 1G 1500 >"$rig/pair.yaml"

# Up, a frame through it, down.
emu up --no-nas --name $lab "$rig/pair.yaml" >"$rig/out"
grep -q "^lab $lab is up$" "$rig/out" || fail "emu up says: $(cat "$rig/out")"
[ "$(emu exec $lab a -- cat /sys/class/net/eth0/mtu)" = 1500 ] || fail "/sys shows other devices"
[ "$(emu exec $lab b -- sh -c 'echo $EMU_LAB $EMU_NODE')" = "$lab b" ] || fail "no EMU_LAB and EMU_NODE"
emu exec $lab a -- ping -q -c 3 -i 0.05 -W 2 10.0.0.2 >/dev/null || fail "no ping"
ip netns exec emu-$lab-a ping -q -c 1 -W 2 10.0.0.2 >/dev/null || fail "no ping by ip netns"
emu exec $lab a -- ip route get 10.0.0.2 | grep -q 'src 10.0.0.1' || fail "no route"
emu exec $lab a -- sh -c 'exit 7' && fail "emu exec hides the exit code" || [ $? -eq 7 ]
[ "$(SHELL=/bin/sh emu shell $lab b <<<'ip -br addr; exit 3' || echo "exit $?")" = "$(emu exec $lab b -- ip -br addr; echo exit 3)" ] || fail "emu shell"
emu exec $lab a -- no-such-program 2>/dev/null && fail "no-such-program runs" || [ $? -eq 127 ]
emu list | grep -q "^$lab  up  $rig/pair.yaml$" || fail "emu list: $(emu list)"
emu list --json >"$rig/list.json"
grep -q '"netns": "/run/netns/emu-'$lab'-a"' "$rig/list.json" || fail "emu list --json"
/usr/bin/python3 tests/support/schema.py "$rig/list.json" "$EMU_RUNDIR/$lab/lab.json" || fail "not as in docs/*.schema.json"

# A second lab with the same addresses: each sees its own.
emu up -q --no-nas --name $lab-2 --scale 0.5 --detail frame "$rig/pair.yaml"
emu exec $lab b -- ip addr add 10.0.0.77/24 dev eth0
emu exec $lab a -- ping -q -c 1 -W 2 10.0.0.77 >/dev/null || fail "an address added by hand is not reached"
emu exec $lab-2 a -- ping -q -c 1 -W 2 10.0.0.2 >/dev/null || fail "no ping in the second lab"
emu exec $lab-2 a -- ping -q -c 1 -W 0.3 10.0.0.77 >/dev/null && fail "two labs see one another"
emu list | grep -q "scale 0.5" || fail "no scale in emu list"
emu list --json >"$rig/list.json"
grep -q '"detail": "frame"' "$rig/list.json" || fail "no detail in emu list --json"

# What a node has started goes with the lab.
emu exec $lab a -- sh -c 'trap "" TERM; sleep 1000 & sleep 1000' &
user=$!
sleep 0.2
emu down -q $lab-2
emu down $lab >"$rig/out" 2>/dev/null
grep -q "late half of the time" "$rig/out" || fail "emu down says: $(cat "$rig/out")"
wait $user 2>/dev/null && fail "a process survives its lab" || true
nothing_left "after down"

# Refusals, with the sentence and the exit code.
refused() { # CODE PATTERN COMMAND...
    local code=$1 pattern=$2 rc=0
    shift 2
    "$@" >"$rig/out" 2>"$rig/err" || rc=$?
    [ $rc -eq "$code" ] || fail "$*: exit $rc, not $code: $(cat "$rig/err")"
    grep -qE -- "$pattern" "$rig/err" || fail "$*: no \"$pattern\" in: $(cat "$rig/err")"
    [ ! -s "$rig/out" ] || fail "$*: prints $(cat "$rig/out")"
}
emu up -q --no-nas --name $lab "$rig/pair.yaml"
refused 2 "lab .$lab. is up already" emu up --no-nas --name $lab "$rig/pair.yaml"
refused 2 "no node .c." emu exec $lab c -- true
refused 2 "there is no lab" emu exec $lab-no a -- true
refused 2 "there is no lab" emu down $lab-no
refused 2 "there is no lab" emu down ../labs
emu down -q $lab
refused 2 "at most 32" emu up --no-nas --name 'a/b' "$rig/pair.yaml"
refused 2 "at most 32" emu up --no-nas --name -x "$rig/pair.yaml"
refused 2 "--scale: .0." emu up --no-nas --scale 0 "$rig/pair.yaml"
refused 2 "has no case .x." emu up --no-nas --case x "$rig/pair.yaml"
refused 2 "no such folder" emu up --exports "$rig/none" "$rig/pair.yaml"
refused 2 "nobody serves" emu up --no-nas --exports "$rig" "$rig/pair.yaml"
refused 2 "No such file" emu up --no-nas "$rig/none.yaml"
sed 's/speed: 1G/speed: fast/' "$rig/pair.yaml" >"$rig/bad.yaml"
refused 2 "bad.yaml:[0-9]+:[0-9]+: error" emu up --no-nas "$rig/bad.yaml"
refused 2 "expected an absolute path" env EMU_RUNDIR=labs emu up --no-nas "$rig/pair.yaml"
refused 1 "Not a directory|File exists" env EMU_RUNDIR="$rig/pair.yaml" emu up --no-nas "$rig/pair.yaml"
refused 2 "or --all" emu down
refused 2 "not both" emu down --all x
nothing_left "after refusals"

# A namespace of that name that is not ours: refused, and left alone.
ip netns add emu-$lab-b
refused 2 "emu-$lab-b is there already" emu up --no-nas --name $lab "$rig/pair.yaml"
[ -e /run/netns/emu-$lab-b ] || fail "a foreign namespace is removed"
ip netns del emu-$lab-b
nothing_left "after a foreign namespace"

# A full disk.
mkdir "$rig/full"
mount -t tmpfs -o size=4k,nr_inodes=5 full "$rig/full"
refused 1 "No space left" env EMU_RUNDIR="$rig/full/labs" emu up --no-nas --name $lab "$rig/pair.yaml"
[ -z "$(ls "$rig/full/labs" 2>/dev/null)" ] || fail "a full disk keeps $(ls -R "$rig/full")"
umount "$rig/full"
nothing_left "after a full disk"

# Without root.
if command -v setpriv >/dev/null; then
    chmod 755 "$rig"
    refused 1 "need root" setpriv --reuid=65534 --regid=65534 --clear-groups \
        env EMU_RUNDIR="$rig/other" "$(command -v emu)" up --no-nas "$rig/pair.yaml"
fi
echo "passed"
