#!/usr/bin/env bash
# What nfsbal plan writes: JSON that fits its schema, the same bytes twice and in every locale, nothing half-written.
set -euo pipefail
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
fail() {
    echo "FAILED: $*" >&2
    exit 1
}

python=
for candidate in /usr/bin/python3 python3; do
    if [ -z "$python" ] && "$candidate" -c 'import jsonschema' 2>/dev/null; then
        python=$candidate
    fi
done
[ -n "$python" ] || fail "no python3 with jsonschema: scripts/setup installs python3-jsonschema"
validate() {
    "$python" -W ignore - "$@" <<'PY'
import json, sys, jsonschema
schema = json.load(open("docs/nfsbal-plan.schema.json"))
jsonschema.Draft7Validator.check_schema(schema)
for path in sys.argv[1:]:
    jsonschema.Draft7Validator(schema).validate(json.load(open(path)))
PY
}

for file in topologies/*/*.yaml tests/golden/plan/new-site.yaml; do
    nfsbal plan --best -o "$tmp/one.json" "$file" >/dev/null
    validate "$tmp/one.json" || fail "$file: its plan does not fit the schema"
    nfsbal plan --json "$file" >"$tmp/two.json"
    validate "$tmp/two.json" || fail "$file: its plan does not fit the schema"
done
sed 's/"proposed": false/"proposed": "no"/; s/"proposed": true/"proposed": "yes"/' "$tmp/one.json" >"$tmp/bad.json"
! validate "$tmp/bad.json" 2>/dev/null || fail "the schema accepts anything"
echo "JSON fits its schema"

nfsbal plan --best --json topologies/examples/plant-b.yaml >"$tmp/a.json"
LC_ALL=de_DE.UTF-8 nfsbal plan --best -o - topologies/examples/plant-b.yaml >"$tmp/b.json"
cmp "$tmp/a.json" "$tmp/b.json"
echo "the same bytes twice"

mkdir "$tmp/folder"
if nfsbal plan -o "$tmp/folder/none/plan.json" topologies/examples/plant-b.yaml >/dev/null 2>&1; then
    fail "a folder that is not there goes unnoticed"
fi
[ -z "$(ls -A "$tmp/folder")" ] || fail "something is left behind"
if [ -e /dev/full ]; then
    for how in "" "--json" "--tsv"; do
        # shellcheck disable=SC2086 # no word for the tables
        if nfsbal plan $how topologies/examples/plant-b.yaml >/dev/full 2>/dev/null; then
            fail "a full disk goes unnoticed"
        fi
    done
fi
echo "nothing half-written"
