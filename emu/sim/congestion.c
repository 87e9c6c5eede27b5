/* CUBIC (RFC 9438) without floating point.
 *
 *     W(t) = C (t - K)^3 + W_max,   K = cbrt((W_max - cwnd) / C),   C = 0.4 segments / s^3,   beta = 0.7
 *
 * Windows are bytes, time is in ticks of 2^-20 s (about a microsecond): a cube of ticks is a fraction with 60 bits, so
 * the division by s^3 is a shift. |t - K| is cut at 512 s, where W is 50 million segments away from the plateau. The cube
 * root (once per loss) is found bit by bit. The estimate of what Reno would do grows by alpha = 3 (1 - beta) / (1 + beta)
 * = 9/17 segments per window, and by 1 once it has reached the window before the reduction, as the RFC says.
 *
 * Slow start is HyStart++ (RFC 9406), with one difference: it counts a round-trip sample per two segments acknowledged,
 * so that one acknowledgement per train counts like the many it stands for. */
#include "emu/sim/congestion.h"

#include <string.h>

enum {
    TICK_BITS = 20,
    INITIAL_SEGMENTS = 10,
    HYSTART_SAMPLES = 8,
    HYSTART_DIVISOR = 4, /* growth in conservative slow start */
    HYSTART_ROUNDS = 5,
};
#define TICKS_MAX (INT64_C(512) << TICK_BITS)

bool congestion_find(const char *name, enum congestion_kind *kind)
{
    if (strcmp(name, "cubic") == 0)
        *kind = CONGESTION_CUBIC;
    else if (strcmp(name, "reno") == 0)
        *kind = CONGESTION_RENO;
    else
        return false;
    return true;
}

static int64_t ticks(ps_t t) { return t / PS_PER_US * (1 << TICK_BITS) / 1000000; }

uint64_t cubic_root(unsigned __int128 x)
{
    uint64_t root = 0;
    for (int bit = 41; bit >= 0; bit--) {
        unsigned __int128 r = root | UINT64_C(1) << bit;
        if (r * r * r <= x)
            root = (uint64_t)r;
    }
    return root;
}

int64_t cubic_k(uint32_t mss, uint64_t w_max, uint64_t cwnd)
{
    if (w_max <= cwnd)
        return 0;
    return (int64_t)cubic_root(((unsigned __int128)(w_max - cwnd) * 5 << 3 * TICK_BITS) / (2 * (uint64_t)mss));
}

uint64_t cubic_window(uint32_t mss, uint64_t w_max, int64_t k, int64_t t)
{
    int64_t d = t - k;
    if (d > TICKS_MAX)
        d = TICKS_MAX;
    if (d < -TICKS_MAX)
        d = -TICKS_MAX;
    int64_t grown = (int64_t)((__int128)d * d * d * mss / (INT64_C(1) << 2 * TICK_BITS)) / 5 * 2;
    grown /= 1 << TICK_BITS;
    return grown < 0 && (uint64_t)-grown > w_max ? 0 : w_max + (uint64_t)grown;
}

void congestion_init(struct congestion *c, enum congestion_kind kind, uint32_t mss)
{
    memset(c, 0, sizeof(*c));
    c->kind = kind;
    c->mss = mss;
    c->cwnd = (uint64_t)INITIAL_SEGMENTS * mss;
    c->ssthresh = UINT64_MAX;
    c->cubic.epoch = -1;
    c->round_min = c->last_min = PS_NEVER;
}

static void hystart(struct congestion *c, uint64_t bytes, uint64_t una, uint64_t nxt, ps_t rtt)
{
    if (una >= c->round_end) {
        c->round_end = nxt;
        c->last_min = c->round_min;
        c->round_min = PS_NEVER;
        c->samples = 0;
        if (c->css_rounds && ++c->css_rounds > HYSTART_ROUNDS) {
            c->css_rounds = 0;
            c->ssthresh = c->cwnd;
            return;
        }
    }
    if (rtt <= 0)
        return;
    if (rtt < c->round_min)
        c->round_min = rtt;
    c->samples += 1 + (uint32_t)(bytes / (2 * (uint64_t)c->mss));
    if (c->samples < HYSTART_SAMPLES)
        return;
    if (c->css_rounds) {
        if (c->round_min < c->baseline)
            c->css_rounds = 0;
    } else if (c->last_min != PS_NEVER) {
        ps_t threshold = c->last_min / 8;
        if (threshold < 4 * PS_PER_MS)
            threshold = 4 * PS_PER_MS;
        if (threshold > 16 * PS_PER_MS)
            threshold = 16 * PS_PER_MS;
        if (c->round_min >= c->last_min + threshold) {
            c->css_rounds = 1;
            c->baseline = c->round_min;
        }
    }
}

/* cwnd += gain * bytes / window, the remainder carried. */
static void grow(struct congestion *c, uint64_t gain, uint64_t bytes)
{
    unsigned __int128 sum = (unsigned __int128)gain * bytes + c->part;
    uint64_t add;
    if (sum >> 64) {
        add = (uint64_t)(sum / c->cwnd);
        c->part = (uint64_t)(sum % c->cwnd);
    } else {
        add = (uint64_t)sum / c->cwnd;
        c->part = (uint64_t)sum % c->cwnd;
    }
    c->cwnd += add;
}

static void cubic_acked(struct congestion *c, uint64_t bytes, ps_t srtt, ps_t now)
{
    struct cubic *q = &c->cubic;
    if (q->epoch < 0) {
        q->epoch = now;
        q->estimate = c->cwnd;
        q->part = 0;
        if (q->w_max < c->cwnd)
            q->w_max = c->cwnd;
        q->k = cubic_k(c->mss, q->w_max, c->cwnd);
    }
    /* What Reno would have. */
    bool slow = q->estimate < q->prior;
    uint64_t scale = slow ? 17 : 1, sum = (slow ? 9 : 1) * (uint64_t)c->mss * bytes + q->part;
    q->estimate += sum / (scale * c->cwnd);
    q->part = sum % (scale * c->cwnd);

    int64_t t = ticks(now - q->epoch);
    uint64_t target = cubic_window(c->mss, q->w_max, q->k, t + ticks(srtt));
    if (target > c->cwnd + c->cwnd / 2)
        target = c->cwnd + c->cwnd / 2;
    if (target > c->cwnd)
        grow(c, target - c->cwnd, bytes);
    if (c->cwnd < q->estimate)
        c->cwnd = q->estimate;
}

void congestion_acked(struct congestion *c, uint64_t bytes, bool limited, uint64_t una, uint64_t nxt, ps_t rtt,
                      ps_t srtt, ps_t now)
{
    if (congestion_slow_start(c))
        hystart(c, bytes, una, nxt, rtt);
    if (!limited) {
        /* The curve stands still while something else holds the sender back. */
        if (c->cubic.epoch >= 0)
            c->cubic.epoch += now - c->last_ack;
        c->last_ack = now;
        return;
    }
    c->last_ack = now;
    if (congestion_slow_start(c)) {
        uint64_t room = c->ssthresh - c->cwnd, add = c->css_rounds ? bytes / HYSTART_DIVISOR : bytes;
        c->cwnd += add < room ? add : room;
        return;
    }
    switch (c->kind) {
    case CONGESTION_RENO:
        grow(c, c->mss, bytes);
        break;
    case CONGESTION_CUBIC:
        cubic_acked(c, bytes, srtt, now);
        break;
    }
}

void congestion_loss(struct congestion *c, uint64_t flight)
{
    uint64_t used = flight < c->cwnd ? flight : c->cwnd, down = used / 2;
    if (c->kind == CONGESTION_CUBIC) {
        struct cubic *q = &c->cubic;
        /* Fast convergence: a flow that lost before it reached its last plateau makes room for others. */
        q->w_max = used < q->w_max ? used * 17 / 20 : used;
        q->prior = used;
        q->epoch = -1;
        down = used * 7 / 10;
    }
    c->ssthresh = down > 2 * (uint64_t)c->mss ? down : 2 * (uint64_t)c->mss;
    c->part = 0;
    c->css_rounds = 0;
}

void congestion_timeout(struct congestion *c, uint64_t flight)
{
    congestion_loss(c, flight);
    c->cwnd = c->mss;
}

void congestion_idle(struct congestion *c, ps_t idle, ps_t rto)
{
    uint64_t floor = (uint64_t)INITIAL_SEGMENTS * c->mss;
    if (c->ssthresh < c->cwnd / 4 * 3)
        c->ssthresh = c->cwnd / 4 * 3;
    for (; idle > rto && c->cwnd > floor; idle -= rto)
        c->cwnd = c->cwnd / 2 > floor ? c->cwnd / 2 : floor;
    c->cubic.epoch = -1;
}
