# What the tests of live NFS share. Sourced from the root of the repository.
# shellcheck shell=bash disable=SC1091,SC2086 # what is sourced is given; names of labs have no blanks

. tests/support/leftovers.bash

tmp=$(mktemp -d)
export EMU_RUNDIR=$tmp/labs
lab=t$$ # names of labs that a test makes by hand begin with this
trap 'emu down --all >/dev/null 2>&1 || true; rm -rf "$tmp"' EXIT

fail() { echo "FAILED: $*" >&2; exit 1; }

# PACKAGE PROGRAM... : all of this as root, else the test is skipped.
need_root_and() {
    local package=$1 program
    shift
    [ "$(id -u)" -eq 0 ] || { echo "skipped: needs root"; exit 77; }
    [ -c /dev/net/tun ] || { echo "skipped: there is no /dev/net/tun"; exit 77; }
    for program; do
        command -v "$program" >/dev/null || { echo "skipped: $program is not installed (Debian: $package)"; exit 77; }
    done
}

# EXPRESSION : of Python, about `cases`, the cases of live.json by name.
ask_result() {
    python3 - "$tmp/live.json" "$1" <<'PYTHON'
import json, sys
cases = {case["case"]: case for case in json.load(open(sys.argv[1]))["cases"]}
print(eval(sys.argv[2]))
PYTHON
}

# SECONDS WHAT COMMAND... : until the command says yes.
wait_for() {
    local seconds=$1 what=$2 begin=$SECONDS
    shift 2
    until "$@"; do
        [ $((SECONDS - begin)) -lt "$seconds" ] || fail "waited $seconds s for $what"
        sleep 0.02
    done
}

# Idle and all ticks of the processors since the start.
ticks() { awk '/^cpu / { print $5, $2 + $3 + $4 + $5 + $6 + $7 + $8; exit }' /proc/stat; }

# COMMAND... : what falls short of a rate may do so because others use the machine; what is wrong falls short every time. Where
# the processors were never idle in all three tries nothing can be said, and the test is skipped.
up_to_three_times() {
    local try status before after rested=no
    for try in 1 2 3; do
        read -ra before < <(ticks)
        set +e # within `||` or `if` a failure would not end the command
        (set -e; "$@")
        status=$?
        set -e
        [ $status -ne 0 ] || return 0
        read -ra after < <(ticks)
        [ $(((after[0] - before[0]) * 20)) -lt $((after[1] - before[1])) ] || rested=yes
        echo "try $try of 3 failed: $*"
        emu down --all --quiet >/dev/null 2>&1 || true
    done
    [ $rested = yes ] || { echo "skipped: others use all of this machine"; exit 77; }
    exit 1
}

# CASE read|write MB/s [PERCENT] : the rate within so many percent, 10 unless given.
expect_rate() {
    local rate
    rate=$(ask_result "cases['$1']['$2']['rate'] / 1e6")
    echo "$1: $2 $rate MB/s, expected $3"
    awk -v r="$rate" -v e="$3" -v p="${4:-10}" 'BEGIN { exit !(r >= e * (1 - p / 100) && r <= e * (1 + p / 100)) }' ||
        fail "$1: $2 $rate MB/s is not within ${4:-10} % of $3"
}

# CASE N : so many cables of hosts carried bulk data.
expect_links() {
    local used
    used=$(ask_result "sum(1 for l in cases['$1']['links'] if l['name'].startswith('esx') and not l['idle'])")
    echo "$1: $used uplinks carry data, expected $2"
    [ "$used" = "$2" ] || fail "$1: $used uplinks carry data, expected $2"
}

# Labs of emu live and emu reproduce have the number of their process in their name.
emu() {
    local rc=0
    case $1 in
        live | reproduce)
            command emu "$@" &
            echo "live-$!" >>"$tmp/live-labs"
            wait $! || rc=$?
            return $rc
            ;;
        *) command emu "$@" ;;
    esac
}

# No namespace, process, or folder of the test's labs is there any more.
nothing_left() {
    local live=()
    [ ! -e "$tmp/live-labs" ] || mapfile -t live <"$tmp/live-labs"
    none_left "at the end" $lab "${live[@]}"
}
