#include "emu/model/identity.h"

#include <stddef.h>
#include <stdlib.h>

#include "emu/model/random.h"
#include "emu/model/topology.h"

enum { ROUNDS = 6 }; /* cables between the farthest boxes that shall tell each other apart */

/* Sums of mixed numbers do not depend on the order. */
static uint64_t pair(uint64_t a, uint64_t b) { return random_mix(a ^ random_mix(b + UINT64_C(0x9E3779B97F4A7C15))); }

static uint64_t of_address(const struct topo_addr *a)
{
    uint64_t h = a->version;
    for (int i = 0; i < (a->version == 6 ? 16 : 4); i++)
        h = pair(h, a->bytes[i]);
    return h;
}

static uint64_t of_port(const struct topo *t, const uint64_t *boxes, int port)
{
    return random_seed(boxes[t->ports[port].box], t->ports[port].name);
}

static void refine(const struct topo *t, const uint64_t *old, uint64_t *new)
{
    for (size_t b = 0; b < t->n_boxes; b++)
        new[b] = old[b];
    for (size_t l = 0; l < t->n_links; l++)
        for (int end = 0; end < 2; end++) {
            int mine = t->links[l].port[end], other = t->links[l].port[!end];
            new[t->ports[mine].box] += pair(of_port(t, old, mine), of_port(t, old, other));
        }
    for (size_t b = 0; b < t->n_boxes; b++)
        new[b] = random_mix(new[b]);
}

uint64_t *identity_of_boxes(const struct topo *t)
{
    uint64_t *a = calloc(t->n_boxes + 1, sizeof(*a)), *b = calloc(t->n_boxes + 1, sizeof(*b));
    if (!a || !b) {
        free(a);
        free(b);
        return NULL;
    }
    for (size_t i = 0; i < t->n_boxes; i++)
        a[i] = random_mix((uint64_t)t->nodes[t->boxes[i].node].kind + 1);
    for (size_t i = 0; i < t->n_ifaces; i++)
        if (t->ifaces[i].addr.version)
            a[t->ifaces[i].box] += of_address(&t->ifaces[i].addr);
    for (size_t i = 0; i < t->n_vips; i++)
        a[t->vips[i].home] += of_address(&t->vips[i].addr);
    for (int round = 0; round < ROUNDS; round++) {
        uint64_t *swap = a;
        refine(t, a, b);
        a = b;
        b = swap;
    }
    free(b);
    return a;
}

uint64_t identity_of_linkdir(const struct topo *t, const uint64_t *boxes, int linkdir)
{
    return pair(of_port(t, boxes, topo_linkdir_from(t, linkdir)), of_port(t, boxes, topo_linkdir_to(t, linkdir)));
}
