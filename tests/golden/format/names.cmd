nfsbal plan tests/golden/format/site.yaml -o $TMP/plan.json >/dev/null
for format in esxcli ansible zone; do echo "=== $format"; nfsbal diff tests/golden/format/site.yaml --plan $TMP/plan.json --format $format; done
for format in fstab systemd; do echo "=== $format"; nfsbal diff tests/golden/format/site.yaml --plan $TMP/plan.json --format $format --host pve1; done
