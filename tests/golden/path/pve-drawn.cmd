emu path topologies/examples/pve-truenas.yaml --host pve1 --datastore vm-a
