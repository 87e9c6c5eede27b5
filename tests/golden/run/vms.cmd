emu run --check tests/golden/run/vms.yaml
emu run --json $TMP/r.json -q tests/golden/run/vms.yaml >/dev/null && grep -c vm_groups $TMP/r.json
emu run --detail train tests/golden/run/vms.yaml; echo $?
emu run --detail call topologies/examples/lag-blackhole.yaml 2>&1 | tail -1
