nfsbal plan topologies/examples/plant-b.yaml --max-changes 6 -o $TMP/plan.json >/dev/null
emu run topologies/examples/plant-b.yaml --plan $TMP/plan.json --compare --detail fluid --quiet
