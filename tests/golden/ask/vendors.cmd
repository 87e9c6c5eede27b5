# One switch as each vendor's: what it is asked.
for model in cisco-nexus-9300 arista-7050 dell-force10-s4810 juniper-ex4300 hp-5406 unheard-of; do
    sed "s/model: cisco-3750x/model: $model/; s/hash: cisco-src-dst-ip/hash: {unknown: [src-ip, dst-ip]}/" \
        topologies/examples/plant-b.yaml | nfsbal ask --node stack1 - | sed -n '1p;/po12/,$p' | sed -n 1,3p
done
