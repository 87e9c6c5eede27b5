nfsbal ask topologies/examples/plant-b.yaml
