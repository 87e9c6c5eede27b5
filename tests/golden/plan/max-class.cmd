# Nothing that is an outage: no datastore moves
nfsbal plan topologies/examples/plant-b.yaml --max-class 1 | sed -n '/^changes/,$p'
