# The counters of a site that differs from its file in one thing: the thing is found.
f=topologies/examples/plant-b.yaml
tests/golden/verify/counters $f 0 0 >"$TMP/t0"
try() {
    echo "== $1"
    sed "${@:2}" $f >"$TMP/other.yaml"
    tests/golden/verify/counters "$TMP/other.yaml" 600 1e8 >"$TMP/t1"
    nfsbal verify $f --observed "$TMP/t0" "$TMP/t1"
    echo "rc $?"
}
try "members of po3 in another order" 's|      po\[1-6\]: .*|      "po[1-2,4-6]": {to: "esx[1-2,4-6]:vSwitch1", mode: static, vlan: trunk}\n      po3: {to: "esx3:vSwitch1", mode: static, vlan: trunk, members: ["gi1/0/6", "gi1/0/5", "gi2/0/6", "gi2/0/5"]}|'
try "another hash on the stack" 's|hash: cisco-src-dst-ip|hash: cisco-dst-ip|'
try "the same hash with its other map" 's|hash: cisco-src-dst-ip|hash: {policy: cisco-src-dst-ip, map: contiguous}|'
try "an uplink down" 's|  - {ends: \["esx\[1-4\]:vmnic\[4-5\]", "stack1:gi2/0/\[1-8\]"\], speed: 1G}|  - {ends: ["esx[1-3]:vmnic[4-5]", "stack1:gi2/0/[1-6]"], speed: 1G}\n  - {ends: ["esx4:vmnic4", "stack1:gi2/0/7"], speed: 1G}\n  - {ends: ["esx4:vmnic5", "stack1:gi2/0/8"], speed: 1G, state: down}|'
try "two datastores on another VIP" 's|"ds\[07,09\]":    {export: "fas:/{name}", mounted: 10.50.0.101|"ds[07,09]":    {export: "fas:/{name}", mounted: 10.50.0.103|'
