#!/usr/bin/env bash
# needs: release
# docs/results.md is what `emu reproduce` prints today, every claimed result holds, and the JSON is as its schema says.
set -euo pipefail

tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT

if ! emu reproduce --check --quiet --markdown "$tmp/results.md" --json "$tmp/results.json" >"$tmp/out"; then
    cat "$tmp/out"
    grep -n 'FAIL\|undefined\|not run' "$tmp/results.md" || true
    exit 1
fi
# Sensitivities run everything a dozen times: minutes. Here the rest of each row is held against the page, with --long all of it.
without_sensitivity() { # FILE
    /usr/bin/python3 - "$1" <<'EOF'
import re, sys
column = None
for line in open(sys.argv[1]):
    cells = re.split(r"(?<!\\)\|", line)
    if len(cells) < 3:
        column = None
    elif " with an input -20 %, +20 % " in cells:
        column = cells.index(" with an input -20 %, +20 % ")
    if column is not None and len(cells) > column + 1:
        del cells[column]
    print("|".join(cells), end="")
EOF
}
if [ "${TEST_LONG-no}" = yes ]; then
    emu reproduce --quiet --sensitivity --markdown "$tmp/all.md"
    diff -u docs/results.md "$tmp/all.md"
fi
without_sensitivity docs/results.md >"$tmp/kept.md"
if ! diff -u "$tmp/kept.md" "$tmp/results.md"; then
    echo 'docs/results.md is not current: emu reproduce --sensitivity --markdown docs/results.md'
    exit 1
fi
for file in "$tmp/results.json" tests/golden/reproduce/json.out; do
    /usr/bin/python3 - "$file" <<'EOF' # the one that Debian's jsonschema belongs to
import json, sys, jsonschema
schema = json.load(open("docs/emu-reproduction.schema.json"))
jsonschema.Draft202012Validator(schema).validate(json.load(open(sys.argv[1])))
EOF
done
# The same bytes whatever the number of threads.
emu reproduce --jobs 1 topologies/fs7500 >"$tmp/one"
emu reproduce --jobs 4 topologies/fs7500 >"$tmp/four"
cmp "$tmp/one" "$tmp/four"
