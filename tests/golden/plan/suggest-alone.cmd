nfsbal plan topologies/examples/plant-b.yaml --suggest-vips 12
