emu path topologies/examples/plant-b.yaml
