#!/usr/bin/env bash
# needs: release
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
validate_as() {
    "$python" -W ignore - "$@" <<'PY'
import json, sys, jsonschema
schema = json.load(open("docs/%s.schema.json" % sys.argv[1]))
jsonschema.Draft7Validator.check_schema(schema)
for path in sys.argv[2:]:
    jsonschema.Draft7Validator(schema).validate(json.load(open(path)))
PY
}
validate() { validate_as nfsbal-plan "$@"; }

for file in topologies/*/*.yaml tests/golden/plan/new-site.yaml; do
    if ! nfsbal plan --best -o "$tmp/one.json" "$file" >/dev/null 2>"$tmp/err"; then
        grep -q 'over iSCSI' "$tmp/err" || fail "$file: $(cat "$tmp/err")"
        continue
    fi
    validate "$tmp/one.json" || fail "$file: its plan does not fit the schema"
    nfsbal plan --json "$file" >"$tmp/two.json"
    validate "$tmp/two.json" || fail "$file: its plan does not fit the schema"
    nfsbal diff --plan "$tmp/one.json" --json "$file" >"$tmp/diff.json"
    validate_as nfsbal-diff "$tmp/diff.json" || fail "$file: its steps do not fit the schema"
    emu path --json "$file" >"$tmp/path.json"
    validate_as emu-path "$tmp/path.json" || fail "$file: its ways do not fit the schema"
done
for file in topologies/examples/{plant-b,backup-proxy,new-site}.yaml tests/golden/plan/new-site.yaml; do
    [ -e "$file" ] || continue
    nfsbal plan --designs --json "$file" >"$tmp/designs.json"
    validate_as nfsbal-designs "$tmp/designs.json" || fail "$file: its designs do not fit the schema"
done
for name in one diff path designs; do
    sed 's/"schema": "/"schema": "x/' "$tmp/$name.json" >"$tmp/other.json"
    case $name in one) as=nfsbal-plan ;; path) as=emu-path ;; *) as=nfsbal-$name ;; esac
    ! validate_as "$as" "$tmp/other.json" 2>/dev/null || fail "$as: its schema accepts anything"
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
