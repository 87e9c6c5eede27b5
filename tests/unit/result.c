/* Results: percentiles, sums, rates, idle marks. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "emu/model/result.h"
#include "tests/support/site.h"

static int compare(const void *a, const void *b)
{
    ps_t x = *(const ps_t *)a, y = *(const ps_t *)b;
    return x < y ? -1 : x > y;
}

/* Against the sorted samples: 512 buckets per octave are at most 0.2 % wide. */
static void percentiles(void **state)
{
    (void)state;
    enum { N = 5000 };
    static ps_t samples[N];
    struct result *r = result_new(site_new(NULL, TOPO_WRITE), "train", 1, 0, 0);
    struct result_latency *l = r->read.latency, *half = r->write.latency;
    uint32_t random = 1;
    for (int i = 0; i < N; i++) {
        random = random * 1664525 + 1013904223;
        samples[i] = (ps_t)1 << (18 + random / 64 % 20);
        samples[i] += (ps_t)(random % 1000) * samples[i] / 1000;
        result_latency_add(i % 2 ? l : half, samples[i]);
    }
    qsort(samples, N, sizeof samples[0], compare);
    static const double ps[] = {0, 0.01, 0.5, 0.95, 0.99, 1};
    for (size_t i = 0; i < sizeof ps / sizeof ps[0]; i++) {
        size_t rank = (size_t)(ps[i] * N + 0.9999);
        ps_t exact = samples[rank ? rank - 1 : 0], got = result_latency_percentile_of(l, half, ps[i]);
        if (exact >= 1 << 20)
            assert_true(llabs(got - exact) <= exact / 500);
        else
            assert_true(got <= 1 << 21);
    }
    assert_int_equal(result_latency_percentile_of(l, half, 1), samples[N - 1]);
    result_free(r);
}

static void one_latency(void **state)
{
    (void)state;
    struct result *r = result_new(site_new(NULL, TOPO_WRITE), "train", 1, 0, 0);
    struct result_latency *l = r->read.latency;
    assert_int_equal(result_latency_percentile(l, 0.5), 0);
    result_latency_add(l, 9 * PS_PER_MS);
    assert_int_equal(result_latency_percentile(l, 0.5), 9 * PS_PER_MS);
    assert_int_equal(result_latency_percentile_of(r->write.latency, l, 0.5), 9 * PS_PER_MS);
    result_latency_add(l, 0); /* nothing is too short or too long */
    result_latency_add(l, INT64_MAX);
    assert_int_equal(result_latency_percentile(l, 0), 0);
    assert_int_equal(result_latency_percentile(l, 1), INT64_MAX);
    result_free(r);
}

static void sums(void **state)
{
    (void)state;
    struct result *r = result_new(site_new("a", TOPO_WRITE), "train", 7, PS_PER_S, 4);
    assert_int_equal(r->n_jobs, 2);
    assert_int_equal(r->n_links, 8);
    assert_string_equal(r->links[1].name, "sw1:p1>esx1:vmnic1");
    assert_true(r->links[1].over_time[3] == 0);
    r->window_start = 1 * PS_PER_S;
    r->window_end = 3 * PS_PER_S;
    result_operation(r, 0, 0, 2, true, 65536, 4 * PS_PER_MS);
    result_operation(r, 1, 1, 2, true, 65536, 6 * PS_PER_MS);
    result_operation(r, 1, 1, 2, true, 65536, 8 * PS_PER_MS);
    result_bytes(r, 1, 0, 2, false, 10, 1000); /* over the other VIP, after a takeover say */
    r->jobs[0].retransmissions = 3;
    r->jobs[1].retransmissions = 1;
    r->jobs[1].timeouts = 1;
    r->links[0].bytes = 125000000;
    r->links[0].bulk_bytes = 1;
    r->complete = true;
    result_finish(r);

    assert_true(r->write.rate == 3 * 65536 / 2.0);
    assert_int_equal(r->write.operations, 3);
    assert_int_equal(r->read.operations, 10);
    assert_int_equal(r->write.latency->count, 3);
    assert_int_equal(result_latency_percentile(r->write.latency, 1), 8 * PS_PER_MS);
    assert_true(r->datastores[1].write.rate == 65536);
    assert_true(r->datastores[1].read.rate == 500);
    assert_true(r->hosts[0].write.rate == r->write.rate);
    assert_int_equal(r->hosts[0].write.latency->count, 3);
    assert_true(r->controllers[0].read.rate == 500);
    assert_true(r->vips[0].read.rate == 500 && r->vips[1].read.rate == 0);
    assert_true(r->vips[0].write.rate == 32768);
    assert_int_equal(r->retransmissions, 4);
    assert_int_equal(r->datastores[0].retransmissions, 3);
    assert_int_equal(r->hosts[0].timeouts, 1);
    assert_true(r->links[0].utilisation == 0.5);
    assert_false(r->links[0].idle);
    assert_true(r->links[1].idle);
    assert_int_equal(result_find_entity(r->datastores, r->n_datastores, "ds2"), 1);
    assert_int_equal(result_find_entity(r->datastores, r->n_datastores, "ds3"), -1);
    result_free(r);
}

/* Writes for 2 s, then reads for 1 s: each rate is over its own phase, and a link's use is that of the phase counted. */
static void phases(void **state)
{
    (void)state;
    struct result *r = result_new(site_new(NULL, TOPO_READ), "train", 1, 0, 5);
    r->window_start = 1 * PS_PER_S;
    r->window_end = 5 * PS_PER_S;
    r->phases[0] = (struct result_phase){1 * PS_PER_S, 3 * PS_PER_S};
    r->phases[1] = (struct result_phase){4 * PS_PER_S, 5 * PS_PER_S};
    r->n_phases = 2;
    result_operation(r, 0, 0, 2, true, 1000, PS_PER_MS);
    r->jobs[0].phase = 1;
    result_operation(r, 0, 0, 2, false, 1000, PS_PER_MS);
    r->links[0].bytes = 125000000;
    r->links[0].phase = 1;
    result_finish(r);
    assert_true(r->vips[0].write.rate == 500 && r->vips[0].read.rate == 1000);
    assert_true(r->vips[0].read.operation_rate == 1);
    assert_true(r->links[0].utilisation == 1);
    result_free(r);
}

/* Interrupted before the window opened: no rates, no division by zero. */
static void no_window(void **state)
{
    (void)state;
    struct result *r = result_new(site_new(NULL, TOPO_READ), "train", 1, 0, 5);
    assert_null(r->links[0].over_time);
    result_finish(r);
    assert_true(r->read.rate == 0 && r->links[0].utilisation == 0);
    assert_false(r->complete);
    result_free(r);
    result_free(NULL);
}

static void notes(void **state)
{
    (void)state;
    struct result *r = result_new(site_new(NULL, TOPO_READ), "train", 1, 0, 0);
    result_note(r, "drawn: %d", 12);
    result_note(r, "drawn: %d", 1);
    result_note(r, "drawn: %d", 1);
    result_note(r, "drawn: %d", 12);
    assert_string_equal(r->notes, "drawn: 12\ndrawn: 1\n");
    result_free(r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(percentiles), cmocka_unit_test(one_latency), cmocka_unit_test(sums),
        cmocka_unit_test(phases),      cmocka_unit_test(no_window),   cmocka_unit_test(notes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
