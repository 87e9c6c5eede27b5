nfsbal plan topologies/examples/three-uplinks.yaml
