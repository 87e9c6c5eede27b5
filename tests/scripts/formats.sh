#!/usr/bin/env bash
# What nfsbal diff --format prints, read by the programs that it is for: shells, findmnt, systemd, YAML,
# xmllint; by ansible-playbook, libvirt's schema, autofs and terraform where they are installed.
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
if command -v ansible-playbook >/dev/null; then
    (cd "$tmp" && HOME=$tmp LC_ALL=C.UTF-8 ansible-playbook --syntax-check -i localhost, play.yaml >"$tmp/ansible" 2>&1) ||
        fail "ansible-playbook --syntax-check: $(cat "$tmp/ansible")"
fi
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

# ---- govc: against one that keeps its datastores in a file ----
sed 's/"b\\\\s":/bs: /' "$site" >"$tmp/plain.yaml" # vCenter writes a backslash otherwise: refused
nfsbal plan "$tmp/plain.yaml" --format govc >"$tmp/govc.sh"
shellcheck -s sh -e SC2016 "$tmp/govc.sh" || fail "govc: shellcheck has something to say"
cat >"$tmp/bin/govc" <<'SH'
#!/bin/sh
# govc about | datastore.info NAME | datastore.create -force -type T -mode M -name N -remote-host S -remote-path P HOST
case $1 in
    about) exit 0 ;;
    datastore.info)
        awk -F '\t' -v name="$2" '$1 == name { printf "Name:        %s\n  Type:      NFS\n  Remote:    %s:%s\n", $1, $2, $3; n++ }
            END { exit n == 0 }' "$STATE" ;;
    datastore.create)
        [ "$2 $3 $5 $6 $7 $9 ${11}" = '-force -type -mode readWrite -name -remote-host -remote-path' ] || exit 1
        printf '%s\t%s\t%s\t%s\t%s\n' "$8" "${10}" "${12}" "$4" "${13}" >>"$STATE" ;;
esac
SH
chmod +x "$tmp/bin/govc"
for shell in dash bash; do
    : >"$tmp/govc.state"
    env PATH="$tmp/bin:$PATH" STATE="$tmp/govc.state" "$shell" "$tmp/govc.sh" >/dev/null || fail "$shell: the script for govc"
    for host in esx1 esx2; do
        printf '%s\t%s\n' "a\$1;x	10.1.0.100	/vol/it's \"a\" \$HOME	nfs" "$host" 'grün	10.1.0.100	/vol/grün #2	nfs41' "$host" \
            'pct	10.1.0.101	/vol/50 %	nfs' "$host" 'bs	10.1.0.101	/b\s {{ x }}	nfs' "$host" 'own	own.example	/plain	nfs' "$host"
    done | sort >"$tmp/wanted"
    sort "$tmp/govc.state" | diff "$tmp/wanted" - || fail "$shell: govc: a name was not kept to the letter"
    printf 'own\tother.example\t/plain\tnfs\tesx1\n' >"$tmp/govc.state"
    rc=0
    env PATH="$tmp/bin:$PATH" STATE="$tmp/govc.state" "$shell" "$tmp/govc.sh" >/dev/null 2>"$tmp/err" || rc=$?
    [ "$rc" = 1 ] || fail "$shell: govc takes another server for the same"
    [ "$(wc -l <"$tmp/govc.state")" = 1 ] || fail "$shell: govc did something before it stopped"
done
echo "govc: quoted, compared, stopped"

# ---- Terraform: its own formatter reads it, where it is installed; Debian has none ----
nfsbal plan "$tmp/plain.yaml" --format terraform >"$tmp/site.tf"
if command -v terraform >/dev/null; then
    TF_CLI_CONFIG_FILE=/dev/null terraform fmt -check -diff "$tmp/site.tf" || fail "terraform fmt"
fi
[ "$(grep -c 'prevent_destroy = true' "$tmp/site.tf")" = "$(grep -c '^resource' "$tmp/site.tf")" ] || fail "Terraform: prevent_destroy"

# ---- libvirt: XML that its own schema takes, where that is installed ----
print libvirt --host pve2 >"$tmp/pools"
awk -v folder="$tmp" '/^<!--/ { n++ } { print > (folder "/pool-" n ".xml") }' "$tmp/pools"
for pool in "$tmp"/pool-*.xml; do
    xmllint --noout "$pool" || fail "libvirt: no XML"
    schema=/usr/share/libvirt/schemas/storagepool.rng
    [ ! -e "$schema" ] || xmllint --noout --relaxng "$schema" "$pool" 2>/dev/null || fail "libvirt: $(cat "$pool") is not what its schema wants"
done
[ "$(xmllint --xpath 'string(/pool/source/dir/@path)' "$tmp/pool-1.xml")" = "/vol/it's \"a\" \$HOME" ] || fail "libvirt: a path"
[ "$(xmllint --xpath 'string(/pool/name)' "$tmp/pool-2.xml")" = 'grün' ] || fail "libvirt: a name"

# ---- autofs: its own reader dumps the map, where it is installed and may mount ----
print autofs --host pve2 >"$tmp/auto.map"
printf '/- file:%s\n' "$tmp/auto.map" >"$tmp/auto.master"
if command -v automount >/dev/null && unshare -m sh -c "mount --bind '$tmp/auto.master' /etc/auto.master && automount -m" >"$tmp/dump" 2>/dev/null; then
    for key in "/mnt/a\$1;x" /mnt/grün /mnt/pct '/mnt/b\s' /mnt/own; do
        grep -qF "  $key | " "$tmp/dump" || fail "autofs: no key $key in $(cat "$tmp/dump")"
    done
    echo "autofs: its own reader agrees"
fi

# ---- Kubernetes, and VIPs for a Linux box in a network namespace of its own ----
nfsbal plan tests/golden/format/lags.yaml --format kubernetes --host pve1 >"$tmp/pv.yaml"
"$python" - "$tmp" <<'PY'
import sys, yaml
volumes = [v for v in yaml.safe_load_all(open(sys.argv[1] + "/pv.yaml", encoding="utf-8")) if v]
assert [(v["kind"], v["metadata"]["name"], v["spec"]["nfs"]) for v in volumes] == [
    ("PersistentVolume", "a", {"server": "10.1.0.101", "path": "/a"}),
    ("PersistentVolume", "b", {"server": "10.1.0.102", "path": "/b"})], volumes
assert all(v["spec"]["persistentVolumeReclaimPolicy"] == "Retain" for v in volumes)
PY
print nas >"$tmp/nas.sh"
shellcheck -s sh "$tmp/nas.sh" || fail "nas: shellcheck has something to say"
cat >"$tmp/nas.run" <<SH
ip link add e0 type veth peer name e9 && ip addr add 10.1.0.100/24 dev e0 && . "$tmp/nas.sh" && ip -o addr show dev e0
SH
if unshare -n true 2>/dev/null; then
    unshare -n sh "$tmp/nas.run" >"$tmp/nas.out" || fail "nas: the script"
    grep -q '^10.1.0.100/24: there already' "$tmp/nas.out" || fail "nas: an address that is there"
    grep -q '^10.1.0.101/24: added' "$tmp/nas.out" || fail "nas: an address that is missing"
    grep -q 'inet 10.1.0.101/24' "$tmp/nas.out" || fail "nas: it says so, but adds nothing"
fi
echo "Terraform, libvirt, Kubernetes, NAS: read back"

# ---- nothing removes ----
# The way back of switches and NAS is told in comments.
{
    for format in esxcli ansible hosts zone; do print "$format"; done
    cat "$tmp/fstab" "$tmp/units" "$tmp/govc.sh" "$tmp/site.tf" "$tmp/pools" "$tmp/auto.map" "$tmp/pv.yaml"
    nfsbal plan tests/golden/format/lags.yaml --format switch | grep -v '^!'
    nfsbal plan topologies/examples/plant-b.yaml --format nas | grep -v '^#'
} >"$tmp/all"
! grep -E '^ *(no|delete|default) ' "$tmp/all" || fail "something here takes away"
! grep -wiE 'remove|umount|unmount|absent|Remove-Datastore' "$tmp/all" || fail "something here removes"

# ---- a newline, which no format can hold ----
sed 's|/plain|/pl\\nain|g' "$site" >"$tmp/newline.yaml"
nfsbal plan "$tmp/newline.yaml" -o "$tmp/newline.json" >/dev/null
for format in esxcli powercli ansible hosts zone govc terraform; do
    rc=0
    nfsbal diff "$tmp/newline.yaml" --plan "$tmp/newline.json" --format "$format" >"$tmp/out" 2>"$tmp/err" || rc=$?
    [ "$rc" = 2 ] || fail "$format takes a newline"
    [ ! -s "$tmp/out" ] || fail "$format: printed something before it refused a newline"
    case $format in powercli | govc | terraform) continue ;; esac # they refuse another name before
    grep -q 'control character' "$tmp/err" || fail "$format: does not say what is wrong"
done
