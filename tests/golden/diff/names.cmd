# A name of its own for what moves anyway
nfsbal plan topologies/examples/plant-b.yaml --levers vip,names --max-changes 2 -o $TMP/plan.json >/dev/null
nfsbal diff topologies/examples/plant-b.yaml --plan $TMP/plan.json | sed -n '/^1 /,$p'
