/* Acknowledgements: what has arrived, what is lost, and how fast to go on.
 *
 * The scoreboard is the list of chunks in flight. Loss is told by order of sending (RACK, RFC 8985): once something sent
 * later has arrived, an older chunk is lost, at once when three segments' worth have overtaken it (DupThresh) or recovery
 * is on, else after a quarter of the shortest round trip. That covers lost retransmissions, so that a timeout remains for
 * what nothing overtakes; the tail-loss probe takes most of these. In recovery cwnd follows PRR (RFC 6937).
 *
 * A merged chunk carries the time of its last segment. Order stays right all the same: a retransmission forces the next
 * new segment into a chunk of its own, so no chunk spans a retransmission's time, and within a chunk offsets decide. */
#include "emu/sim/tcp_internal.h"

struct tcp_chunk *tcp_chunk_cut(struct tcp *t, struct tcp_chunk *c, uint64_t at)
{
    struct tcp_chunk *rest = tcp_chunk_new(t->world->pool);
    *rest = *c;
    c->to = rest->from = at;
    c->next = rest;
    if (t->last == c)
        t->last = rest;
    if (c->marks & TCP_RESENT)
        t->resent++;
    return rest;
}

static bool sent_before(ps_t sent, uint64_t to, ps_t other_sent, uint64_t other_to)
{
    return sent < other_sent || (sent == other_sent && to < other_to);
}

/* c, up to `to`, is known to have arrived. */
static void arrived(struct tcp *t, const struct tcp_chunk *c, uint64_t to, ps_t now)
{
    if ((c->marks & TCP_RESENT) && now - c->sent < t->min_rtt)
        return; /* too early for the retransmission: it was the original */
    if (!sent_before(t->rack_sent, t->rack_end, c->sent, to))
        return;
    t->rack_sent = c->sent;
    t->rack_end = to;
    t->rack_rtt = now - c->sent;
}

static void unmark(struct tcp *t, struct tcp_chunk *c)
{
    if (c->marks & TCP_LOST)
        t->lost -= c->to - c->from;
    if (c->marks & TCP_RESENT)
        t->resent--;
}

/* Takes everything below ack out of the list; returns the bytes that were not known to have arrived. *rtt: of the last
 * chunk that went whole and was sent once, for connections without timestamps. */
static uint64_t advance(struct tcp *t, uint64_t ack, ps_t *rtt, ps_t now)
{
    uint64_t delivered = 0;
    while (t->first && t->first->from < ack) {
        struct tcp_chunk *c = t->first;
        uint64_t to = c->to < ack ? c->to : ack;
        if (c->marks & TCP_SACKED) {
            t->sacked -= to - c->from;
        } else {
            delivered += to - c->from;
            arrived(t, c, to, now);
        }
        if (c->marks & TCP_LOST)
            t->lost -= to - c->from;
        if (to < c->to) {
            c->from = to;
            break;
        }
        if (!(c->marks & (TCP_SACKED | TCP_RESENT)))
            *rtt = now - c->sent;
        if (c->marks & TCP_RESENT)
            t->resent--;
        t->first = c->next;
        if (!t->first)
            t->last = NULL;
        tcp_chunk_release(t->world->pool, c);
    }
    t->una = ack;
    return delivered;
}

static uint64_t mark_sacked(struct tcp *t, uint64_t from, uint64_t to, ps_t now)
{
    uint64_t delivered = 0;
    for (struct tcp_chunk *c = t->first; c && c->from < to; c = c->next) {
        if (c->to <= from || (c->marks & TCP_SACKED))
            continue;
        if (c->from < from)
            c = tcp_chunk_cut(t, c, from);
        if (c->to > to)
            tcp_chunk_cut(t, c, to);
        arrived(t, c, c->to, now);
        unmark(t, c);
        c->marks = TCP_SACKED;
        t->sacked += c->to - c->from;
        delivered += c->to - c->from;
    }
    return delivered;
}

static void detect(struct tcp *t, ps_t now)
{
    ps_t window = t->min_rtt / 4;
    if (t->phase != TCP_OPEN || t->sacked >= TCP_DUPLICATES * (uint64_t)t->mss)
        window = 0;
    t->reorder_at = PS_NEVER;
    for (struct tcp_chunk *c = t->first; c; c = c->next) {
        if ((c->marks & (TCP_SACKED | TCP_LOST)) || !sent_before(c->sent, c->to, t->rack_sent, t->rack_end))
            continue;
        ps_t deadline = c->sent + t->rack_rtt + window;
        if (window && deadline > now) {
            if (deadline < t->reorder_at)
                t->reorder_at = deadline;
            continue;
        }
        if (c->marks & TCP_RESENT)
            t->resent--;
        c->marks = TCP_LOST;
        t->lost += c->to - c->from;
    }
}

static void proportional(struct tcp *t, uint64_t delivered, bool enter)
{
    uint64_t pipe = tcp_flight(t), send;
    t->prr_delivered += delivered;
    if (pipe > t->cc.ssthresh) {
        send = (t->prr_delivered * t->cc.ssthresh + t->prr_flight - 1) / t->prr_flight;
        send = send > t->prr_out ? send - t->prr_out : 0;
    } else {
        uint64_t behind = t->prr_delivered > t->prr_out ? t->prr_delivered - t->prr_out : 0;
        send = (behind > delivered ? behind : delivered) + t->mss;
        if (send > t->cc.ssthresh - pipe)
            send = t->cc.ssthresh - pipe;
    }
    if (enter && send < t->mss)
        send = t->mss;
    t->cc.cwnd = pipe + send;
}

static void enter_recovery(struct tcp *t, uint64_t delivered)
{
    t->phase = TCP_RECOVERY;
    t->recover = t->nxt;
    t->tlp_end = 0;
    t->prr_flight = t->nxt - t->una;
    t->prr_delivered = t->prr_out = 0;
    congestion_loss(&t->cc, t->prr_flight);
    proportional(t, delivered, true);
}

static void round_trip(struct tcp *t, ps_t rtt)
{
    if (rtt < t->min_rtt)
        t->min_rtt = rtt;
    if (t->srtt == 0) {
        t->srtt = rtt;
        t->rttvar = rtt / 2;
    } else {
        ps_t error = rtt > t->srtt ? rtt - t->srtt : t->srtt - rtt;
        t->rttvar += (error - t->rttvar) / 4;
        t->srtt += (rtt - t->srtt) / 8;
    }
    ps_t spread = 4 * t->rttvar;
    t->rto = t->srtt + (spread > TCP_RTO_MIN ? spread : TCP_RTO_MIN);
    if (t->rto > TCP_RTO_MAX)
        t->rto = TCP_RTO_MAX;
}

/* The probe was acknowledged. If it repeated old data and the echo is the probe's, the original was lost. */
static void probe_done(struct tcp *t, const struct train_tcp *in)
{
    t->tlp_end = 0;
    if (t->tlp_again && t->timestamps && in->tsecr == t->tlp_sent && t->phase == TCP_OPEN) {
        congestion_loss(&t->cc, t->nxt - t->una + t->mss);
        t->cc.cwnd = t->cc.ssthresh;
    }
}

static void go_on(struct tcp *t, uint64_t delivered, bool limited, ps_t rtt, ps_t now)
{
    switch (t->phase) {
    case TCP_OPEN:
        if (t->lost)
            enter_recovery(t, delivered);
        else
            congestion_acked(&t->cc, delivered, limited, t->una, t->nxt, rtt, t->srtt, now);
        break;
    case TCP_RECOVERY:
        if (t->una < t->recover) {
            proportional(t, delivered, false);
            break;
        }
        t->phase = TCP_OPEN;
        t->cc.cwnd = t->cc.ssthresh;
        if (t->lost)
            enter_recovery(t, delivered);
        break;
    case TCP_LOSS:
        if (t->una >= t->recover)
            t->phase = TCP_OPEN;
        congestion_acked(&t->cc, delivered, true, t->una, t->nxt, 0, t->srtt, now);
        break;
    }
}

void tcp_acknowledged(struct tcp *t, const struct train_tcp *in, ps_t now)
{
    if (in->ack > t->nxt || in->ack < t->una)
        return;
    if (in->ack + in->window > t->right)
        t->right = in->ack + in->window;
    uint64_t delivered = 0, flight = tcp_flight(t);
    ps_t rtt = 0;
    bool forward = in->ack > t->una;
    if (forward) {
        delivered = advance(t, in->ack, &rtt, now);
        if (t->timestamps)
            rtt = now - in->tsecr;
        if (rtt > 0)
            round_trip(t, rtt);
        t->backoff = 0;
    }
    for (unsigned i = 0; i < in->n_sack; i++)
        if (in->sack[i].to <= t->nxt)
            delivered += mark_sacked(t, in->sack[i].from, in->sack[i].to, now);
    if (delivered == 0 && !forward)
        return;
    if (t->sacked || t->resent)
        detect(t, now);
    else
        t->reorder_at = PS_NEVER;
    if (t->tlp_end && t->una >= t->tlp_end)
        probe_done(t, in);
    bool limited = t->limited || (congestion_slow_start(&t->cc) && t->cc.cwnd < 2 * flight);
    go_on(t, delivered, limited, rtt, now);
    if (forward)
        t->rto_at = t->una < t->nxt ? now + t->rto : PS_NEVER;
    tcp_timer_restart(t, now);
}

void tcp_reorder_timeout(struct tcp *t, ps_t now)
{
    t->reorder_at = PS_NEVER;
    detect(t, now);
    if (t->lost && t->phase == TCP_OPEN)
        enter_recovery(t, 0);
    tcp_output(t, now);
}

void tcp_retransmission_timeout(struct tcp *t, ps_t now)
{
    t->timeouts++;
    t->backoff++;
    t->in_nic = 0; /* if something is still there, it will be gone from there unseen: the link went down */
    t->throttled = false;
    t->rto = 2 * t->rto < TCP_RTO_MAX ? 2 * t->rto : TCP_RTO_MAX;
    if (t->phase == TCP_LOSS)
        t->cc.cwnd = t->mss;
    else
        congestion_timeout(&t->cc, t->nxt - t->una);
    for (struct tcp_chunk *c = t->first; c; c = c->next) {
        if (c->marks & (TCP_SACKED | TCP_LOST))
            continue;
        if (c->marks & TCP_RESENT)
            t->resent--;
        c->marks = TCP_LOST;
        t->lost += c->to - c->from;
    }
    t->phase = TCP_LOSS;
    t->recover = t->nxt;
    t->tlp_end = 0;
    t->tlp_at = t->reorder_at = PS_NEVER;
    t->rto_at = now + t->rto;
    tcp_output(t, now);
}
