# PowerShell ends a string at a typographic quote as well
sed '/b.*s.*nas:.*x }}/d; s|/vol/it|/vol/’it|' tests/golden/format/site.yaml >$TMP/site.yaml
nfsbal plan $TMP/site.yaml -o $TMP/plan.json >/dev/null
nfsbal diff $TMP/site.yaml --plan $TMP/plan.json --format powercli --host esx1 | grep -E '^(\$null|Add-)'
