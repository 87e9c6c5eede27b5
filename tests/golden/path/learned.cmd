emu path topologies/examples/two-switches-no-mlag.yaml --host esx1 --datastore ds2
