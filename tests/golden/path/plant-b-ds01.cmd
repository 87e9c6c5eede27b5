emu path topologies/examples/plant-b.yaml --host esx1 --datastore ds01
