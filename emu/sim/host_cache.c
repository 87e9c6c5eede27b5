#include "emu/sim/host_cache.h"

#include <stdio.h>
#include <stdlib.h>

#include "emu/model/path.h"
#include "emu/model/random.h"
#include "emu/model/storage.h"
#include "emu/model/storage_forms.h"
#include "emu/model/storage_load.h"
#include "emu/model/topology.h"
#include "emu/sim/calls_wire.h"
#include "emu/sim/sim.h"

enum { ROCE_PORT = 4791, WORDS = 1 }; /* WORDS: bytes of a message that carries no data */

enum step {
    STEP_HOST,  /* through adapter and software, on the way in */
    STEP_THERE, /* the message is in at the peer */
    STEP_BACK,  /* the peer's card is done, it answers */
    STEP_DONE
};

struct card {
    ps_t *free;                   /* per channel: when */
    uint64_t dirty;               /* bytes that wait for the array, those under way included */
    uint64_t sending;             /* of them under way */
    void *conn;                   /* of the last write */
    struct host_op *first, *last; /* writes that wait for room */
};

struct host_cache {
    struct host_cache_config config;
    const struct storage_host_cache *model;
    const struct topo_host_cache *hosts;
    struct random random;
    struct card *cards;
    struct calls_line *lines; /* from each host to each */
};

static bool line_init(struct host_cache *c, size_t from, size_t to, char *problem, size_t size)
{
    const struct topo *t = c->config.topo;
    struct calls_line *l = &c->lines[from * c->hosts->n + to];
    const struct topo_iface *a = &t->ifaces[c->hosts->ifaces[from]], *b = &t->ifaces[c->hosts->ifaces[to]];
    struct flow f = {.mount = -1,
                     .iface = c->hosts->ifaces[from],
                     .to_iface = c->hosts->ifaces[to] + 1,
                     .sport = ROCE_PORT,
                     .dport = ROCE_PORT,
                     .sport_origin = TOPO_GIVEN};
    if (!topo_addr_same_subnet(&a->addr, &b->addr, a->addr.prefix)) {
        snprintf(problem, size, "%s and %s are in different subnets", t->boxes[a->box].name, t->boxes[b->box].name);
        return false;
    }
    if (!calls_line_init(l, t, &f, random_at(c->config.seed, from * c->hosts->n + to), problem, size))
        return false;
    uint32_t mtu = a->mtu < b->mtu ? a->mtu : b->mtu;
    l->rdma = mtu >= 4160 ? 4096 : mtu >= 2112 ? 2048 : mtu >= 1088 ? 1024 : 512;
    return true;
}

struct host_cache *host_cache_new(const struct host_cache_config *config, char *problem, size_t size)
{
    const struct topo *t = config->topo;
    struct host_cache *c = calloc(1, sizeof(*c));
    snprintf(problem, size, "out of memory");
    if (!c)
        return NULL;
    c->config = *config;
    c->model = t->nodes[config->node].storage->host_cache;
    c->hosts = t->nodes[config->node].host_cache;
    c->random = random_stream(storage_seed(t, config->node, config->seed), "cards");
    c->cards = calloc(c->hosts->n, sizeof(*c->cards));
    c->lines = calloc(c->hosts->n * c->hosts->n, sizeof(*c->lines));
    bool ok = c->cards && c->lines;
    for (size_t i = 0; ok && i < c->hosts->n; i++) {
        c->cards[i].free = calloc(c->model->card.parallel, sizeof(*c->cards[i].free));
        ok = c->cards[i].free != NULL;
        for (size_t k = 0; ok && k < c->hosts->n; k++)
            ok = i == k || line_init(c, i, k, problem, size);
    }
    if (ok)
        return c;
    host_cache_free(c);
    return NULL;
}

void host_cache_free(struct host_cache *c)
{
    if (!c)
        return;
    for (size_t i = 0; c->cards && i < c->hosts->n; i++)
        free(c->cards[i].free);
    free(c->cards);
    free(c->lines);
    free(c);
}

int host_cache_place(const struct host_cache *c, int box)
{
    for (size_t i = 0; i < c->hosts->n; i++)
        if (c->config.topo->ifaces[c->hosts->ifaces[i]].box == box)
            return (int)i;
    return -1;
}

/* When a card is done with what comes now: the first of its channels that is free takes it. */
static ps_t serve(struct host_cache *c, unsigned host, uint32_t bytes, bool write, ps_t now)
{
    const struct storage_disk *m = &c->model->card;
    ps_t *free = c->cards[host].free, *best = free;
    for (unsigned i = 1; i < m->parallel; i++)
        if (free[i] < *best)
            best = &free[i];
    double takes = storage_request(m, 1, bytes, write) * distribution_draw(&m->service, &c->random);
    *best = (*best > now ? *best : now) + (ps_t)(takes * 1e12 + 0.5);
    return *best;
}

static ps_t send(struct host_cache *c, unsigned from, unsigned to, uint32_t bytes, ps_t now)
{
    return calls_send(c->config.links, &c->lines[from * c->hosts->n + to], 0, bytes, bytes > WORDS, now);
}

static void at(struct host_op *o, enum step step, ps_t when)
{
    o->step = (uint8_t)step;
    eventq_set(o->cache->config.queue, &o->event, when);
}

static ps_t later(ps_t a, ps_t b) { return a > b ? a : b; }

/* ---- what waits for the array ---- */

static void destage(struct host_cache *c, unsigned host, ps_t now)
{
    struct card *k = &c->cards[host];
    while (k->dirty - k->sending >= c->model->destage && k->sending < c->model->destages * c->model->destage) {
        k->sending += c->model->destage;
        c->config.destage(c->config.context, host, c->model->destage, k->conn, now);
    }
}

static void begin_write(struct host_op *o, ps_t now)
{
    struct host_cache *c = o->cache;
    c->cards[o->host].dirty += o->bytes;
    o->local = serve(c, o->host, o->bytes, true, now);
    at(o, STEP_THERE, send(c, o->host, o->peer, o->bytes, now));
    c->cards[o->host].conn = o->conn;
    destage(c, o->host, now);
}

static void wait_for_room(struct card *k, struct host_op *o)
{
    o->next = NULL;
    if (k->last)
        k->last->next = o;
    else
        k->first = o;
    k->last = o;
}

void host_cache_destaged(struct host_cache *c, unsigned host, uint64_t bytes, ps_t now)
{
    struct card *k = &c->cards[host];
    struct host_op *o;
    k->dirty -= bytes;
    k->sending -= bytes;
    while ((o = k->first) && k->dirty + o->bytes <= c->model->dirty) {
        if (!(k->first = o->next))
            k->last = NULL;
        begin_write(o, now);
    }
    destage(c, host, now);
}

/* ---- operations ---- */

static unsigned another(struct host_cache *c, unsigned host)
{
    unsigned n = (unsigned)c->hosts->n;
    return (host + 1 + (unsigned)random_below(&c->random, n - 1)) % n;
}

static void through_host(struct host_op *o, ps_t now)
{
    struct host_cache *c = o->cache;
    struct card *k = &c->cards[o->host];
    if (o->write) {
        o->peer = (uint16_t)another(c, o->host);
        if (!k->first && k->dirty + o->bytes <= c->model->dirty)
            begin_write(o, now);
        else
            wait_for_room(k, o);
        return;
    }
    if ((double)(random_next(&c->random) >> 11) * 0x1p-53 >= c->model->read_hit) {
        o->missed(o, now);
        return;
    }
    o->peer = (uint16_t)random_below(&c->random, (unsigned)c->hosts->n);
    if (o->peer == o->host)
        at(o, STEP_DONE, serve(c, o->host, o->bytes, false, now));
    else
        at(o, STEP_THERE, send(c, o->host, o->peer, WORDS, now));
}

static void step(struct event *e, ps_t now)
{
    struct host_op *o = SIM_CONTAINER(e, struct host_op, event);
    struct host_cache *c = o->cache;
    switch ((enum step)o->step) {
    case STEP_HOST:
        through_host(o, now);
        return;
    case STEP_THERE:
        at(o, STEP_BACK, serve(c, o->peer, o->bytes, o->write, now));
        return;
    case STEP_BACK:
        at(o, STEP_DONE, later(o->local, send(c, o->peer, o->host, o->write ? WORDS : o->bytes, now)));
        return;
    case STEP_DONE:
        o->done(o, now);
        return;
    }
}

void host_cache_submit(struct host_cache *c, struct host_op *o, ps_t now)
{
    o->cache = c;
    o->local = 0;
    o->event = (struct event){.run = step};
    if (c->model->path)
        at(o, STEP_HOST, now + c->model->path);
    else
        through_host(o, now);
}
