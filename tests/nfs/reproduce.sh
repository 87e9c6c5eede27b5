#!/usr/bin/env bash
# needs: full release alone
# emu reproduce --live: one host over a trunk of two links, and four, with real NFS: each number within 10 % of virtual time.
set -euo pipefail
. tests/nfs/library.sh
need_root_and nfs-ganesha ganesha.nfsd rpcbind

trunk() {
    emu reproduce --live --check --longest 5s --json "$tmp/r.json" topologies/nexenta/trunk.yaml >"$tmp/out" || { cat "$tmp/out"; return 1; }
    grep -q "^3 also with real frames" "$tmp/out" || fail "not all of it was run live: $(cat "$tmp/out")"
}
up_to_three_times trunk
cat "$tmp/out"
nothing_left
