/* The stations of storage in virtual time against their closed forms. */
#include "emu/sim/storage.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "emu/model/random.h"
#include "emu/model/storage_forms.h"
#include "tests/support/seed.h"

#define NEAR(value, expected, part) near(value, expected, part, #value, __LINE__)

static void near(double value, double expected, double part, const char *what, int line)
{
    if (!(fabs(value - expected) <= part * fabs(expected)))
        fail_msg("line %d: %s is %.6g, not %.6g +- %.3g %%", line, what, value, expected, 100 * part);
}

#define GB UINT64_C(1000000000)
enum { CLIENTS_MAX = 512 };

static const struct distribution exponential = {.kind = DISTRIBUTION_EXPONENTIAL, .mean = 1},
                                 constant = {.kind = DISTRIBUTION_CONSTANT, .mean = 1};

/* A disk of the Savvio 10K.4 class. */
static const struct storage_disk savvio = {
    .medium = STORAGE_HDD,
    .seek_least = PS_PER_MS / 2,
    .seek_read = 4 * PS_PER_MS,
    .seek_write = 4 * PS_PER_MS,
    .turn = 6 * PS_PER_MS,
    .rate = 113e6,
    .size = 600 * GB,
    .parallel = 1,
    .physical = true,
    .service = {.kind = DISTRIBUTION_CONSTANT, .mean = 1},
};

/* A disk whose requests take `ms` on average, exponentially distributed. */
static struct storage_disk plain(double ms)
{
    return (struct storage_disk){.medium = STORAGE_SSD,
                                 .read = (ps_t)(ms * 1e9),
                                 .write = (ps_t)(ms * 1e9),
                                 .size = 600 * GB,
                                 .parallel = 1,
                                 .service = exponential};
}

static struct storage_group group_of(struct storage_disk disk, unsigned disks, enum storage_raid raid)
{
    static const unsigned penalty[] = {1, 4, 6, 2, 4};
    return (struct storage_group){.name = "g",
                                  .disk = disk,
                                  .disks = disks,
                                  .raid = raid,
                                  .set = raid == STORAGE_RAID_10 ? 2 : disks,
                                  .penalty = penalty[raid],
                                  .merge = 1,
                                  .full_stripe = true,
                                  .visit = 262144,
                                  .destage = 1048576,
                                  .read_ahead = 16777216,
                                  .share = 1};
}

static struct storage_model model_of(const struct storage_group *groups, size_t n)
{
    struct storage_model m = {.systems = 1, .groups = groups, .n_groups = n};
    m.controller.service = constant;
    m.cache.write_back = true;
    m.cache.dirty = GB;
    return m;
}

/* ---- load ---- */

struct client {
    struct storage_op op;
    struct rig *rig;
    ps_t since;
    int other; /* stream of a chain */
};

struct rig {
    struct eventq *queue;
    struct storage *storage;
    struct random random;
    struct client clients[CLIENTS_MAX];
    struct event arrival;
    struct client *idle[CLIENTS_MAX]; /* open load: not in use */
    size_t n_idle;
    double rate, read_share;
    uint32_t bytes;
    bool open, chain; /* chain: a read, then a write of what was read */
    unsigned controllers;
    uint64_t done, lost;
    double latency; /* seconds, sum */
    ps_t from;      /* counted from then on */
};

static struct rig *rig_new(const struct storage_model *m, unsigned controllers, double placed)
{
    struct rig *r = calloc(1, sizeof(*r));
    assert_non_null(r);
    r->queue = eventq_new();
    r->random = random_stream(test_seed(), "load");
    r->storage = storage_new(m, controllers, placed, r->queue, test_seed());
    assert_non_null(r->storage);
    r->bytes = 8192;
    return r;
}

static void rig_free(struct rig *r)
{
    storage_free(r->storage);
    eventq_free(r->queue);
    free(r);
}

static double unit(struct rig *r) { return (double)(random_next(&r->random) >> 11) / 9007199254740992.0; }

static void start(struct client *c, ps_t now)
{
    c->since = now;
    storage_submit(c->rig->storage, &c->op, now);
}

static void ended(struct storage_op *o, ps_t now)
{
    struct client *c = (struct client *)(void *)o;
    struct rig *r = c->rig;
    if (now >= r->from) {
        r->done++;
        r->latency += (double)(now - c->since) / 1e12;
    }
    if (r->open) {
        r->idle[r->n_idle++] = c;
        return;
    }
    if (r->chain) {
        int other = c->other;
        c->other = o->stream;
        o->stream = other;
        o->write = !o->write;
    }
    start(c, now);
}

static void arrives(struct event *e, ps_t now)
{
    struct rig *r = (struct rig *)(void *)((char *)e - offsetof(struct rig, arrival));
    if (r->n_idle) {
        struct client *c = r->idle[--r->n_idle];
        c->op.write = unit(r) >= r->read_share;
        c->op.controller = (int)random_below(&r->random, r->controllers);
        start(c, now);
    } else {
        r->lost++;
    }
    struct distribution gap = {.kind = DISTRIBUTION_EXPONENTIAL, .mean = 1e12 / r->rate};
    eventq_set(r->queue, e, now + (ps_t)distribution_draw(&gap, &r->random));
}

static void client_init(struct rig *r, struct client *c)
{
    c->rig = r;
    c->op.done = ended;
    c->op.bytes = r->bytes;
    c->op.stream = STORAGE_RANDOM;
}

/* Arrivals at random, `rate` a second, each at a random controller. */
static void open_load(struct rig *r, double rate, double read_share, unsigned controllers)
{
    r->open = true;
    r->rate = rate;
    r->controllers = controllers;
    r->read_share = read_share;
    for (size_t i = 0; i < CLIENTS_MAX; i++) {
        client_init(r, &r->clients[i]);
        r->idle[r->n_idle++] = &r->clients[i];
    }
    r->arrival.run = arrives;
    eventq_set(r->queue, &r->arrival, 0);
}

static void closed_load(struct rig *r, size_t n, bool write)
{
    for (size_t i = 0; i < n; i++) {
        client_init(r, &r->clients[i]);
        r->clients[i].op.write = write;
        start(&r->clients[i], 0);
    }
}

static void play(struct rig *r, double from, double until)
{
    r->from = (ps_t)(from * 1e12);
    eventq_run(r->queue, (ps_t)(until * 1e12));
}

/* ---- controllers, caches ---- */

static void cpus_are_queues(void **state)
{
    (void)state;
    struct storage_group g = group_of(plain(0.001), 4, STORAGE_RAID_0);
    for (unsigned cores = 1; cores <= 4; cores += 3) {
        struct storage_model m = model_of(&g, 1);
        m.controller.cores = cores;
        m.controller.per_operation = 5 * PS_PER_MS;
        m.controller.service = exponential;
        struct rig *r = rig_new(&m, 2, 0);
        open_load(r, 2 * 0.6 * cores / 5e-3, 0, 2);
        play(r, 10, 1500);
        NEAR(r->latency / (double)r->done, queue_mmc(5e-3, 0.6, cores), 0.05);
        assert_int_equal(r->lost, 0);
        rig_free(r);
    }
}

static void a_hit_is_fast(void **state)
{
    (void)state;
    struct storage_group g = group_of(savvio, 24, STORAGE_RAID_0);
    struct storage_model m = model_of(&g, 1);
    m.cache.read_hit = 0.98;
    m.cache.hit = 400 * PS_PER_US;
    struct rig *r = rig_new(&m, 1, 0);
    closed_load(r, 1, false);
    play(r, 0, 300);
    double miss = storage_request(&savvio, 1, 8192, false);
    NEAR(r->latency / (double)r->done, storage_hit_latency(0.98, 0.4e-3, miss), 0.03);
    struct storage_counters c;
    storage_count(r->storage, &c);
    NEAR((double)c.read_hits / (double)c.reads, 0.98, 0.002);
    rig_free(r);
}

/* 12 GB of room, 470 MB/s come in, the disks take 285: full after 64.9 s, then no more than these are taken. */
static void a_cache_fills(void **state)
{
    (void)state;
    struct storage_disk disk = plain(0.01);
    disk.rate = 285e6;
    disk.read = disk.write = 0;
    disk.service = constant;
    struct storage_group g = group_of(disk, 1, STORAGE_RAID_0);
    struct storage_model m = model_of(&g, 1);
    m.cache.dirty = 12 * GB;
    m.cache.write = PS_PER_MS;
    struct rig *r = rig_new(&m, 1, 0);
    r->bytes = 470000;
    closed_load(r, 1, true);
    int stream = storage_stream(r->storage, 470000, 0, true);
    eventq_run(r->queue, 0);
    storage_forget(&r->clients[0].op);
    r->clients[0].op.stream = stream;
    start(&r->clients[0], 0);
    double full = storage_fill_time(12e9, 470e6, 285e6);
    play(r, 0, full * 0.99);
    NEAR((double)r->done * 470e3, 470e6 * full * 0.99, 0.001);
    r->done = 0;
    play(r, full * 1.01, full * 2);
    NEAR((double)r->done * 470e3, 285e6 * full * 0.99, 0.005);
    rig_free(r);
}

static void copies_go_one_after_the_other(void **state)
{
    (void)state;
    struct storage_group g = group_of(plain(0.001), 64, STORAGE_RAID_0);
    struct storage_model m = model_of(&g, 1);
    m.cache.mirror = PS_PER_MS;
    m.cache.mirror_rate = 100e6;
    struct rig *r = rig_new(&m, 1, 0);
    r->bytes = 100000;
    closed_load(r, 8, true);
    play(r, 1, 11);
    NEAR((double)r->done, 10 * 1000, 0.002);
    NEAR(r->latency / (double)r->done, 8e-3, 0.002);
    rig_free(r);
}

/* ---- disks ---- */

static void a_disk_takes_seek_turn_and_transfer(void **state)
{
    (void)state;
    for (int part = 1; part <= 3; part++) {
        struct storage_group g = group_of(savvio, 8, STORAGE_RAID_0);
        double span = part == 3 ? 1 : 0.1 * part;
        g.placed = (uint64_t)(span * storage_usable(&g));
        g.placed_said = true;
        struct storage_model m = model_of(&g, 1);
        struct rig *r = rig_new(&m, 1, 0);
        closed_load(r, 1, false);
        play(r, 0, 300);
        NEAR(r->latency / (double)r->done, storage_request(&savvio, span, 8192, false), 0.01);
        rig_free(r);
    }
}

static void many_requests_on_many_disks(void **state)
{
    (void)state;
    static const size_t clients[] = {1, 10, 24, 128};
    struct storage_group g = group_of(plain(6), 24, STORAGE_RAID_0);
    struct storage_model m = model_of(&g, 1);
    for (size_t i = 0; i < 4; i++) {
        struct rig *r = rig_new(&m, 1, 0);
        closed_load(r, clients[i], false);
        play(r, 5, 105);
        NEAR((double)r->done / 100, queue_closed_rate(24, 6e-3, (double)clients[i]), 0.02);
        NEAR(r->latency / (double)r->done, queue_closed_response(24, 6e-3, (double)clients[i]), 0.02);
        rig_free(r);
    }
}

/* BP1024, section 4: one system and two, 128 places each. */
static void places_limit_what_disks_see(void **state)
{
    (void)state;
    struct storage_group g = group_of(plain(5.8), 132, STORAGE_RAID_0);
    struct storage_model m = model_of(&g, 1);
    m.concurrency = 128;
    for (unsigned systems = 1; systems <= 2; systems++) {
        m.systems = systems;
        double most = queue_closed_rate(132, 5.8e-3, 128 * systems), rate = most * 0.93;
        struct rig *r = rig_new(&m, 2 * systems, 0);
        open_load(r, rate, 1, 2 * systems);
        play(r, 5, 65);
        assert_int_equal(r->lost, 0);
        NEAR(r->latency / (double)r->done, queue_limited_response(132, 5.8e-3, 128 * systems, rate), 0.10);
        rig_free(r);
        /* And what comes through when there is always more. */
        r = rig_new(&m, 2 * systems, 0);
        closed_load(r, CLIENTS_MAX, false);
        for (size_t i = 0; i < CLIENTS_MAX; i++)
            r->clients[i].op.controller = (int)(i % (2 * systems));
        play(r, 5, 25);
        NEAR((double)r->done / 20, most, 0.02);
        rig_free(r);
    }
}

static void small_writes_cost_what_raid_takes(void **state)
{
    (void)state;
    static const struct {
        enum storage_raid raid;
        unsigned penalty, reads, writes;
    } rows[] = {{STORAGE_RAID_0, 1, 0, 1}, {STORAGE_RAID_5, 4, 2, 2},  {STORAGE_RAID_6, 6, 3, 3},
                {STORAGE_RAID_6, 5, 2, 3}, {STORAGE_RAID_10, 2, 0, 2}, {STORAGE_RAID_50, 4, 2, 2}};
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct storage_group g = group_of(plain(0.2), 8, rows[i].raid);
        g.merge = 2;
        g.penalty = rows[i].penalty;
        struct storage_model m = model_of(&g, 1);
        struct rig *r = rig_new(&m, 1, 0);
        r->bytes = 9216;
        open_load(r, 4500, 0, 1);
        play(r, 0, 20);
        struct storage_counters c;
        struct storage_group_counters d;
        storage_count(r->storage, &c);
        storage_count_group(r->storage, 0, &d);
        NEAR((double)d.reads, rows[i].reads * (double)c.writes / 2, 0.01);
        NEAR((double)d.writes, rows[i].writes * (double)c.writes / 2, 0.01);
        NEAR((double)d.write_bytes, rows[i].writes * (double)c.write_bytes, 0.01);
        NEAR((double)d.busy / 1e12, rows[i].penalty * (double)c.writes / 2 * 0.2e-3, 0.02);
        rig_free(r);
    }
}

/* Without a cache a write waits for its disks: on RAID 5 for two turns of two. */
static void a_write_through_waits(void **state)
{
    (void)state;
    struct storage_disk disk = plain(1);
    disk.service = constant;
    struct storage_group g = group_of(disk, 8, STORAGE_RAID_5);
    struct storage_model m = model_of(&g, 1);
    m.cache.write_back = false;
    struct rig *r = rig_new(&m, 1, 0);
    closed_load(r, 1, true);
    play(r, 0, 2);
    NEAR(r->latency / (double)r->done, 2e-3, 1e-6);
    rig_free(r);
}

static void tiers_share_the_operations(void **state)
{
    (void)state;
    struct storage_group g[2] = {group_of(plain(0.1), 8, STORAGE_RAID_0), group_of(savvio, 7, STORAGE_RAID_0)};
    g[0].share = 0.95;
    g[1].share = 0.05;
    struct storage_model m = model_of(g, 2);
    struct rig *r = rig_new(&m, 1, 0);
    open_load(r, 2000, 0.5, 1);
    play(r, 0, 30);
    struct storage_group_counters fast, slow;
    storage_count_group(r->storage, 0, &fast);
    storage_count_group(r->storage, 1, &slow);
    NEAR((double)(slow.reads + slow.writes) / (double)(fast.reads + fast.writes + slow.reads + slow.writes), 0.05,
         0.05);
    rig_free(r);
}

/* 64 KiB over one 1 Gbit/s link: 66,304 bytes on the wire. */
static void the_back_end_is_a_wire(void **state)
{
    (void)state;
    struct storage_group g = group_of(plain(0.001), 64, STORAGE_RAID_0);
    struct storage_model m = model_of(&g, 1);
    m.back_end.links = 2;
    m.back_end.speed = 1000000000;
    m.back_end.mtu = 9000;
    struct rig *r = rig_new(&m, 1, 0);
    r->bytes = 65536;
    closed_load(r, 16, false);
    play(r, 1, 11);
    NEAR((double)r->done / 10, 2 * 125e6 / storage_wire_bytes(STORAGE_ISCSI, 9000, 65536), 0.002);
    rig_free(r);
}

/* ---- streams ---- */

static double stream_rate(const struct storage_model *m, unsigned n, uint64_t window, double placed)
{
    struct rig *r = rig_new(m, 1, placed);
    r->bytes = 65536;
    for (unsigned i = 0; i < 16 * n; i++) {
        client_init(r, &r->clients[i]);
        r->clients[i].op.stream = i < n ? storage_stream(r->storage, window, 0, false) : r->clients[i % n].op.stream;
        start(&r->clients[i], 0);
    }
    play(r, 5, 35);
    double rate = (double)r->done * 65536 / 30;
    rig_free(r);
    return rate;
}

static void streams_are_head_visits(void **state)
{
    (void)state;
    struct storage_group g = group_of(savvio, 22, STORAGE_RAID_10);
    struct storage_model m = model_of(&g, 1);
    double placed = 0.302 * storage_usable(&g), position = storage_seek(&savvio, 0.302, false) + 3e-3;
    static const unsigned n[] = {2, 4, 8, 16};
    static const uint64_t window[] = {65536, 131072, 262144, 1048576};
    for (size_t i = 0; i < 4; i++) {
        uint64_t chunk = window[i] < g.visit ? window[i] : g.visit;
        double expected = 22 * 113e6 * storage_efficiency((double)chunk, 113e6, position);
        NEAR(stream_rate(&m, n[i], window[i], placed), expected, 0.02);
    }
    /* One alone has the disks to itself. */
    NEAR(stream_rate(&m, 1, 65536, placed), 22 * 113e6, 0.02);
}

/* The sign of the trend: with more files seeks get longer; an elevator finds more to choose from. */
static void the_order_of_service_turns_the_trend(void **state)
{
    (void)state;
    struct storage_group g = group_of(savvio, 22, STORAGE_RAID_10);
    struct storage_model m = model_of(&g, 1);
    double four = stream_rate(&m, 4, 65536, 5 * 423e9), eight = stream_rate(&m, 8, 65536, 9 * 423e9);
    assert_true(eight < 0.95 * four);
    g.order = STORAGE_ELEVATOR;
    double sorted_four = stream_rate(&m, 4, 65536, 5 * 423e9), sorted_eight = stream_rate(&m, 8, 65536, 9 * 423e9);
    assert_true(sorted_four > 1.2 * four && sorted_eight > 0.99 * sorted_four);
}

/* n copies, each reads a stream and writes another: D / [t(C_r) / C_r + p t(C_w) / C_w]. */
static void copies_meet_the_closed_form(void **state)
{
    (void)state;
    struct storage_group g = group_of(savvio, 22, STORAGE_RAID_10);
    struct storage_model m = model_of(&g, 1);
    m.cache.dirty = GB / 4;
    for (unsigned n = 4; n <= 8; n += 4) {
        double placed = (n + 1) * 423e9, span = storage_stroke(&g, placed);
        struct rig *r = rig_new(&m, 1, placed);
        r->chain = true;
        r->bytes = 65536;
        for (unsigned i = 0; i < 16 * n; i++) {
            client_init(r, &r->clients[i]);
            r->clients[i].op.stream = i < n ? storage_stream(r->storage, 69000, 0, false) : r->clients[i % n].op.stream;
        }
        int writes[16];
        for (unsigned i = 0; i < n; i++)
            writes[i] = storage_stream(r->storage, 1048576, 0, true);
        for (unsigned i = 0; i < 16 * n; i++) {
            r->clients[i].other = writes[i % n];
            start(&r->clients[i], 0);
        }
        play(r, 20, 80);
        double visit_r = storage_request(&savvio, span, 69000, false),
               visit_w = storage_request(&savvio, span, 1048576, true);
        double expected = 22 / (visit_r / 69000 + 2 * visit_w / 1048576);
        NEAR((double)r->done / 2 * 65536 / 60, expected, 0.02);
        rig_free(r);
    }
}

/* ---- ends ---- */

/* Mean latency of writes one at a time, from `from` to `until`, on mirrored disks of 5 ms, exponentially distributed. */
static double alone_latency(enum storage_raid raid, unsigned penalty, enum storage_alone alone, bool fails)
{
    struct storage_group g = group_of(plain(5), 24, raid);
    struct storage_model m = model_of(&g, 1);
    g.penalty = penalty;
    m.cache.mirror = PS_PER_MS / 10;
    m.cache.write = PS_PER_MS / 10;
    m.cache.alone = alone;
    struct rig *r = rig_new(&m, 2, 0);
    if (fails)
        storage_controller(r->storage, 1, false, 0);
    closed_load(r, 1, true);
    play(r, 0, fails && alone != STORAGE_CACHE ? 200 : 5);
    double mean = r->latency / (double)r->done;
    rig_free(r);
    return mean;
}

/* Two writes at once take the longer of two: 1.5 times the mean; three 11/6. */
static void a_controller_alone_waits_for_the_disks(void **state)
{
    (void)state;
    NEAR(alone_latency(STORAGE_RAID_10, 2, STORAGE_WRITE_THROUGH, false), 0.2e-3, 0.01);
    NEAR(alone_latency(STORAGE_RAID_10, 2, STORAGE_CACHE, true), 0.1e-3, 0.01);
    NEAR(alone_latency(STORAGE_RAID_10, 2, STORAGE_WRITE_THROUGH, true), 0.1e-3 + 1.5 * 5e-3, 0.03);
    NEAR(alone_latency(STORAGE_RAID_6, 6, STORAGE_WRITE_THROUGH, true), 0.1e-3 + 2 * 11.0 / 6 * 5e-3, 0.03);
}

/* The journal costs a write, and the data is destaged later all the same. */
static void a_journal_is_a_write_before_the_answer(void **state)
{
    (void)state;
    struct storage_group g = group_of(plain(5), 200, STORAGE_RAID_10);
    struct storage_model m = model_of(&g, 1);
    struct storage_group_counters c;
    m.cache.mirror = PS_PER_MS / 10;
    m.cache.alone = STORAGE_JOURNAL;
    struct rig *r = rig_new(&m, 2, 0);
    storage_controller(r->storage, 0, false, 0);
    closed_load(r, 1, true);
    play(r, 0, 100);
    NEAR(r->latency / (double)r->done, 1.5 * 5e-3, 0.04);
    storage_count_group(r->storage, 0, &c);
    NEAR((double)c.writes, 4 * (double)r->done, 0.02);
    rig_free(r);
}

/* Back again: from the cache as before. What is asked for during the failover waits for its end. */
static void a_failover_is_a_pause(void **state)
{
    (void)state;
    struct storage_group g = group_of(plain(5), 24, STORAGE_RAID_0);
    struct storage_model m = model_of(&g, 1);
    m.cache.mirror = PS_PER_MS / 10;
    m.cache.failover = 10 * PS_PER_S;
    struct rig *r = rig_new(&m, 2, 0);
    storage_controller(r->storage, 1, false, 0);
    closed_load(r, 1, true);
    play(r, 0, 9.99);
    assert_int_equal(r->done, 0);
    play(r, 9.99, 60);
    NEAR(((double)r->latency - 10) / (double)r->done, 5e-3, 0.05);
    storage_controller(r->storage, 1, true, (ps_t)(60e12));
    r->done = 0;
    r->latency = 0;
    play(r, 60.1, 61);
    NEAR(r->latency / (double)r->done, 0.1e-3, 0.01);
    rig_free(r);
}

static void forgotten_operations_never_end(void **state)
{
    (void)state;
    struct storage_group g = group_of(plain(5), 2, STORAGE_RAID_10);
    struct storage_model m = model_of(&g, 1);
    m.cache.dirty = 65536;
    m.controller.cores = 1;
    m.controller.per_operation = PS_PER_MS;
    for (int when = 0; when < 40; when++) {
        struct rig *r = rig_new(&m, 1, 0);
        int stream = storage_stream(r->storage, 65536, 0, false);
        for (int i = 0; i < 30; i++) {
            client_init(r, &r->clients[i]);
            r->clients[i].op.write = i % 3 == 1;
            r->clients[i].op.stream = i % 3 == 2 ? stream : STORAGE_RANDOM;
            start(&r->clients[i], 0);
        }
        eventq_run(r->queue, when * PS_PER_MS);
        for (int i = 0; i < 30; i += 2)
            storage_forget(&r->clients[i].op);
        for (int i = 0; i < 30; i += 2)
            memset(&r->clients[i].op, 0x5a, sizeof(r->clients[i].op)); /* not even looked at any more */
        r->done = 0;
        eventq_run(r->queue, when * PS_PER_MS + 2 * PS_PER_S);
        assert_true(r->done > 15);
        rig_free(r);
    }
}

static void same_seed_same_times(void **state)
{
    (void)state;
    struct storage_group g = group_of(savvio, 22, STORAGE_RAID_50);
    g.set = 11;
    struct storage_model m = model_of(&g, 1);
    m.controller.cores = 2;
    m.controller.per_operation = 100 * PS_PER_US;
    m.controller.service = exponential;
    double sum[2];
    for (int i = 0; i < 2; i++) {
        struct rig *r = rig_new(&m, 2, 1e12);
        open_load(r, 900, 0.6, 2);
        play(r, 0, 20);
        sum[i] = r->latency;
        rig_free(r);
    }
    assert_true(sum[0] == sum[1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cpus_are_queues),
        cmocka_unit_test(a_hit_is_fast),
        cmocka_unit_test(a_cache_fills),
        cmocka_unit_test(copies_go_one_after_the_other),
        cmocka_unit_test(a_disk_takes_seek_turn_and_transfer),
        cmocka_unit_test(many_requests_on_many_disks),
        cmocka_unit_test(places_limit_what_disks_see),
        cmocka_unit_test(small_writes_cost_what_raid_takes),
        cmocka_unit_test(a_write_through_waits),
        cmocka_unit_test(tiers_share_the_operations),
        cmocka_unit_test(the_back_end_is_a_wire),
        cmocka_unit_test(streams_are_head_visits),
        cmocka_unit_test(the_order_of_service_turns_the_trend),
        cmocka_unit_test(copies_meet_the_closed_form),
        cmocka_unit_test(a_controller_alone_waits_for_the_disks),
        cmocka_unit_test(a_journal_is_a_write_before_the_answer),
        cmocka_unit_test(a_failover_is_a_pause),
        cmocka_unit_test(forgotten_operations_never_end),
        cmocka_unit_test(same_seed_same_times),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
