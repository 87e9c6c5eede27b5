# The vmknic in the wrong subnet: the NFS uplinks of esx1 carry next to nothing, another NIC of it does.
cat >"$TMP/site.yaml" <<'END'
version: 1
nodes:
  esx1:
    kind: esxi
    vswitches: {vSwitch0: {uplinks: vmnic0}, vSwitch1: {uplinks: "vmnic[1-2]", teaming: ip-hash}}
    vmknics: {vmk0: {vswitch: vSwitch0, address: 10.1.0.11/24}, vmk1: {vswitch: vSwitch1, address: 10.0.0.11/24}}
  sw1: {kind: switch, hash: xor-src-dst-ip, lags: {po1: {to: "esx1:vSwitch1", mode: static}}}
  n1: {kind: nas, controllers: {c: {nics: e0}}, vips: {"10.0.0.[101-102]/24": {home: c}}, exports: {/x: {}, /y: {}}}
links:
  - {ends: ["esx1:vmnic[0-2]", "sw1:p[0-2]"], speed: 1G}
  - {ends: ["n1:c.e0", "sw1:p9"], speed: 1G}
datastores: {x: {export: "n1:/x", mounted: 10.0.0.101}, y: {export: "n1:/y", mounted: 10.0.0.102}}
END
tests/golden/verify/counters "$TMP/site.yaml" 0 0 >"$TMP/t0"
tests/golden/verify/counters "$TMP/site.yaml" 600 1e8 | sed 's/\(esx1:vmnic[12]\|sw1:p[12]\)\t.*/\1\t1000\t1000/; s/esx1:vmnic0\t.*/esx1:vmnic0\t200001000\t200001000/' >"$TMP/t1"
nfsbal verify "$TMP/site.yaml" --observed "$TMP/t0" "$TMP/t1"
