nfsbal plan topologies/examples/plant-b.yaml --suggest-vmk --from "10.50.0.[17-60]"
