/* What to send: retransmissions first, then new data, as far as the windows go.
 *
 * A host hands trains to its NIC at either detail, as segmentation offload does; with `frames` the NIC cuts them up at once.
 * So both details send the same bytes at the same moments. A train is at most 64 KiB and at most a quarter of the window;
 * as Linux does, a smaller one is held back while more data and more acknowledgements are on their way, or every
 * acknowledgement would cut the next train a little shorter. */
#include "emu/sim/tcp_internal.h"

enum {
    ETHERNET = 14,
    IP_AND_TCP = 40,
    IPV6_MORE = 20,
    TIMESTAMP_OPTION = 12, /* with two NOPs */
    SYN_OPTIONS = 20,      /* MSS 4, SACK permitted 2, timestamps 10, NOP and window scale 4 */
    FRAME_MIN = 60,        /* without FCS */
};

static uint64_t least(uint64_t a, uint64_t b) { return a < b ? a : b; }

static uint32_t ip_and_tcp(bool ipv6) { return IP_AND_TCP + (ipv6 ? IPV6_MORE : 0); }

uint32_t tcp_mss(uint32_t mtu, bool ipv6, bool timestamps)
{
    return mtu - ip_and_tcp(ipv6) - (timestamps ? TIMESTAMP_OPTION : 0);
}

/* Two NOPs, kind, length, and two sequence numbers each. */
static uint32_t sack_option(unsigned n) { return n ? 4 + 8 * n : 0; }

static unsigned sack_blocks(const struct tcp *t)
{
    unsigned n = 0;
    for (const struct tcp_range *r = t->holes; r && n < TCP_SACKS; r = r->next)
        n++;
    return n;
}

static void write_sacks(const struct tcp *t, struct train_tcp *out)
{
    out->n_sack = 0;
    if (!t->holes)
        return;
    out->sack[0].from = t->newest->from;
    out->sack[0].to = t->newest->to;
    out->n_sack = 1;
    for (const struct tcp_range *r = t->holes; r && out->n_sack < TCP_SACKS; r = r->next) {
        if (r == t->newest)
            continue;
        out->sack[out->n_sack].from = r->from;
        out->sack[out->n_sack].to = r->to;
        out->n_sack++;
    }
}

static void transmit(struct tcp *t, uint64_t seq, uint64_t length, uint8_t flags, ps_t now)
{
    struct train *n = train_new(t->world->trains);
    struct train_tcp *out = &n->u.tcp;
    uint32_t options = t->timestamps ? TIMESTAMP_OPTION : 0;
    out->seq = seq;
    out->ack = t->in;
    out->length = (uint32_t)length;
    out->flags = flags;
    out->window = (uint32_t)least(t->config->receive_buffer, UINT32_MAX);
    out->tsval = t->timestamps ? now : -1;
    out->tsecr = t->recent;
    write_sacks(t, out);
    uint32_t mss = t->mss - sack_option(out->n_sack);
    options += sack_option(out->n_sack);
    out->mss = mss;
    if (flags & TRAIN_SYN) {
        options = SYN_OPTIONS;
        out->mss = tcp_mss(t->config->mtu, t->ipv6, false);
        out->length = 0;
    }
    uint32_t header = ETHERNET + ip_and_tcp(t->ipv6) + options, last = out->length;
    n->frames = 1;
    if (last > mss) {
        n->frames = (last + mss - 1) / mss;
        last -= (n->frames - 1) * mss;
    }
    n->last_bytes = header + last < FRAME_MIN ? FRAME_MIN : header + last;
    n->frame_bytes = n->frames > 1 ? header + mss : n->last_bytes;
    n->kind = TRAIN_DATA;
    n->sent = now;
    train_ready(n, now);
    t->last_send = now;
    if (flags & TRAIN_ACK) {
        t->acked = t->in;
        t->delack_at = PS_NEVER;
    }
    t->world->send(t->world->context, t, n, now);
}

void tcp_send_ack(struct tcp *t, ps_t now) { transmit(t, t->nxt, 0, TRAIN_ACK, now); }

void tcp_send_syn(struct tcp *t, bool acknowledge, ps_t now)
{
    transmit(t, t->iss, 0, acknowledge ? TRAIN_SYN | TRAIN_ACK : TRAIN_SYN, now);
}

static void sent_new(struct tcp *t, uint64_t from, uint64_t to, ps_t now)
{
    struct tcp_chunk *c = t->last;
    if (c && !t->cut && c->marks == 0 && to - c->from <= TCP_TRAIN_MAX) {
        c->to = to;
        c->sent = now;
        return;
    }
    c = tcp_chunk_new(t->world->pool);
    *c = (struct tcp_chunk){.from = from, .to = to, .sent = now};
    if (t->last)
        t->last->next = c;
    else
        t->first = c;
    t->last = c;
    t->cut = false;
}

static void send_segments(struct tcp *t, uint64_t from, uint64_t length, uint32_t mss, ps_t now)
{
    uint64_t part = t->world->frames ? mss : length;
    if (t->phase == TCP_RECOVERY)
        t->prr_out += length;
    t->in_nic += length;
    for (uint64_t to = from + length; from < to; from += part) {
        part = least(part, to - from);
        transmit(t, from, part, from + part == t->end ? TRAIN_ACK | TRAIN_PSH : TRAIN_ACK, now);
    }
}

static uint64_t train_limit(const struct tcp *t, uint32_t mss)
{
    uint64_t window = least(t->cc.cwnd, least(t->right - t->una, t->config->send_buffer));
    uint64_t segments = least(TCP_TRAIN_MAX, window / TCP_TRAIN_SHARE) / mss;
    return segments < 2 ? 2 * (uint64_t)mss : segments * mss;
}

static bool nic_full(const struct tcp *t) { return t->in_nic > t->config->nic_limit - TCP_TRAIN_MAX; }

static bool send_lost(struct tcp *t, uint32_t mss, uint64_t limit, ps_t now)
{
    bool sent = false;
    for (struct tcp_chunk *c = t->first; c && t->lost; c = c->next) {
        if (!(c->marks & TCP_LOST))
            continue;
        if (nic_full(t)) {
            t->throttled = true;
            break;
        }
        uint64_t flight = tcp_flight(t), room = t->cc.cwnd > flight ? t->cc.cwnd - flight : 0;
        uint64_t length = least(least(c->to - c->from, limit), room);
        if (length < c->to - c->from)
            length -= length % mss;
        if (length == 0)
            break;
        if (length < c->to - c->from)
            tcp_chunk_cut(t, c, c->from + length);
        c->marks = TCP_RESENT;
        c->sent = now;
        t->resent++;
        t->lost -= length;
        t->cut = true;
        t->retransmitted += (length + mss - 1) / mss;
        send_segments(t, c->from, length, mss, now);
        sent = true;
    }
    return sent;
}

static bool send_new(struct tcp *t, uint32_t mss, uint64_t limit, ps_t now)
{
    uint64_t window = least(t->right, t->una + t->config->send_buffer);
    bool sent = false;
    t->limited = false;
    while (t->nxt < t->end) {
        if (nic_full(t)) {
            t->throttled = true;
            break;
        }
        uint64_t flight = tcp_flight(t), available = t->end - t->nxt;
        uint64_t room = t->cc.cwnd > flight ? t->cc.cwnd - flight : 0;
        uint64_t usable = window > t->nxt ? window - t->nxt : 0;
        uint64_t length = least(least(available, limit), least(room, usable));
        if (length < available)
            length -= length % mss;
        bool hold = length < limit && length < available && t->phase == TCP_OPEN && flight >= 2 * (uint64_t)mss;
        if (length == 0 || hold) {
            t->limited = room <= usable;
            break;
        }
        sent_new(t, t->nxt, t->nxt + length, now);
        t->nxt += length;
        send_segments(t, t->nxt - length, length, mss, now);
        sent = true;
    }
    return sent;
}

bool tcp_output(struct tcp *t, ps_t now)
{
    if (t->state != TCP_ESTABLISHED || (t->nxt == t->end && t->lost == 0))
        return false;
    if (t->una == t->nxt && now - t->last_send > t->rto)
        congestion_idle(&t->cc, now - t->last_send, t->rto);
    uint32_t mss = t->mss - sack_option(sack_blocks(t));
    uint64_t limit = train_limit(t, mss);
    bool sent = t->lost && send_lost(t, mss, limit, now);
    if (t->nxt < t->end && send_new(t, mss, limit, now))
        sent = true;
    if (sent)
        tcp_timer_restart(t, now);
    return sent;
}

void tcp_send_probe(struct tcp *t, ps_t now)
{
    uint32_t mss = t->mss - sack_option(sack_blocks(t));
    uint64_t usable = t->right > t->nxt ? t->right - t->nxt : 0, length = least(least(t->end - t->nxt, mss), usable);
    t->tlp_again = length == 0;
    t->tlp_sent = now;
    if (length) {
        sent_new(t, t->nxt, t->nxt + length, now);
        t->nxt += length;
        send_segments(t, t->nxt - length, length, mss, now);
    } else {
        struct tcp_chunk *c = t->last;
        if (c->to - c->from > mss)
            c = tcp_chunk_cut(t, c, c->to - mss);
        if (!(c->marks & TCP_RESENT))
            t->resent++;
        c->marks |= TCP_RESENT;
        c->sent = now;
        t->cut = true;
        t->retransmitted++;
        send_segments(t, c->from, c->to - c->from, mss, now);
    }
    t->tlp_end = t->nxt;
}

void tcp_sent(struct tcp *t, uint64_t bytes, ps_t now)
{
    t->in_nic -= least(bytes, t->in_nic);
    if (t->throttled && !nic_full(t))
        eventq_set(t->world->queue, &t->timer, now);
}

void tcp_nic_lost(struct tcp *t, ps_t now) { tcp_sent(t, t->in_nic, now); }
