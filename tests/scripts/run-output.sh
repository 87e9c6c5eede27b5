#!/usr/bin/env bash
# What emu run writes: the same bytes twice and in every locale, JSON that fits its schema, nothing half-written when the
# disk is full, and an orderly end at Ctrl-C.
set -euo pipefail

small=tests/golden/run/small.yaml
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT

fail() {
    echo "FAILED: $1"
    exit 1
}

# $1: expected exit code, then the command.
expect_rc() {
    local wanted=$1 rc=0
    shift
    "$@" >"$tmp/out" 2>"$tmp/err" || rc=$?
    [ "$rc" -eq "$wanted" ] || { cat "$tmp/out" "$tmp/err"; fail "exit $rc, not $wanted: $*"; }
}

for detail in fluid train frame; do
    expect_rc 0 emu run --detail $detail --check --json "$tmp/a.json" $small
    cp "$tmp/out" "$tmp/a.txt"
    expect_rc 0 env LC_ALL= LC_NUMERIC=de_DE.UTF-8 LANG=de_DE.UTF-8 emu run --detail $detail --json "$tmp/b.json" $small
    cmp "$tmp/a.json" "$tmp/b.json" || fail "two runs at detail $detail differ"
    cmp "$tmp/a.txt" "$tmp/out" || fail "two reports at detail $detail differ"
    emu run --detail $detail --json - $small | cmp - "$tmp/a.json" || fail "--json - differs from --json FILE"
    cp "$tmp/a.json" "$tmp/$detail.json"
done
expect_rc 0 emu compare --within 2% "$tmp/train.json" "$tmp/frame.json"
expect_rc 0 emu compare --within 2% "$tmp/train.json" "$tmp/fluid.json"
echo "same bytes twice, train, frame and fluid within 2 %"

# The system's Python has Debian's jsonschema, another one may not.
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
schema = json.load(open("docs/emu-result.schema.json"))
jsonschema.Draft7Validator.check_schema(schema)
for path in sys.argv[1:]:
    jsonschema.Draft7Validator(schema).validate(json.load(open(path)))
PY
}
validate "$tmp/train.json" "$tmp/frame.json" "$tmp/fluid.json"
for file in topologies/*/*.yaml tests/golden/run/vms.yaml; do
    detail=fluid
    ! grep -q '^ *raise:' "$file" || detail=call # response times
    if grep -q '^ *vm-groups:' "$file"; then
        case $file in topologies/*) continue ;; esac # hours of thousands of machines
        detail=call
    fi
    emu run --detail $detail --quiet --json - "$file" >"$tmp/one.json"
    validate "$tmp/one.json" || fail "$file: its result does not fit the schema"
done
sed 's/"engine": "train"/"engine": "magic"/' "$tmp/train.json" >"$tmp/bad.json"
! validate "$tmp/bad.json" 2>/dev/null || fail "the schema accepts an engine that does not exist"
echo "JSON fits its schema"

expect_rc 1 emu run --detail fluid --json /dev/full $small
expect_rc 1 emu run --detail fluid --json "$tmp/no/such.json" $small
[ ! -s "$tmp/out" ] || fail "ran although the JSON could not be written"
expect_rc 1 bash -c "emu run --detail fluid $small >/dev/full"
expect_rc 1 bash -c "emu run --detail fluid $small >&-"
expect_rc 1 bash -c "emu run --detail fluid --json - $small >/dev/full"
# A limit on the size of files is a full disk that every user can have.
mkdir "$tmp/limit"
expect_rc 1 bash -c "trap '' XFSZ; ulimit -f 1; emu run --detail fluid --json '$tmp/limit/a.json' $small >/dev/null"
[ -z "$(ls -A "$tmp/limit")" ] || fail "left behind: $(ls -A "$tmp/limit")"
echo "old" >"$tmp/kept.json"
expect_rc 1 bash -c "trap '' XFSZ; ulimit -f 1; emu run --detail fluid --json '$tmp/kept.json' $small >/dev/null"
[ "$(cat "$tmp/kept.json")" = old ] || fail "a failed run changed the file that was there"
echo "lost output is an error, and nothing is left behind"

# Hours of virtual time, so that the signal comes while it runs.
sed 's/for: 100ms/for: 10h/' $small >"$tmp/long.yaml"
rc=0
emu run --json "$tmp/long.json" "$tmp/long.yaml" >"$tmp/out" 2>"$tmp/err" &
pid=$!
sleep 1
kill -INT $pid
wait $pid || rc=$?
[ $rc -eq 130 ] || { cat "$tmp/err"; fail "interrupted: exit $rc, not 130"; }
grep -q "INTERRUPTED at" "$tmp/out" || fail "interrupted: the report does not say so"
grep -q "not run" "$tmp/out" || fail "interrupted: expectations are judged all the same"
grep -q '"complete": false' "$tmp/long.json" || fail "interrupted: the JSON does not say so"
validate "$tmp/long.json"
echo "Ctrl-C prints what is known"
