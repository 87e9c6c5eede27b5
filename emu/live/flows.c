#include "emu/live/flows.h"

#include <stdlib.h>
#include <string.h>

enum { BUCKETS = 2 * FLOWS_MAX, CHUNK = 256, FORGET_SHARE = 8 };

struct flows {
    struct live_flow *buckets[BUCKETS];
    struct live_flow *chunks[FLOWS_MAX / CHUNK];
    size_t n;               /* ever made */
    struct live_flow *free; /* forgotten ones */
    void (*forgotten)(void *context);
    void *context;
};

struct flows *flows_new(void (*forgotten)(void *context), void *context)
{
    struct flows *f = calloc(1, sizeof *f);

    if (f) {
        f->forgotten = forgotten;
        f->context = context;
    }
    return f;
}

void flows_free(struct flows *f)
{
    for (size_t i = 0; f && i < FLOWS_MAX / CHUNK; i++)
        free(f->chunks[i]);
    free(f);
}

static uint32_t hash_of(const struct hash_key *key)
{
    const uint8_t *bytes = (const uint8_t *)key;
    uint64_t h = 0, word;
    size_t i;

    for (i = 0; i + 8 <= sizeof *key; i += 8) {
        memcpy(&word, bytes + i, 8);
        h = (h ^ word) * UINT64_C(0x9E3779B97F4A7C15);
        h ^= h >> 29;
    }
    for (; i < sizeof *key; i++)
        h = (h ^ bytes[i]) * UINT64_C(0x9E3779B97F4A7C15);
    return (uint32_t)(h >> 32);
}

static struct live_flow *at(const struct flows *f, size_t id) { return &f->chunks[id / CHUNK][id % CHUNK]; }

static void unlink_flow(struct flows *f, struct live_flow *flow)
{
    struct live_flow **p = &f->buckets[flow->hash % BUCKETS];

    while (*p != flow)
        p = &(*p)->next;
    *p = flow->next;
}

static int by_age(const void *a, const void *b)
{
    const struct live_flow *x = *(struct live_flow *const *)a, *y = *(struct live_flow *const *)b;

    return x->seen < y->seen ? -1 : x->seen > y->seen;
}

/* Forgets the oldest part of those that nothing refers to. */
static void forget(struct flows *f)
{
    struct live_flow **idle = malloc(f->n * sizeof(*idle));
    size_t n = 0;

    for (size_t i = 0; idle && i < f->n; i++)
        if (at(f, i)->refs == 0)
            idle[n++] = at(f, i);
    if (n == 0) {
        free(idle);
        return;
    }
    qsort(idle, n, sizeof(struct live_flow *), by_age);
    n = n / FORGET_SHARE ? n / FORGET_SHARE : n;
    f->forgotten(f->context);
    for (size_t i = 0; i < n; i++) {
        unlink_flow(f, idle[i]);
        idle[i]->flow.owner = NULL;
        idle[i]->next = f->free;
        f->free = idle[i];
    }
    free(idle);
}

static struct live_flow *take(struct flows *f)
{
    struct live_flow *flow;

    if (!f->free && f->n == FLOWS_MAX)
        forget(f);
    if (f->free) {
        uint32_t id = f->free->flow.id;

        flow = f->free;
        f->free = flow->next;
        memset(flow, 0, sizeof *flow);
        flow->flow.id = id;
        return flow;
    }
    if (f->n == FLOWS_MAX)
        return NULL;
    if (!f->chunks[f->n / CHUNK]) {
        f->chunks[f->n / CHUNK] = calloc(CHUNK, sizeof(struct live_flow));
        if (!f->chunks[f->n / CHUNK])
            return NULL;
    }
    flow = at(f, f->n);
    flow->flow.id = (uint32_t)f->n++;
    return flow;
}

struct live_flow *flows_find(struct flows *f, const struct hash_key *key, ps_t now, bool *made)
{
    uint32_t hash = hash_of(key);
    struct live_flow *flow = f->buckets[hash % BUCKETS];

    *made = false;
    /* NOLINTNEXTLINE(bugprone-suspicious-memory-comparison,cert-exp42-c,cert-flp37-c): keys are made in zeroed memory and copied whole */
    while (flow && (flow->hash != hash || memcmp(&flow->flow.key, key, sizeof *key) != 0))
        flow = flow->next;
    if (!flow) {
        flow = take(f);
        if (!flow)
            return NULL;
        *made = true;
        memcpy(&flow->flow.key, key, sizeof *key);
        flow->flow.owner = flow;
        flow->vip = -1;
        flow->hash = hash;
        flow->next = f->buckets[hash % BUCKETS];
        f->buckets[hash % BUCKETS] = flow;
    }
    flow->seen = now;
    return flow;
}

size_t flows_count(const struct flows *f) { return f->n; }

const struct live_flow *flows_at(const struct flows *f, size_t id)
{
    return id < f->n && at(f, id)->flow.owner ? at(f, id) : NULL;
}
