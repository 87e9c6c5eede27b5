#!/usr/bin/env bash
# fio through a mount, every block verified: sequential, random overwrites with several outstanding, O_DIRECT, and during faults.
# needs: full release
# shellcheck disable=SC1091,SC2154,SC2086 # the rig is sourced; paths without blanks
set -euo pipefail
. tests/support/nfs_rig.bash

command -v fio >/dev/null || { echo "skipped: no fio"; exit 77; }
rig_up
. tests/support/mount_rig.bash
seed=${TEST_SEED:-1} size=12m loops=1 times=1
[ "${TEST_LONG-no}" != yes ] || size=100m loops=2 times=12
rig_vip_add $server1 10.77.0.11 10.77.0.12
rig_vip_add $server2 10.77.0.21
rig_server $server1
rig_server $server2
mount_up nolock,bound=300ms,failback=300ms,quarantine=300ms,spread=stripe 10.77.0.11,10.77.0.12,10.77.0.21

# crc32c and the offset in each block: stale, swapped and torn ones are found, and where.
run() { # NAME OPTIONS...
    local name=$1
    shift
    echo "--- $name"
    timeout 170 fio --name=$name --directory=$mnt --size=$size --randseed=$seed --verify=crc32c --verify_fatal=1 --verify_dump=0 --verify_state_save=0 \
        --do_verify=1 --end_fsync=1 --group_reporting --output=$rig/fio.$name --output-format=json --loops=$loops "$@" ||
        { cat $rig/fio.$name $rig/mount.log; fail "$name (seed $seed)"; }
    python3 - $rig/fio.$name <<'PY'
import json, sys
text = open(sys.argv[1]).read()
jobs = json.loads(text[text.index("{"):])["jobs"]
assert all(j["error"] == 0 for j in jobs), [j["error"] for j in jobs]
print("    %d MB written, %d MB read, p99 of writes %.1f ms" % (
    sum(j["write"]["io_bytes"] for j in jobs) / 1e6, sum(j["read"]["io_bytes"] for j in jobs) / 1e6,
    max(j["write"]["clat_ns"].get("percentile", {}).get("99.000000", 0) for j in jobs) / 1e6))
PY
}

run sequential --rw=write --bs=256k --ioengine=psync
run overwrites --rw=randwrite --bs=4k --norandommap --io_size=$size --size=4m --ioengine=libaio --iodepth=16 --serialize_overlap=1 --verify_backlog=512
run direct --rw=randwrite --bs=16k --direct=1 --ioengine=libaio --iodepth=16
# One pass: in a second one fio holds blocks of the first against the second's numbers, on a local disk as well.
run mixed --loops=1 --rw=randrw --bs=8k --direct=1 --ioengine=libaio --iodepth=8 --numjobs=2

faults() {
    local _
    for _ in $(seq $times); do
        sleep 0.5
        rig_vip_del $server1 10.77.0.12
        sleep 0.6
        rig_vip_add $server1 10.77.0.12
        rig_server_kill $server2
        sleep 0.3
        rig_server $server2
    done
    touch $rig/healed
}
faults &
run faults --rw=randwrite --bs=16k --direct=1 --ioengine=libaio --iodepth=16 --rate_iops=500
wait $!
[ -e $rig/healed ] || fail "the faults"
grep -q 'go elsewhere' $rig/mount.log || fail "no fault was felt"
mount_down || { cat $rig/mount.log; fail "not everything was written"; }
