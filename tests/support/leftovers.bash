# What labs leave on a machine, looked for by their names alone: other labs may run beside a test. Source it.
# shellcheck shell=bash

# What labs of these names have left, and what is in $EMU_RUNDIR: one a line, nothing when all is gone. A name stands for all that
# begin with it and don't go on with a digit: t12 for t12 and t12-2, not for t123.
leftovers() { # NAME...
    local name environ p
    ls "$EMU_RUNDIR" 2>/dev/null || true
    for name; do
        ls /run/netns 2>/dev/null | grep "^emu-$name\([^0-9]\|$\)" || true
        grep -o " /run/netns/emu-$name[^0-9][^ ]*" /proc/mounts || true
        # By the environment that all processes of a lab have.
        grep -lzs "^EMU_LAB=$name\([^0-9]\|$\)" /proc/[0-9]*/environ | while read -r environ; do
            p=${environ#/proc/} p=${p%/environ}
            [ -e "/proc/$p/cmdline" ] || continue
            echo "process $p $(tr '\0' ' ' 2>/dev/null <"/proc/$p/cmdline")"
        done || true
    done
}

# Fails, with what is left, unless all is gone. Processes that were killed a moment ago may still be on their way out.
none_left() { # WHEN NAME...
    local when=$1 left
    shift
    for _ in 1 2 3 4 5 6 7 8 9 10; do
        left=$(leftovers "$@")
        [ -n "$left" ] || return 0
        sleep 0.1
    done
    fail "$when: left behind: $left"
}
