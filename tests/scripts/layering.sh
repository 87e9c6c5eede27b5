#!/usr/bin/env bash
# scripts/check-layering must find each kind of wrong #include, and nothing in a tree that is right.
# needs: release
set -euo pipefail

tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT
mkdir -p "$tree"/hashes "$tree"/emu/{model,fabric,sim,report,cli} "$tree"/nfsbal/plan
cp -r cmake "$tree"

# Write a file of the given include lines.
file() {
    local path=$tree/$1
    shift
    printf '#include %s\n' "$@" >"$path"
}

failed=0
# A file of these lines must be refused with a message that holds the text.
refused() {
    local text=$1 path=$2 out
    shift 2
    file "$path" "$@"
    if out=$(scripts/check-layering "$tree"); then
        echo "not refused: $path with $*"
        failed=1
    elif ! grep -qF -- "$text" <<<"$out"; then
        echo "refused without \"$text\": $out"
        failed=1
    fi
    rm "$tree/$path"
}

file hashes/key.h '<stdint.h>'
file hashes/key.c '"hashes/key.h"' '<string.h>'
file emu/model/topology.h '"hashes/key.h"'
file emu/model/topology_yaml.c '<libfyaml.h>' '"emu/model/topology.h"'
file emu/fabric/wire.h '"emu/model/topology.h"'
file emu/sim/run.h '"emu/fabric/wire.h"' '"hashes/key.h"'
file emu/report/table.c '<libsmartcols/libsmartcols.h>' '<unistd.h>' '<sys/ioctl.h>'
file emu/cli/main.c '"emu/sim/run.h"'
file nfsbal/plan/plan.h '"emu/model/topology.h"'
if ! scripts/check-layering "$tree"; then
    echo "a tree that keeps the rules is refused"
    failed=1
fi

refused 'may not use' hashes/x.c '"emu/model/topology.h"'
refused 'may not use' emu/model/x.c '"emu/fabric/wire.h"'
refused 'may not use' emu/fabric/x.h '"emu/sim/run.h"'
refused 'may not use' emu/report/x.c '"emu/sim/run.h"'
refused 'may not use' emu/sim/x.c '"nfsbal/plan/plan.h"'
refused 'nowhere else' emu/model/x.c '<libfyaml.h>'
refused 'nowhere else' emu/cli/x.c '<libsmartcols/libsmartcols.h>'
refused 'nowhere else' hashes/x.c '<pcap/pcap.h>'
refused 'not ISO C' hashes/x.c '<unistd.h>'
refused 'no row of cmake/third-party.txt' emu/model/x.c '<glib.h>'
refused 'does not exist' emu/model/x.c '"hashes/nothing.h"'
refused 'not below a folder' emu/model/x.c '"topology.h"'
refused 'comes first' hashes/key.c '<string.h>' '"hashes/key.h"'
file hashes/key.c '"hashes/key.h"'
mkdir "$tree/emu/elsewhere"
refused 'no row of cmake/layers.txt' emu/elsewhere/x.c '<stdio.h>'
exit $failed
