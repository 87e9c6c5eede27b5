p() { nfsbal diff tests/golden/format/site.yaml --plan $TMP/plan.json "$@"; echo $?; }
nfsbal plan tests/golden/format/site.yaml -o $TMP/plan.json >/dev/null
p --format powercli
p --format proxmox
p --format fstab
p --format systemd
p --format esxcli --host pve1
p --format fstab --host esx1
p --format hosts --host esx9
p --format fstb
p --format fstab --json
p --format fstab --exit-code
p --host pve1
