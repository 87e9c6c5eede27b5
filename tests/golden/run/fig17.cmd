emu run --check --quiet topologies/fs7500/fig17-hosts.yaml
