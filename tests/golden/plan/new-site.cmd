nfsbal plan tests/golden/plan/new-site.yaml
