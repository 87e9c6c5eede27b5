/* Connection, receiving and timers of a TCP end.
 *
 * A train's acknowledgement part counts when its head is in (the first frame carries it), its data when they are in: a
 * train of several frames waits in a queue of the connection until its tail, or until the frame with which a message that
 * the user waits for is complete. So a reply starts as early as it would frame by frame.
 *
 * There is one timer event per end. Deadlines move later with almost every acknowledgement; the event is left where it is,
 * fires early, and is set again: a few events per round trip instead of a heap operation per acknowledgement. */
#include "emu/sim/tcp.h"

#include <stdlib.h>
#include <string.h>

#include "emu/sim/tcp_internal.h"

#define CONTAINER(pointer, type, member) ((type *)(void *)((char *)(pointer)-offsetof(type, member)))

/* Chunks and ranges are of one size class: both come from one free list. */
union item {
    union item *next;
    struct tcp_chunk chunk;
    struct tcp_range range;
};

enum { SLAB_ITEMS = 255 };
struct slab {
    struct slab *next;
    union item items[SLAB_ITEMS];
};

struct tcp_pool {
    union item *free;
    struct slab *slabs;
};

struct tcp_pool *tcp_pool_new(void) { return calloc(1, sizeof(struct tcp_pool)); }

void tcp_pool_free(struct tcp_pool *p)
{
    if (!p)
        return;
    for (struct slab *s = p->slabs, *next; s; s = next) {
        next = s->next;
        free(s);
    }
    free(p);
}

static union item *item_new(struct tcp_pool *p)
{
    if (!p->free) {
        struct slab *s = malloc(sizeof(*s));
        if (!s)
            abort();
        s->next = p->slabs;
        p->slabs = s;
        for (int i = SLAB_ITEMS - 1; i >= 0; i--) {
            s->items[i].next = p->free;
            p->free = &s->items[i];
        }
    }
    union item *i = p->free;
    p->free = i->next;
    return i;
}

static void item_release(struct tcp_pool *p, void *memory)
{
    union item *i = memory;
    i->next = p->free;
    p->free = i;
}

struct tcp_chunk *tcp_chunk_new(struct tcp_pool *p) { return &item_new(p)->chunk; }
void tcp_chunk_release(struct tcp_pool *p, struct tcp_chunk *c) { item_release(p, c); }
struct tcp_range *tcp_range_new(struct tcp_pool *p) { return &item_new(p)->range; }
void tcp_range_release(struct tcp_pool *p, struct tcp_range *r) { item_release(p, r); }

/* ---- timers ---- */

static ps_t sooner(ps_t a, ps_t b) { return a < b ? a : b; }

void tcp_timer_update(struct tcp *t)
{
    ps_t at = sooner(sooner(t->rto_at, t->tlp_at), sooner(t->reorder_at, t->delack_at));
    if (at != PS_NEVER && (!event_pending(&t->timer) || t->timer.at > at))
        eventq_set(t->world->queue, &t->timer, at);
}

void tcp_timer_restart(struct tcp *t, ps_t now)
{
    t->tlp_at = PS_NEVER;
    if (t->una < t->nxt) {
        if (t->rto_at == PS_NEVER)
            t->rto_at = now + t->rto;
        if (t->phase == TCP_OPEN && t->sacked == 0 && !t->tlp_end && t->srtt) {
            /* A single segment may be waiting for its delayed acknowledgement. */
            ps_t slack = t->nxt - t->una <= t->mss ? TCP_RTO_MIN : TCP_TLP_SLACK;
            t->tlp_at = now + 2 * t->srtt + slack;
            if (t->tlp_at > t->rto_at)
                t->tlp_at = t->rto_at; /* the probe goes first, as in Linux */
        }
    }
    tcp_timer_update(t);
}

static void give_up(struct tcp *t, enum tcp_notice what, ps_t now)
{
    tcp_close(t);
    t->world->notice(t->world->context, t, what, now);
}

static void handshake_timeout(struct tcp *t, ps_t now)
{
    if (++t->backoff > TCP_SYN_RETRIES) {
        give_up(t, TCP_TIMED_OUT, now);
        return;
    }
    t->rto_at = now + (TCP_RTO_FIRST << t->backoff);
    tcp_send_syn(t, t->state == TCP_SYN_RECEIVED, now);
}

static void timer_fired(struct event *e, ps_t now)
{
    struct tcp *t = CONTAINER(e, struct tcp, timer);
    if (t->throttled) {
        t->throttled = false;
        tcp_output(t, now); /* or throttles again */
    }
    if (t->delack_at <= now)
        tcp_send_ack(t, now);
    if (t->state == TCP_SYN_SENT || t->state == TCP_SYN_RECEIVED) {
        if (t->rto_at <= now)
            handshake_timeout(t, now);
    } else {
        if (t->reorder_at <= now)
            tcp_reorder_timeout(t, now);
        if (t->tlp_at <= now) {
            t->tlp_at = PS_NEVER;
            t->rto_at = now + t->rto;
            tcp_send_probe(t, now);
        }
        if (t->rto_at <= now) {
            if (t->backoff >= TCP_RETRIES) {
                give_up(t, TCP_TIMED_OUT, now);
                return;
            }
            tcp_retransmission_timeout(t, now);
        }
    }
    tcp_timer_update(t);
}

/* ---- connection ---- */

static void rx_fired(struct event *e, ps_t now);

void tcp_init(struct tcp *t, const struct tcp_world *world, const struct tcp_config *config)
{
    memset(t, 0, sizeof(*t));
    t->world = world;
    t->config = config;
    t->timer.run = timer_fired;
    t->rx.run = rx_fired;
    t->want = UINT64_MAX;
    t->rto_at = t->tlp_at = t->reorder_at = t->delack_at = PS_NEVER;
}

static void start(struct tcp *t, uint64_t iss)
{
    tcp_close(t);
    t->phase = TCP_OPEN;
    t->timestamps = t->config->timestamps;
    t->mss = tcp_mss(t->config->mtu, t->ipv6, t->timestamps);
    t->iss = t->una = iss;
    t->nxt = t->end = iss + 1;
    t->in = t->acked = 0;
    t->recent = 0;
    t->want = UINT64_MAX;
    t->limited = t->cut = t->throttled = false;
    t->in_nic = 0;
    t->srtt = t->rttvar = 0;
    t->rto = TCP_RTO_FIRST;
    t->min_rtt = PS_NEVER;
    t->rack_sent = -1;
    t->rack_end = 0;
    t->backoff = 0;
    t->tlp_end = 0;
}

void tcp_connect(struct tcp *t, uint64_t iss, ps_t now)
{
    start(t, iss);
    t->state = TCP_SYN_SENT;
    t->rto_at = now + TCP_RTO_FIRST;
    tcp_send_syn(t, false, now);
    tcp_timer_update(t);
}

void tcp_listen(struct tcp *t, uint64_t iss)
{
    start(t, iss);
    t->state = TCP_LISTEN;
}

void tcp_close(struct tcp *t)
{
    struct tcp_pool *pool = t->world->pool;
    for (struct tcp_chunk *c = t->first, *next; c; c = next) {
        next = c->next;
        tcp_chunk_release(pool, c);
    }
    for (struct tcp_range *r = t->holes, *next; r; r = next) {
        next = r->next;
        tcp_range_release(pool, r);
    }
    for (struct train *n = t->rx_first, *next; n; n = next) {
        next = n->next;
        train_release(t->world->trains, n);
    }
    t->first = t->last = NULL;
    t->holes = t->newest = NULL;
    t->rx_first = t->rx_last = NULL;
    t->sacked = t->lost = t->resent = 0;
    t->rto_at = t->tlp_at = t->reorder_at = t->delack_at = PS_NEVER;
    eventq_cancel(t->world->queue, &t->timer);
    eventq_cancel(t->world->queue, &t->rx);
    t->state = TCP_CLOSED;
}

void tcp_write(struct tcp *t, uint64_t bytes, ps_t now)
{
    t->end += bytes;
    if (t->state == TCP_ESTABLISHED)
        tcp_output(t, now);
}

/* Takes over what the peer's SYN says. */
static void meet(struct tcp *t, const struct train_tcp *in, ps_t now)
{
    uint32_t own = tcp_mss(t->config->mtu, t->ipv6, false), mss = own < in->mss ? own : in->mss;
    t->timestamps = t->config->timestamps && in->tsval >= 0;
    t->mss = mss - (own - tcp_mss(t->config->mtu, t->ipv6, t->timestamps));
    t->in = in->seq + 1;
    t->recent = in->tsval;
    t->right = (in->flags & TRAIN_ACK ? in->ack : t->iss + 1) + in->window;
    congestion_init(&t->cc, t->config->congestion, t->mss);
    t->cc.last_ack = now;
}

static void established(struct tcp *t, const struct train_tcp *in, ps_t now)
{
    t->state = TCP_ESTABLISHED;
    t->una = t->iss + 1;
    t->nxt = t->una;
    t->rto_at = PS_NEVER;
    t->backoff = 0;
    if (t->timestamps && now > in->tsecr) {
        t->srtt = t->min_rtt = now - in->tsecr;
        t->rttvar = t->srtt / 2;
        t->rto = t->srtt + TCP_RTO_MIN;
    } else {
        t->rto = TCP_RTO_FIRST;
    }
    t->cc.round_end = t->una;
    t->last_send = now;
}

/* ---- receiving ---- */

/* Adds a range beyond `in` to the holes' list and joins what touches. */
static void keep(struct tcp *t, uint64_t from, uint64_t to)
{
    struct tcp_range **at = &t->holes;
    while (*at && (*at)->to < from)
        at = &(*at)->next;
    struct tcp_range *r = *at;
    if (!r || r->from > to) {
        r = tcp_range_new(t->world->pool);
        *r = (struct tcp_range){.next = *at, .from = from, .to = to};
        *at = r;
    } else {
        if (from < r->from)
            r->from = from;
        if (to > r->to)
            r->to = to;
        while (r->next && r->next->from <= r->to) {
            struct tcp_range *next = r->next;
            if (next->to > r->to)
                r->to = next->to;
            r->next = next->next;
            tcp_range_release(t->world->pool, next);
        }
    }
    t->newest = r;
}

/* `in` has moved: takes in the ranges that it has reached. */
static void fill(struct tcp *t)
{
    while (t->holes && t->holes->from <= t->in) {
        struct tcp_range *r = t->holes;
        if (r->to > t->in)
            t->in = r->to;
        t->holes = r->next;
        if (t->newest == r)
            t->newest = t->holes;
        tcp_range_release(t->world->pool, r);
    }
}

/* Bytes [from, to) are in. `last`: no more of the same train follow. */
static void receive(struct tcp *t, uint64_t from, uint64_t to, bool last, ps_t now)
{
    bool at_once = false;
    if (to <= t->in) {
        at_once = true; /* a duplicate: the peer needs to hear */
    } else if (from > t->in) {
        keep(t, from, to);
        at_once = true;
    } else {
        t->in = to;
        if (t->holes) {
            fill(t);
            at_once = true;
        }
    }
    t->delack_at = sooner(t->delack_at, now + TCP_DELACK);
    while (t->want <= t->in && t->state == TCP_ESTABLISHED)
        t->world->receive(t->world->context, t, now);
    if (t->delack_at == PS_NEVER || t->state != TCP_ESTABLISHED)
        return; /* went out with a reply */
    if (at_once || (last && t->in - t->acked > t->mss))
        tcp_send_ack(t, now);
    else
        tcp_timer_update(t);
}

/* When the next part of the queue's first train counts, and how many frames that part has. */
static ps_t part_due(const struct tcp *t, const struct train *n, uint32_t *frames)
{
    const struct train_tcp *in = &n->u.tcp;
    *frames = n->frames;
    if (n->frames > 1 && in->seq <= t->in && t->want > in->seq && t->want < in->seq + in->length) {
        uint32_t k = (uint32_t)((t->want - in->seq - 1) / in->mss);
        if (k + 1 < n->frames) {
            *frames = k + 1;
            return train_frame_time(n, k);
        }
    }
    return n->tail;
}

static void take_part(struct tcp *t, struct train *n, uint32_t frames, ps_t now)
{
    struct train_tcp *in = &n->u.tcp;
    bool all = frames == n->frames;
    uint32_t bytes = all ? in->length : frames * in->mss;
    uint64_t from = in->seq;
    if (t->timestamps && from <= t->acked && from + bytes > t->acked)
        t->recent = in->tsval;
    if (all) {
        t->rx_first = n->next;
        train_release(t->world->trains, n);
    } else {
        n->head = n->body = train_frame_time(n, frames);
        n->frames -= frames;
        in->seq += bytes;
        in->length -= bytes;
    }
    receive(t, from, from + bytes, all, now);
}

static void take_due(struct tcp *t, ps_t now)
{
    uint32_t frames;
    while (t->rx_first) {
        ps_t at = part_due(t, t->rx_first, &frames);
        if (at > now) {
            eventq_set(t->world->queue, &t->rx, at);
            return;
        }
        take_part(t, t->rx_first, frames, now);
    }
}

static void rx_fired(struct event *e, ps_t now) { take_due(CONTAINER(e, struct tcp, rx), now); }

static void data(struct tcp *t, struct train *n, ps_t now)
{
    n->next = NULL;
    if (t->rx_first) {
        t->rx_last->next = n;
        t->rx_last = n;
    } else {
        t->rx_first = t->rx_last = n;
        take_due(t, now);
    }
}

/* Segments of another incarnation are far off. */
static bool plausible(const struct tcp *t, uint64_t seq)
{
    uint64_t distance = seq > t->in ? seq - t->in : t->in - seq;
    return distance < UINT64_C(1) << 39;
}

static void handshake(struct tcp *t, const struct train_tcp *in, ps_t now)
{
    bool syn = in->flags & TRAIN_SYN, ack = in->flags & TRAIN_ACK;
    switch (t->state) {
    case TCP_LISTEN:
        if (!syn || ack)
            return;
        t->state = TCP_SYN_RECEIVED;
        meet(t, in, now);
        t->rto_at = now + TCP_RTO_FIRST;
        tcp_send_syn(t, true, now);
        tcp_timer_update(t);
        break;
    case TCP_SYN_RECEIVED:
        if (syn && in->seq + 1 == t->in) {
            tcp_send_syn(t, true, now);
        } else if (ack && in->ack > t->iss && plausible(t, in->seq)) {
            established(t, in, now);
            t->world->notice(t->world->context, t, TCP_CONNECTED, now);
        }
        break;
    case TCP_SYN_SENT:
        if (!syn || !ack || in->ack != t->iss + 1)
            return;
        meet(t, in, now);
        established(t, in, now);
        t->world->notice(t->world->context, t, TCP_CONNECTED, now);
        if (!tcp_output(t, now))
            tcp_send_ack(t, now);
        break;
    case TCP_CLOSED:
    case TCP_ESTABLISHED:
        break;
    }
}

void tcp_deliver(struct tcp *t, struct train *n, ps_t now)
{
    const struct train_tcp *in = &n->u.tcp;
    if (in->flags & TRAIN_RST) {
        bool known = t->state == TCP_SYN_SENT
                         ? in->ack == t->iss + 1
                         : t->state != TCP_LISTEN && t->state != TCP_CLOSED && plausible(t, in->seq);
        train_release(t->world->trains, n);
        if (known)
            give_up(t, TCP_RESET, now);
        return;
    }
    if (t->state != TCP_ESTABLISHED)
        handshake(t, in, now);
    else if (in->flags & TRAIN_SYN && plausible(t, in->seq))
        tcp_send_ack(t, now); /* our acknowledgement of its SYN was lost */
    if (t->state != TCP_ESTABLISHED || in->flags & TRAIN_SYN || !plausible(t, in->seq)) {
        train_release(t->world->trains, n);
        return;
    }
    tcp_acknowledged(t, in, now);
    if (in->length)
        data(t, n, now);
    else
        train_release(t->world->trains, n);
    /* A reply that data() caused has sent what may be sent; this is for what the acknowledgement has opened. */
    if (t->state == TCP_ESTABLISHED)
        tcp_output(t, now);
}

struct train *tcp_reset_for(const struct tcp_world *world, const struct train *train, ps_t now)
{
    const struct train_tcp *in = &train->u.tcp;
    if (in->flags & TRAIN_RST)
        return NULL;
    struct train *n = train_new(world->trains);
    struct train_tcp *out = &n->u.tcp;
    *out = (struct train_tcp){
        .seq = in->flags & TRAIN_ACK ? in->ack : 0,
        .ack = in->seq + in->length + (in->flags & TRAIN_SYN ? 1 : 0),
        .flags = TRAIN_RST | TRAIN_ACK,
        .tsval = -1,
    };
    n->frames = 1;
    n->frame_bytes = n->last_bytes = 60;
    n->kind = TRAIN_DATA;
    n->sent = now;
    train_ready(n, now);
    return n;
}
