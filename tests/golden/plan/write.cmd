# Only what the plan changes is other text, and the new file plans to where it is
nfsbal plan topologies/examples/plant-b.yaml --max-changes 4 --write $TMP/new.yaml >/dev/null
diff topologies/examples/plant-b.yaml $TMP/new.yaml
nfsbal plan $TMP/new.yaml --levers vip --tsv | cut -f1,2,4 >$TMP/now
nfsbal plan topologies/examples/plant-b.yaml --max-changes 4 --tsv | cut -f1,2,5 | sed 's/server$/server_today/' >$TMP/then
diff $TMP/now $TMP/then
nfsbal plan tests/golden/plan/vmk.yaml --best --write - | diff tests/golden/plan/vmk.yaml -
nfsbal plan tests/golden/plan/controllers.yaml --best --write - | diff tests/golden/plan/controllers.yaml -
nfsbal plan tests/golden/plan/write-block.yaml --best --levers vip --write - | diff tests/golden/plan/write-block.yaml -
nfsbal plan tests/golden/plan/new-site.yaml --write - | diff tests/golden/plan/new-site.yaml -
true
