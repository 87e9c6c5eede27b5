# Answers become entries; with --write they stand in a copy that checks, and `emu path` takes them for hop 2.
nfsbal tell --date 2024-03-01 topologies/examples/plant-b.yaml <tests/golden/tell/answers.txt
nfsbal tell --date 2024-03-01 --write "$TMP/new.yaml" topologies/examples/plant-b.yaml <tests/golden/tell/answers.txt 2>/dev/null
diff topologies/examples/plant-b.yaml "$TMP/new.yaml"
emu check "$TMP/new.yaml" | tail -1
emu path "$TMP/new.yaml" --host esx1 --datastore ds01 | grep 'stack1 po11'
# The same once more: known, and nothing changes.
nfsbal tell --write "$TMP/again.yaml" "$TMP/new.yaml" <tests/golden/tell/answers.txt 2>&1 | tail -1
cmp "$TMP/new.yaml" "$TMP/again.yaml"
