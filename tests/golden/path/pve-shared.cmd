emu path topologies/examples/pve-truenas.yaml --host pve2 --datastore vm-b
