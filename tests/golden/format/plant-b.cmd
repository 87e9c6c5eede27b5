nfsbal plan topologies/examples/plant-b.yaml --max-changes 2 -o $TMP/plan.json >/dev/null
nfsbal diff topologies/examples/plant-b.yaml --plan $TMP/plan.json --format powercli --host esx6
nfsbal diff topologies/examples/plant-b.yaml --plan $TMP/plan.json --format hosts
