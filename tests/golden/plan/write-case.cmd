# The plan of a case goes into its `set`; the file as it stands, and other cases, stay. Entries that no bracket can hold are written out.
{ cat topologies/examples/plant-b.yaml; cat <<'CASES'
cases:
  as-is: {}                       # nothing else
  one-less:                       # .104 is down
    set:
      nodes: {fas: {svms: {svm_nfs: {vips: {"10.50.0.104/24": {state: down}}}}}}
CASES
} >$TMP/site.yaml
for case in as-is one-less; do
    nfsbal plan $TMP/site.yaml --case $case --levers vip --max-changes 2 --write $TMP/$case.yaml >/dev/null
    diff $TMP/site.yaml $TMP/$case.yaml
    nfsbal plan $TMP/$case.yaml --case $case --levers vip --tsv | cut -f1,2,4 >$TMP/now
    nfsbal plan $TMP/site.yaml --case $case --levers vip --max-changes 2 --tsv | cut -f1,2,5 | sed 's/server$/server_today/' | diff $TMP/now -
    nfsbal plan $TMP/$case.yaml --levers vip --tsv >$TMP/base
    nfsbal plan $TMP/site.yaml --levers vip --tsv | diff $TMP/base -
done
nfsbal plan topologies/examples/bound.yaml --best --write - | diff topologies/examples/bound.yaml -
nfsbal plan topologies/examples/plant-b.yaml --levers vip,names --max-changes 2 --write - | diff topologies/examples/plant-b.yaml -
true
