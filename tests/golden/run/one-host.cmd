emu run --detail fluid --host esx5 topologies/examples/plant-b.yaml
