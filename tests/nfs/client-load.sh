#!/usr/bin/env bash
# nfsbal load against real servers. needs: full
# shellcheck disable=SC2086,SC2046 # paths of the rig have no blanks; lists of process-IDs are lists
# shellcheck disable=SC1091,SC2154 # the rig's variables
set -euo pipefail
. tests/support/nfs_rig.bash

rig_up
rig_vip_add $server1 10.77.0.11 10.77.0.12
rig_vip_add $server2 10.77.0.21
rig_server $server1
rig_server $server2

load() { in_client "$BIN/nfsbal" load "$@"; }

echo "--- write and read, checked"
load nfs://10.77.0.11$rig/export/a.dat --op write --bytes 64MiB --size 32MiB --verify
[ "$(stat -c %s $rig/export/a.dat)" = 33554432 ] || fail "size of a.dat"
load nfs://10.77.0.11$rig/export/a.dat --op mixed --pattern random --block 4KiB --for 1s --size 8MiB --verify
load nfs://10.77.0.11$rig/export/b.dat --op read --bytes 64MiB --size 16MiB --fill --verify --nconnect 4
load nfs://10.77.0.11$rig/export/a.dat --op mixed --pattern random --block 1MiB --bytes 64MiB --size 32MiB --fill --verify
