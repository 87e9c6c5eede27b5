# A plan by hand: every class, the holder of vCenter last, names quoted
cp tests/golden/diff/mixed.yaml $TMP && cd $TMP && nfsbal plan --best mixed.yaml -o made.json >/dev/null
sed -E "/\"(own|lin)\"/s/\"vip\": \"10.1.0.100\"/\"vip\": \"10.1.0.101\"/; /\"lin\"/s/\"server\": \"10.1.0.100\"/\"server\": \"10.1.0.101\"/" made.json >plan.json
nfsbal diff mixed.yaml --plan plan.json
