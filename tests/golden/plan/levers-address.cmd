nfsbal plan tests/golden/plan/vmk.yaml
