nfsbal plan tests/golden/plan/limit.yaml
