nfsbal ask --mtu --node esx5 topologies/examples/plant-b.yaml
nfsbal ask --mtu --node stack1 topologies/examples/plant-b.yaml
nfsbal ask --mtu topologies/examples/pve-truenas.yaml
