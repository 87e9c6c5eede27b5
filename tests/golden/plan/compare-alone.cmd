emu run topologies/examples/plant-b.yaml --compare
