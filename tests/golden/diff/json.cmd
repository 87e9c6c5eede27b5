nfsbal plan topologies/examples/plant-b.yaml --max-changes 2 -o $TMP/plan.json >/dev/null
cp topologies/examples/plant-b.yaml $TMP && cd $TMP && nfsbal diff plant-b.yaml --json --exit-code -p plan.json
