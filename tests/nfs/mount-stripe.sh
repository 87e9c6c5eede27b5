#!/usr/bin/env bash
# needs: full release alone
# One file over four VIPs and four links with plain dd: at least 370 MB/s written and read, of 471 that the wires carry. With
# TEST_LONG=yes also four datastores by plan: at least 400.
set -euo pipefail
. tests/nfs/library.sh
need_root_and nfs-ganesha ganesha.nfsd rpcbind dd

at_least() { # MB/s BENCHMARK
    local out what
    out=$("tests/perf/$2.sh") || fail "$out"
    echo "$out"
    for what in write read; do
        awk -v w="$what" -v least="$1" '$1 == "bench:" && $2 == w && $3 >= least { good = 1 } END { exit !good }' <<<"$out" ||
            fail "$what: less than $1 MB/s"
    done
}
up_to_three_times at_least 370 mount-stripe
[ "${TEST_LONG-no}" != yes ] || up_to_three_times at_least 400 mount-plan
nothing_left
