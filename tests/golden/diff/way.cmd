# One of two ways; a plan without outages.
nfsbal plan topologies/examples/plant-b.yaml --levers vip --max-class 2 --max-changes 2 -o $TMP/plan.json | sed -n "/^changes/,/uneven/p"
nfsbal diff topologies/examples/plant-b.yaml --plan $TMP/plan.json --way copy | sed -n '2p;/^1 /,$p'
nfsbal diff topologies/examples/plant-b.yaml --plan $TMP/plan.json --way outage | sed -n '2p;/^1 /,/^2/p'
nfsbal diff topologies/examples/plant-b.yaml --plan $TMP/plan.json --way copy --json
true
