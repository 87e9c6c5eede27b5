emu run --detail fluid topologies/examples/plant-b.yaml
