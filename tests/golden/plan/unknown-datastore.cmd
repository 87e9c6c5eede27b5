nfsbal plan --explain --datastore ds99 topologies/examples/plant-b.yaml
