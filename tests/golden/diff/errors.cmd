nfsbal diff topologies/examples/plant-b.yaml; echo $?
nfsbal diff topologies/examples/plant-b.yaml --plan topologies/examples/plant-b.yaml; echo $?
nfsbal diff $TMP/none.yaml --plan docs/nfsbal-plan.schema.json; echo $?
nfsbal plan topologies/examples/plant-b.yaml -o $TMP/plan.json >/dev/null
nfsbal diff topologies/examples/plant-b.yaml --plan $TMP/plan.json --case other; echo $?
nfsbal diff topologies/examples/plant-b.yaml --plan $TMP/plan.json --plan x; echo $?
