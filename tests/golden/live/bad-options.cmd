# needs: full
emu live --sink --exports tests topologies/fs7500/fig09-teaming.yaml
emu live --exports tests/no-such-folder topologies/fs7500/fig09-teaming.yaml
emu live --case ip-hsh topologies/fs7500/fig09-teaming.yaml
emu live --tsv --json - topologies/fs7500/fig09-teaming.yaml
emu live --scale 0 topologies/fs7500/fig09-teaming.yaml
