nfsbal plan topologies/examples/plant-b.yaml --what-if "uplinks 2" -o plan.json
