nfsbal plan topologies/examples/plant-b.yaml --max-changes 2 -o $TMP/plan.json >/dev/null
p() { nfsbal diff topologies/examples/plant-b.yaml --plan $TMP/plan.json "$@"; echo $?; }
p --with-unmount ds11
p --with-unmount ds01
p --with-unmount ds99
p --with-unmount ds11 --json
cp tests/golden/diff/mixed.yaml $TMP && cd $TMP && nfsbal plan --best mixed.yaml -o made.json >/dev/null
sed -E "/\"lin\"/s/10.1.0.100/10.1.0.101/g" made.json >plan.json
nfsbal diff mixed.yaml --plan plan.json --with-unmount lin
