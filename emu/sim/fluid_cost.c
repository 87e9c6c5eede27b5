#include "emu/sim/fluid_cost.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "emu/model/nfs.h"
#include "emu/model/predict.h"
#include "emu/sim/framing.h"
#include "emu/sim/jitter.h"
#include "emu/sim/tcp.h"

/* One connection as the arithmetic needs it. */
struct line {
    const struct topo *t;
    const struct flow *flow;
    struct path path[2]; /* by direction: to the server, to the client */
    uint32_t mss, headers;
};

static bool line_init(struct line *l, const struct topo *t, const struct path_state *state, const struct flow *f)
{
    const struct topo_iface *a = &t->ifaces[f->iface], *b = &t->ifaces[t->vips[f->vip].iface];
    l->t = t;
    l->flow = f;
    bool timestamps = t->stacks[a->box].timestamps && t->stacks[b->box].timestamps, ipv6 = a->addr.version == 6;
    l->headers = framing_headers(ipv6, timestamps);
    l->mss = tcp_mss(a->mtu < b->mtu ? a->mtu : b->mtu, ipv6, timestamps);
    return path_walk(t, state, f, FLOW_WRITE, false, &l->path[0]) == PATH_OK &&
           path_walk(t, state, f, FLOW_READ, false, &l->path[1]) == PATH_OK;
}

static int hop_link(const struct path_hop *h) { return h->linkdir >= 0 ? h->linkdir : h->candidates[0]; }

/* Seconds from the send call to the arrival of the last frame: frame by frame through the hops, all idle. */
static double travel(const struct line *l, int direction, struct framing f)
{
    const struct path *p = &l->path[direction];
    double busy[PATH_MAX_HOPS] = {0}, arrival = 0, tag[PATH_MAX_HOPS], per_byte[PATH_MAX_HOPS] = {0};
    for (size_t h = 0; h < p->n_hops; h++) {
        int d = hop_link(&p->hops[h]);
        per_byte[h] = 8 / (double)l->t->links[d / 2].rate;
        tag[h] = predict_tag(l->t, l->flow, d) ? 4 : 0;
    }
    double ready = jitter_mean(f.first) * per_byte[0];
    for (uint64_t j = 0, n = (uint64_t)f.frames; j < n; j++) {
        double bytes = j + 1 < n ? f.first : f.last;
        arrival = ready;
        for (size_t h = 0; h < p->n_hops; h++) {
            double start = arrival > busy[h] ? arrival : busy[h];
            busy[h] = start + (bytes + tag[h]) * per_byte[h];
            arrival = busy[h] + (double)l->t->links[hop_link(&p->hops[h]) / 2].delay / 1e12;
        }
    }
    return arrival;
}

/* Adds up uses by link direction. */
struct sum {
    struct fluid_use *uses;
    size_t n, size;
    double wire, frames, bulk; /* of the message at hand, per byte of payload */
    const struct line *line;
    struct framing framing;
    double scale;
    bool failed;
};

static void add_use(void *context, int linkdir, double share)
{
    struct sum *s = context;
    size_t i = 0;
    while (i < s->n && s->uses[i].linkdir != linkdir)
        i++;
    if (i == s->size) {
        size_t size = s->size ? 2 * s->size : 16;
        struct fluid_use *uses = realloc(s->uses, size * sizeof(*uses));
        if (!uses) {
            s->failed = true;
            return;
        }
        s->uses = uses;
        s->size = size;
    }
    if (i == s->n)
        s->uses[s->n++] = (struct fluid_use){.linkdir = linkdir};
    double tag = predict_tag(s->line->t, s->line->flow, linkdir) ? 4 : 0;
    const struct framing *f = &s->framing;
    share *= s->scale;
    s->uses[i].frames += share * f->frames;
    s->uses[i].wire += share * ((f->frames - 1) * (f->first + tag) + f->last + tag);
    s->uses[i].bulk += share * s->bulk;
}

static void add_message(struct sum *s, const struct path_state *state, const struct line *l, int direction,
                        uint64_t bytes, bool bulk, double scale)
{
    s->line = l;
    s->framing = framing_cut(bytes, l->mss, l->headers);
    s->scale = scale;
    s->bulk = bulk ? (double)bytes : 0;
    path_shares(l->t, state, l->flow, direction == 0 ? FLOW_WRITE : FLOW_READ, add_use, s);
}

/* The calls of one operation of a kind. */
struct calls {
    double n;
    uint64_t data; /* of a full one */
    bool commit;
};

static struct calls calls_of(const struct topo *t, const struct topo_workload *w, const struct flow *f, bool write)
{
    int host = t->ifaces[f->iface].box;
    const struct topo_stack *s = &t->stacks[host];
    uint64_t size = write ? s->wsize : s->rsize;
    uint64_t n = (w->block + size - 1) / size;
    return (struct calls){(double)n, n > 1 ? size : w->block, write && n > 1 && !topo_stable(t, w, host)};
}

static double idle_latency(const struct line *l, struct calls c, bool write, size_t n_flows)
{
    enum nfs_call call = write ? NFS_WRITE : NFS_READ;
    double in_turn = ceil(c.n / (double)n_flows);
    uint64_t there = nfs_call_bytes(call, c.data), back = nfs_reply_bytes(call, c.data);
    /* Writes arrive one behind the other and the last reply counts; reads are asked for at once and come back so. */
    there = write ? (uint64_t)((double)there * in_turn) : there;
    back = write ? back : (uint64_t)((double)back * in_turn);
    double s =
        travel(l, 0, framing_cut(there, l->mss, l->headers)) + travel(l, 1, framing_cut(back, l->mss, l->headers));
    if (c.commit)
        s += travel(l, 0, framing_cut(nfs_call_bytes(NFS_COMMIT, 0), l->mss, l->headers)) +
             travel(l, 1, framing_cut(nfs_reply_bytes(NFS_COMMIT, 0), l->mss, l->headers));
    return s;
}

static double service(const struct topo *t, const struct flow *f, struct calls c, bool write, double block)
{
    const struct topo_box *b = &t->boxes[t->nodes[t->vips[f->vip].node].first_box];
    double rate = write ? b->limit_write : b->limit_read, s = 0;
    if (b->limit_iops > 0)
        s += c.n / b->limit_iops;
    if (rate > 0)
        s += block / rate;
    return s;
}

/* One window per round trip of an idle path. */
static double window_rate(const struct line *l, bool write)
{
    const struct topo *t = l->t;
    int client = t->ifaces[l->flow->iface].box, server = t->ifaces[t->vips[l->flow->vip].iface].box;
    const struct topo_stack *from = &t->stacks[write ? client : server], *to = &t->stacks[write ? server : client];
    double window = (double)(from->send_buffer < to->receive_buffer ? from->send_buffer : to->receive_buffer);
    int there = write ? 0 : 1;
    double s = travel(l, there, framing_cut(2 * (uint64_t)l->mss, l->mss, l->headers)) +
               travel(l, !there, framing_cut(1, l->mss, l->headers));
    return window / s;
}

static void add_kind(struct fluid_cost *out, struct sum *sum, const struct path_state *state, const struct line *lines,
                     const struct topo_workload *w, size_t n, bool write, double share)
{
    const struct topo *t = lines[0].t;
    struct calls c = calls_of(t, w, lines[0].flow, write);
    enum nfs_call call = write ? NFS_WRITE : NFS_READ;
    double block = (double)w->block;
    if (share <= 0)
        return;
    for (size_t i = 0; i < n; i++) {
        double scale = share / ((double)n * (double)c.data);
        add_message(sum, state, &lines[i], 0, nfs_call_bytes(call, c.data), write, scale);
        add_message(sum, state, &lines[i], 1, nfs_reply_bytes(call, c.data), !write, scale);
        if (c.commit) {
            add_message(sum, state, &lines[i], 0, nfs_call_bytes(NFS_COMMIT, 0), false, share / (double)n / block);
            add_message(sum, state, &lines[i], 1, nfs_reply_bytes(NFS_COMMIT, 0), false, share / (double)n / block);
        }
    }
    out->storage[0] += share * c.n / block;
    out->storage[write ? 2 : 1] += share;
    out->latency += share * (idle_latency(&lines[0], c, write, n) + service(t, lines[0].flow, c, write, block));
    out->window_rate = fmin(out->window_rate, (double)n * window_rate(&lines[0], write) / share);
}

int fluid_cost(const struct topo *t, const struct path_state *state, const struct topo_workload *w, double read_share,
               const struct flow *flows, size_t n, struct fluid_cost *out)
{
    struct sum sum = {0};
    struct line *lines = calloc(n, sizeof(*lines));
    memset(out, 0, sizeof(*out));
    out->window_rate = (double)INFINITY;
    if (!lines)
        return -ENOMEM;
    for (size_t i = 0; i < n; i++)
        out->broken |= !line_init(&lines[i], t, state, &flows[i]);
    out->read_share = read_share;
    if (!out->broken) {
        add_kind(out, &sum, state, lines, w, n, false, out->read_share);
        add_kind(out, &sum, state, lines, w, n, true, 1 - out->read_share);
    }
    out->uses = sum.uses;
    out->n_uses = sum.n;
    free(lines);
    return sum.failed ? -ENOMEM : 0;
}

int fluid_cost_add(struct fluid_cost *a, const struct fluid_cost *b)
{
    struct fluid_use *uses = realloc(a->uses, (a->n_uses + b->n_uses + 1) * sizeof(*uses));
    if (!uses)
        return -ENOMEM;
    a->uses = uses;
    for (size_t i = 0; i < b->n_uses; i++) {
        size_t k = 0;
        while (k < a->n_uses && uses[k].linkdir != b->uses[i].linkdir)
            k++;
        if (k == a->n_uses)
            uses[a->n_uses++] = (struct fluid_use){.linkdir = b->uses[i].linkdir};
        uses[k].wire += b->uses[i].wire;
        uses[k].frames += b->uses[i].frames;
        uses[k].bulk += b->uses[i].bulk;
    }
    for (int k = 0; k < 3; k++)
        a->storage[k] += b->storage[k];
    a->latency += b->latency;
    a->window_rate = fmin(a->window_rate, b->window_rate);
    a->broken |= b->broken;
    return 0;
}

double fluid_call_bytes(const struct topo *t, const struct topo_workload *w, const struct flow *f, bool write)
{
    return (double)calls_of(t, w, f, write).data;
}
