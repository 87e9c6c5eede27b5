emu path topologies/examples/plant-b.yaml --host esx6 --datastore ds11 --tsv
