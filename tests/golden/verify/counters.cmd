# Wraps, resets, too little traffic, what cannot be, what is missing.
c=tests/golden/verify/counters f=topologies/examples/plant-b.yaml
v() { nfsbal verify $f --observed "$TMP/t0" "$TMP/t1" 2>&1 | sed "s|$TMP/||"; echo "rc ${PIPESTATUS[0]}"; }
$c $f 0 0 >"$TMP/t0"
$c $f 600 1000 >"$TMP/t1"; v
$c $f 1 1e8 >"$TMP/t1"; v
$c $f 600 1e8 | sed '/stack1:gi1\/0\/1\t/d; /esx1:vmnic2/d' >"$TMP/t1"; v
$c $f 0 0 4294900000 >"$TMP/t0"
$c $f 600 1e8 4294900000 | awk -F'\t' -v OFS='\t' 'NR > 1 {$3 = sprintf("%.0f", $3 % 4294967296); $4 = sprintf("%.0f", $4 % 4294967296)} {print}' >"$TMP/t1"; v
$c $f 0 0 900000000000 >"$TMP/t0"
$c $f 600 1e8 >"$TMP/t1"; v
