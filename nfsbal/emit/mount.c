#include "nfsbal/emit/mount.h"

#include <string.h>

#include "nfsbal/emit/quote.h"

enum { TEXT = 1024 };

bool emit_is_esxi(const struct topo *t, int host) { return t->nodes[t->boxes[host].node].kind == TOPO_ESXI; }

char *emit_server(const struct topo *t, const struct topo_mount *m, char *buf, size_t size)
{
    size_t n = 0;
    if (m->n_vips < 2) {
        snprintf(buf, size, "%s", m->server);
        return buf;
    }
    for (size_t i = 0; i < m->n_vips && n < size; i++)
        n += (size_t)snprintf(buf + n, size - n, "%s%s", i ? "," : "", t->vips[m->vips[i]].text);
    return buf;
}

char *emit_bound_server(const struct topo *t, const struct topo_mount *m, char *buf, size_t size)
{
    const char *vmknic = t->ifaces[m->iface].name;
    size_t n = 0;
    if (m->n_vips < 2) {
        snprintf(buf, size, "%s:%s", m->server, vmknic);
        return buf;
    }
    for (size_t i = 0; i < m->n_vips && n < size; i++)
        n += (size_t)snprintf(buf + n, size - n, "%s%s:%s", i ? "," : "", t->vips[m->vips[i]].text, vmknic);
    return buf;
}

bool emit_same_binding(const struct topo *t, const struct topo_mount *a, const struct topo_mount *b)
{
    return a->bound == b->bound && (!a->bound || !strcmp(t->ifaces[a->iface].name, t->ifaces[b->iface].name));
}

char *emit_source(const struct topo *t, const struct topo_mount *m, char *buf, size_t size)
{
    struct topo_addr a;
    const char *server = m->n_vips > 1 ? t->vips[m->vips[0]].text : m->server;
    bool colons = topo_addr_parse(&a, server) && a.version == 6;
    snprintf(buf, size, colons ? "[%s]:%s" : "%s:%s", server, m->path);
    return buf;
}

char *emit_options(const struct topo *t, const struct topo_mount *m, char *buf, size_t size)
{
    static const char *const versions[] = {[TOPO_NFS3] = "3", [TOPO_NFS41] = "4.1", [TOPO_NFS42] = "4.2"};
    int n = snprintf(buf, size, "vers=%s", versions[t->datastores[m->datastore].nfs]);
    if (m->asked > 1 && n > 0 && (size_t)n < size)
        snprintf(buf + n, size - (size_t)n, ",nconnect=%u", m->asked);
    return buf;
}

char *emit_target(const struct topo *t, const struct topo_mount *m, char *buf, size_t size)
{
    snprintf(buf, size, "/mnt/%s", t->datastores[m->datastore].name);
    return buf;
}

void emit_command(FILE *out, const struct topo *t, const struct topo_mount *m)
{
    const struct topo_datastore *ds = &t->datastores[m->datastore];
    char text[TEXT];
    if (emit_is_esxi(t, m->host)) {
        fprintf(out, "esxcli storage %s add %s ", ds->nfs == TOPO_NFS3 ? "nfs" : "nfs41", m->bound ? "-I" : "-H");
        quote_shell(out, m->bound ? emit_bound_server(t, m, text, sizeof text) : emit_server(t, m, text, sizeof text));
        fputs(" -s ", out);
        quote_shell(out, m->path);
        fputs(" -v ", out);
        quote_shell(out, ds->name);
        if (m->asked > 1)
            fprintf(out, " -c %u", m->asked);
        return;
    }
    fprintf(out, "mount -t nfs -o %s ", emit_options(t, m, text, sizeof text));
    quote_shell(out, emit_source(t, m, text, sizeof text));
    fputc(' ', out);
    quote_shell(out, emit_target(t, m, text, sizeof text));
}
