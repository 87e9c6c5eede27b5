nfsbal plan tests/golden/plan/apart.yaml
