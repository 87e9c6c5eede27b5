nfsbal plan --designs topologies/examples/plant-b.yaml
nfsbal plan --designs topologies/examples/backup-proxy.yaml | sed -n '/^VIPs/,/^$/p'
nfsbal plan --designs topologies/examples/mlag-pair.yaml | sed -n '1,7p'
nfsbal plan --designs tests/golden/anonymize/routed.yaml | sed -n '1,7p;/none/p'
