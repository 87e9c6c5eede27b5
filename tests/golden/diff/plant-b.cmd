nfsbal plan topologies/examples/plant-b.yaml --max-changes 6 -o $TMP/plan.json >/dev/null
cd $TMP && cp $OLDPWD/topologies/examples/plant-b.yaml . && nfsbal diff plant-b.yaml --plan plan.json
