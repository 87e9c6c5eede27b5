# What hosts show: the uplink that esxtop gives, and source ports of connections.
sed 's/teaming: ip-hash/teaming: port-id/; /^  stack1/,/^  fas/s/^      po\[1-6\].*//' topologies/examples/plant-b.yaml >"$TMP/it.yaml"
nfsbal tell --date 2024-03-01 "$TMP/it.yaml" <<'END'
## esx1
  33554436     Management                n/a vSwitch0       0.00    0.00
  33554438           vmk1             vmnic3 vSwitch1   1203.11   98.42
END
nfsbal tell topologies/examples/pve-truenas.yaml 2>&1 <<'END'
root@pve1:~# ss -tn dst 10.50.0.201
State Recv-Q Send-Q Local Address:Port  Peer Address:Port
ESTAB 0      0         10.50.0.11:701    10.50.0.201:2049
ESTAB 0      0         10.50.0.11:702    10.50.0.201:2049
ESTAB 0      0         10.50.0.11:22     10.50.0.1:51234
END
