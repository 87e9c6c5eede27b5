# The same host and NAS behind switches of each style; a LAG without a number; management on the team
nfsbal plan topologies/examples/plant-b.yaml -o $TMP/plan.json >/dev/null
nfsbal diff topologies/examples/plant-b.yaml --plan $TMP/plan.json --format switch --host esx6
nfsbal diff topologies/examples/plant-b.yaml --plan $TMP/plan.json --format nas
for model in cisco-nexus-9300 arista-7050 juniper-ex4300 hp-procurve-2910 mikrotik-crs326; do
    echo "=== $model"
    sed "s/model: .*/model: $model/" tests/golden/format/lags.yaml >$TMP/lags.yaml
    nfsbal plan $TMP/lags.yaml --format switch
done
sed 's/po3/trunk-a/g' tests/golden/format/lags.yaml >$TMP/lags.yaml; nfsbal plan $TMP/lags.yaml --format switch; echo $?
sed 's/9000} # management/9000, management: true}/' tests/golden/format/lags.yaml >$TMP/lags.yaml; nfsbal plan $TMP/lags.yaml --format switch; echo $?
nfsbal plan tests/golden/format/lags.yaml --format nas
nfsbal plan tests/golden/format/lags.yaml --format kubernetes --host pve1
