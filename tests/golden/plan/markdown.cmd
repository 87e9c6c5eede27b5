nfsbal plan topologies/examples/plant-b.yaml --max-changes 2 --markdown
