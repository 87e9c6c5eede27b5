nfsbal plan tests/golden/plan/alias.yaml >$TMP/out; echo $?
nfsbal plan tests/golden/plan/alias.yaml --allow alias-mount --tsv; echo $?
nfsbal plan tests/golden/plan/alias.yaml --allow nonsense; echo $?
