#!/usr/bin/env bash
# needs: full release alone
# emu live --plan --compare: four datastores by one VIP fill one uplink; as nfsbal plan wants them they fill four. And what is no NFS
# is refused before anything is made.
# shellcheck disable=SC2015 # the left side can not fail alone
set -euo pipefail
. tests/nfs/library.sh
need_root_and nfs-ganesha ganesha.nfsd rpcbind

sed 's/for: 30s/for: 4s/; s/mounted: "10.10.5.\[101-104\]"/mounted: 10.10.5.101/' topologies/fs7500/fig09-teaming.yaml >"$tmp/one-vip.yaml"
nfsbal plan "$tmp/one-vip.yaml" --case ip-hash --best --allow alias-mount -o "$tmp/plan.json" >/dev/null
planned() {
    emu live --quiet --plan "$tmp/plan.json" --compare --json "$tmp/live.json" "$tmp/one-vip.yaml" >"$tmp/out" || fail "$(cat "$tmp/out")"
    expect_rate "ip-hash, today" write 123.5
    expect_rate "ip-hash, plan" write 494
    expect_links "ip-hash, today" 1
    expect_links "ip-hash, plan" 4
}
up_to_three_times planned

sed -i 's/mounted: /protocol: iscsi, mounted: /' "$tmp/one-vip.yaml"
rc=0
emu live --case ip-hash "$tmp/one-vip.yaml" 2>"$tmp/err" || rc=$?
[ $rc = 2 ] && grep -q "iSCSI" "$tmp/err" || fail "a volume over iSCSI: exit $rc, $(cat "$tmp/err")"
nothing_left
