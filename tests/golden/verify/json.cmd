f=topologies/examples/learn.yaml
tests/golden/verify/counters $f 0 0 >"$TMP/t0"; tests/golden/verify/counters $f 600 1e8 >"$TMP/t1"
nfsbal verify --json --observed "$TMP/t0" "$TMP/t1" $f
