cp tests/golden/plan/new-site.yaml $TMP && cd $TMP && nfsbal plan new-site.yaml -o plan.json >/dev/null
nfsbal diff new-site.yaml --plan plan.json
