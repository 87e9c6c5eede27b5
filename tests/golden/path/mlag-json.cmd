emu path topologies/examples/mlag-pair.yaml --host esx1 --datastore ds1 --json
