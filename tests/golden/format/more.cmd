# vCenter's own spelling of a backslash is refused by govc and Terraform
nfsbal plan tests/golden/format/site.yaml --format govc; echo $?
nfsbal plan tests/golden/format/site.yaml --format kubernetes; echo $?
sed 's/"b\\\\s":/bs: /' tests/golden/format/site.yaml >$TMP/site.yaml
for format in govc terraform; do echo "=== $format"; nfsbal plan $TMP/site.yaml --format $format; done
for format in autofs libvirt nas; do echo "=== $format"; nfsbal plan tests/golden/format/site.yaml --format $format --host pve1; done
