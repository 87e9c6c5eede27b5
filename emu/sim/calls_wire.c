/* A message is a train of frames that nobody drops: a link begins with its first frame as soon as that is in and the link is
 * free, and is through with its last one when that is in and all before are sent. Messages are put on all links of their way when
 * they are sent: what is sent later waits behind them even where it would be there a little earlier. At the loads for
 * which this detail is meant that is a frame time; tests/twin/sim_calls.c holds it against trains. */
#include "emu/sim/calls_wire.h"

#include <stdio.h>
#include <stdlib.h>

#include "emu/model/predict.h"
#include "emu/model/random.h"
#include "emu/sim/framing.h"
#include "emu/sim/tcp.h"

struct calls_link *calls_links_new(const struct topo *t)
{
    struct calls_link *links = calloc(2 * t->n_links + 1, sizeof(*links));
    for (size_t d = 0; links && d < 2 * t->n_links; d++) {
        links[d].ps_per_byte = 8e12 / (double)t->links[d / 2].rate;
        links[d].delay = t->links[d / 2].delay;
    }
    for (size_t i = 0; links && i < t->n_background; i++)
        links[t->background[i].linkdir].ps_per_byte /= 1 - t->background[i].share;
    return links;
}

/* A candidate by its share. */
static int draw_hop(const struct topo *t, const struct path_hop *h, uint64_t draw)
{
    double at = (double)(draw >> 11) * 0x1p-53;
    int i = 0;
    while (i + 1 < h->n && at >= h->share[i])
        at -= h->share[i++];
    return topo_port_out(t, h->candidates[i]);
}

static bool find_way(struct calls_way *w, const struct topo *t, const struct flow *f, enum flow_direction direction,
                     uint64_t seed, char *problem, size_t size)
{
    struct path p;
    if (path_walk(t, NULL, f, direction, false, &p) != PATH_OK) {
        const char *whose =
            f->mount < 0 ? t->boxes[t->ifaces[f->iface].box].name : t->datastores[t->mounts[f->mount].datastore].name;
        snprintf(problem, size, "%s: %s", whose, p.problem);
        return false;
    }
    w->n = (uint16_t)p.n_hops;
    for (size_t h = 0; h < p.n_hops; h++) {
        int d = p.hops[h].linkdir;
        w->hops[h].linkdir = d >= 0 ? d : draw_hop(t, &p.hops[h], random_at(seed, 2 * h + (size_t)direction));
        w->hops[h].tag = predict_tag(t, f, w->hops[h].linkdir) ? 4 : 0;
    }
    return true;
}

bool calls_line_init(struct calls_line *l, const struct topo *t, const struct flow *f, uint64_t seed, char *problem,
                     size_t size)
{
    l->rdma = 0;
    const struct topo_iface *a = &t->ifaces[f->iface], *b = flow_server_iface(t, f);
    bool timestamps = t->stacks[a->box].timestamps && t->stacks[b->box].timestamps, ipv6 = a->addr.version == 6;
    l->headers = framing_headers(ipv6, timestamps);
    l->mss = tcp_mss(a->mtu < b->mtu ? a->mtu : b->mtu, ipv6, timestamps);
    return find_way(&l->way[0], t, f, FLOW_WRITE, seed, problem, size) &&
           find_way(&l->way[1], t, f, FLOW_READ, seed, problem, size);
}

/* The frames of a message. RoCE: see storage_wire_bytes(). */
static struct framing frames_of(const struct calls_line *l, uint64_t bytes)
{
    enum { ROCE_FRAME = 38 + 56, ROCE_ONCE = 16 };
    if (!l->rdma)
        return framing_cut(bytes, l->mss, l->headers);
    uint64_t all = bytes + ROCE_ONCE, n = (all + l->rdma - 1) / l->rdma, last = all - (n - 1) * l->rdma;
    return (struct framing){(double)n, (double)(n > 1 ? l->rdma : all) + ROCE_FRAME, (double)last + ROCE_FRAME};
}

bool calls_hop(struct calls_link *links, struct calls_message *m)
{
    const struct calls_line *l = m->line;
    const struct framing f = frames_of(l, m->bytes);
    const struct calls_way *w = &l->way[m->way];
    struct calls_link *link = &links[w->hops[m->hop].linkdir];
    double tag = w->hops[m->hop].tag, first = f.frames > 1 ? f.first : f.last;
    double all = (f.frames - 1) * (f.first + tag) + f.last + tag;
    ps_t start = m->head > link->busy ? m->head : link->busy, sent = start + (ps_t)(all * link->ps_per_byte);
    ps_t last = m->tail + (ps_t)((f.last + tag) * link->ps_per_byte);
    link->busy = sent;
    m->head = start + (ps_t)((first + tag) * link->ps_per_byte) + link->delay;
    m->tail = (last > sent ? last : sent) + link->delay;
    link->count.frames += (uint64_t)f.frames;
    link->count.bytes += (uint64_t)all;
    link->count.bulk_bytes += m->bulk ? m->bytes : 0;
    link->slice_bytes += (uint64_t)all;
    return ++m->hop < w->n;
}

ps_t calls_send(struct calls_link *links, const struct calls_line *l, int way, uint64_t bytes, bool bulk, ps_t now)
{
    struct calls_message m = {.line = l, .bytes = bytes, .head = now, .tail = now, .way = (uint16_t)way, .bulk = bulk};
    while (calls_hop(links, &m))
        ;
    return m.tail;
}
