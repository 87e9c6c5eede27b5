/* Wires: the arithmetic of trains by worked numbers, faults, and that nothing gets lost on the way. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "emu/fabric/wire.h"

/* A full frame of MTU 1500 takes 1,538 bytes: 12.304 us at 1 Gbit/s, a tenth of that at 10. */
#define FRAME_1G  INT64_C(12304000)
#define FRAME_10G INT64_C(1230400)
#define US        PS_PER_US
#define MS        PS_PER_MS

enum { WIRES = 4, MOST = 4096 };

static struct eventq *q;
static struct train_pool *pool;
static struct wire wires[WIRES];
static struct train *got[MOST];
static int n_got, n_taps;
static ps_t last_start;

static void keep(struct wire *w, struct train *t, ps_t now)
{
    (void)w;
    assert_int_equal(now, t->head);
    assert_true(n_got < MOST);
    got[n_got++] = t;
}

static void forward(struct wire *w, struct train *t, ps_t now)
{
    assert_int_equal(now, t->head);
    wire_send(w + 1, t);
}

static void tap(struct wire *w, const struct train *t, ps_t start)
{
    (void)w;
    assert_true(start >= last_start);
    assert_true(start < t->head);
    last_start = start;
    n_taps++;
}

static int set_up(void **state)
{
    (void)state;
    q = eventq_new();
    pool = train_pool_new();
    memset(wires, 0, sizeof wires);
    n_got = n_taps = 0;
    last_start = 0;
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    for (int i = 0; i < n_got; i++)
        train_release(pool, got[i]);
    for (int i = 0; i < WIRES; i++) {
        if (wires[i].rate)
            assert_true(wire_conserves(&wires[i]));
        wire_close(&wires[i]);
    }
    assert_int_equal(train_pool_used(pool), 0);
    train_pool_free(pool);
    eventq_free(q);
    return 0;
}

static struct wire *wire(int i, bps_t rate, ps_t delay, uint64_t buffer, wire_arrive *arrive)
{
    struct wire_config c = {.rate = rate, .delay = delay, .buffer = buffer, .arrive = arrive, .tap = i ? NULL : tap};

    wire_init(&wires[i], &c, q, pool);
    return &wires[i];
}

static struct train *train(uint32_t frames, ps_t head, ps_t tail)
{
    struct train *t = train_new(pool);

    memset(&t->u, 0, sizeof t->u);
    t->frames = frames;
    t->frame_bytes = t->last_bytes = 1514;
    t->head = t->body = head;
    t->tail = tail;
    return t;
}

static void send(struct wire *w, uint32_t frames, ps_t head, ps_t tail)
{
    eventq_run(q, head);
    wire_send(w, train(frames, head, tail));
}

/* Host at 1 Gbit/s, switch to switch at 10, to the NAS at 1. The frames follow each other through all three at once. */
static void pipelining(void **state)
{
    (void)state;
    wire(0, 1000000000, 5 * US, 1000000, forward);
    wire(1, 10000000000, 5 * US, 1000000, forward);
    wire(2, 1000000000, 5 * US, 1000000, keep);
    send(&wires[0], 45, 0, 0);
    eventq_run(q, PS_NEVER);
    assert_int_equal(n_got, 1);
    assert_int_equal(got[0]->head, FRAME_1G + FRAME_10G + FRAME_1G + 15 * US);
    assert_int_equal(got[0]->tail, 45 * FRAME_1G + FRAME_10G + FRAME_1G + 15 * US);
    assert_int_equal(wires[1].counters.busy, 45 * FRAME_10G);
    /* At no time more than one frame waits. */
    for (int i = 1; i < 3; i++)
        assert_in_range(wire_queue_peak(&wires[i]), 1530, 1538);
    assert_int_equal(n_taps, 1);
}

/* The other way round: 45 frames at 10 Gbit/s into a 1 Gbit/s port. What has come in and not left is the queue. */
static void fast_into_slow(void **state)
{
    ps_t in = 44 * FRAME_10G;

    (void)state;
    wire(0, 1000000000, 0, 1000000, keep);
    send(&wires[0], 45, 1000, 1000 + in);
    assert_int_equal(wire_queued(&wires[0], 1000), 1538);
    assert_in_range(wire_queued(&wires[0], 1000 + in), 45 * 1538 - 44 * 153.8 - 2, 45 * 1538 - 44 * 153.8 + 2);
    eventq_run(q, PS_NEVER);
    assert_int_equal(got[0]->head, 1000 + FRAME_1G);
    assert_in_range(got[0]->tail, 1000 + 45 * FRAME_1G - 1, 1000 + 45 * FRAME_1G + 1);
    assert_in_range(wire_queue_peak(&wires[0]), 45 * 1538 - 44 * 153.8 - 2, 45 * 1538 - 44 * 153.8 + 2);
}

/* Ten trains from ten 1 Gbit/s ports at once fill a 10 Gbit/s wire exactly. None waits for another's 541 us. */
static void slow_trains_share_a_fast_wire(void **state)
{
    ps_t in = 44 * FRAME_1G;

    (void)state;
    wire(0, 10000000000, 0, 1000000, keep);
    for (int i = 0; i < 10; i++)
        send(&wires[0], 45, 1000, 1000 + in);
    /* In between a frame of somebody else: it waits for ten frames, not for ten trains. */
    send(&wires[0], 1, 1000 + in / 2, 1000 + in / 2);
    eventq_run(q, PS_NEVER);
    assert_int_equal(n_got, 11);
    for (int i = 0; i < 10; i++) {
        assert_int_equal(got[i]->head, 1000 + (i + 1) * FRAME_10G);
        assert_in_range(got[i]->tail, 1000 + in + FRAME_10G, 1000 + in + 11 * FRAME_10G);
    }
    assert_in_range(got[10]->head, 1000 + in / 2 + FRAME_10G, 1000 + in / 2 + 11 * FRAME_10G);
}

/* A request arrives while another flow's train comes in at the wire's own rate: it goes in its turn, after a frame or
 * two; a second train's first frame as well, and the rest of it behind the first train. */
static void heads_go_in_their_turn(void **state)
{
    ps_t in = 44 * FRAME_1G;

    (void)state;
    wire(0, 1000000000, 0, 1000000, keep);
    send(&wires[0], 45, 1000, 1000 + in);
    send(&wires[0], 45, 1000 + 10 * FRAME_1G, 1000 + 10 * FRAME_1G + in);
    send(&wires[0], 1, 1000 + 20 * FRAME_1G, 1000 + 20 * FRAME_1G);
    eventq_run(q, PS_NEVER);
    assert_int_equal(n_got, 3);
    assert_in_range(got[1]->head, 1000 + 11 * FRAME_1G, 1000 + 12 * FRAME_1G);
    assert_in_range(got[1]->tail, 1000 + 89 * FRAME_1G, 1000 + 91 * FRAME_1G);
    assert_in_range(got[1]->body, 1000 + 45 * FRAME_1G, 1000 + 47 * FRAME_1G);
    /* Behind ten frames that piled up while both came in. */
    assert_in_range(got[2]->head, 1000 + 31 * FRAME_1G, 1000 + 33 * FRAME_1G);
}

/* Sixteen trains at once through one wire, then through another of the same rate: there the queue stays at a few frames. */
static void no_queue_behind_a_wire_of_the_same_rate(void **state)
{
    (void)state;
    wire(0, 10000000000, US, 10000000, forward);
    wire(1, 10000000000, US, 10000000, keep);
    for (int i = 0; i < 16; i++)
        send(&wires[0], 45, 1000, 1000 + 44 * FRAME_10G);
    eventq_run(q, PS_NEVER);
    assert_int_equal(n_got, 16);
    assert_in_range(got[15]->tail, 720 * FRAME_10G, 722 * FRAME_10G + 3 * US);
    assert_in_range(wire_queue_peak(&wires[0]), 16 * 44 * 1538 * 15 / 16, 16 * 45 * 1538);
    assert_in_range(wire_queue_peak(&wires[1]), 1538, 20 * 1538);
}

/* 3 Gbit/s: 1,538 bytes take 4,101,333 1/3 ps. A million frames back to back take exactly a million times that. */
static void no_drift(void **state)
{
    ps_t last = 0;

    (void)state;
    wire(0, UINT64_C(3000000000), 0, UINT64_C(1) << 40, keep);
    for (int i = 0; i < 1000000; i++) {
        wire_send(&wires[0], train(1, 0, 0));
        if (i % 1000 == 999) {
            eventq_run(q, PS_NEVER);
            last = got[n_got - 1]->head;
            while (n_got)
                train_release(pool, got[--n_got]);
        }
    }
    assert_int_equal(last, INT64_C(1000000) * 1538 * 8 * 1000 / 3);
}

static void full_queue_cuts_a_train(void **state)
{
    (void)state;
    wire(0, 1000000000, 0, 10 * 1538, keep);
    /* Ready at once: one being sent, ten wait. */
    send(&wires[0], 45, 1000, 1000);
    eventq_run(q, PS_NEVER);
    assert_int_equal(got[0]->frames, 11);
    assert_int_equal(wires[0].counters.frames_dropped, 34);
    assert_int_equal(wire_queue_peak(&wires[0]), 11 * 1538);
    /* Ten times faster than it can leave: nine of ten stay, so the first that finds more than ten is number 12 (from 0),
     * with 12 - 1.2. Room for another is when number 20 comes, then 30 and 40. */
    send(&wires[0], 45, MS, MS + 44 * FRAME_10G);
    eventq_run(q, PS_NEVER);
    assert_int_equal(wires[0].counters.frames_dropped, 34 + 45 - 15);
    assert_int_equal(wires[0].counters.frames_out, 11 + 15);
    /* Nothing is cut that just fits. */
    send(&wires[0], 11, 2 * MS, 2 * MS);
    eventq_run(q, PS_NEVER);
    assert_int_equal(got[n_got - 1]->frames, 11);
}

/* Frames of two trains that come in together meet a full queue in turn, and those of one train leave as one again as long as
 * none between them is dropped. */
static void full_queue_is_shared(void **state)
{
    uint64_t frames[2] = {0, 0};

    (void)state;
    wire(0, 1000000000, 0, 100 * 1538, keep);
    send(&wires[0], 45, 1000, 1000);
    send(&wires[0], 45, 1000, 1000);
    for (int i = 0; i < 2; i++) {
        struct train *t = train(45, MS / 2 + i * 1000, MS / 2 + i * 1000 + 44 * FRAME_10G);

        memset(&t->u, 0, sizeof t->u);
        t->u.tcp = (struct train_tcp){.seq = 1000000 * (uint64_t)i, .length = 45 * 1460, .mss = 1460};
        wire_send(&wires[0], t);
    }
    eventq_run(q, PS_NEVER);
    assert_true(wires[0].counters.frames_dropped > 20);
    assert_true(n_got < 2 + 30);
    for (int i = 2; i < n_got; i++) {
        const struct train_tcp *in = &got[i]->u.tcp;

        assert_int_equal(in->length, got[i]->frames * 1460);
        assert_int_equal(in->seq % 1000000 % 1460, 0);
        frames[in->seq >= 1000000] += got[i]->frames;
    }
    assert_int_equal(frames[0] + frames[1] + wires[0].counters.frames_dropped, 90);
    assert_in_range(frames[0] + 2, frames[1], frames[1] + 4);
}

/* One flow sends a frame for each that leaves; a newcomer sends one now and then, at any moment. At a sharp limit it would
 * never find room. */
static void vague_limit_lets_newcomers_in(void **state)
{
    struct wire_config c = {.rate = 1000000000, .buffer = 100 * 1538, .vague = 1538, .arrive = keep};
    struct random draws = random_stream(1, "newcomer");
    ps_t at = MS;
    int in = 0;

    (void)state;
    wire_init(&wires[0], &c, q, pool);
    send(&wires[0], 101, MS, MS);
    for (int i = 0; i < 1000; i++) {
        uint64_t dropped;
        ps_t moment;

        eventq_run(q, at += FRAME_1G);
        send(&wires[0], 1, at, at);
        if (i % 10)
            continue;
        dropped = wires[0].counters.frames_dropped;
        moment = at + 1 + (ps_t)random_below(&draws, FRAME_1G - 1);
        eventq_run(q, moment);
        send(&wires[0], 1, moment, moment);
        in += wires[0].counters.frames_dropped == dropped;
    }
    eventq_run(q, PS_NEVER);
    assert_in_range(in, 30, 70); /* of 100 */
}

static void down_loses_what_is_queued(void **state)
{
    (void)state;
    wire(0, 1000000000, 5 * US, 1000000, keep);
    send(&wires[0], 1, 1000, 1000);
    send(&wires[0], 45, 1001, 1001);
    send(&wires[0], 45, 1002, 1002);
    eventq_run(q, 20 * US);
    wire_set_down(&wires[0], true, 20 * US);
    assert_int_equal(n_got, 1);
    assert_int_equal(wires[0].counters.frames_lost, 90);
    assert_true(wire_conserves(&wires[0]));
    send(&wires[0], 3, 30 * US, 30 * US);
    assert_int_equal(wires[0].counters.frames_lost, 93);
    eventq_run(q, 40 * US);
    wire_set_down(&wires[0], false, 40 * US);
    send(&wires[0], 1, 50 * US, 50 * US);
    eventq_run(q, PS_NEVER);
    /* Nothing of the old queue is in its way. */
    assert_int_equal(n_got, 2);
    assert_int_equal(got[1]->head, 55 * US + FRAME_1G);
}

static void deaf_loses_what_was_sent(void **state)
{
    (void)state;
    wire(0, 1000000000, 5 * US, 1000000, keep);
    wire_set_deaf(&wires[0], true);
    send(&wires[0], 45, 1000, 1000);
    eventq_run(q, MS);
    assert_int_equal(n_got, 0);
    assert_int_equal(wires[0].counters.frames_lost, 45);
    assert_int_equal(wires[0].counters.busy, 45 * FRAME_1G);
    wire_set_deaf(&wires[0], false);
    send(&wires[0], 45, MS, MS);
    eventq_run(q, PS_NEVER);
    assert_int_equal(n_got, 1);
}

static void lossy(uint64_t seed, uint32_t *lost, int *pieces)
{
    struct wire_config c = {.rate = 1000000000, .buffer = 1000000, .seed = seed, .arrive = keep};

    wire_init(&wires[3], &c, q, pool);
    wire_set_loss(&wires[3], 0.01);
    for (int i = 0; i < 1000; i++)
        send(&wires[3], 45, eventq_now(q) + MS, eventq_now(q) + MS);
    eventq_run(q, eventq_now(q) + MS);
    assert_true(wire_conserves(&wires[3]));
    *lost = (uint32_t)wires[3].counters.frames_lost;
    *pieces = n_got;
    for (int i = 1; i < n_got; i++)
        assert_true(got[i]->head > got[i - 1]->tail);
    while (n_got)
        train_release(pool, got[--n_got]);
    wire_close(&wires[3]);
}

/* One in a hundred of 45,000, within 4 standard deviations of 21; the same for the same seed. */
static void random_loss_splits(void **state)
{
    uint32_t lost, again, other;
    int pieces, same, differ;

    (void)state;
    lossy(1, &lost, &pieces);
    lossy(1, &again, &same);
    lossy(2, &other, &differ);
    assert_in_range(lost, 450 - 84, 450 + 84);
    assert_in_range(other, 450 - 84, 450 + 84);
    assert_int_equal(lost, again);
    assert_int_equal(pieces, same);
    assert_true(pieces > 1300 && pieces <= 1000 + (int)lost);
    assert_true(lost != other || pieces != differ);
}

static void rate_changes_what_is_left(void **state)
{
    (void)state;
    wire(0, 1000000000, 5 * US, 1000000, keep);
    send(&wires[0], 1, 0, 0);
    send(&wires[0], 10, 0, 0);
    /* Half of the first frame is out when the rate falls to a tenth. */
    eventq_run(q, FRAME_1G / 2);
    wire_set_rate(&wires[0], 100000000, FRAME_1G / 2);
    eventq_run(q, PS_NEVER);
    assert_int_equal(got[0]->head, FRAME_1G / 2 + 5 * FRAME_1G + 5 * US);
    assert_int_equal(got[1]->tail, FRAME_1G / 2 + 105 * FRAME_1G + 5 * US);
    assert_int_equal(wire_queue_peak(&wires[0]), 11 * 1538);
    /* What comes next waits for the new rate. */
    send(&wires[0], 1, 200 * FRAME_1G, 200 * FRAME_1G);
    eventq_run(q, PS_NEVER);
    assert_int_equal(got[2]->head, 210 * FRAME_1G + 5 * US);
}

static void shorter_delay_never_reorders(void **state)
{
    (void)state;
    wire(0, 1000000000, 10 * MS, 1000000, keep);
    send(&wires[0], 45, 0, 0);
    send(&wires[0], 1, MS, MS);
    eventq_run(q, 2 * MS);
    wire_set_delay(&wires[0], 0, 2 * MS);
    send(&wires[0], 1, 2 * MS, 2 * MS);
    send(&wires[0], 1, 20 * MS, 20 * MS);
    eventq_run(q, PS_NEVER);
    assert_int_equal(n_got, 4);
    assert_int_equal(got[1]->head, 11 * MS + FRAME_1G);
    assert_int_equal(got[2]->head, got[1]->head);
    assert_int_equal(got[3]->head, 20 * MS + FRAME_1G);
}

/* A quarter of the line is taken by others: 45 frames in a row go as before, back to back trains get three quarters. */
static void background_takes_its_share(void **state)
{
    ps_t last = 0;

    (void)state;
    wire(0, 1000000000, 0, 1000000, keep);
    wire_set_background(&wires[0], 0.25);
    send(&wires[0], 45, 0, 0);
    eventq_run(q, PS_NEVER);
    assert_int_equal(got[0]->tail, 45 * FRAME_1G);
    for (int i = 0; i < 100; i++) {
        ps_t at = got[n_got - 1]->tail;

        last = at > last ? at : last;
        send(&wires[0], 45, last, last);
        eventq_run(q, PS_NEVER);
    }
    assert_in_range(got[100]->tail, INT64_C(45) * 101 * FRAME_1G * 4 / 3 * 98 / 100,
                    INT64_C(45) * 101 * FRAME_1G * 4 / 3);
    assert_int_equal(wires[0].counters.bytes_out, 101 * 45 * 1538);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(pipelining),
        TEST(fast_into_slow),
        TEST(slow_trains_share_a_fast_wire),
        TEST(heads_go_in_their_turn),
        TEST(no_queue_behind_a_wire_of_the_same_rate),
        TEST(no_drift),
        TEST(full_queue_cuts_a_train),
        TEST(full_queue_is_shared),
        TEST(vague_limit_lets_newcomers_in),
        TEST(down_loses_what_is_queued),
        TEST(deaf_loses_what_was_sent),
        TEST(random_loss_splits),
        TEST(rate_changes_what_is_left),
        TEST(shorter_delay_never_reorders),
        TEST(background_takes_its_share),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
