#!/usr/bin/env bash
# needs: full release alone
# One file over four VIPs and four links with plain dd: at least 370 MB/s written and read, of 471 that the wires carry.
set -euo pipefail
. tests/nfs/library.sh
need_root_and nfs-ganesha ganesha.nfsd rpcbind dd

stripe() {
    local out what
    out=$(tests/perf/mount-stripe.sh) || fail "$out"
    echo "$out"
    for what in write read; do
        awk -v w="$what" '$1 == "bench:" && $2 == w && $3 >= 370 { good = 1 } END { exit !good }' <<<"$out" ||
            fail "$what: less than 370 MB/s"
    done
}
up_to_three_times stripe
nothing_left
