nfsbal plan topologies/examples/plant-b.yaml --max-changes 6 -o $TMP/plan.json >/dev/null
emu path topologies/examples/plant-b.yaml --plan $TMP/plan.json --host esx1 --datastore ds07
