echo "10.50.0.[105-110] # printers" >$TMP/reserved
nfsbal plan topologies/examples/plant-b.yaml --suggest-vips 12 --from "10.50.0.[1-254]" --reserved $TMP/reserved
