nfsbal plan topologies/examples/plant-b.yaml --what-if "paint esx1 green"
