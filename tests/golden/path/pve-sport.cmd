emu path topologies/examples/pve-truenas.yaml --host pve1 --datastore vm-a --sport 701,702,703,704
