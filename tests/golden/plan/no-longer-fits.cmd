nfsbal plan topologies/examples/plant-b.yaml --max-changes 6 -o $TMP/plan.json >/dev/null
cd $TMP && sed "s/e0\[c-f\]\", mode: lacp, hash: netapp-ip/e0[c-f]\", mode: lacp, hash: xor-src-dst-ip/; s/ds11:  /dsXX:  /; s/^  ds11/  dsXX/" $OLDPWD/topologies/examples/plant-b.yaml >site.yaml
emu run site.yaml --plan plan.json
