#!/usr/bin/env bash
# `nfsbal mount` unshaped on one VIP; the peer is tests/perf/programs/fuse_standin.c.
# shellcheck disable=SC1091,SC2154,SC2086,SC2034 # the rig is sourced; paths without blanks
set -euo pipefail
. tests/support/nfs_rig.bash
command -v fio >/dev/null || { echo "skipped: fio is not installed (Debian: fio)"; exit 77; }
. tests/perf/mount.bash

rig_up
. tests/support/mount_rig.bash
rig_vip_add $server1 10.77.0.11
rig_server $server1
mount_up nolock 10.77.0.11
work=$mnt
measure_data
measure_names
mount_down
