nfsbal plan --best --max-changes 3 topologies/examples/plant-b.yaml
