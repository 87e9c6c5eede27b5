nfsbal ask topologies/examples/pve-truenas.yaml
