# Datastores bound to interfaces: chosen, written, followed, and run.
f=topologies/examples/bound.yaml
nfsbal plan $f --best -o $TMP/plan.json
nfsbal diff $f --plan $TMP/plan.json | sed 's/, made [^,]*,//; s|.*/plan.json|plan.json|'
nfsbal diff $f --plan $TMP/plan.json --exit-code --json | sed -n '/site_changes/,/^  }/p'
emu path $f --plan $TMP/plan.json --host esx2 --datastore ds2 | head -3
emu run $f --plan $TMP/plan.json --detail fluid --tsv | grep 'hosts.esx2.write.rate'
nfsbal plan $f --levers vip
nfsbal plan $f --what-if 'bind ds1 esx2 vmk3' --what-if 'bind ds1 esx9 vmk3'
nfsbal plan $f --what-if 'bind ds1 esx2 vmk9'
nfsbal plan $f --what-if 'bind ds9 esx2 vmk2'
sed 's/8.0u2/8.0/; s/vmknic: {esx1: "vmk.1-4."}, //' $f >$TMP/old.yaml
nfsbal plan $TMP/old.yaml --levers vmk-binding 2>&1 | sed "s|$TMP/||"
nfsbal plan topologies/examples/plant-b.yaml --levers vmk-binding
true
