nfsbal plan topologies/examples/plant-b.yaml
