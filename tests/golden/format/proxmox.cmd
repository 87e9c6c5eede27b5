nfsbal plan topologies/examples/pve-truenas.yaml -o $TMP/plan.json >/dev/null
nfsbal diff topologies/examples/pve-truenas.yaml --plan $TMP/plan.json --format proxmox
