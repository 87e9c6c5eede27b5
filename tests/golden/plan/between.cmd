nfsbal plan tests/golden/plan/between.yaml | sed -n '/^what/,/^network/p'
emu run tests/golden/plan/between.yaml | grep "^run"
