emu run --check tests/golden/run/vms.yaml
emu run --json $TMP/r.json -q tests/golden/run/vms.yaml >/dev/null && grep -c vm_groups $TMP/r.json
emu run --detail train tests/golden/run/vms.yaml; echo $?
emu run --detail call topologies/examples/lag-blackhole.yaml 2>&1 | tail -1
emu run --host h1 -q tests/golden/run/vms.yaml | tail -3
sed 's/mounted: /protocol: iscsi, mounted: /; /^vm-groups/,$d' tests/golden/run/vms.yaml > $TMP/iscsi.yaml
emu run $TMP/iscsi.yaml 2>&1 | sed "s|$TMP|TMP|"
nfsbal plan $TMP/iscsi.yaml 2>&1 | sed "s|$TMP|TMP|"
