/* What a controller does between call and reply.
 *
 * Without `storage:` it answers at once ("network only"). The short form is two limits in a row, each a single server,
 * first come first served, for the whole NAS: operations a second, then bytes a second of reads or of writes. A COMMIT
 * waits for the writes that came before it and costs nothing itself. Everything that is in a station leaves in order, so
 * each needs one event. */
#include "emu/sim/sim.h"

#include <stdlib.h>

static uint64_t whole(double x) { return x > 0 && x < 1 ? 1 : (uint64_t)(x + 0.5); }

static void fired(struct event *e, ps_t now)
{
    struct station *st = SIM_CONTAINER(e, struct station, event);
    while (st->list.first && (ps_t)st->list.first->end <= now)
        rpc_serve_done(st->sim, rpc_take(&st->list), now);
    if (st->list.first && !event_pending(&st->event))
        eventq_set(st->sim->queue, &st->event, (ps_t)st->list.first->end);
}

bool server_init(struct sim *s)
{
    const struct topo *t = s->topo;
    s->limits = calloc(t->n_nodes + 1, sizeof(*s->limits));
    if (!s->limits)
        return false;
    for (size_t i = 0; i < t->n_nodes; i++) {
        struct limits *st = &s->limits[i];
        if (t->nodes[i].kind == TOPO_NAS && t->nodes[i].n_boxes > 0) {
            const struct topo_box *b = &t->boxes[t->nodes[i].first_box];
            st->station[STATION_READ].rate = whole(b->limit_read);
            st->station[STATION_WRITE].rate = whole(b->limit_write);
            st->iops = whole(b->limit_iops);
        }
        for (int k = 0; k < 2; k++) {
            st->station[k].sim = s;
            st->station[k].event.run = fired;
        }
    }
    return true;
}

void server_free(struct sim *s) { free(s->limits); }

static ps_t later(ps_t a, ps_t b) { return a > b ? a : b; }

void server_take(struct sim *s, struct rpc *r, ps_t now)
{
    struct limits *st = &s->limits[s->topo->vips[r->conn->vip].node];
    bool write = r->call == NFS_WRITE || r->call == NFS_COMMIT, data = r->call == NFS_WRITE || r->call == NFS_READ;
    struct station *station = &st->station[write ? STATION_WRITE : STATION_READ];
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
    struct limits *st = &s->limits[s->topo->vips[c->vip].node];
    for (int k = 0; k < 2; k++) {
        struct rpc_list keep = {0};
        for (struct rpc *r; (r = rpc_take(&st->station[k].list));)
            rpc_append(r->conn == c ? l : &keep, r);
        st->station[k].list = keep;
    }
}
