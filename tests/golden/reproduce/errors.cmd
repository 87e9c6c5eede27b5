emu reproduce tests/golden/reproduce/none.yaml; echo $?
emu reproduce docs/man; echo $?
emu reproduce topologies/examples/plant-b.yaml; echo $?
(cd $TMP && emu reproduce); echo $?
sed 's/at: links/at: cables/; s/many.links_used/many.links/' tests/golden/reproduce/small.yaml > $TMP/bad.yaml
(cd $TMP && emu reproduce bad.yaml); echo $?
emu reproduce --json $TMP/none/x.json tests/golden/reproduce/small.yaml 2>&1 | sed "s|$TMP|TMP|"
