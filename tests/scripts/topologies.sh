#!/usr/bin/env bash
# needs: release. Every topology file of ours runs, and what it expects holds. The storms of thousands of machines are left to reproduce.sh, which
# runs once: tens of millions of operations are too many for a build with sanitizers.
set -euo pipefail


run_one() {
    local out
    if out=$(emu run --quiet --check "$1" 2>&1); then
        echo "$1: $(tail -n 1 <<<"$out")"
    else
        printf '%s\nFAILED: %s\n' "$out" "$1"
        return 1
    fi
}
export -f run_one
find topologies -name '*.yaml' -not -path '*/xendesktop/*' -not -path '*/fluidcache/*' -not -path '*/nexenta/*' -print0 | sort -z | xargs -0 -n 1 -P 2 bash -c 'run_one "$0"'
