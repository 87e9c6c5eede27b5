/* For vCenter, beside PowerCLI: govc and Terraform's vSphere provider. Sources: govc's usage text (datastore.create,
 * datastore.info), documentation of the provider's vsphere_nas_datastore.
 */
#include <ctype.h>
#include <string.h>

#include "nfsbal/emit/emit_private.h"
#include "nfsbal/emit/mount.h"
#include "nfsbal/emit/quote.h"

static bool is_nfs3(const struct topo *t, const struct topo_mount *m)
{
    return t->datastores[m->datastore].nfs == TOPO_NFS3;
}

/* ---- govc ---- */

/* `datastore.info` says "  Remote:  SERVER:PATH"; `-force` only forgives that this host has this mount already. */
static const char govc_head[] =
    "#!/bin/sh\n"
    "# Adds what is missing, stops where a name is taken by another server or path, changes and removes nothing.\n"
    "# With GOVC_URL and the like set, for vCenter or one host: sh THIS_FILE\n"
    "set -u\n"
    "\n"
    "govc about >/dev/null || exit 1\n"
    "\n"
    "look() { # nothing is done before all names are known to be free or the same\n"
    "    list=$(govc datastore.info \"$4\" 2>/dev/null) || return 0\n"
    "    remote=$(printf '%s\\n' \"$list\" | sed -n 's/^ *Remote: *//p' | sort -u)\n"
    "    if [ \"$remote\" != \"$2:$3\" ]; then\n"
    "        printf '%s: exists with another server or path; nothing was done\\n' \"$4\" >&2\n"
    "        exit 1\n"
    "    fi\n"
    "}\n"
    "\n"
    "add() { # KIND SERVER PATH NAME HOST\n"
    "    govc datastore.create -force -type \"$1\" -mode readWrite -name \"$4\" -remote-host \"$2\" -remote-path "
    "\"$3\" \"$5\" ||\n"
    "        exit 1\n"
    "    printf '%s: mounted on %s\\n' \"$4\" \"$5\"\n"
    "}\n"
    "\n"
    "for step in look add; do\n";

void emit_govc(const struct emit *e, FILE *out)
{
    char text[EMIT_TEXT];
    size_t at = 0;
    fputs(govc_head, out);
    for (const struct topo_mount *m; (m = emit_next(e, &at));) {
        fprintf(out, "    $step %s ", is_nfs3(e->t, m) ? "nfs" : "nfs41");
        quote_shell(out, emit_server(e->t, m, text, sizeof text));
        fputc(' ', out);
        quote_shell(out, m->path);
        fputc(' ', out);
        quote_shell(out, e->t->datastores[m->datastore].name);
        fputc(' ', out);
        quote_shell(out, e->t->boxes[m->host].name);
        if (m->asked > 1)
            fprintf(out, " # then on the host: esxcli storage nfs param set -c %u, which govc has no word for",
                    m->asked);
        fputc('\n', out);
    }
    fputs("done\n", out);
}

/* ---- Terraform ---- */

/* An identifier for each name: what it can't hold becomes "_", and a number tells equal ones apart. */
static void identifier(FILE *out, const char *kind, const char *name, size_t number)
{
    fprintf(out, "%s_%zu_", kind, number);
    for (const char *c = name; *c; c++)
        fputc((unsigned char)*c < 0x80 && (isalnum((unsigned char)*c) || *c == '-') ? *c : '_', out);
}

static void host_identifier(FILE *out, const struct emit *e, int host)
{
    identifier(out, "host", e->t->boxes[host].name, (size_t)host);
}

static const char terraform_head[] =
    "# Adds datastores; prevent_destroy keeps them when a line here goes. Those that are there already are taken over "
    "first:\n"
    "#     terraform import vsphere_nas_datastore.NAME ID      (ID of the datastore, datastore-123, in vCenter)\n"
    "# remote_hosts and remote_path of a resource can't be changed in place: a plan that wants to replace one is "
    "refused.\n"
    "variable \"datacenter\" {\n"
    "  type = string\n"
    "}\n"
    "\n"
    "data \"vsphere_datacenter\" \"dc\" {\n"
    "  name = var.datacenter\n"
    "}\n";

static void terraform_hosts(const struct emit *e, FILE *out)
{
    for (int host = 0; host < (int)e->t->n_boxes; host++) {
        size_t at = 0;
        const struct topo_mount *m;
        while ((m = emit_next(e, &at)) && m->host != host)
            ;
        if (!m)
            continue;
        fputs("\ndata \"vsphere_host\" \"", out);
        host_identifier(out, e, host);
        fputs("\" {\n  name          = ", out);
        quote_hcl(out, e->t->boxes[host].name);
        fputs("\n  datacenter_id = data.vsphere_datacenter.dc.id\n}\n", out);
    }
}

/* All mounts of a datastore, the first of which is m: they are the same. */
static void terraform_datastore(const struct emit *e, const struct topo_mount *m, FILE *out)
{
    const struct topo_datastore *ds = &e->t->datastores[m->datastore];
    size_t from = (size_t)(m - e->t->mounts);
    if (m->asked > 1)
        fprintf(out,
                "\n# nconnect: esxcli storage nfs param set -c %u on each host, which the provider has no word for",
                m->asked);
    fputs("\nresource \"vsphere_nas_datastore\" \"", out);
    identifier(out, "datastore", ds->name, (size_t)m->datastore);
    fputs("\" {\n  name = ", out);
    quote_hcl(out, ds->name);
    fputs("\n  host_system_ids = [\n", out);
    for (const struct topo_mount *n; (n = emit_next(e, &from)) && n->datastore == m->datastore;) {
        fputs("    data.vsphere_host.", out);
        host_identifier(out, e, n->host);
        fputs(".id,\n", out);
    }
    fprintf(out, "  ]\n  type         = \"%s\"\n  remote_hosts = [", is_nfs3(e->t, m) ? "NFS" : "NFS41");
    if (m->n_vips < 2)
        quote_hcl(out, m->server);
    for (size_t i = 0; m->n_vips > 1 && i < m->n_vips; i++) {
        fputs(i ? ", " : "", out);
        quote_hcl(out, e->t->vips[m->vips[i]].text);
    }
    fputs("]\n  remote_path  = ", out);
    quote_hcl(out, m->path);
    fputs("\n  access_mode  = \"readWrite\"\n\n  lifecycle {\n    prevent_destroy = true\n  }\n}\n", out);
}

void emit_terraform(const struct emit *e, FILE *out)
{
    size_t at = 0;
    int last = -1;
    fputs(terraform_head, out);
    terraform_hosts(e, out);
    for (const struct topo_mount *m; (m = emit_next(e, &at));) {
        if (m->datastore != last)
            terraform_datastore(e, m, out);
        last = m->datastore;
    }
}
