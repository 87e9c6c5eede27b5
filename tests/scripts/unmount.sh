#!/usr/bin/env bash
# The script of nfsbal diff --with-unmount, on a host made of files: it unmounts only what nothing uses.
set -euo pipefail
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
fail() {
    echo "FAILED: $*" >&2
    exit 1
}
# Its one datastore that could be re-pointed stays, so that others must move.
sed 's/mounted: own.example, vip: 10.1.0.100/mounted: own.example, pin: 10.1.0.100/' tests/golden/diff/mixed.yaml >"$tmp/mixed.yaml"
nfsbal plan "$tmp/mixed.yaml" --best -o "$tmp/plan.json" >/dev/null
nfsbal diff "$tmp/mixed.yaml" --plan "$tmp/plan.json" --with-unmount "5%of\$HOME;grün" >"$tmp/unmount.sh"
shellcheck -s sh -e SC2016 "$tmp/unmount.sh" || fail "shellcheck has something to say"

mkdir "$tmp/bin"
cat >"$tmp/bin/esxcli" <<'SH'
#!/bin/sh
# esxcli storage nfs|nfs41 list | remove -v NAME
touch "$HOST/$2"
if [ "$3" = list ]; then
    printf '%-20s  %-16s  %-30s  %s\n' 'Volume Name' Host Share Accessible
    while IFS='	' read -r name server path; do
        printf '%-20s  %-16s  %-30s  %s\n' "$name" "$server" "$path" true
    done <"$HOST/$2"
elif [ "$3 $4" = 'remove -v' ]; then
    printf '%s\n' "$5" >>"$HOST/removed"
    [ -e "$HOST/busy" ] || grep -vF "$5	" "$HOST/$2" >"$HOST/new"
    [ -e "$HOST/busy" ] || mv "$HOST/new" "$HOST/$2"
fi
SH
printf '#!/bin/sh\ncat "$HOST/machines"\n' >"$tmp/bin/vim-cmd"
printf '#!/bin/sh\ncat "$HOST/open"\n' >"$tmp/bin/lsof"
printf '#!/bin/sh\necho /vmfs/volumes/0123-4567\n' >"$tmp/bin/readlink"
chmod +x "$tmp"/bin/*

new_host() { # the datastore and one with a longer name
    rm -rf "$tmp/host"
    mkdir "$tmp/host"
    printf '%s\t%s\t%s\n' "5%of\$HOME;grün" 10.1.0.100 "/it's \"d\" \$HOME" "5%of\$HOME;grün2" 10.1.0.100 /x >"$tmp/host/nfs"
    printf 'Vmid  Name  File\n1  a  [other] a/a.vmx\n2  b  [5%%of$HOME;grün2] b/b.vmx\n' >"$tmp/host/machines"
    printf '1 vmx FILE 3 /vmfs/volumes/9999-0000/a/a.vmdk\n' >"$tmp/host/open"
}
run() { env PATH="$tmp/bin:$PATH" HOST="$tmp/host" "$shell" "$tmp/unmount.sh" "$@" >"$tmp/out" 2>"$tmp/err"; }
refuses() { # WORDS
    ! run esx1 || fail "$shell: does not refuse: $1"
    grep -qF "$1" "$tmp/err" || fail "$shell: refuses without saying: $1: $(cat "$tmp/err")"
    [ ! -e "$tmp/host/removed" ] || fail "$shell: unmounts although $1"
}
for shell in dash bash; do
    new_host
    run esx1 || fail "$shell: $(cat "$tmp/err")"
    [ "$(cat "$tmp/host/removed")" = "5%of\$HOME;grün" ] || fail "$shell: unmounts something else"
    run esx1 || fail "$shell: a second time"
    grep -q 'not mounted' "$tmp/out" || fail "$shell: a second time"
    new_host
    printf '3  c  [5%%of$HOME;grün] c/c.vmx\n' >>"$tmp/host/machines"
    refuses 'a virtual machine or template is registered there'
    new_host
    printf '1 vmx FILE 3 /vmfs/volumes/0123-4567/a.iso\n' >>"$tmp/host/open"
    refuses 'a file is open there'
    new_host
    sed -i 's/10.1.0.100/10.1.0.99/' "$tmp/host/nfs"
    refuses 'mounted with another server or path than expected'
    new_host
    rm "$tmp/host/open"
    refuses 'lsof does not list the open files'
    new_host
    rm "$tmp/host/machines"
    refuses 'vim-cmd does not list the virtual machines'
    new_host
    touch "$tmp/host/busy"
    ! run esx1 || fail "$shell: believes that it is gone"
    grep -q 'still mounted' "$tmp/err" || fail "$shell: does not say that it is still mounted"
    ! run esx9 || fail "$shell: a host that is not there"
done
echo "unmounts what nothing uses, and refuses the rest"
