#include "emu/model/path.h"

#include <errno.h>
#include <stdlib.h>

enum {
    NFS_PORT = 2049,
    RESERVED_LOW = 665, /* where NFS clients take their source ports from, highest first */
    RESERVED_HIGH = 1023
};

/* Connections of a mount: nconnect to each address. */
static size_t connections(const struct topo_mount *m)
{
    if (m->vip < 0 || m->iface < 0)
        return 0;
    return m->nconnect * (m->n_vips ? m->n_vips : 1);
}

long flow_list(const struct topo *t, struct flow **flows)
{
    size_t n = 0;
    unsigned *used = calloc(t->n_boxes + 1, sizeof *used); /* source ports per host */

    for (size_t i = 0; i < t->n_mounts; i++)
        n += connections(&t->mounts[i]);
    *flows = malloc((n + 1) * sizeof **flows);
    if (!used || !*flows) {
        free(used);
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
                .sport = (uint16_t)(RESERVED_HIGH - used[m->host]++ % (RESERVED_HIGH - RESERVED_LOW + 1)),
                .dport = NFS_PORT,
                .sport_origin = TOPO_DRAWN,
            };
    }
    free(used);
    return (long)n;
}
