# Changes of the site come before datastores, each with its class and its way back
nfsbal plan tests/golden/plan/vmk.yaml --best -o $TMP/plan.json >/dev/null && cd $TMP && cp $OLDPWD/tests/golden/plan/*.yaml . && nfsbal diff vmk.yaml --plan plan.json
nfsbal plan controllers.yaml --best -o plan.json >/dev/null && nfsbal diff controllers.yaml --plan plan.json && nfsbal diff controllers.yaml --plan plan.json --json --exit-code; echo $?
emu run controllers.yaml --plan plan.json | grep "^write\|^read\|MB/s"
