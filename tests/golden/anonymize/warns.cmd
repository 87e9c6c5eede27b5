# What an XOR doesn't keep is counted.
nfsbal anonymize --seed 1 topologies/examples/plant-b.yaml >/dev/null
nfsbal anonymize --seed 1 topologies/examples/backup-proxy.yaml >/dev/null
