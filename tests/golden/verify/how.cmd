nfsbal verify --how topologies/examples/plant-b.yaml | sed '/esx[2-6]/,/^$/d'
nfsbal verify --how topologies/examples/pve-truenas.yaml
