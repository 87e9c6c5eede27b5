/* Entries lie in one array without holes, found by a hash of link direction and flow number through chains of indices. A flow
 * number may come to stand for another flow: the key tells, and counting begins anew.
 */
#include "emu/live/carried.h"

#include <stdlib.h>
#include <string.h>

enum { BUCKET_BITS = 15, BUCKETS = 1 << BUCKET_BITS };
#define NONE UINT32_MAX

struct carried {
    uint32_t buckets[BUCKETS];
    struct carried_flow *flows;
    uint32_t n, size;
    uint64_t untold;
};

struct carried *carried_new(void)
{
    struct carried *c = calloc(1, sizeof *c);

    if (c)
        memset(c->buckets, 0xFF, sizeof c->buckets);
    return c;
}

void carried_free(struct carried *c)
{
    if (c)
        free(c->flows);
    free(c);
}

static uint32_t hash_of(int linkdir, uint32_t id)
{
    uint64_t mixed = ((uint64_t)id << 32 | (uint32_t)linkdir) * UINT64_C(0x9E3779B97F4A7C15);

    return (uint32_t)(mixed >> (64 - BUCKET_BITS));
}

static void enlist(struct carried *c, uint32_t i)
{
    struct carried_flow *f = &c->flows[i];

    f->next = c->buckets[f->hash];
    c->buckets[f->hash] = i;
}

/* Forgets what wasn't seen of late; the rest moves up. */
static void forget(struct carried *c, ps_t now)
{
    uint32_t kept = 0;

    for (uint32_t i = 0; i < c->n; i++)
        if (c->flows[i].last >= now - CARRIED_FORGET)
            c->flows[kept++] = c->flows[i];
    c->n = kept;
    memset(c->buckets, 0xFF, sizeof c->buckets);
    for (uint32_t i = 0; i < kept; i++)
        enlist(c, i);
}

static bool make_room(struct carried *c, ps_t now)
{
    struct carried_flow *flows;
    uint32_t size = c->size ? 2 * c->size : 256;

    if (c->n == CARRIED_MAX && c->untold % 1024 == 0) /* looking through all of it for each train would cost too much */
        forget(c, now);
    if (c->n < c->size)
        return true;
    if (c->n == CARRIED_MAX)
        return false;
    flows = realloc(c->flows, size * sizeof *flows);
    if (!flows)
        return false;
    c->flows = flows;
    c->size = size;
    return true;
}

void carried_train(struct carried *c, int linkdir, const struct train *t, ps_t start)
{
    struct carried_flow *f = NULL;
    uint32_t hash, i;

    if (!t->flow)
        return;
    hash = hash_of(linkdir, t->flow->id);
    for (i = c->buckets[hash]; i != NONE; i = c->flows[i].next) {
        f = &c->flows[i];
        if (f->id == t->flow->id && f->linkdir == linkdir)
            break;
    }
    if (i == NONE) {
        if (!make_room(c, start)) {
            c->untold++;
            return;
        }
        f = &c->flows[c->n];
        *f = (struct carried_flow){.linkdir = linkdir, .id = t->flow->id, .hash = hash, .first = start};
        enlist(c, c->n++);
        f->key = t->flow->key;
    } else if (memcmp(f->key.src, t->flow->key.src, sizeof f->key.src) != 0 ||
               memcmp(f->key.dst, t->flow->key.dst, sizeof f->key.dst) != 0 || f->key.sport != t->flow->key.sport ||
               f->key.dport != t->flow->key.dport || f->key.proto != t->flow->key.proto) {
        f->key = t->flow->key;
        f->frames = f->bytes = 0;
        f->first = start;
    }
    memcpy(f->key.smac, t->src, sizeof f->key.smac);
    memcpy(f->key.dmac, t->dst, sizeof f->key.dmac);
    f->tag = t->tagged ? t->vlan : 0;
    f->frames += t->frames;
    f->bytes += train_wire_bytes(t);
    f->last = start;
}

size_t carried_count(const struct carried *c) { return c->n; }
const struct carried_flow *carried_at(const struct carried *c, size_t i) { return &c->flows[i]; }
uint64_t carried_untold(const struct carried *c) { return c->untold; }
