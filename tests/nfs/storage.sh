#!/usr/bin/env bash
# needs: full release alone
# The file's storage under real NFS servers:
#   one disk, random reads of 4 KiB, four at a time: the closed form of docs/model.md, within 10 %
#   the clones of BP1024 and the boot of a desktop on 1 and on 10 GbE, in part: each number within 10 % of virtual time
#   killing the lab's process leaves nothing of it running
set -euo pipefail
. tests/nfs/library.sh
need_root_and nfs-ganesha ganesha.nfsd rpcbind
[ -c /dev/fuse ] || { echo "skipped: there is no /dev/fuse"; exit 77; }

cat >"$tmp/disk.yaml" <<'END'
version: 1
nodes:
  host1: {kind: linux, interfaces: {eth0: {address: 10.70.0.11/24}}}
  sw: {kind: switch}
  nas:
    kind: nas
    controllers: {ctl1: {nics: e0}}
    vips: {10.70.0.101/24: {}}
    exports: {/vol1: {}}
    storage: {groups: {disk: {device: savvio-10k-600, disks: 1, raid: raid-0}}}
links:
  - {ends: ["host1:eth0", "sw:1"], speed: 1G}
  - {ends: ["nas:ctl1.e0", "sw:2"], speed: 1G}
datastores: {ds1: {export: "nas:/vol1", mounted: 10.70.0.101}}
END

# Average seek 4 ms, half a turn of 6 ms, 4 KiB at 113 MB/s: 7.036 ms for one; four in a closed loop keep the disk busy and wait
# for each other, 4 x 7.036 ms (docs/model.md, n requests on one disk).
one_disk() {
    emu up --storage --quiet --name "$lab" "$tmp/disk.yaml"
    emu exec "$lab" host1 -- nfsbal load --json --port 2049 --mountport 20048 --pattern random --block 4KiB --size 1MiB \
        --outstanding 4 --for 2s nfs://10.70.0.101/vol1/f >"$tmp/load"
    emu down "$lab" >/dev/null
    python3 - "$tmp/load" <<'END'
import json, sys
end = [json.loads(line) for line in open(sys.argv[1])][-1]["jobs"][0]
read = end["histogram"]["read"]
mean = 1000 * sum(seconds * n for seconds, n in read) / sum(n for _, n in read)
print("one disk, four reads: %.2f ms, by the closed form 28.14" % mean)
sys.exit(end["errors"] != 0 or not 0.9 * 28.14 < mean < 1.1 * 28.14)
END
}

in_part() { # FILE OPTION... : all numbers of its cases
    emu reproduce --live --check "${@:2}" "$1" >"$tmp/out" || { cat "$tmp/out"; return 1; }
    tail -2 "$tmp/out"
}

killed() {
    emu up --storage --quiet --name "$lab" "$tmp/disk.yaml"
    local pid storage
    pid=$(python3 -c 'import json, sys; print(json.load(open(sys.argv[1]))["pid"])' "$EMU_RUNDIR/$lab/lab.json")
    storage=$(pgrep -P "$pid" -x emu-storage) || fail "no process for the storage"
    kill -9 "$pid"
    gone() { ! kill -0 "$storage" 2>/dev/null; }
    wait_for 5 "the storage's end" gone
    emu clean >/dev/null
}

lab=storage-$$
up_to_three_times one_disk
killed
up_to_three_times in_part topologies/nexenta/nexenta.yaml --scale 0.02 --images 0.05
up_to_three_times in_part topologies/fs7500/clone.yaml --images 0.00017
nothing_left
