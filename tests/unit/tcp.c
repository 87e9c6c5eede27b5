/* The TCP model over two plain wires: handshake, goodput, windows, loss recovery, timers. Every case runs at both details. */
#include "emu/sim/tcp.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "emu/model/random.h"
#include "tests/support/pipe.h"

struct pair {
    struct eventq *queue;
    struct train_pool *trains;
    struct tcp_world world;
    struct tcp_config config;
    struct tcp end[2];
    struct pipe wire[2]; /* wire[i] leaves end[i] */
    uint64_t want;       /* bytes of end 0's stream that make `arrived` */
    ps_t arrived;
    int connected, resets, timed_out;
    uint64_t most; /* bytes in the NIC's queue */
    uint64_t acks; /* trains without data from end 1 */
};

static void pair_send(void *context, struct tcp *t, struct train *n, ps_t now)
{
    struct pair *p = context;
    if (t == &p->end[1] && n->u.tcp.length == 0)
        p->acks++;
    pipe_in(&p->wire[t == &p->end[1]], n, now);
}

static void pair_receive(void *context, struct tcp *t, ps_t now)
{
    struct pair *p = context;
    assert_ptr_equal(t, &p->end[1]);
    p->arrived = now;
    t->want = UINT64_MAX;
}

static void pair_notice(void *context, struct tcp *t, enum tcp_notice what, ps_t now)
{
    struct pair *p = context;
    (void)now;
    p->connected += what == TCP_CONNECTED;
    p->resets += what == TCP_RESET;
    p->timed_out += what == TCP_TIMED_OUT;
    if (what == TCP_CONNECTED && t == &p->end[1])
        t->want = t->in + p->want;
}

static void to_end(struct pair *p, int end, struct train *n, ps_t now) { tcp_deliver(&p->end[end], n, now); }
static void out_0(void *context, struct train *n, ps_t now) { to_end(context, 1, n, now); }
static void out_1(void *context, struct train *n, ps_t now) { to_end(context, 0, n, now); }

static void pair_init(struct pair *p, bool frames, uint32_t mtu, bps_t rate, ps_t delay, uint64_t buffer)
{
    memset(p, 0, sizeof(*p));
    p->queue = eventq_new();
    p->trains = train_pool_new();
    p->config = (struct tcp_config){
        .mtu = mtu, .timestamps = true, .send_buffer = 264 << 10, .receive_buffer = 256 << 10, .nic_limit = UINT64_MAX};
    p->world = (struct tcp_world){.queue = p->queue,
                                  .trains = p->trains,
                                  .frames = frames,
                                  .send = pair_send,
                                  .receive = pair_receive,
                                  .notice = pair_notice,
                                  .context = p,
                                  .pool = tcp_pool_new()};
    for (int i = 0; i < 2; i++) {
        tcp_init(&p->end[i], &p->world, &p->config);
        pipe_init(&p->wire[i], p->queue, p->trains, rate, delay, buffer);
        p->wire[i].context = p;
    }
    p->wire[0].out = out_0;
    p->wire[1].out = out_1;
}

static void pair_free(struct pair *p)
{
    tcp_close(&p->end[0]);
    tcp_close(&p->end[1]);
    tcp_pool_free(p->world.pool);
    train_pool_free(p->trains);
    eventq_free(p->queue);
}

/* Connects, sends `bytes`, runs until they are in or `limit`; returns the time. */
static ps_t transfer(struct pair *p, uint64_t bytes, ps_t limit)
{
    p->want = bytes;
    tcp_listen(&p->end[1], UINT64_C(1) << 40);
    tcp_connect(&p->end[0], UINT64_C(5) << 40, 0);
    tcp_write(&p->end[0], bytes, 0);
    while (!p->arrived && eventq_next(p->queue) <= limit)
        eventq_step(p->queue);
    return p->arrived ? p->arrived : limit;
}

static bool lose_listed(void *context, uint64_t frame)
{
    for (const int *at = context; *at >= 0; at++)
        if ((uint64_t)*at == frame)
            return true;
    return false;
}

static void handshake(void **state)
{
    (void)state;
    struct pair p;
    pair_init(&p, true, 1500, 1000000000, 50 * PS_PER_US, 0);
    ps_t at = transfer(&p, 1, PS_PER_S);
    assert_int_equal(p.connected, 2);
    /* SYN and SYN-ACK: 74 bytes and 24 of preamble, gap, FCS; one byte of data: 67 and 24; three times 50 us. */
    assert_int_equal(at, 150 * PS_PER_US + (98 + 98 + 91) * 8 * PS_PER_NS);
    pair_free(&p);
}

static void idle_link_goodput(void **state)
{
    (void)state;
    static const struct {
        uint32_t mtu;
        bool timestamps;
        double share; /* of the link's rate: (mtu - 40 - 12) / (mtu + 38) */
    } cases[] = {{1500, true, 0.94148}, {1500, false, 0.94928}, {9000, true, 0.99004}, {9000, false, 0.99137}};
    for (unsigned i = 0; i < 8; i++) {
        struct pair p;
        pair_init(&p, i & 1, cases[i / 2].mtu, 1000000000, 5 * PS_PER_US, 512 << 10);
        p.config.timestamps = cases[i / 2].timestamps;
        uint64_t bytes = 100 << 20;
        ps_t at = transfer(&p, bytes, 10 * PS_PER_S);
        double goodput = (double)bytes * 8 / ((double)at / 1e12) / 1e9;
        assert_true(goodput > 0.998 * cases[i / 2].share && goodput <= cases[i / 2].share);
        assert_int_equal(p.end[0].retransmitted, 0);
        pair_free(&p);
    }
}

static void window_limits(void **state)
{
    (void)state;
    /* 10 ms of round trip: one window per round trip, whichever of the three is the least. */
    for (int frames = 0; frames < 2; frames++)
        for (int which = 0; which < 2; which++) {
            struct pair p;
            pair_init(&p, frames, 1500, UINT64_C(10000000000), 5 * PS_PER_MS, 0);
            *(which ? &p.config.send_buffer : &p.config.receive_buffer) = 128 << 10;
            uint64_t bytes = 20 << 20;
            ps_t at = transfer(&p, bytes, 10 * PS_PER_S);
            double windows = (double)bytes / (128 << 10), rounds = (double)at / 1e12 / 0.01;
            assert_true(rounds > windows && rounds < windows * 1.08);
            pair_free(&p);
        }
}

static void out_0_reporting(void *context, struct train *n, ps_t now)
{
    struct pair *p = context;
    uint64_t length = n->u.tcp.length;
    p->most = p->end[0].in_nic > p->most ? p->end[0].in_nic : p->most;
    if (length)
        tcp_sent(&p->end[0], length, now);
    to_end(p, 1, n, now);
}

static void nic_queue_is_kept_short(void **state)
{
    (void)state;
    for (int frames = 0; frames < 2; frames++) {
        struct pair p;
        pair_init(&p, frames, 1500, 1000000000, 5 * PS_PER_US, 0);
        p.config.send_buffer = p.config.receive_buffer = 4 << 20;
        p.config.nic_limit = 128 << 10;
        p.wire[0].out = out_0_reporting;
        uint64_t bytes = 50 << 20;
        ps_t at = transfer(&p, bytes, 10 * PS_PER_S);
        double goodput = (double)bytes * 8 / ((double)at / 1e12) / 1e9;
        assert_true(goodput > 0.998 * 0.94148);
        assert_true(p.most < (128 << 10) + (64 << 10));
        assert_true(p.end[0].srtt < 3 * PS_PER_MS); /* 4 MiB would be 34 ms */
        pair_free(&p);
    }
}

static void acknowledgements_are_coalesced(void **state)
{
    (void)state;
    struct pair p;
    pair_init(&p, true, 1500, 1000000000, 5 * PS_PER_US, 0);
    transfer(&p, 1448000, PS_PER_S);
    assert_in_range(p.acks, 501, 503); /* SYN-ACK; every second of 1000 segments */
    pair_free(&p);
    pair_init(&p, false, 1500, 1000000000, 5 * PS_PER_US, 0);
    transfer(&p, 1448000, PS_PER_S);
    assert_in_range(p.acks, 20, 60); /* one per train */
    pair_free(&p);
}

/* Loses the listed data frames; nothing may time out and exactly these may be sent again. */
static void recovers(const int *lost, unsigned timeouts, uint64_t resent_at_most, uint64_t bytes)
{
    for (int frames = 0; frames < 2; frames++) {
        struct pair p;
        unsigned n = 0;
        pair_init(&p, frames, 1500, 1000000000, 100 * PS_PER_US, 0);
        p.wire[0].lose = lose_listed;
        p.wire[0].lose_context = (void *)(uintptr_t)lost;
        ps_t at = transfer(&p, bytes, 10 * PS_PER_S);
        eventq_run(p.queue, at + 100 * PS_PER_MS); /* the last acknowledgements */
        while (lost[n] >= 0)
            n++;
        assert_int_equal(p.wire[0].lost, n);
        assert_true(p.arrived && at < PS_PER_S + (ps_t)timeouts * PS_PER_S);
        assert_int_equal(p.end[0].timeouts, timeouts);
        assert_in_range(p.end[0].retransmitted, n, resent_at_most);
        assert_int_equal(p.end[0].sacked + p.end[0].lost, 0);
        pair_free(&p);
    }
}

static void one_loss(void **state)
{
    (void)state;
    recovers((const int[]){100, -1}, 0, 1, 1448000);
}
static void burst_loss(void **state)
{
    (void)state;
    recovers((const int[]){100, 101, 102, 103, 104, 105, -1}, 0, 6, 1448000);
}
static void scattered_loss(void **state)
{
    (void)state;
    recovers((const int[]){100, 102, 104, 110, 117, 118, 130, -1}, 0, 7, 1448000);
}
static void loss_of_a_retransmission(void **state)
{
    (void)state;
    /* Data frame 100 is lost; which frame its retransmission is depends on the detail, so lose a stretch of all. */
    int lost[] = {100, 140, 141, 142, 143, 144, 145, 146, 147, 148, 149, 150, 151, 152, 153, 154, 155, -1};
    recovers(lost, 0, 18, 1448000);
}
static void tail_loss_is_probed(void **state)
{
    (void)state;
    recovers((const int[]){999, -1}, 0, 1, 1448000);
    recovers((const int[]){997, 998, 999, -1}, 0, 4, 1448000);
}

/* Loses whatever passes between two data frames. */
struct stretch {
    uint64_t from, to;
};
static bool lose_stretch(void *context, uint64_t frame)
{
    const struct stretch *s = context;
    return frame >= s->from && frame < s->to;
}

static void timeout_and_backoff(void **state)
{
    (void)state;
    for (int frames = 0; frames < 2; frames++) {
        /* Everything in flight and the next few attempts are lost: only timeouts help. */
        struct pair p;
        struct stretch gone = {100, 400};
        pair_init(&p, frames, 1500, 1000000000, 100 * PS_PER_US, 0);
        p.wire[0].lose = lose_stretch;
        p.wire[0].lose_context = &gone;
        p.want = 1448000;
        tcp_listen(&p.end[1], UINT64_C(1) << 40);
        tcp_connect(&p.end[0], UINT64_C(5) << 40, 0);
        tcp_write(&p.end[0], p.want, 0);
        ps_t last = 0, gap = 0;
        while (!p.arrived && eventq_next(p.queue) < 100 * PS_PER_S) {
            uint64_t before = p.end[0].timeouts;
            eventq_step(p.queue);
            if (p.end[0].timeouts == before)
                continue;
            ps_t now = eventq_now(p.queue);
            if (before >= 2) /* the first gap starts at the probe, not at a timeout */
                assert_in_range(now - last, gap * 2 - PS_PER_MS, gap * 2 + PS_PER_MS);
            if (before >= 1)
                gap = now - last;
            last = now;
            if (p.end[0].timeouts == 4)
                gone.to = 0; /* the wire is well again */
        }
        assert_true(p.arrived);
        assert_in_range(p.end[0].timeouts, 4, 5);
        assert_int_equal(p.end[0].backoff, 0);
        pair_free(&p);
    }
}

static bool lose_all(void *context, uint64_t frame)
{
    (void)context;
    return frame >= 100;
}

static void gives_up(void **state)
{
    (void)state;
    struct pair p;
    pair_init(&p, false, 1500, 1000000000, 100 * PS_PER_US, 0);
    p.wire[0].lose = lose_all;
    transfer(&p, 1448000, 3600 * PS_PER_S);
    assert_int_equal(p.timed_out, 1);
    assert_int_equal(p.end[0].timeouts, 15);
    assert_int_equal(p.end[0].state, TCP_CLOSED);
    pair_free(&p);
}

static void swallow(void *context, struct train *n, ps_t now)
{
    struct pair *p = context;
    (void)now;
    train_release(p->trains, n);
}

static void connection_timeouts(void **state)
{
    (void)state;
    struct pair p;
    pair_init(&p, false, 1500, 1000000000, 100 * PS_PER_US, 0);
    p.wire[0].out = swallow;
    tcp_connect(&p.end[0], 0, 0);
    eventq_run(p.queue, 126 * PS_PER_S);
    assert_int_equal(p.timed_out, 0);
    eventq_run(p.queue, 128 * PS_PER_S); /* 1 + 2 + 4 + ... + 64 s */
    assert_int_equal(p.timed_out, 1);
    pair_free(&p);
}

/* The far end has forgotten the connection. */
static void amnesia(void *context, struct train *n, ps_t now)
{
    struct pair *p = context;
    struct train *r = tcp_reset_for(&p->world, n, now);
    train_release(p->trains, n);
    pipe_in(&p->wire[1], r, now);
}

static void reset(void **state)
{
    (void)state;
    for (int established = 0; established < 2; established++) {
        struct pair p;
        pair_init(&p, false, 1500, 1000000000, 100 * PS_PER_US, 0);
        if (established)
            transfer(&p, 1000, PS_PER_S);
        p.wire[0].out = amnesia;
        if (established)
            tcp_write(&p.end[0], 1000, eventq_now(p.queue));
        else
            tcp_connect(&p.end[0], 0, 0);
        eventq_run(p.queue, 2 * PS_PER_S);
        assert_int_equal(p.resets, 1);
        assert_int_equal(p.end[0].state, TCP_CLOSED);
        pair_free(&p);
    }
}

static void old_incarnation_is_ignored(void **state)
{
    (void)state;
    struct pair p;
    pair_init(&p, false, 1500, 1000000000, 100 * PS_PER_US, 0);
    transfer(&p, 100000, PS_PER_S);
    uint64_t in = p.end[1].in;
    struct train *n = train_new(p.trains);
    memset(&n->u, 0, sizeof(n->u));
    n->u.tcp = (struct train_tcp){.seq = UINT64_C(4) << 40, .length = 1000, .mss = 1448, .flags = TRAIN_ACK};
    n->frames = 1;
    train_ready(n, eventq_now(p.queue));
    tcp_deliver(&p.end[1], n, eventq_now(p.queue));
    assert_int_equal(p.end[1].in, in);
    pair_free(&p);
}

static bool lose_random(void *context, uint64_t frame)
{
    const uint64_t *seed = context;
    return random_scale(random_at(*seed, frame), 1000) < *seed % 60;
}

/* Losses of 0 to 6 % in both directions of arrival order, many seeds: everything arrives, nothing is left over. */
static void random_loss(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 240; seed++) {
        struct pair p;
        pair_init(&p, seed & 1, seed & 2 ? 1500 : 9000, 1000000000, 20 * PS_PER_US, seed & 4 ? 0 : 100 << 10);
        p.config.congestion = seed & 8 ? CONGESTION_RENO : CONGESTION_CUBIC;
        p.config.timestamps = seed % 3;
        p.wire[0].lose = lose_random;
        p.wire[0].lose_context = &seed;
        uint64_t bytes = 2 << 20;
        ps_t at = transfer(&p, bytes, 1000 * PS_PER_S);
        assert_true(p.arrived > 0);
        eventq_run(p.queue, at + 10 * PS_PER_S);
        const struct tcp *a = &p.end[0], *b = &p.end[1];
        assert_int_equal(b->in, a->end);
        assert_int_equal(a->una, a->end);
        assert_null(a->first);
        assert_null(b->holes);
        assert_int_equal(a->sacked + a->lost + a->resent, 0);
        assert_int_equal(a->phase, TCP_OPEN);
        pair_free(&p);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(handshake),
        cmocka_unit_test(idle_link_goodput),
        cmocka_unit_test(window_limits),
        cmocka_unit_test(nic_queue_is_kept_short),
        cmocka_unit_test(acknowledgements_are_coalesced),
        cmocka_unit_test(one_loss),
        cmocka_unit_test(burst_loss),
        cmocka_unit_test(scattered_loss),
        cmocka_unit_test(loss_of_a_retransmission),
        cmocka_unit_test(tail_loss_is_probed),
        cmocka_unit_test(timeout_and_backoff),
        cmocka_unit_test(gives_up),
        cmocka_unit_test(connection_timeouts),
        cmocka_unit_test(reset),
        cmocka_unit_test(old_incarnation_is_ignored),
        cmocka_unit_test(random_loss),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
