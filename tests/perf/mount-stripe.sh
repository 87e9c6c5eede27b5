#!/usr/bin/env bash
# One file over four VIPs with plain dd, through a live lab of four 1 GbE links at MTU 1500 in both directions: 471 MB/s is what the
# wires carry. The file is overwritten and read again: the first touch of fresh memory is slow and not what is measured. Where the
# hypervisor takes free memory back (free page reporting) that begins two seconds after the caches were dropped; a run is shorter.
# shellcheck disable=SC1091,SC2154,SC2086,SC2034 # what live.bash has; its paths have no blanks
set -euo pipefail
. tests/perf/live.bash
need ganesha.nfsd nfs-ganesha

sed 's/transmit: xor-dst-ip/transmit: xor-src-dst-ip/; s/mtu: 9000/mtu: 1500/g' topologies/fs7500/fig09-teaming.yaml >"$bench/site.yaml"
lab=${ns}lab
emu up -q --name "$lab" --case ip-hash "$bench/site.yaml"
mkdir "$bench/mnt"
cat >"$bench/work" <<EOF
set -euo pipefail
nfsbal mount -o nolock,spread=stripe,mountport=20048,congestion=cubic '10.10.5.[101-104]:/vol1' $bench/mnt
trap 'umount $bench/mnt' EXIT
cd $bench/mnt
rate() { awk '/copied/ { print int(\$(NF - 1)) }'; }
dd if=/dev/zero of=f bs=1M count=700 conv=fsync 2>/dev/null
write=0 read=0
for try in 1 2 3; do
    r=\$(dd if=/dev/zero of=f bs=1M count=700 conv=fsync,notrunc 2>&1 | rate)
    [ \$r -le \$write ] || write=\$r
done
for try in 1 2; do
    echo 3 >/proc/sys/vm/drop_caches
    r=\$(dd if=f of=/dev/null bs=1M 2>&1 | rate)
    [ \$r -le \$read ] || read=\$r
done
echo "bench: write \$write MB/s"
echo "bench: read \$read MB/s"
cd /
EOF
emu exec "$lab" esx1 -- bash "$bench/work"
