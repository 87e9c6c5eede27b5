emu run --case a topologies/examples/plant-b.yaml
