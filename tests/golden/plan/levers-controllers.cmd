# A controller's overload is repaired by what stops nothing; VIPs alone can't
nfsbal plan tests/golden/plan/controllers.yaml
nfsbal plan tests/golden/plan/controllers.yaml --levers vip | grep "nothing to gain"
nfsbal plan tests/golden/plan/controllers.yaml --best --tsv
