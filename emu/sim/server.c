/* What a controller does between call and reply.
 *
 * Without `storage:` it answers at once ("network only"). The short form is two limits in a row, each a single server,
 * first come first served, for the whole NAS: operations a second, then bytes a second of reads or of writes. A COMMIT
 * waits for the writes that came before it and costs nothing itself. Everything that is in a station leaves in order, so
 * each needs one event.
 *
 * The long form has stations of its own (storage.h). Sequential jobs read and write streams, one each per job. A write is
 * in a cache that is mirrored and survives when it is answered, or on the disks, so a COMMIT has nothing left to do. */
#include "emu/sim/sim.h"

#include <stdio.h>
#include <stdlib.h>

#include "emu/model/path.h"
#include "emu/model/storage_load.h"
#include "emu/sim/calls_wire.h"
#include "emu/sim/san.h"
#include "emu/sim/storage.h"

enum { SLAB = 256 };

/* A call in the stations of the long form. */
struct served {
    struct storage_op op;
    struct served *next, *previous; /* of the same NAS, in the order in which they came; while free: next */
    struct sim *sim;
    struct rpc *rpc;
};
struct served_slab {
    struct served_slab *next;
    struct served items[SLAB];
};

static uint64_t whole(double x) { return x > 0 && x < 1 ? 1 : (uint64_t)(x + 0.5); }

static void fired(struct event *e, ps_t now)
{
    struct station *st = SIM_CONTAINER(e, struct station, event);
    while (st->list.first && (ps_t)st->list.first->end <= now)
        rpc_serve_done(st->sim, rpc_take(&st->list), now);
    if (st->list.first && !event_pending(&st->event))
        eventq_set(st->sim->queue, &st->event, (ps_t)st->list.first->end);
}

/* Trains know nothing of what back ends send, so they need cables of their own. */
static bool is_apart(struct sim *s, const struct san *n, char *problem, size_t size)
{
    const struct topo *t = s->topo;
    bool *marks = calloc(2 * t->n_links + 1, sizeof(*marks)), ok = marks != NULL;
    struct flow *flows = NULL;
    long count = flow_list(t, &flows);
    if (ok)
        san_mark(n, marks);
    for (long i = 0; ok && i < 2 * count; i++) {
        struct path p;
        path_walk(t, NULL, &flows[i / 2], i % 2 ? FLOW_READ : FLOW_WRITE, false, &p);
        for (size_t h = 0; ok && h < p.n_hops; h++)
            for (int k = 0; ok && k < p.hops[h].n; k++) {
                int d = topo_port_out(t, p.hops[h].candidates[k]);
                ok = !marks[d];
                if (!ok)
                    snprintf(problem, size, "%s carries datastores and a back end: take --detail call",
                             topo_linkdir_name(t, d));
            }
    }
    free(flows);
    free(marks);
    return ok && count >= 0;
}

static bool connect_back_end(struct sim *s, int node, char *problem, size_t size)
{
    struct limits *l = &s->limits[node];
    if (!s->san_links)
        s->san_links = calls_links_new(s->topo);
    if (!s->san_links)
        return false;
    l->san = san_new(s->topo, node, s->options->seed, s->san_links, problem, size);
    if (!l->san || !is_apart(s, l->san, problem, size))
        return false;
    san_connect(l->san, l->storage, s->queue);
    return true;
}

bool server_init(struct sim *s, char *problem, size_t size)
{
    const struct topo *t = s->topo;
    s->limits = calloc(t->n_nodes + 1, sizeof(*s->limits));
    if (!s->limits)
        return false;
    for (size_t i = 0; i < t->n_nodes; i++) {
        struct limits *st = &s->limits[i];
        const struct topo_node *node = &t->nodes[i];
        for (int k = 0; k < 2; k++) {
            st->station[k].sim = s;
            st->station[k].event.run = fired;
        }
        if (node->kind != TOPO_NAS || node->n_boxes == 0)
            continue;
        const struct topo_box *b = &t->boxes[node->first_box];
        st->station[STATION_READ].rate = whole(b->limit_read);
        st->station[STATION_WRITE].rate = whole(b->limit_write);
        st->iops = whole(b->limit_iops);
        if (!node->storage)
            continue;
        st->storage = storage_new(node->storage, (unsigned)node->n_boxes, storage_placed(t, (int)i), s->queue,
                                  storage_seed(t, (int)i, s->options->seed));
        if (!st->storage || (node->san && !connect_back_end(s, (int)i, problem, size)))
            return false;
    }
    return true;
}

void server_free(struct sim *s)
{
    for (size_t i = 0; s->limits && i < s->topo->n_nodes; i++)
        storage_free(s->limits[i].storage);
    for (size_t i = 0; s->limits && i < s->topo->n_nodes; i++)
        san_free(s->limits[i].san);
    free(s->san_links);
    for (struct served_slab *a = s->served_slabs, *next; a; a = next) {
        next = a->next;
        free(a);
    }
    free(s->limits);
}

static ps_t later(ps_t a, ps_t b) { return a > b ? a : b; }

/* ---- the long form ---- */

static struct limits *limits_of(struct sim *s, const struct sim_conn *c)
{
    return &s->limits[s->topo->vips[c->vip].node];
}

static struct served *served_new(struct sim *s)
{
    if (!s->free_served) {
        struct served_slab *slab = malloc(sizeof(*slab));
        if (!slab)
            abort();
        slab->next = s->served_slabs;
        s->served_slabs = slab;
        for (int i = SLAB - 1; i >= 0; i--) {
            slab->items[i].next = s->free_served;
            s->free_served = &slab->items[i];
        }
    }
    struct served *v = s->free_served;
    s->free_served = v->next;
    return v;
}

/* Takes a call out of its NAS's list. */
static struct rpc *served_end(struct limits *l, struct served *v)
{
    struct sim *s = v->sim;
    if (v->previous)
        v->previous->next = v->next;
    else
        l->first = v->next;
    if (v->next)
        v->next->previous = v->previous;
    else
        l->last = v->previous;
    v->next = s->free_served;
    s->free_served = v;
    return v->rpc;
}

static void stored(struct storage_op *o, ps_t now)
{
    struct served *v = SIM_CONTAINER(o, struct served, op);
    struct sim *s = v->sim;
    rpc_serve_done(s, served_end(limits_of(s, v->rpc->conn), v), now);
}

static int stream_of(struct sim *s, struct limits *l, const struct rpc *r, bool write)
{
    struct sim_job *j = &s->jobs[r->job];
    const struct topo_workload *w = j->work.workload;
    if (!w->sequential)
        return STORAGE_RANDOM;
    if (j->stream[write] < 0)
        j->stream[write] = storage_stream(l->storage, w->window, w->bytes, write);
    return j->stream[write];
}

static void store(struct sim *s, struct limits *l, struct rpc *r, ps_t now)
{
    struct served *v = served_new(s);
    const struct topo *t = s->topo;
    bool write = r->call == NFS_WRITE;
    *v = (struct served){.sim = s, .rpc = r, .previous = l->last};
    v->op.done = stored;
    v->op.bytes = r->bytes;
    v->op.write = write;
    v->op.controller = r->conn->box - t->nodes[t->vips[r->conn->vip].node].first_box;
    v->op.stream = stream_of(s, l, r, write);
    if (l->last)
        l->last->next = v;
    else
        l->first = v;
    l->last = v;
    storage_submit(l->storage, &v->op, now);
}

void server_controller(struct sim *s, int box, bool up, ps_t now)
{
    int node = s->topo->boxes[box].node;
    if (s->limits[node].storage)
        storage_controller(s->limits[node].storage, (unsigned)(box - s->topo->nodes[node].first_box), up, now);
}

void server_job_over(struct sim *s, const struct sim_job *j)
{
    for (const struct sim_job *half = j; half; half = half == j ? j->target : NULL) {
        struct limits *l = &s->limits[s->topo->vips[s->topo->mounts[half->mount].vip].node];
        for (int k = 0; k < 2 && l->storage; k++)
            if (half->stream[k] >= 0)
                storage_stream_end(l->storage, half->stream[k]);
    }
}

/* ---- calls ---- */

void server_take(struct sim *s, struct rpc *r, ps_t now)
{
    struct limits *st = limits_of(s, r->conn);
    bool write = r->call == NFS_WRITE || r->call == NFS_COMMIT, data = r->call == NFS_WRITE || r->call == NFS_READ;
    struct station *station = &st->station[write ? STATION_WRITE : STATION_READ];
    if (st->storage && data) {
        store(s, st, r, now);
        return;
    }
    if (r->call == NFS_GETATTR || (!station->rate && !st->iops)) {
        rpc_serve_done(s, r, now);
        return;
    }
    ps_t at = now;
    if (data && st->iops) {
        st->free = later(st->free, now) + PS_PER_S / (ps_t)st->iops;
        at = st->free;
    }
    at = later(at, station->free);
    if (data && station->rate)
        at += (ps_t)((unsigned __int128)r->bytes * PS_PER_S / station->rate);
    station->free = at;
    r->end = (uint64_t)at;
    rpc_append(&station->list, r);
    if (!event_pending(&station->event))
        eventq_set(s->queue, &station->event, at);
}

void server_withdraw(struct sim *s, struct sim_conn *c, struct rpc_list *l)
{
    struct limits *st = limits_of(s, c);
    for (int k = 0; k < 2; k++) {
        struct rpc_list keep = {0};
        for (struct rpc *r; (r = rpc_take(&st->station[k].list));)
            rpc_append(r->conn == c ? l : &keep, r);
        st->station[k].list = keep;
    }
    for (struct served *v = st->first, *next; v; v = next) {
        next = v->next;
        if (v->rpc->conn != c)
            continue;
        storage_forget(&v->op);
        rpc_append(l, served_end(st, v));
    }
}
