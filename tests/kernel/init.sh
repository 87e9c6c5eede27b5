#!/bin/busybox sh
# shellcheck shell=dash disable=SC2086 # parameters of modules are words
# First program of a virtual machine of vm.bash: loads modules, then runs what the host asks for. One line in, a command of the
# shell; out come its output and, last, a line of \001 and its exit code.
/bin/busybox --install -s /bin
export PATH=/bin HOME=/ LC_ALL=C
mount -t proc proc /proc
mount -t sysfs sys /sys
mount -t devtmpfs dev /dev
mount -t tmpfs -o mode=755 run /run
mkdir -p /tmp /mnt
ln -s /proc/self/fd /dev/fd
while read -r file parameters; do
    insmod "$file" $parameters || echo "insmod $file: failed"
done </modules.list
ip link set lo up
for port in /dev/vport*; do :; done
exec 8<>"$port"
printf '\001%s\n' 0 >&8
while read -r command <&8; do
    sh -c "$command" </dev/null >&8 2>&1 8<&-
    printf '\001%s\n' $? >&8
done
