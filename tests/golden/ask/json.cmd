nfsbal ask --json --node fas topologies/examples/plant-b.yaml
