emu run --check topologies/fs7500/fig09-teaming.yaml
