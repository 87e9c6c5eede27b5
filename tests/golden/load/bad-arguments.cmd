# needs: full
for args in "" "10.0.0.1:/v" "nfs:///v" "nfs://10.0.0.[1-x]/v" "nfs://10.0.0.1:0/v" "--block 2MiB nfs://10.0.0.1/v" \
    "--sport 1,x nfs://10.0.0.1/v" "--export /w nfs://10.0.0.1/v" "--source here nfs://10.0.0.1/v" \
    "--size 4KiB nfs://10.0.0.1/v" "--jobs x --op write"; do
    nfsbal load $args 2>&1
    echo "= $?"
done
