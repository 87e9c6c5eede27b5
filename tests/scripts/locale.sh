#!/usr/bin/env bash
# Numbers are read and printed without the locale: the tests that say so, in a locale with a decimal comma.
set -euo pipefail

if ! command -v localedef >/dev/null || [ ! -e /usr/share/i18n/locales/de_DE ]; then
    echo "skipped: no localedef or no source of de_DE (Debian package locales)"
    exit 77
fi
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
localedef -i de_DE -f UTF-8 "$tmp/de_DE.UTF-8"
for test in units topology_files; do
    LOCPATH=$tmp "$BUILD/tests/unit/$test" >"$tmp/out" 2>&1 || { cat "$tmp/out"; exit 1; }
    if grep -q SKIPPED "$tmp/out"; then
        cat "$tmp/out"
        echo "$test did not find the locale"
        exit 1
    fi
done
