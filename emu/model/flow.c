#include "emu/model/path.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum {
    NFS_PORT = 2049,
    /* Where the Linux NFS client draws its source ports (net/sunrpc/xprtsock.c: sunrpc.min_resvport, max_resvport). */
    RESERVED_LOW = 665,
    RESERVED_HIGH = 1023
};

/* Connections of a mount: nconnect to each address. */
static size_t connections(const struct topo_mount *m)
{
    if (m->vip < 0 || m->iface < 0)
        return 0;
    return m->nconnect * (m->n_vips ? m->n_vips : 1);
}

static int by_name(const void *a, const void *b)
{
    return strcmp((*(const struct topo_datastore *const *)a)->name, (*(const struct topo_datastore *const *)b)->name);
}

/* Source ports for the connections of each mount, in sport[mount]: the first of them, the others count down from it. As if
 * the datastores had been mounted in the order of their names, so that the order of the file does not matter. */
static bool take_ports(const struct topo *t, unsigned *sport)
{
    const struct topo_datastore **order = malloc((t->n_datastores + 1) * sizeof *order);
    unsigned *used = calloc(t->n_boxes + 1, sizeof *used); /* per host */
    bool ok = order && used;

    for (size_t d = 0; ok && d < t->n_datastores; d++)
        order[d] = &t->datastores[d];
    if (ok)
        qsort(order, t->n_datastores, sizeof *order, by_name);
    for (size_t d = 0; ok && d < t->n_datastores; d++)
        for (int i = order[d]->first_mount; i < order[d]->first_mount + order[d]->n_mounts; i++) {
            sport[i] = used[t->mounts[i].host];
            used[t->mounts[i].host] += (unsigned)connections(&t->mounts[i]);
        }
    free(order);
    free(used);
    return ok;
}

long flow_list(const struct topo *t, struct flow **flows)
{
    size_t n = 0;
    unsigned *sport = calloc(t->n_mounts + 1, sizeof *sport);

    for (size_t i = 0; i < t->n_mounts; i++)
        n += connections(&t->mounts[i]);
    *flows = malloc((n + 1) * sizeof **flows);
    if (!sport || !*flows || !take_ports(t, sport)) {
        free(sport);
        free(*flows);
        *flows = NULL;
        return -ENOMEM;
    }
    n = 0;
    for (size_t i = 0; i < t->n_mounts; i++) {
        const struct topo_mount *m = &t->mounts[i];

        for (size_t c = 0; c < connections(m); c++)
            (*flows)[n++] = (struct flow){
                .mount = (int)i,
                .connection = (int)c,
                .iface = m->iface,
                .vip = m->n_vips ? m->vips[c % m->n_vips] : m->vip,
                .sport = (uint16_t)(RESERVED_HIGH - (sport[i] + c) % (RESERVED_HIGH - RESERVED_LOW + 1)),
                .dport = NFS_PORT,
                .sport_origin = TOPO_DRAWN,
            };
    }
    free(sport);
    return (long)n;
}
