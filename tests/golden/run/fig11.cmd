emu run --check --quiet topologies/fs7500/fig11-filesystems.yaml
