/* For ESXi: a script for the host itself, and one for PowerCLI. */
#include <string.h>

#include "nfsbal/emit/emit_private.h"
#include "nfsbal/emit/mount.h"
#include "nfsbal/emit/quote.h"

static const char *kind_of(const struct topo *t, const struct topo_mount *m)
{
    return t->datastores[m->datastore].nfs == TOPO_NFS3 ? "nfs" : "nfs41";
}

/* The columns of `esxcli storage nfs list` are padded and divided by two blanks; name, server and path are the first three. */
static const char find_state[] =
    "# Sets state: missing, same, or other where the name is taken. KIND SERVER PATH NAME\n"
    "find_state() {\n"
    "    state=missing\n"
    "    for type in nfs nfs41; do\n"
    "        list=$(esxcli storage \"$type\" list) || { echo \"esxcli storage $type list failed\" >&2; exit 1; }\n"
    "        while IFS= read -r line; do\n"
    "            case $line in \"$4  \"*) ;; *) continue ;; esac\n"
    "            state=other\n"
    "            rest=${line#\"$4\"}\n"
    "            rest=${rest#\"${rest%%[! ]*}\"}\n"
    "            case $rest in \"$2  \"*) ;; *) continue ;; esac\n"
    "            rest=${rest#\"$2\"}\n"
    "            rest=${rest#\"${rest%%[! ]*}\"}\n"
    "            case \"$type $rest\" in \"$1 $3  \"*) state=same ;; esac\n"
    "        done <<LIST\n"
    "$list\n"
    "LIST\n"
    "    done\n"
    "}\n"
    "\n";

static const char esxcli_head[] =
    "# Adds what is missing, stops where a name is taken by another server or path, changes and removes nothing.\n"
    "# On each host: sh THIS_FILE HOST\n"
    "set -u\n"
    "\n";

static const char esxcli_steps[] =
    "look() { # nothing is done before all names are known to be free or the same\n"
    "    find_state \"$1\" \"$2\" \"$3\" \"$4\"\n"
    "    if [ $state = other ]; then\n"
    "        printf '%s: exists with another server or path; nothing was done\\n' \"$4\" >&2\n"
    "        exit 1\n"
    "    fi\n"
    "}\n"
    "\n"
    "add() { # KIND SERVER PATH NAME [-c CONNECTIONS]\n"
    "    find_state \"$1\" \"$2\" \"$3\" \"$4\"\n"
    "    if [ $state = same ]; then\n"
    "        printf '%s: there already\\n' \"$4\"\n"
    "        return\n"
    "    fi\n"
    "    kind=$1 server=$2 path=$3 name=$4\n"
    "    shift 4\n"
    "    esxcli storage \"$kind\" add -H \"$server\" -s \"$path\" -v \"$name\" \"$@\" || exit 1\n"
    "    printf '%s: mounted\\n' \"$name\"\n"
    "}\n"
    "\n";

/* The list of mounts does not say what they are bound to. */
static const char esxcli_bind[] =
    "bind() { # VMKNIC STEP KIND SERVER PATH NAME [-c CONNECTIONS]\n"
    "    # That -I takes SERVER:VMKNIC is not confirmed by a public document: esxcli storage nfs add --help\n"
    "    if [ \"$2\" = look ]; then\n"
    "        look \"$3\" \"$4\" \"$5\" \"$6\"\n"
    "        return\n"
    "    fi\n"
    "    find_state \"$3\" \"$4\" \"$5\" \"$6\"\n"
    "    if [ $state = same ]; then\n"
    "        printf '%s: there already; whether it is bound to %s was not looked at\\n' \"$6\" \"$1\"\n"
    "        return\n"
    "    fi\n"
    "    vmknic=$1 kind=$3 server=$4 path=$5 name=$6\n"
    "    shift 6\n"
    "    esxcli storage \"$kind\" add -I \"$server:$vmknic\" -s \"$path\" -v \"$name\" \"$@\" || exit 1\n"
    "    printf '%s: mounted over %s\\n' \"$name\" \"$vmknic\"\n"
    "}\n"
    "\n";

static const char esxcli_loop[] = "for step in look add; do\n"
                                  "    case ${1-} in\n";

void emit_find_state(FILE *out) { fputs(find_state, out); }

/* One branch of the script for one host. */
static void esxcli_host(const struct emit *e, int host, FILE *out)
{
    char text[EMIT_TEXT];
    size_t at = 0;
    fputs("        ", out);
    quote_shell(out, e->t->boxes[host].name);
    fputs(")\n", out);
    for (const struct topo_mount *m; (m = emit_next(e, &at));) {
        if (m->host != host)
            continue;
        if (m->bound) {
            fputs("            bind ", out);
            quote_shell(out, e->t->ifaces[m->iface].name);
            fprintf(out, " $step %s ", kind_of(e->t, m));
        } else {
            fprintf(out, "            $step %s ", kind_of(e->t, m));
        }
        quote_shell(out, emit_server(e->t, m, text, sizeof text));
        fputc(' ', out);
        quote_shell(out, m->path);
        fputc(' ', out);
        quote_shell(out, e->t->datastores[m->datastore].name);
        if (m->asked > 1)
            fprintf(out, " -c %u", m->asked);
        fputc('\n', out);
    }
    fputs("            ;;\n", out);
}

static bool has_mount(const struct emit *e, int host)
{
    size_t at = 0;
    for (const struct topo_mount *m; (m = emit_next(e, &at));)
        if (m->host == host)
            return true;
    return false;
}

static bool any_bound(const struct emit *e)
{
    size_t at = 0;
    for (const struct topo_mount *m; (m = emit_next(e, &at));)
        if (m->bound)
            return true;
    return false;
}

void emit_esxcli(const struct emit *e, FILE *out)
{
    fputs("#!/bin/sh\n", out);
    fputs(esxcli_head, out);
    emit_find_state(out);
    fputs(esxcli_steps, out);
    if (any_bound(e))
        fputs(esxcli_bind, out);
    fputs(esxcli_loop, out);
    for (int host = 0; host < (int)e->t->n_boxes; host++)
        if (has_mount(e, host))
            esxcli_host(e, host, out);
    fputs("        *)\n            echo \"usage: sh $0 HOST\" >&2\n            echo 'HOST is one of:'", out);
    for (int host = 0; host < (int)e->t->n_boxes; host++)
        if (has_mount(e, host)) {
            fputc(' ', out);
            quote_shell(out, e->t->boxes[host].name);
        }
    fputs(" >&2\n            exit 2\n            ;;\n    esac\ndone\n", out);
}

static const char powercli_head[] =
    "# Adds what is missing, stops where a name is taken by another server or path, changes and removes nothing.\n"
    "# After Connect-VIServer.\n"
    "$ErrorActionPreference = 'Stop'\n"
    "\n"
    "function Test-NfsMount($VMHost, $Name, $Server, $Path) {\n"
    "    $there = Get-VMHost -Name $VMHost | Get-Datastore | Where-Object { $_.Name -ceq $Name }\n"
    "    if (-not $there) { return $false }\n"
    "    $servers = @($there.RemoteHost) -join ','\n"
    "    if ($servers -cne $Server -or $there.RemotePath -cne $Path) {\n"
    "        throw \"${Name} on ${VMHost}: exists with ${servers}:$($there.RemotePath); nothing was done to it\"\n"
    "    }\n"
    "    return $true\n"
    "}\n"
    "\n"
    "function Add-NfsMount($VMHost, $Name, $Server, $Path, $Version) {\n"
    "    if (Test-NfsMount $VMHost $Name $Server $Path) { return }\n"
    "    New-Datastore -Nfs -VMHost (Get-VMHost -Name $VMHost) -Name $Name -NfsHost ($Server -split ',') -Path $Path "
    "`\n"
    "        -FileSystemVersion $Version | Out-Null\n"
    "}\n"
    "\n";

/* New-Datastore has no word for it; the fields are those of HostNasVolumeSpec, in the vSphere API since 8.0.1.0. */
static const char powercli_bind[] =
    "function Add-BoundNfsMount($VMHost, $Name, $Server, $Path, $Version, $Vmknic) {\n"
    "    if (Test-NfsMount $VMHost $Name $Server $Path) { return }\n"
    "    $spec = New-Object VMware.Vim.HostNasVolumeSpec\n"
    "    $spec.RemoteHost = ($Server -split ',')[0]\n"
    "    $spec.RemoteHostNames = @($Server -split ',')\n"
    "    if ($Version -eq '4.1') { $spec.RemoteHostNames = @($spec.RemoteHostNames | ForEach-Object { \"${_}:$Vmknic\" "
    "}) }\n"
    "    $spec.RemotePath = $Path\n"
    "    $spec.LocalPath = $Name\n"
    "    $spec.AccessMode = 'readWrite'\n"
    "    $spec.Type = if ($Version -eq '4.1') { 'NFS41' } else { 'NFS' }\n"
    "    $spec.VmknicToBind = $Vmknic\n"
    "    $spec.VmknicBound = $true\n"
    "    (Get-View (Get-VMHost -Name $VMHost).ExtensionData.ConfigManager.DatastoreSystem).CreateNasDatastore($spec) | "
    "Out-Null\n"
    "}\n"
    "\n";

void emit_powercli(const struct emit *e, FILE *out)
{
    char server[EMIT_TEXT];
    fputs(powercli_head, out);
    if (any_bound(e))
        fputs(powercli_bind, out);
    for (int pass = 0; pass < 2; pass++) {
        size_t at = 0;
        for (const struct topo_mount *m; (m = emit_next(e, &at));) {
            fputs(!pass ? "$null = Test-NfsMount " : m->bound ? "Add-BoundNfsMount " : "Add-NfsMount ", out);
            quote_powershell(out, e->t->boxes[m->host].name);
            fputc(' ', out);
            quote_powershell(out, e->t->datastores[m->datastore].name);
            fputc(' ', out);
            quote_powershell(out, emit_server(e->t, m, server, sizeof server));
            fputc(' ', out);
            quote_powershell(out, m->path);
            if (pass)
                fputs(!strcmp(kind_of(e->t, m), "nfs") ? " '3.0'" : " '4.1'", out);
            if (pass && m->bound) {
                fputc(' ', out);
                quote_powershell(out, e->t->ifaces[m->iface].name);
            }
            if (pass && m->asked > 1)
                fprintf(out, " # then on the host: esxcli storage nfs param set -c %u, which PowerCLI has no word for",
                        m->asked);
            fputc('\n', out);
        }
    }
}
