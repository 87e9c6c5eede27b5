f=topologies/examples/plant-b.yaml
try() { "$@" 2>&1 | sed "s|$TMP/||g"; echo "rc ${PIPESTATUS[0]}"; }
printf '1\tesx1:vmnic2\t1\t1\n' >"$TMP/t0"
printf '1\tesx1:vmnic9\t1\t1\nx\tesx1:vmnic2\t1\t1\n1\tesx1:vmnic2\t-1\t1\n1\tesx1:vmnic2\t1\t1.5\n' >"$TMP/bad"
printf 'nothing here\n' >"$TMP/empty"
printf '## esx99\nNIC statistics for vmnic2\n' >"$TMP/section"
mkdir "$TMP/folder"; echo '[{"ifname":' >"$TMP/folder/esx1.json"
try nfsbal verify $f
try nfsbal verify $f --observed "$TMP/t0"
try nfsbal verify --how --json $f
try nfsbal verify --all --json --observed "$TMP/t0" "$TMP/t0" $f
for t in bad empty section folder absent; do try nfsbal verify $f --observed "$TMP/t0" "$TMP/$t"; done
try nfsbal verify $f --observed "$TMP/t0" "$TMP/t0"
try nfsbal verify "$TMP/absent.yaml" --observed "$TMP/t0" "$TMP/t0"
