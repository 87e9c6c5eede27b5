nfsbal plan topologies/examples/plant-b.yaml --max-changes 2 --tsv | cut -f 1,2,4- | grep -E "ds(10|11|12)"
