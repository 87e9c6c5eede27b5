# What is mounted as the plan says: nothing to do, whatever --exit-code
cd topologies/examples && nfsbal plan plant-b.yaml -o $TMP/plan.json >/dev/null
cp plant-b.yaml $TMP && cd $TMP && nfsbal diff plant-b.yaml --plan plan.json --exit-code
