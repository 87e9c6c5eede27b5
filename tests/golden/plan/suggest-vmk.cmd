nfsbal plan tests/golden/plan/vmk.yaml --suggest-vmk --from "10.0.0.[10-40]"
