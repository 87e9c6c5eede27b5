/* needs: full. The smaller parts of the datapath: lateness, flows, neighbours, buffers. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "emu/live/flows.h"
#include "emu/live/frame_pool.h"
#include "emu/live/lateness.h"
#include "emu/live/neighbours.h"
#include "emu/live/shortage.h"
#include "emu/model/random.h"
#include "emu/model/tcp_counts.h"
#include "tests/support/seed.h"

/* ---- lateness ---- */

static int by_size(const void *a, const void *b)
{
    const ps_t *x = a, *y = b;

    return *x < *y ? -1 : *x > *y;
}

/* A quantile is never below the true one, and at most an eighth of it above. */
static void quantiles_against_sorted(void **state)
{
    static const double shares[] = {0.01, 0.5, 0.9, 0.99, 0.999, 1};
    enum { N = 5000 };
    struct random r = random_stream(test_seed(), "lateness");
    static ps_t all[N];
    static struct lateness l;

    (void)state;
    memset(&l, 0, sizeof l);
    for (int i = 0; i < N; i++) {
        all[i] = (ps_t)(random_below(&r, 1000) << random_below(&r, 24)) * PS_PER_NS;
        lateness_add(&l, all[i]);
    }
    qsort(all, N, sizeof all[0], by_size);
    for (size_t i = 0; i < sizeof shares / sizeof shares[0]; i++) {
        ps_t exact = all[(int)(shares[i] * N + 0.999) - 1], got = lateness_quantile(&l, shares[i]);

        assert_true(got >= exact);
        assert_true(got <= exact + exact / 8 + PS_PER_NS);
    }
    assert_int_equal(l.most, all[N - 1]);
    assert_int_equal(l.total, N);
}

static void lateness_at_the_ends(void **state)
{
    struct lateness l = {0};

    (void)state;
    assert_int_equal(lateness_quantile(&l, 0.5), 0);
    assert_true(lateness_share_behind(&l) == 0);
    lateness_add(&l, -5);
    lateness_add(&l, INT64_MAX);
    assert_int_equal(lateness_quantile(&l, 0.5), PS_PER_NS);
    assert_int_equal(l.most, INT64_MAX);
    l.behind = PS_PER_MS;
    l.running = PS_PER_S;
    assert_true(lateness_share_behind(&l) > 0.00099 && lateness_share_behind(&l) < 0.00101);
}

/* ---- neighbours ---- */

static void neighbours_against_a_list(void **state)
{
    enum { N = 2000 };
    static uint8_t ip[N][16], mac[N][6], version[N];
    struct random r = random_stream(test_seed(), "neighbours");
    struct neighbours n = {0};
    const uint8_t nobody[16] = {255, 255, 255, 255};

    (void)state;
    assert_null(neighbours_find(&n, 4, nobody));
    for (uint32_t i = 0; i < N; i++) {
        version[i] = i % 3 ? 4 : 6;
        ip[i][0] = 10;
        ip[i][15] = version[i] == 6 ? (uint8_t)(i / 7) : 0; /* beside equal ones of IPv4 */
        ip[i][2] = (uint8_t)(i >> 8);
        ip[i][3] = (uint8_t)i;
    }
    for (int round = 0; round < 3 * N; round++) {
        size_t i = random_below(&r, N);
        uint64_t draw = random_next(&r);

        memcpy(mac[i], &draw, 6);
        mac[i][0] |= 1; /* said at least once */
        neighbours_note(&n, version[i], ip[i], mac[i]);
    }
    for (size_t i = 0; i < N; i++) {
        const uint8_t *found = neighbours_find(&n, version[i], ip[i]);

        if (mac[i][0] & 1)
            assert_memory_equal(found, mac[i], 6);
        else
            assert_null(found);
    }
    assert_null(neighbours_find(&n, 4, nobody));
    assert_null(neighbours_find(&n, 6, nobody));
    assert_null(neighbours_find(&n, 6, ip[1])); /* known as one of IPv4 */
    neighbours_free(&n);
    assert_null(neighbours_find(&n, 6, ip[0]));
}

/* ---- flows ---- */

static unsigned forgets;
static void count_forgets(void *context)
{
    (void)context;
    forgets++;
}

static struct hash_key key_of(uint32_t i)
{
    struct hash_key k;

    memset(&k, 0, sizeof k);
    k.ip_version = 4;
    memcpy(k.src, &i, 4);
    return k;
}

static void flows_keep_their_numbers(void **state)
{
    struct flows *f = flows_new(count_forgets, NULL);
    bool made;

    (void)state;
    forgets = 0;
    for (uint32_t i = 0; i < 1000; i++) {
        struct hash_key k = key_of(i);
        struct live_flow *flow = flows_find(f, &k, i, &made);

        assert_true(made);
        assert_int_equal(flow->flow.id, i);
        assert_ptr_equal(flow->flow.owner, flow);
        assert_int_equal(flow->vip, -1);
    }
    for (uint32_t i = 0; i < 1000; i++) {
        struct hash_key k = key_of(i);

        assert_int_equal(flows_find(f, &k, 2000, &made)->flow.id, i);
        assert_false(made);
        assert_ptr_equal(flows_at(f, i), flows_find(f, &k, 2000, &made));
    }
    assert_int_equal(flows_count(f), 1000);
    assert_null(flows_at(f, 1000));
    assert_int_equal(forgets, 0);
    flows_free(f);
}

/* A full table forgets what is oldest and not on the way; a number in use never changes its meaning. */
static void a_full_table_forgets_the_oldest(void **state)
{
    struct flows *f = flows_new(count_forgets, NULL);
    struct hash_key k = key_of(7), young = key_of(FLOWS_MAX - 1);
    struct live_flow *kept;
    bool made;

    (void)state;
    forgets = 0;
    kept = flows_find(f, &k, 0, &made);
    kept->refs++;
    for (uint32_t i = 0; i < FLOWS_MAX + 100; i++) {
        struct hash_key other = key_of(i + (i >= 7));

        assert_non_null(flows_find(f, &other, 1 + (ps_t)i, &made));
        assert_true(made);
    }
    assert_int_equal(forgets, 1);
    assert_int_equal(flows_count(f), FLOWS_MAX);
    assert_ptr_equal(flows_find(f, &k, FLOWS_MAX, &made), kept);
    assert_false(made);
    flows_find(f, &young, FLOWS_MAX, &made);
    assert_false(made);
    k = key_of(0);
    flows_find(f, &k, FLOWS_MAX, &made);
    assert_true(made); /* had been forgotten */
    flows_free(f);
}

static void a_table_in_full_use_refuses(void **state)
{
    struct flows *f = flows_new(count_forgets, NULL);
    struct hash_key k;
    bool made;

    (void)state;
    for (uint32_t i = 0; i < FLOWS_MAX; i++) {
        k = key_of(i);
        flows_find(f, &k, 0, &made)->refs++;
    }
    k = key_of(FLOWS_MAX);
    assert_null(flows_find(f, &k, 0, &made));
    k = key_of(5);
    assert_non_null(flows_find(f, &k, 0, &made));
    flows_free(f);
}

/* ---- buffers and trains ---- */

static void small_frames_get_small_buffers(void **state)
{
    struct frame_pool *p = frame_pool_new();
    struct frame *f = frame_take(p), *small, *large;

    (void)state;
    memset(f->bytes, 0x5a, 100);
    f->info.length = 90;
    small = frame_fit(p, f, 100);
    assert_ptr_not_equal(small, f);
    assert_true(small->capacity < 2048);
    assert_int_equal(small->info.length, 90);
    assert_int_equal(small->bytes[99], 0x5a);
    large = frame_take(p);
    assert_ptr_equal(large, f); /* the last one first */
    assert_true(large->capacity >= SUPERFRAME_VNET + SUPERFRAME_MAX);
    assert_ptr_equal(frame_fit(p, large, 60000), large);
    frame_release(p, small);
    frame_release(p, large);
    assert_int_equal(frame_pool_used(p), 0);
    frame_pool_free(p);
}

/* However a train is copied and cut, its buffer and its flow are held as long as a part of it is there. */
static void parts_of_a_train_share_its_buffer(void **state)
{
    struct frame_pool *p = frame_pool_new();
    struct train_pool *trains = train_pool_new();
    struct live_flow flow = {.flow.owner = &flow};
    struct train_hooks hooks;
    struct train *t, *copy, *rest, *more, *control;
    struct frame *f = frame_take(p);

    (void)state;
    frame_pool_hooks(p, &hooks);
    train_pool_hooks(trains, &hooks);
    t = train_new(trains);
    t->kind = TRAIN_DATA;
    t->flow = &flow.flow;
    flow.refs = 1;
    t->frames = 10;
    t->frame_bytes = t->last_bytes = 1514;
    t->u.raw.buffer = f;
    t->u.raw.first = 0;
    copy = train_copy(trains, t);
    rest = train_split(trains, t, 3);
    more = train_split(trains, rest, 4);
    assert_int_equal(f->refs, 4);
    assert_int_equal(flow.refs, 4);
    assert_int_equal(t->u.raw.first, 0);
    assert_int_equal(rest->u.raw.first, 3);
    assert_int_equal(more->u.raw.first, 7);
    assert_int_equal(copy->frames, 10);
    control = train_new(trains); /* no buffer */
    control->kind = TRAIN_ARP;
    control->frames = 1;
    train_release(trains, train_copy(trains, control));
    train_release(trains, control);
    train_release(trains, rest);
    train_release(trains, t);
    train_release(trains, copy);
    assert_int_equal(frame_pool_used(p), 1);
    train_release(trains, more);
    assert_int_equal(frame_pool_used(p), 0);
    assert_int_equal(flow.refs, 0);
    train_pool_free(trains);
    frame_pool_free(p);
}

static void short_of_processors(void **state)
{
    (void)state;
    assert_true(
        shortage_is(&(struct shortage_look){.idle = 0.01, .own = 0.6, .fullest = 0.8})); /* nothing left for anybody */
    assert_true(
        shortage_is(&(struct shortage_look){.idle = 0.5, .own = 0.98, .fullest = 0.8})); /* ... for the datapath */
    assert_false(shortage_is(
        &(struct shortage_look){.idle = 0.01, .own = 0.6, .fullest = 0.97})); /* the link's rate is honoured */
    assert_false(shortage_is(&(struct shortage_look){.idle = 0.01, .own = 0, .fullest = 0.01})); /* nothing flows */
    assert_false(shortage_is(&(struct shortage_look){.idle = 0.3, .own = 0.6, .fullest = 0.8})); /* they want no more */
}

/* As the kernel gives it (docs: include/uapi/linux/tcp.h): total_retrans at 100, total_rto at 240. */
static void counts_of_a_connection(void **state)
{
    uint8_t info[TCP_COUNTS_ROOM] = {0};
    struct tcp_counts sum = {0}, c;
    (void)state;

    info[100] = 0x39;
    info[101] = 0x05;
    info[240] = 7;
    c = tcp_counts_of(info, 248);
    assert_int_equal(c.retransmitted, 1337);
    assert_int_equal(c.timeouts, 7);
    tcp_counts_add(&sum, c);
    tcp_counts_add(&sum, c);
    assert_int_equal(sum.retransmitted, 2674);
    assert_int_equal(sum.timeouts, 14);
    c = tcp_counts_of(info, 232); /* an older kernel */
    assert_int_equal(c.retransmitted, 1337);
    assert_int_equal(c.timeouts, -1);
    tcp_counts_add(&sum, c);
    assert_int_equal(sum.timeouts, -1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(quantiles_against_sorted),        cmocka_unit_test(lateness_at_the_ends),
        cmocka_unit_test(neighbours_against_a_list),       cmocka_unit_test(flows_keep_their_numbers),
        cmocka_unit_test(a_full_table_forgets_the_oldest), cmocka_unit_test(a_table_in_full_use_refuses),
        cmocka_unit_test(small_frames_get_small_buffers),  cmocka_unit_test(parts_of_a_train_share_its_buffer),
        cmocka_unit_test(counts_of_a_connection),          cmocka_unit_test(short_of_processors),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
