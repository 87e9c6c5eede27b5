#!/usr/bin/env bash
# Four datastores mounted by plan, each through its own VIP and link, in one process, written and read by a dd each, through a live lab
# of four 1 GbE links at MTU 1500 in both directions: 471 MB/s is what the wires carry. Measured is the steady window, what the
# servers answered in the middle three seconds. The files are overwritten: the first touch of fresh memory is slow.
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
cd $bench
nfsbal mount -o nolock,mountport=20048,congestion=cubic --host esx1 --case ip-hash site.yaml --at mnt
trap 'umount mnt/*' EXIT
all() { # dd's arguments, @ for the datastore
    for i in 1 2 3 4; do dd \${@//@/mnt/ds\$i} bs=1M count=500 status=none & done
}
carried() { # read|written : when, in nanoseconds, and how many bytes
    local before
    before=\$(date +%s%N)
    for i in 1 2 3 4; do nfsbal stat --json mnt/ds\$i; done >all.json
    echo \$(((before + \$(date +%s%N)) / 2))
    python3 -c 'import json, sys
d = json.JSONDecoder(); text = open("all.json").read().strip(); n = 0
while text:
    s, end = d.raw_decode(text)
    n += sum(p[sys.argv[1]] for p in s["paths"])
    text = text[end:].strip()
print(n)' \$1
}
steady() { # WHAT COUNTER ARGUMENT...
    local what=\$1 counter=\$2 a b
    shift 2
    all "\$@"
    sleep 0.7
    mapfile -t a < <(carried \$counter)
    sleep 3
    mapfile -t b < <(carried \$counter)
    wait
    awk -v t=\$((b[0] - a[0])) -v n=\$((b[1] - a[1])) -v w=\$what 'BEGIN { printf "bench: %s %.0f MB/s\n", w, n * 1000 / t }'
}
all if=/dev/zero of=@/f conv=fsync
wait
steady write written if=/dev/zero of=@/f conv=fsync,notrunc
echo 3 >/proc/sys/vm/drop_caches
steady read read if=@/f of=/dev/null
EOF
emu exec "$lab" esx1 -- bash "$bench/work"
