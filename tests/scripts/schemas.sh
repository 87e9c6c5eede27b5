#!/usr/bin/env bash
# needs: full release
# JSON that the programs write fits the schema in docs/ that it names, and each of these names has a schema. What needs a lab or a
# server is held against its schema in tests/netns and tests/nfs.
set -euo pipefail
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
fail() {
    echo "FAILED: $*" >&2
    exit 1
}

# Names in the sources: all strings NAME/1 that stand as a whole for a schema.
names=$(grep -rhoE '"(emu|nfsbal)-[a-z-]+/[0-9]+"' emu nfsbal --include='*.[ch]' | tr -d '"' | sort -u)
[ "$(wc -l <<<"$names")" -ge 22 ] || fail "the sources name only: $names"
for name in $names; do
    file=docs/${name%/*}.schema.json
    [ -e "$file" ] || fail "$name: there is no $file"
    grep -q "\"const\": \"$name\"" "$file" || fail "$file is not that of $name"
done
[ "$(find docs -name "*.schema.json" | wc -l)" = $(($(wc -l <<<"$names") + 1)) ] || fail "a schema that nothing names (topology.schema.json aside)"

# What golden cases have.
documents=()
for file in tests/golden/*/*.out; do
    if [ "$(head -c 12 "$file" | tr -d ' \n')" = '{"schema":' ] && [ "$(tail -n 1 "$file")" = "}" ]; then documents+=("$file"); fi
done
[ ${#documents[@]} -ge 5 ] || fail "golden documents: ${documents[*]}"

n=0
document() { # EXITS COMMAND... : its standard output is one
    local wanted=$1 rc=0
    shift
    n=$((n + 1))
    "$@" >"$tmp/$n.json" 2>"$tmp/err" || rc=$?
    [[ $rc == [$wanted] ]] || fail "$*: exit $rc: $(cat "$tmp/err")"
    documents+=("$tmp/$n.json")
}
for file in topologies/*/*.yaml; do
    document 02 emu check --json "$file"
    document 0 nfsbal ask --json "$file"
    document 0 nfsbal ask --mtu --json "$file"
done
document 2 emu check --json tests/golden/check/mtu-too-small.yaml
document 0 emu check --list --json
document 0 emu size --json --capacity 2480GB --image 25GB --memory 1GB --write-cache 2GB
document 0 emu size --json --quiet --raise vm-groups/desk/total --value 'run.latency_mean[desk]' --max 5ms tests/golden/size/desktops.yaml
document 0 nfsbal hash --list --json
document 0 nfsbal hash -p cisco-src-dst-ip -n 4 --json 10.50.0.11 '10.50.0.[101-104]'
document 0 nfsbal hash -p linux-layer3+4 -n 4 --json 10.50.0.11 '10.50.0.[101-104]'
document 0 nfsbal hash -p esxi-ip-hash -n 4 --why --json fd00::1 '[fd00::2]'
emu run --quiet --pcap "$tmp/pcap" tests/golden/run/small.yaml >/dev/null
for file in "$tmp"/pcap/*/*; do
    document 0 nfsbal hash -p esxi-ip-hash -n 2 --json --pcap "$file"
    break
done
for seconds in 0 600; do tests/golden/verify/counters topologies/examples/learn.yaml $seconds $((seconds * 100000)) >"$tmp/t$seconds"; done
document 0 nfsbal verify --json --observed "$tmp/t0" "$tmp/t600" topologies/examples/learn.yaml
# The jobs that the manual shows.
sed -n '/^{"schema": "nfsbal-jobs/,/^```/p' docs/man/nfsbal-load.1.scd | sed '/^```/d' >"$tmp/jobs.json"
EMU_RUNDIR=$tmp/labs document 0 emu list --json
/usr/bin/python3 tests/support/schema.py "$tmp/jobs.json" "${documents[@]}" || fail "does not fit"

# And the check can fail.
sed 's/"nconnect": 1/"nconnect": 65/' "$tmp/jobs.json" >"$tmp/bad.json"
! /usr/bin/python3 tests/support/schema.py "$tmp/bad.json" >"$tmp/out" || fail "65 connections fit"
sed 's/"mountport"/"mount-port"/' "$tmp/jobs.json" >"$tmp/bad.json"
! /usr/bin/python3 tests/support/schema.py "$tmp/bad.json" >"$tmp/out" || fail "any member fits"
grep -q "bad.json: jobs/0: .*mount-port" "$tmp/out" || fail "it says: $(cat "$tmp/out")"
