emu path topologies/examples/backup-proxy.yaml --host proxy --links
