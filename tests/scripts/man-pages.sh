#!/usr/bin/env bash
# Every command has a man page that scdoc accepts, and every option of the command stands in it: the pages are the
# contract. PROGRAM COMMAND is described in docs/man/PROGRAM-COMMAND.1.scd; a command that nfsbal shares with emu may be
# described by emu's page, when that names it.
set -euo pipefail

failed=0
complain() {
    echo "$1"
    failed=1
}

pages=0
for page in docs/man/*.scd; do
    [ -e "$page" ] || continue
    pages=$((pages + 1))
    [[ $page =~ \.[1-8]\.scd$ ]] || complain "$page: not NAME.SECTION.scd"
    if command -v scdoc >/dev/null; then
        scdoc <"$page" >/dev/null || complain "$page: scdoc refuses it"
    fi
done

commands=0
for program in emu nfsbal; do
    [ -x "$BIN/$program" ] || continue
    [ -e "docs/man/$program.1.scd" ] || complain "docs/man/$program.1.scd: missing"
    while read -r name; do
        commands=$((commands + 1))
        page=docs/man/$program-$name.1.scd
        if [ ! -e "$page" ] && grep -qsF "$program $name" "docs/man/emu-$name.1.scd"; then
            page=docs/man/emu-$name.1.scd
        fi
        if [ ! -e "$page" ]; then
            complain "$page: missing"
            continue
        fi
        # The help and the page name the same long options.
        while read -r option; do
            grep -qE -- "$option([^a-z0-9-]|$)" "$page" || complain "$page: $option is in the help, not in the page"
        done < <("$BIN/$program" "$name" --help | grep -oE -- '--[a-z][a-z0-9-]*' | sort -u)
    done < <("$BIN/$program" --help | sed -n 's/^  \([a-z][a-z-]*\)  .*/\1/p')
done
echo "$commands commands, $pages pages"
exit $failed
