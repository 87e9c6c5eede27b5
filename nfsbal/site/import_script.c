/* Collectors for the inputs of an import. They run commands that list and get, and nothing else; the marker before each output is
 * the one that import.c cuts at.
 */
#include "nfsbal/site/import.h"

#include <assert.h>

const char *const import_script_names[] = {
    [IMPORT_SCRIPT_ESXI] = "esxi",   [IMPORT_SCRIPT_ONTAP] = "ontap", [IMPORT_SCRIPT_PVE] = "pve",
    [IMPORT_SCRIPT_LINUX] = "linux", [IMPORT_SCRIPTS] = NULL,
};
static_assert(sizeof import_script_names / sizeof *import_script_names == IMPORT_SCRIPTS + 1, "a name for each script");

static const char esxi[] =
    "#!/bin/sh\n"
    "# Prints what nfsbal import reads of an ESXi host. It only reads: every command lists or gets.\n"
    "#     ssh root@esx1 sh -s <THIS_FILE >site/esx1/collected.txt\n"
    "set -u\n"
    "\n"
    "run() {\n"
    "    printf '==== %s\\n' \"$*\"\n"
    "    \"$@\" </dev/null\n"
    "    printf '\\n'\n"
    "}\n"
    "\n"
    "json() { run esxcli --formatter=json \"$@\"; }\n"
    "\n"
    "json system version get\n"
    "json storage nfs list\n"
    "json storage nfs41 list\n"
    "json network nic list\n"
    "json network vswitch standard list\n"
    "json network vswitch standard portgroup list\n"
    "esxcli network vswitch standard list | sed -n 's/^   Name: //p' | while IFS= read -r name; do\n"
    "    json network vswitch standard policy failover get -v \"$name\"\n"
    "done\n"
    "# Only port groups with VMkernel interfaces matter.\n"
    "esxcli network ip interface list | sed -n 's/^   Portgroup: //p' | while IFS= read -r name; do\n"
    "    [ \"$name\" = N/A ] || json network vswitch standard portgroup policy failover get -p \"$name\"\n"
    "done\n"
    "json network vswitch dvs vmware list\n"
    "json network vswitch dvs vmware lacp config get\n"
    "json network vswitch dvs vmware lacp status get\n"
    "json network ip interface list\n"
    "json network ip interface ipv4 get\n"
    "esxcli network ip interface list | sed -n 's/^   Name: //p' | while IFS= read -r name; do\n"
    "    json network ip interface tag get -i \"$name\"\n"
    "done\n"
    "json network ip connection list\n"
    "for option in /NFS/MaxVolumes /NFS41/MaxVolumes /SunRPC/MaxConnPerIP /NFS/SendBufferSize /NFS/ReceiveBufferSize; "
    "do\n"
    "    json system settings advanced list -o \"$option\"\n"
    "done\n"
    "esxcli network nic list | sed -n 's/^\\(vmnic[0-9]*\\) .*/\\1/p' | while IFS= read -r name; do\n"
    "    run vim-cmd hostsvc/net/query_networkhint --pnic-name=\"$name\"\n"
    "done\n"
    "run cat /etc/hosts\n"
    "# The servers that are names.\n"
    "esxcli --formatter=csv --format-param=fields=Host storage nfs list | sed -e 1d -e 's/,$//' | sort -u |\n"
    "    while IFS= read -r name; do\n"
    "        case $name in *[!0-9.]*) run nslookup \"$name\" ;; esac\n"
    "    done\n";

static const char ontap[] =
    "#!/bin/sh\n"
    "# Prints what nfsbal import reads of an ONTAP cluster. It only reads: every command is a `show`.\n"
    "#     sh THIS_FILE admin@cluster >site/fas/collected.txt\n"
    "set -u\n"
    "cluster=${1:?usage: sh $0 USER@CLUSTER}\n"
    "\n"
    "run() {\n"
    "    printf '==== %s\\n' \"$*\"\n"
    "    ssh -n \"$cluster\" \"$*\"\n"
    "    printf '\\n'\n"
    "}\n"
    "\n"
    "run version\n"
    "run storage failover show\n"
    "run network interface show\n"
    "run network interface show -fields vserver,lif,address,netmask,home-node,home-port,status-oper,services\n"
    "run network port show\n"
    "run network port ifgrp show\n"
    "run network port ifgrp show -fields node,ifgrp,distr-func,mode,ports\n"
    "run network device-discovery show\n"
    "run network route show\n"
    "run volume show -fields vserver,volume,junction-path,node\n";

#define LINUX_COMMANDS                                                                                               \
    "set -u\n"                                                                                                       \
    "\n"                                                                                                             \
    "run() {\n"                                                                                                      \
    "    printf '==== %s\\n' \"$*\"\n"                                                                               \
    "    \"$@\" </dev/null\n"                                                                                        \
    "    printf '\\n'\n"                                                                                             \
    "}\n"                                                                                                            \
    "\n"                                                                                                             \
    "run uname -r\n"                                                                                                 \
    "run cat /proc/mounts\n"                                                                                         \
    "run ip -j -d link\n"                                                                                            \
    "run ip -j addr\n"                                                                                               \
    "for file in /proc/net/bonding/*; do\n"                                                                          \
    "    [ -f \"$file\" ] && run cat \"$file\"\n"                                                                    \
    "done\n"                                                                                                         \
    "echo '==== cat /sys/class/net/*/speed'\n"                                                                       \
    "for nic in /sys/class/net/*; do\n"                                                                              \
    "    [ -e \"$nic/device\" ] && printf '%s %s\\n' \"${nic##*/}\" \"$(cat \"$nic/speed\" 2>/dev/null)\"\n"         \
    "done\n"                                                                                                         \
    "echo\n"                                                                                                         \
    "if command -v lldpctl >/dev/null; then run lldpctl -f json; fi\n"                                               \
    "# The servers that are names.\n"                                                                                \
    "sed -n 's/^\\([^: ]*\\):[^ ]* [^ ]* nfs4\\{0,1\\} .*/\\1/p' /proc/mounts | sort -u | while IFS= read -r name; " \
    "do\n"                                                                                                           \
    "    case $name in *[!0-9.]*) run getent hosts \"$name\" ;; esac\n"                                              \
    "done\n"                                                                                                         \
    "if [ -r /etc/exports ]; then run cat /etc/exports; fi\n"

static const char linux_[] = "#!/bin/sh\n"
                             "# Prints what nfsbal import reads of a Linux host. It only reads.\n"
                             "#     ssh root@host1 sh -s <THIS_FILE >site/host1/collected.txt\n" LINUX_COMMANDS;

static const char pve[] = "#!/bin/sh\n"
                          "# Prints what nfsbal import reads of a Proxmox VE host. It only reads.\n"
                          "#     ssh root@pve1 sh -s <THIS_FILE >site/pve1/collected.txt\n" LINUX_COMMANDS
                          "if [ -r /etc/pve/storage.cfg ]; then run cat /etc/pve/storage.cfg; fi\n"
                          "if [ -r /etc/network/interfaces ]; then run cat /etc/network/interfaces; fi\n";

void import_script_print(enum import_script which, FILE *out)
{
    static const char *const texts[] = {[IMPORT_SCRIPT_ESXI] = esxi,
                                        [IMPORT_SCRIPT_ONTAP] = ontap,
                                        [IMPORT_SCRIPT_PVE] = pve,
                                        [IMPORT_SCRIPT_LINUX] = linux_};

    static_assert(sizeof texts / sizeof *texts == IMPORT_SCRIPTS, "a text for each script");
    fputs(texts[which], out);
}
