#!/usr/bin/env bash
# Each quick lint of scripts/check must be able to fail, and says where; a tree without findings passes.
# needs: release
set -euo pipefail
for program in clang-format shellcheck; do
    command -v $program >/dev/null || { echo "$program is not installed"; exit 77; }
done

tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT
mkdir -p "$tree"/{hashes,scripts,tests/golden,tests/scripts,tests/fuzz/corpus/good}
cp -r cmake .clang-format .shellcheckrc "$tree"
cp scripts/check scripts/check-layering "$tree/scripts"
printf '#include <stdint.h>\n' >"$tree/hashes/key.h"
touch "$tree"/tests/golden/good.{cmd,out} "$tree/tests/fuzz/good.c"

failed=0
if ! out=$("$tree/scripts/check" --fast 2>&1); then
    echo "a tree without findings is refused: $out"
    failed=1
fi

# refused LINT TEXT FILE [LINE...]: with a file of these lines LINT alone fails, and prints the text.
refused() {
    local lint=$1 text=$2 file=$tree/$3 out
    shift 3
    printf '%s\n' "$@" >"$file"
    if out=$("$tree/scripts/check" --fast 2>&1); then
        echo "$lint: did not fail for: $*"
        failed=1
    elif ! grep -qF -- "$text" <<<"$out" || ! grep -qF "1 of 7 failed: $lint" <<<"$out"; then
        echo "$lint: expected \"$text\" and no other lint to fail: $out"
        failed=1
    fi
    rm "$file"
}

# Put together here, or scripts/check would find them in this file.
slash=/
refused format 'hashes/x.h' hashes/x.h 'int  x;'
refused layering 'not ISO C' hashes/x.c '#include <unistd.h>'
refused shellcheck 'SC2086' tests/run-x '#!/bin/sh' 'rm $1'
refused length 'hashes/x.c: 801 lines' hashes/x.c "$(printf '/* %d */\n' {1..801})"
refused words "x.md:2" x.md '' "see ${slash}work/main"
refused words "x.md:1" x.md "see ${slash}home/somebody/file"
refused words "x.md:1" x.md "fixes iss""ue 3"
refused left-overs 'hashes/x.c:1' hashes/x.c "/* FIX""ME */"
refused tests 'x.cmd: without' tests/golden/x.cmd 'true'
refused tests 'x.err: without' tests/golden/x.err 'true'
refused tests 'x.sh: not executable' tests/scripts/x.sh '#!/bin/sh'
refused tests 'x.c: without a seed corpus' tests/fuzz/x.c ''
exit $failed
