emu run --check topologies/examples/learn.yaml
