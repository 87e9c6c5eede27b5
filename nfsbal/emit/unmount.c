/* The one thing here that removes, and the reasons for which it refuses. */
#include "nfsbal/emit/emit.h"

#include "nfsbal/emit/emit_private.h"
#include "nfsbal/emit/mount.h"
#include "nfsbal/emit/quote.h"

static const char guards[] =
    "\n"
    "refuse() {\n"
    "    printf '%s: %s; nothing was done\\n' \"$name\" \"$1\" >&2\n"
    "    exit 1\n"
    "}\n"
    "\n"
    "find_state \"$kind\" \"$server\" \"$path\" \"$name\"\n"
    "[ $state != other ] || refuse 'mounted with another server or path than expected'\n"
    "if [ $state = missing ]; then\n"
    "    printf '%s: not mounted\\n' \"$name\"\n"
    "    exit 0\n"
    "fi\n"
    "\n"
    "machines=$(vim-cmd vmsvc/getallvms) || refuse 'vim-cmd does not list the virtual machines'\n"
    "case $machines in *\"[$name] \"*) refuse 'a virtual machine or template is registered there' ;; esac\n"
    "volume=$(readlink -f \"/vmfs/volumes/$name\") || refuse \"/vmfs/volumes has no such volume\"\n"
    "open=$(lsof) || refuse 'lsof does not list the open files'\n"
    "case $open in *\"$volume/\"* | *\"/vmfs/volumes/$name/\"*) refuse 'a file is open there' ;; esac\n"
    "\n"
    "esxcli storage \"$kind\" remove -v \"$name\" || exit 1\n"
    "find_state \"$kind\" \"$server\" \"$path\" \"$name\"\n"
    "if [ $state != missing ]; then\n"
    "    printf '%s: still mounted\\n' \"$name\" >&2\n"
    "    exit 1\n"
    "fi\n"
    "printf '%s: unmounted\\n' \"$name\"\n";

void emit_unmount(FILE *out, const struct topo *t, const struct topo_mount *const *mounts, size_t n)
{
    const struct topo_datastore *ds = &t->datastores[mounts[0]->datastore];
    char server[EMIT_TEXT];
    fputs("#!/bin/sh\n# Unmounts one datastore where nothing uses it any more. On each of its hosts: sh THIS_FILE "
          "HOST\nset -u\n\n",
          out);
    emit_find_state(out);
    fputs("name=", out);
    quote_shell(out, ds->name);
    fprintf(out, "\nkind=%s\ncase ${1-} in\n", ds->nfs == TOPO_NFS3 ? "nfs" : "nfs41");
    for (size_t i = 0; i < n; i++) {
        fputs("    ", out);
        quote_shell(out, t->boxes[mounts[i]->host].name);
        fputs(") server=", out);
        quote_shell(out, emit_server(t, mounts[i], server, sizeof server));
        fputs(" path=", out);
        quote_shell(out, mounts[i]->path);
        fputs(" ;;\n", out);
    }
    fputs("    *)\n        echo \"usage: sh $0 HOST\" >&2\n        exit 2\n        ;;\nesac\n", out);
    fputs(guards, out);
}
