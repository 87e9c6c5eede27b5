cd $TMP && nfsbal plan $OLDPWD/topologies/examples/plant-b.yaml --max-changes 6 -o plan.json >/dev/null
sed "s/gi1\/0\/\[21-24\]/gi1\/0\/[24,21-23]/; s/vms: 3/vms: 4/" $OLDPWD/topologies/examples/plant-b.yaml >site.yaml
nfsbal diff site.yaml --plan plan.json
