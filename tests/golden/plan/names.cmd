nfsbal plan topologies/examples/plant-b.yaml --names per-datastore --max-changes 2
nfsbal plan tests/golden/plan/vmk.yaml --names per-datastore; echo $?
nfsbal plan tests/golden/plan/vmk.yaml --names per-datastore --domain nfs.example | head -5
