nfsbal ask
nfsbal ask --node stack9 topologies/examples/plant-b.yaml
nfsbal ask --case none topologies/examples/plant-b.yaml
nfsbal ask "$TMP/absent.yaml" 2>&1 | sed "s|$TMP|TMP|"
exit 0
