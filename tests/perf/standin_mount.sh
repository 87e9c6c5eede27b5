#!/usr/bin/env bash
# The stand-in for a file system over libnfs with one connection and one lock.
# shellcheck disable=SC1091,SC2154,SC2086,SC2034 # the rig is sourced; paths without blanks
set -euo pipefail
. tests/support/nfs_rig.bash
command -v fio >/dev/null || { echo "skipped: fio is not installed (Debian: fio)"; exit 77; }
. tests/perf/mount.bash

rig_up
rig_vip_add $server1 10.77.0.11
rig_server $server1
work=$rig/mnt
mkdir $work
MALLOC_MMAP_THRESHOLD_=33554432 MALLOC_TRIM_THRESHOLD_=268435456 nsenter --net=/run/netns/$client \
    "${BUILD:-build}/tests/perf/fuse_standin" "nfs://10.77.0.11$rig/export?nfsport=2049&mountport=20048" $work 2>/dev/null &
standin=$!
rig_wait "mountpoint -q $work" "the stand-in"
measure_data
measure_names
umount $work
wait $standin
