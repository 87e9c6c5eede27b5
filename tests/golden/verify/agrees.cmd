# A site that does what its file says; whatever it began from.
c=tests/golden/verify/counters f=topologies/examples/plant-b.yaml
$c $f 0 0 >"$TMP/t0"; $c $f 600 1e8 >"$TMP/t1"
nfsbal verify $f --observed "$TMP/t0" "$TMP/t1"; echo "rc $?"
nfsbal verify --all --observed "$TMP/t0" "$TMP/t1" $f
# Draws: unknown rules and source ports prove nothing.
g=topologies/examples/pve-truenas.yaml
$c $g 0 0 >"$TMP/t0"; $c $g 600 1e9 >"$TMP/t1"
nfsbal verify $g --observed "$TMP/t0" "$TMP/t1"; echo "rc $?"
