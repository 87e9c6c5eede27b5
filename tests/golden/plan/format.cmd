# The mounts of a row straight away, as nfsbal diff --format prints them
nfsbal plan topologies/examples/plant-b.yaml --max-changes 2 --format esxcli --host esx1 >$TMP/a
nfsbal plan topologies/examples/plant-b.yaml --max-changes 2 -o $TMP/plan.json >/dev/null
nfsbal diff topologies/examples/plant-b.yaml --plan $TMP/plan.json --format esxcli --host esx1 >$TMP/b
cmp $TMP/a $TMP/b && wc -l <$TMP/a
nfsbal plan topologies/examples/plant-b.yaml --max-changes 2 --format esxcli --host esx9; echo $?
