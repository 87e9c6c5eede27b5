# XOR keeps what rules over two addresses choose: the same indices, hop by hop.
indices() { emu path --json "$1" | grep -E "\"policy\": \"($2)" | grep -o '"index": [0-9a-z]*'; }
check() {
    for seed in 1 2 3; do
        nfsbal anonymize --seed $seed "$1" 2>/dev/null >"$TMP/out.yaml"
        indices "$1" "$2" >"$TMP/before"; indices "$TMP/out.yaml" "$2" >"$TMP/after"
        cmp "$TMP/before" "$TMP/after" && echo "$1: $(wc -l <"$TMP/after") choices"
    done
}
check topologies/examples/plant-b.yaml 'esxi-ip-hash|cisco-src-dst-ip'
check topologies/examples/two-subnets.yaml '.*'
check topologies/examples/colliding-vips.yaml '.*'
check topologies/fs7500/fig09-teaming.yaml '.*'
check topologies/examples/pve-truenas.yaml '.*'
check tests/golden/anonymize/routed.yaml '.*'
# Two subnets stay two; without a seed every time is another.
nfsbal anonymize --seed 1 topologies/examples/two-subnets.yaml | grep -o 'address: [0-9./]*'
a=$(nfsbal anonymize topologies/examples/learn.yaml) b=$(nfsbal anonymize topologies/examples/learn.yaml)
[ "$a" != "$b" ] && echo differs
