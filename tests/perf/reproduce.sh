#!/usr/bin/env bash
# Everything that `emu reproduce` runs in virtual time, cases in parallel: 180 s / ours.
set -euo pipefail
start=$(date +%s%N)
emu reproduce --check --quiet >/dev/null
took=$((($(date +%s%N) - start) / 1000000))
echo "all documents: $took ms"
awk -v ms="$took" 'BEGIN {printf "bench: all %.6g of-3-minutes\n", 180000 / ms}'
