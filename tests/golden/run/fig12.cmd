emu run --check --quiet topologies/fs7500/fig12-nics.yaml
