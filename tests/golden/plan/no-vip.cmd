nfsbal plan tests/golden/plan/no-vip.yaml
