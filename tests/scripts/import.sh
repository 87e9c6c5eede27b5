#!/usr/bin/env bash
# nfsbal import: topology -> what its devices would print -> import -> every flow takes the same ways. And: any subset of the
# outputs gives a file that can be read; the collectors are sound, and the one for Linux runs here.
set -euo pipefail
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
fail() {
    echo "FAILED: $*" >&2
    exit 1
}
python=/usr/bin/python3
"$python" -c 'import yaml' 2>/dev/null || python=python3
sample() { "$python" tests/scripts/import/sample.py "$@"; }
seed=${TEST_SEED:-$RANDOM}
RANDOM=$((seed % 32768))
echo "TEST_SEED=$seed"

# ---- the way around ----
sites=(plant-b pve-truenas learn two-subnets mlag-pair ten-gig-nconnect)
for site in "${sites[@]}"; do
    file=topologies/examples/$site.yaml
    emu check --expand "$file" | sample "$tmp/$site"
    nfsbal import -q -o "$tmp/$site.yaml" "$tmp/$site" 2>/dev/null || fail "$site: can't be put together"
    # No output tells the hash of a switch that isn't Cisco's: someone fills in that gap.
    hash=$(sed -n 's/^    hash: //p' "$file" | head -1)
    [ -z "$hash" ] || sed -i "s|^    # unknown: the hash of its LAGs.*|    hash: $hash|" "$tmp/$site.yaml"
    emu path --json "$file" >"$tmp/want.json"
    emu path --json "$tmp/$site.yaml" >"$tmp/have.json" || fail "$site: emu path"
    "$python" tests/scripts/import/compare.py "$tmp/want.json" "$tmp/have.json" >"$tmp/compared" || fail "$site: $(cat "$tmp/compared")"
    echo "$site: $(cat "$tmp/compared")"
    # What `emu check` says against the file that was made is what it says against the original.
    want=0
    emu check "$file" >/dev/null 2>&1 || want=$?
    have=0
    emu check "$tmp/$site.yaml" >"$tmp/check" 2>&1 || have=$?
    [ "$want" = "$have" ] || fail "$site: emu check ends with $have, not $want: $(cat "$tmp/check")"
done

# ---- any subset ----
made=0
for round in {1..5}; do
    for site in "${sites[@]}"; do
        cp -r "$tmp/$site" "$tmp/subset"
        percent=$((RANDOM % 100))
        while IFS= read -r file; do
            [ $((RANDOM % 100)) -ge "$percent" ] || rm "$file"
        done < <(find "$tmp/subset" -type f | sort)
        rc=0
        nfsbal import -q "$tmp/subset" >"$tmp/subset.yaml" 2>"$tmp/err" || rc=$?
        case $rc in
            0) made=$((made + 1)) ;;
            2) grep -q 'no output of a device\|no device in it' "$tmp/err" || fail "round $round, $site: $(cat "$tmp/err")" ;;
            *) find "$tmp/subset" -type f; fail "round $round, $site: $(cat "$tmp/err")" ;;
        esac
        rm -r "$tmp/subset"
    done
done
[ "$made" -gt 10 ] || fail "only $made of 30 subsets gave a file"
echo "subsets: $made of 30 gave a file that can be read"

# ---- the collectors ----
for kind in esxi ontap pve linux; do
    nfsbal import --script "$kind" >"$tmp/$kind.sh"
    shellcheck -s sh "$tmp/$kind.sh" || fail "$kind: shellcheck has something to say"
    busybox ash -n "$tmp/$kind.sh" || fail "$kind: ash can't read it"
    ! grep -wE 'set|add|remove|rm|mv|modify|create|delete' "$tmp/$kind.sh" | grep -v '^set -u$\|^#' || fail "$kind: something in it changes things"
done
mkdir -p "$tmp/here/self"
sh "$tmp/linux.sh" >"$tmp/here/self/collected.txt" || fail "the collector for Linux"
grep -q '^==== ip -j addr$' "$tmp/here/self/collected.txt" || fail "the collector for Linux prints no addresses"
rc=0
nfsbal import -q "$tmp/here" >"$tmp/here.yaml" 2>"$tmp/err" || rc=$?
[ "$rc" = 0 ] || grep -q 'no device in it' "$tmp/err" || fail "this machine: $(cat "$tmp/err")"

# The collector for ESXi, on a host made of the first sample's outputs.
mkdir "$tmp/bin"
cat >"$tmp/bin/esxcli" <<'SH'
#!/bin/sh
folder=tests/golden/import/harbour/esx1
case $1 in --formatter=csv) printf 'Host,\nnfs-a.corp.example,\n198.51.100.102,\n'; exit ;; --formatter=json) shift ;; esac
name=$(printf '%s' "$*" | tr ' ' '_')
[ ! -f "$folder/$name.txt" ] || exec cat "$folder/$name.txt"
[ ! -f "$folder/$(printf '%s' "$name" | sed 's/_-i_/_/').txt" ] || exec cat "$folder/$(printf '%s' "$name" | sed 's/_-i_/_/').txt"
SH
printf '#!/bin/sh\ncat tests/golden/import/harbour/esx1/query_networkhint.txt\n' >"$tmp/bin/vim-cmd"
printf '#!/bin/sh\nprintf "Name:      %%s\\nAddress 1: 198.51.100.101 %%s\\n" "$1" "$1"\n' >"$tmp/bin/nslookup"
chmod +x "$tmp/bin"/*
mkdir -p "$tmp/esxi/esx1"
env PATH="$tmp/bin:$PATH" dash "$tmp/esxi.sh" >"$tmp/esxi/esx1/collected.txt" || fail "the collector for ESXi"
nfsbal import -q "$tmp/esxi" >"$tmp/esxi.yaml" 2>"$tmp/err" || fail "what the collector for ESXi prints: $(cat "$tmp/err")"
for line in 'vSwitch1: {uplinks: \[vmnic2, vmnic3\], teaming: ip-hash, mtu: 9000}' 'vmk1: {portgroup: NFS__storage__50, address: 198.51.100.11/24' \
    'gold_01: {export: "unknown-nas:/gold01", mounted: nfs-a.corp.example}' 'esx1:vmnic3", "stack1:gi2/0/1"'; do
    grep -q -- "$line" "$tmp/esxi.yaml" || fail "the collector for ESXi: no $line in $(cat "$tmp/esxi.yaml")"
done

# ---- what is wrong ----
mkdir -p "$tmp/broken/esx1"
printf '[{"VolumeName": "ds1", ' >"$tmp/broken/esx1/storage_nfs_list.json"
rc=0
nfsbal import "$tmp/broken" >"$tmp/out" 2>"$tmp/err" || rc=$?
[ "$rc" = 2 ] || fail "broken JSON: $rc"
[ ! -s "$tmp/out" ] || fail "broken JSON: something was printed"
grep -q 'storage_nfs_list.json.*error' "$tmp/err" || fail "broken JSON: $(cat "$tmp/err")"
rc=0
nfsbal import "$tmp/nowhere" >"$tmp/out" 2>"$tmp/err" || rc=$?
[ "$rc" = 2 ] || fail "no such folder: $rc"
grep -q 'nowhere: No such file' "$tmp/err" || fail "no such folder: $(cat "$tmp/err")"
