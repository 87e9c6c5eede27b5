for l in vip,vmk vip, '' vmk-binding; do nfsbal plan tests/golden/plan/vmk.yaml --levers "$l"; echo $?; done
nfsbal plan tests/golden/plan/vmk.yaml --domain x; echo $?
nfsbal plan tests/golden/plan/vmk.yaml --levers vip --from 10.0.0.1; echo $?
nfsbal plan tests/golden/plan/vmk.yaml --levers vip,names --best; echo $?
