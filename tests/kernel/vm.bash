# A virtual machine with Debian's kernel under QEMU without acceleration, in which commands can be run. Source it.
#
#     vm_kernel                            the kernel's package, fetched once; $vmlinuz and $modules say where it is
#     vm_package NAME                      another package, unpacked; prints the folder
#     vm_root; vm_program PATH...; vm_module NAME [PARAMETERS]     what will be in it
#     vm_start [QEMU ARGUMENT...]          boots it; returns when it takes commands
#     vm COMMAND                           runs a line of shell in it: its output, its exit code
#     vm_stop
#
# Needs `skip REASON`, `fail REASON` and a folder $tmp. One machine at a time; $vm_prefix is put before QEMU's own command
# (an array: to enter the namespaces of a lab's node).
# shellcheck shell=bash disable=SC2154,SC2034 # tmp is the script's; others use what is set here

cache=build/kernel-oracle
vm_prefix=()
vm_memory=512

# Fetches a package and unpacks it to $cache/FOLDER, without installing it.
vm_fetch() { # FOLDER PACKAGE
    local folder=$1 package=$2 fresh
    [ ! -e "$cache/$folder" ] || return 0
    mkdir -p $cache
    fresh=$(mktemp -d "$tmp/fetch.XXXXXX")
    chmod 755 "$tmp" "$fresh"
    (cd "$fresh" && apt-get download -qq "$package" 2>log) || skip "$package can't be fetched: $(tail -n 1 "$fresh/log")"
    rm -rf "$cache/$folder.new"
    dpkg-deb -x "$fresh"/*.deb "$cache/$folder.new"
    mv "$cache/$folder.new" "$cache/$folder"
}

vm_kernel() {
    local package program
    for program in qemu-system-x86_64 busybox cpio dpkg-deb apt-get gcc modinfo; do
        command -v $program >/dev/null || skip "$program is not installed"
    done
    if [ ! -e $cache/kernel ]; then
        package=$(apt-cache depends linux-image-cloud-amd64 2>/dev/null |
            sed -n 's/^ *Depends: \(linux-image-[0-9].*\)/\1/p' | head -n 1)
        [ -n "$package" ] || skip "no package linux-image-cloud-amd64 in the package lists"
        vm_fetch kernel "$package"
    fi
    vmlinuz=$(echo $cache/kernel/boot/vmlinuz-*)
    modules=$(echo $cache/kernel/lib/modules/*)
}

vm_package() {
    vm_fetch "$1" "$1"
    echo "$cache/$1"
}

vm_root() {
    rm -rf "$tmp/root"
    mkdir -p "$tmp/root"/{modules,bin,dev,proc,sys,run,tmp,mnt,etc,var/lib/nfs}
    : >"$tmp/root/modules.list"
}

# Programs, with the libraries that they load.
vm_program() { # PATH...
    local file library
    for file; do
        cp -L "$file" "$tmp/root/bin/"
        while read -r library; do
            mkdir -p "$tmp/root$(dirname "$library")"
            cp -Lu "$library" "$tmp/root$library"
        done < <(ldd "$file" 2>/dev/null | awk '$2 == "=>" && $3 ~ /^\// { print $3 } $1 ~ /^\// { print $1 }')
    done
}

# A module and those that it needs, in an order in which they can be loaded.
vm_module() { # NAME [PARAMETERS]
    local file dependency
    file=$(find "$modules/kernel" -name "$1.ko" | head -n 1)
    [ -n "$file" ] || return 0 # built in
    [ ! -e "$tmp/root/modules/$1.ko" ] || return 0
    for dependency in $(modinfo -F depends "$file" | tr ',' ' '); do
        vm_module "$dependency"
    done
    cp "$file" "$tmp/root/modules/$1.ko"
    echo "/modules/$1.ko${2:+ $2}" >>"$tmp/root/modules.list"
}

vm_image() {
    (cd "$tmp/root" && find . | cpio -o -H newc --quiet) | gzip -1 >"$tmp/initrd.gz"
}

# The command that boots the image that was made last, in $vm_command; arguments are QEMU's.
vm_qemu() {
    vm_image
    vm_command=(timeout 600 "${vm_prefix[@]}" qemu-system-x86_64 -M q35 -accel "tcg,thread=multi" -cpu max -smp 1 -m "$vm_memory"
        -nodefaults -nographic -serial stdio -no-reboot -kernel "$vmlinuz" -initrd "$tmp/initrd.gz"
        -append "console=ttyS0 quiet panic=-1 mitigations=off" "$@")
}

# What QEMU and the machine's kernel have said last, without the addresses of a panic.
vm_console() { cat "$tmp/qemu" <(sed '/Call Trace:/,/<\/TASK>/d' "$tmp/console") | tail -n 20; }

vm_start() {
    local module
    vm_program "$(command -v busybox)" "$(command -v mount)"
    install -m 755 tests/kernel/init.sh "$tmp/root/init"
    for module in virtio_pci virtio_console virtio_net; do vm_module $module; done
    rm -f "$tmp"/vm.in "$tmp"/vm.out
    mkfifo "$tmp/vm.in" "$tmp/vm.out"
    exec {vm_in}<>"$tmp/vm.in" {vm_out}<>"$tmp/vm.out"
    vm_qemu -chardev pipe,id=c,path="$tmp/vm" -device virtio-serial-pci -device virtserialport,chardev=c,name=c "$@"
    "${vm_command[@]}" </dev/null >"$tmp/console" 2>"$tmp/qemu" &
    vm_pid=$!
    vm_answer 120 || fail "the virtual machine did not start: $(vm_console)"
}

# Prints until the line that ends an answer; its number is the exit code.
vm_answer() { # SECONDS
    local line part='' end=$((SECONDS + $1))
    while :; do
        if IFS= read -r -t 1 -u "$vm_out" part; then
            line+=$part
            case $line in
                *$'\001'*) printf '%s' "${line%%$'\001'*}"; return "${line##*$'\001'}" ;;
                *) printf '%s\n' "$line" ;;
            esac
            line=
        else
            line+=$part
            kill -0 "$vm_pid" 2>/dev/null || fail "the virtual machine has ended: $(vm_console)"
            [ $SECONDS -lt $end ] || fail "no answer from the virtual machine for $1 s: $(vm_console)"
        fi
    done
}

vm() { # COMMAND
    printf '%s\n' "$1" >&"$vm_in"
    vm_answer "${vm_patience:-60}"
}

vm_stop() {
    [ -n "$vm_pid" ] || return 0
    kill "$vm_pid" 2>/dev/null
    wait "$vm_pid" 2>/dev/null
    vm_pid=
}

# The machine takes the place of a node of a lab: its N network cards are bridged to the device in that node's namespace, whose
# addresses are taken away. Sets $vm_prefix, $vm_cards (QEMU's arguments), $place_address, $place_mac and $place_mtu, which the
# machine has to take.
vm_takes_place() { # LAB NODE DEVICE N
    local space="emu-$1-${2//:/.}" device=$3 n=$4 i
    place_mac=$(emu exec "$1" "$2" -- cat "/sys/class/net/$device/address")
    place_mtu=$(emu exec "$1" "$2" -- cat "/sys/class/net/$device/mtu")
    place_address=$(ip -n "$space" -br address show "$device" | awk '{ for (i = 3; i <= NF; i++) print $i }')
    ip -n "$space" address flush dev "$device"
    ip -n "$space" link add place type bridge mcast_snooping 0
    ip -n "$space" link set "$device" address 02:ff:ff:ff:ff:fe master place
    vm_prefix=(emu exec "$1" "$2" --)
    vm_cards=()
    for i in $(seq 0 $((n - 1))); do
        ip -n "$space" tuntap add "vm$i" mode tap vnet_hdr
        ip -n "$space" link set "vm$i" mtu "$place_mtu" master place up
        ip -n "$space" link set "vm$i" type bridge_slave isolated on # what one card sends is not for the others
        vm_cards+=(-netdev "tap,id=n$i,ifname=vm$i,script=no,downscript=no,vnet_hdr=on")
        vm_cards+=(-device "virtio-net-pci,romfile=,netdev=n$i,mac=02:00:00:00:fe:0$i")
    done
    ip -n "$space" link set place up
}
