/* For Linux hosts: fstab, systemd units, Proxmox. */
#include "nfsbal/emit/emit_private.h"
#include "nfsbal/emit/mount.h"
#include "nfsbal/emit/quote.h"

void emit_fstab(const struct emit *e, FILE *out)
{
    char text[EMIT_TEXT];
    size_t at = 0;
    for (const struct topo_mount *m; (m = emit_next(e, &at));) {
        quote_fstab(out, emit_source(e->t, m, text, sizeof text));
        fputc(' ', out);
        quote_fstab(out, emit_target(e->t, m, text, sizeof text));
        fprintf(out, " nfs %s,hard,_netdev 0 0\n", emit_options(e->t, m, text, sizeof text));
    }
}

/* Each unit under its path, as `systemctl cat` shows them. */
void emit_systemd(const struct emit *e, FILE *out)
{
    char text[EMIT_TEXT];
    size_t at = 0;
    const char *gap = "";
    for (const struct topo_mount *m; (m = emit_next(e, &at)); gap = "\n") {
        const char *target = emit_target(e->t, m, text, sizeof text);
        fprintf(out, "%s# /etc/systemd/system/", gap);
        quote_unit_name(out, target);
        fputs(".mount\n[Unit]\nDescription=NFS datastore ", out);
        quote_unit(out, e->t->datastores[m->datastore].name);
        fputs("\n\n[Mount]\nWhere=", out);
        quote_unit(out, target);
        fputs("\nWhat=", out);
        quote_unit(out, emit_source(e->t, m, text, sizeof text));
        fprintf(out, "\nType=nfs\nOptions=%s,hard\n\n[Install]\nWantedBy=remote-fs.target\n",
                emit_options(e->t, m, text, sizeof text));
    }
}

void emit_proxmox(const struct emit *e, FILE *out)
{
    char text[EMIT_TEXT];
    size_t at = 0;
    int last = -1;
    for (const struct topo_mount *m; (m = emit_next(e, &at));) {
        if (m->datastore == last)
            continue;
        fprintf(out, "%snfs: %s\n", last < 0 ? "" : "\n", e->t->datastores[m->datastore].name);
        last = m->datastore;
        fprintf(out, "\tpath /mnt/pve/%s\n", e->t->datastores[m->datastore].name);
        fprintf(out, "\tserver %s\n\texport %s\n", m->n_vips > 1 ? e->t->vips[m->vips[0]].text : m->server, m->path);
        fprintf(out, "\toptions %s\n\tcontent images\n\tnodes ", emit_options(e->t, m, text, sizeof text));
        size_t from = (size_t)(m - e->t->mounts);
        const char *comma = "";
        for (const struct topo_mount *n; (n = emit_next(e, &from)) && n->datastore == m->datastore; comma = ",")
            fprintf(out, "%s%s", comma, e->t->boxes[n->host].name);
        fputc('\n', out);
    }
}
