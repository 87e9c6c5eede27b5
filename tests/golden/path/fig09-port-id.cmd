emu path topologies/fs7500/fig09-teaming.yaml --case port-id
