nfsbal plan --designs topologies/examples/plant-b.yaml
nfsbal plan --designs topologies/examples/backup-proxy.yaml | sed -n '/^VIPs/,/^$/p'
