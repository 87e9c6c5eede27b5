#!/usr/bin/env bash
# The golden runner and the runner of man page examples must be able to fail.
# needs: release
set -euo pipefail

dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

failed=0
# The command must end with the code and print the text.
expect() {
    local code=$1 text=$2 out rc=0
    shift 2
    out=$("$@" 2>&1) || rc=$?
    if [ "$rc" -ne "$code" ] || ! grep -qF -- "$text" <<<"$out"; then
        printf 'expected %d and "%s" of: %s\ngot %d and:\n%s\n' "$code" "$text" "$*" "$rc" "$out"
        failed=1
    fi
}

echo 'echo one; echo two >&2; echo $TMP >/dev/null; ls -A "$TMP"; touch "$TMP/left"; exit 3' >"$dir/a.cmd"
expect 1 'missing' tests/run-golden "$dir/a.cmd"
tests/run-golden --update "$dir/a.cmd" >/dev/null
expect 0 '1 cases as expected, 0 not' tests/run-golden "$dir"
echo other >"$dir/a.out"
expect 1 '-other' tests/run-golden "$dir"
echo one >"$dir/a.out"
rm "$dir/a.err"
expect 1 '+two' tests/run-golden "$dir"
echo two >"$dir/a.err"
echo 0 >"$dir/a.rc"
expect 1 '+3' tests/run-golden "$dir"
rm "$dir/a.rc"
expect 1 '+3' tests/run-golden "$dir"
expect 2 'unknown option' tests/run-golden --nonsense
expect 2 'neither a folder' tests/run-golden "$dir/none.cmd"
# An update forgets what is no longer printed.
echo 'echo one' >"$dir/a.cmd"
tests/run-golden --update "$dir/a.cmd" >/dev/null
if [ -e "$dir/a.err" ] || [ -e "$dir/a.rc" ]; then
    echo "a.err or a.rc outlived its reason"
    failed=1
fi

page() {
    printf '%s\n' "$@" >"$dir/page.1.scd"
}
page '; run' '```' '$ true' 'output' '```' '' '```' '$ false' '```'
expect 0 '1 examples ran' tests/run-examples "$dir/page.1.scd"
page '; run' '```' '$ true' '$ false' '```'
expect 1 'page.1.scd:4: exit 1, not 0: false' tests/run-examples "$dir/page.1.scd"
page '; run: exit 2' '```' '$ sh -c \' '    "exit 2"' '```'
expect 0 '1 examples ran' tests/run-examples "$dir/page.1.scd"
page '; run: exit 2' '```' '$ true' '```'
expect 1 'exit 0, not 2' tests/run-examples "$dir/page.1.scd"
page '; run sometimes' '```' '$ true' '```'
expect 1 'neither' tests/run-examples "$dir/page.1.scd"
exit $failed
