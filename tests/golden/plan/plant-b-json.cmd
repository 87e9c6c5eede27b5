nfsbal plan topologies/examples/plant-b.yaml --worth 3% --json
