emu check topologies/examples/plant-b.yaml
