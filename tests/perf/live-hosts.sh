#!/usr/bin/env bash
# 64 hosts on a switch: how often a second they can be made, and taken away.
# shellcheck disable=SC1091,SC2154,SC2086,SC2034 # what live.bash has; commands of the rig are words, its paths have no blanks
set -euo pipefail
. tests/perf/live.bash

cat >"$bench/site.yaml" <<'EOF'
version: 1
name: live-hosts
nodes:
  "h[1-64]": {kind: linux, kernel: "6.1", interfaces: {eth0: {address: "10.0.0.[1-64]/24"}}}
  sw: {kind: switch, mtu: 9216}
links:
  - {ends: ["h[1-64]:eth0", "sw:p[1-64]"], speed: 1G}
EOF
lab=${ns}lab
now() { date +%s.%N; }
best_up=99 best_down=99
for _ in 1 2 3; do
    begin=$(now)
    emu up -q --no-nas --name "$lab" "$bench/site.yaml"
    up=$(now)
    emu exec "$lab" h1 -- ping -q -c 1 -W 2 10.0.0.64 >/dev/null
    again=$(now)
    emu down -q "$lab"
    down=$(now)
    read -r best_up best_down < <(awk -v a="$begin" -v b="$up" -v c="$again" -v d="$down" -v u="$best_up" -v v="$best_down" \
        'BEGIN { x = b - a; y = d - c; print x < u ? x : u, y < v ? y : v }')
done
echo "64 hosts up in $best_up s, down in $best_down s, the best of three"
awk -v u="$best_up" -v d="$best_down" 'BEGIN { printf "bench: up-64 %.3f /s\nbench: down-64 %.3f /s\n", 1 / u, 1 / d }'
