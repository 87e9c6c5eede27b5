# The bonding driver of a real kernel against `hashes`. Sourced by scripts/kernel-oracle.
# shellcheck shell=bash disable=SC2154 # tmp, seed, flows, modules are the script's
. tests/kernel/vm.bash

# Flows from a fixed recipe, few addresses and ports, so that equal fields meet.
bonding_flows() {
    awk -v n="$flows" -v seed="$seed" 'BEGIN {
        srand(seed)
        OFS = "\t"
        print "smac", "dmac", "vlan", "src", "dst", "proto", "sport", "dport", "fragment"
        for (i = 0; i < n; i++) {
            smac = sprintf("00:50:56:%02x:%02x:%02x", rand() * 256, rand() * 256, rand() * 256)
            dmac = sprintf("00:1b:21:%02x:%02x:%02x", rand() * 256, rand() * 256, rand() * 256)
            vlan = rand() < 0.3 ? 1 + int(rand() * 40) * 100 : 0
            six = rand() < 0.3
            for (k = 0; k < 2; k++)
                a[k] = six ? sprintf("fd00:%x::%x:%x", rand() * 65536, rand() * 65536, 1 + rand() * 65534) \
                               : sprintf("10.%d.%d.%d", rand() * 256, rand() * 256, 1 + rand() * 254)
            x = rand()
            fragment = x < 0.1 ? "first" : x < 0.2 ? "later" : "none"
            print smac, dmac, vlan, a[0], a[1], rand() < 0.7 ? 6 : 17, 600 + int(rand() * 60000), rand() < 0.5 ? 2049 : 111, fragment
        }
    }' >"$tmp/flows.tsv"
}

# Our program is the machine's first process; there is nothing else in it but the modules.
bonding_machine() {
    vm_kernel
    vm_root
    gcc -D_DEFAULT_SOURCE -std=c11 -O2 -static -o "$tmp/root/init" tests/kernel/bonding.c
    cp "$tmp/flows.tsv" "$tmp/root/flows.tsv"
    vm_module 8021q
    vm_module dummy "numdummies=7"
    vm_module bonding "max_bonds=1 mode=balance-xor miimon=10"
    vm_qemu
    "${vm_command[@]}" </dev/null >"$tmp/console" 2>"$tmp/qemu" || fail "the virtual machine: $(vm_console)"
    tr -d '\r' <"$tmp/console" | sed -n '/begin$/,/^end$/p' | sed '1d;$d' >"$tmp/answers"
    if ! tr -d '\r' <"$tmp/console" | grep -q '^end$' || grep -q '^failed' "$tmp/answers" || [ ! -s "$tmp/answers" ]; then
        fail "the virtual machine did not answer: $(vm_console)"
    fi
}

bonding_main() {
    local policy same failed=0
    bonding_flows
    bonding_machine
    echo "kernel $(basename "$modules"), $flows flows, seed $seed"
    for policy in layer2 layer2+3 layer3+4 encap2+3 encap3+4 vlan+srcmac; do
        nfsbal hash -p "linux-$policy" -n 7 --flows "$tmp/flows.tsv" | awk -F '\t' '
            NR == 1 { for (i = 1; i <= NF; i++) if ($i == "link") column = i; next } { print $column }' >"$tmp/ours"
        awk -v p="$policy" '$1 == p { print $3 }' "$tmp/answers" >"$tmp/theirs"
        same=$(paste "$tmp/ours" "$tmp/theirs" | awk -F '\t' '$1 == $2 { n++ } END { print n + 0 }')
        echo "linux-$policy: $same of $flows flows leave by the member that we name"
        if [ "$same" -ne "$flows" ]; then
            failed=1
            paste "$tmp/ours" "$tmp/theirs" <(tail -n +2 "$tmp/flows.tsv") |
                awk -F '\t' '$1 != $2 && ++n <= 5 { print "  we say " $1 ", the kernel " $2 ": " $0 }'
        fi
    done
    [ $failed = 0 ] || fail "the kernel takes other members than we name"
}
