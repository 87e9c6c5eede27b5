nfsbal plan topologies/examples/plant-b.yaml --suggest-vips 12 --from 10.50.0.0/24
