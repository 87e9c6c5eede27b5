nfsbal plan topologies/examples/plant-b.yaml --max-changes 6 --explain --datastore ds07
