#!/usr/bin/env bash
# What nfsbal diff --format prints, read by the programs that it is for: shells, findmnt, systemd, YAML.
set -euo pipefail
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
fail() {
    echo "FAILED: $*" >&2
    exit 1
}
site=tests/golden/format/site.yaml
nfsbal plan "$site" -o "$tmp/plan.json" >/dev/null
print() { nfsbal diff "$site" --plan "$tmp/plan.json" --format "$@"; }

# ---- esxcli: against one that keeps its mounts in a file, in the columns of the real one ----
print esxcli >"$tmp/mount.sh"
shellcheck -s sh -e SC2016 "$tmp/mount.sh" || fail "shellcheck has something to say"
mkdir "$tmp/bin"
cat >"$tmp/bin/esxcli" <<'SH'
#!/bin/sh
# esxcli storage nfs|nfs41 list | add -H SERVER -s PATH -v NAME
touch "$STATE.$2"
if [ "$3" = list ]; then
    printf '%-20s  %-16s  %-30s  %s\n' 'Volume Name' Host Share Accessible
    while IFS='	' read -r name server path; do
        printf '%-20s  %-16s  %-30s  %s\n' "$name" "$server" "$path" true
    done <"$STATE.$2"
else
    [ "$3 $4 $6 $8" = 'add -H -s -v' ] || exit 1
    printf '%s\t%s\t%s\n' "$9" "$5" "$7" >>"$STATE.$2"
fi
SH
chmod +x "$tmp/bin/esxcli"
run() { env PATH="$tmp/bin:$PATH" STATE="$tmp/state" "$shell" "$tmp/mount.sh" "$@"; }
for shell in dash bash; do
    "$shell" -n "$tmp/mount.sh"
    rm -f "$tmp"/state.*
    run esx1 >"$tmp/first" || fail "$shell: the script"
    [ "$(grep -c ': mounted$' "$tmp/first")" = 5 ] || fail "$shell: not all are mounted"
    printf '%s\t%s\t%s\n' "a\$1;x" 10.1.0.100 "/vol/it's \"a\" \$HOME" pct 10.1.0.101 '/vol/50 %' 'b\s' 10.1.0.101 '/b\s {{ x }}' \
        own own.example /plain >"$tmp/wanted"
    diff "$tmp/wanted" "$tmp/state.nfs" || fail "$shell: a name was not kept to the letter"
    grep -qx "grün	10.1.0.100	/vol/grün #2" "$tmp/state.nfs41" || fail "$shell: NFS 4.1"
    run esx1 >"$tmp/second" || fail "$shell: a second time"
    [ "$(grep -c ': there already$' "$tmp/second")" = 5 ] || fail "$shell: a second time mounts again"
    for other in 'own	other.example	/plain' 'own	own.example	/plain/' 'own	own.example.org	/plain'; do
        rm -f "$tmp"/state.*
        printf '%s\n' "$other" >"$tmp/state.nfs"
        ! run esx2 >/dev/null 2>"$tmp/err" || fail "$shell: takes $other for the same"
        grep -q '^own: exists with another' "$tmp/err" || fail "$shell: does not say what is in the way"
        [ "$(cat "$tmp/state.nfs")" = "$other" ] || fail "$shell: did something before it stopped"
    done
    printf 'owner\tx\t/y\n' >"$tmp/state.nfs"
    run esx2 >/dev/null || fail "$shell: another name that only begins alike"
    ! run esx9 2>/dev/null || fail "$shell: a host that is not there"
done
echo "esxcli: quoted, compared, stopped"

# ---- fstab ----
print fstab --host pve2 >"$tmp/fstab"
LC_ALL=C.UTF-8 findmnt --tab-file "$tmp/fstab" --json -o SOURCE,TARGET,FSTYPE,OPTIONS >"$tmp/fstab.json"
findmnt --verify --tab-file "$tmp/fstab" >"$tmp/verify" 2>&1 || true
# The only thing to complain about is that this machine has no such mount points.
grep -q '^0 parse errors' "$tmp/verify" || fail "findmnt --verify: $(cat "$tmp/verify")"
! grep -F '[' "$tmp/verify" | grep -v 'unreachable on boot required target' || fail "findmnt --verify"

# ---- systemd ----
print systemd --host pve1 >"$tmp/units"
mkdir "$tmp/units.d"
units=0
while IFS= read -r line; do
    case $line in
        '# /etc/systemd/system/'*) unit=$tmp/units.d/${line##*/}; units=$((units + 1)) ;;
        *) printf '%s\n' "$line" >>"$unit" ;;
    esac
done <"$tmp/units"
[ "$units" = 5 ] || fail "systemd: $units units"
for unit in "$tmp"/units.d/*.mount; do
    where=$(sed -n 's/^Where=//p' "$unit")
    [ "${unit##*/}" = "$(systemd-escape --path --suffix=mount -- "$where")" ] || fail "$unit is not the name for $where"
done
systemd-analyze verify --man=no "$tmp"/units.d/*.mount || fail "systemd-analyze verify"

# ---- Ansible, and what fstab was read as ----
print ansible >"$tmp/play.yaml"
python=/usr/bin/python3
"$python" -c 'import yaml' 2>/dev/null || python=python3
"$python" - "$tmp" <<'PY'
import json, sys, yaml
yaml.SafeLoader.add_constructor("!unsafe", lambda loader, node: loader.construct_scalar(node))
plays = yaml.safe_load(open(sys.argv[1] + "/play.yaml", encoding="utf-8"))
paths = ["/vol/it's \"a\" $HOME", "/vol/grün #2", "/vol/50 %", "/b\\s {{ x }}", "/plain"]
esx = plays[0]["vars"]["nfs_datastores"]
assert [m["path"] for m in esx if m["host"] == "esx1"] == paths, esx
mounts = [m for m in plays[1]["vars"]["nfs_mounts"] if m["host"] == "pve2"]
assert [m["source"].split(":", 1)[1] for m in mounts] == paths, mounts
states = [v["state"] for play in plays for task in play["tasks"] for v in task.values() if isinstance(v, dict) and "state" in v]
assert states == ["present", "mounted"], states
read = json.load(open(sys.argv[1] + "/fstab.json", encoding="utf-8"))["filesystems"]
assert [(r["source"], r["target"]) for r in read] == [(m["source"], m["target"]) for m in mounts], read
PY
echo "fstab, systemd, Ansible: read back to the letter"

# ---- nothing removes ----
for format in esxcli ansible hosts zone; do print "$format"; done >"$tmp/all"
cat "$tmp/fstab" "$tmp/units" >>"$tmp/all"
! grep -wiE 'remove|umount|unmount|absent|Remove-Datastore' "$tmp/all" || fail "something here removes"

# ---- a newline, which no format can hold ----
sed 's|/plain|/pl\\nain|g' "$site" >"$tmp/newline.yaml"
nfsbal plan "$tmp/newline.yaml" -o "$tmp/newline.json" >/dev/null
for format in esxcli powercli ansible hosts zone; do
    rc=0
    nfsbal diff "$tmp/newline.yaml" --plan "$tmp/newline.json" --format "$format" >"$tmp/out" 2>"$tmp/err" || rc=$?
    [ "$rc" = 2 ] || fail "$format takes a newline"
    [ ! -s "$tmp/out" ] || fail "$format: printed something before it refused a newline"
    [ "$format" = powercli ] || grep -q 'control character' "$tmp/err" || fail "$format: does not say what is wrong"
done
