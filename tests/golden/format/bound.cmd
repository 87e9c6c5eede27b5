# Mounts that are bound to interfaces: formats that have a word for it, and those that refuse.
f=topologies/examples/bound.yaml
nfsbal plan $f --format esxcli --host esx1 | sed -n '/^bind/,$p'
nfsbal plan $f --format powercli --host esx1 | sed -n '/^function Add-Bound/,$p'
for format in govc terraform ansible; do nfsbal plan $f --format $format; done
true
