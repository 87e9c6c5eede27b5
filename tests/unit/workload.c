/* The workload state machine: what it issues, when it stops, and that rates are exact. */
#include "emu/model/workload.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "emu/model/topology.h"

static struct topo_workload writes(void)
{
    return (struct topo_workload){
        .op = TOPO_WRITE, .sequential = true, .block = 65536, .outstanding = 4, .duration = PS_PER_S};
}

/* Drives a job whose operations take `latency`, first out first done; returns operations started before `end`. */
static uint64_t drive(struct workload_job *j, ps_t latency, ps_t end, uint64_t *reads)
{
    enum { MOST = 64 };
    ps_t ends[MOST], now = 0, until = 0;
    unsigned first = 0, count = 0;
    struct workload_operation o;
    while (now < end) {
        enum workload_next what = workload_next(j, now, &o, &until);
        if (what == WORKLOAD_OVER)
            break;
        if (what == WORKLOAD_OPERATION) {
            assert_true(count < MOST);
            ends[(first + count++) % MOST] = now + latency;
            *reads += !o.write;
            continue;
        }
        ps_t step = what == WORKLOAD_WAIT ? until : PS_NEVER;
        if (count && ends[first] <= step) {
            step = ends[first];
            first = (first + 1) % MOST;
            count--;
            workload_done(j);
        }
        assert_true(step >= now && step < PS_NEVER);
        now = step;
    }
    return j->number;
}

static void sequential_wraps_at_the_span(void **state)
{
    (void)state;
    struct topo_workload w = writes();
    w.outstanding = 100;
    struct workload_job j;
    struct workload_operation o;
    ps_t until;
    workload_init(&j, &w, 1, 3 * 65536 + 100);
    uint64_t offsets[] = {0, 65536, 131072, 0};
    for (unsigned i = 0; i < 4; i++) {
        assert_int_equal(workload_next(&j, 0, &o, &until), WORKLOAD_OPERATION);
        assert_true(o.write);
        assert_int_equal(o.number, i);
        assert_int_equal(o.offset, offsets[i]);
        assert_int_equal(o.bytes, 65536);
    }
}

static void outstanding_and_stop(void **state)
{
    (void)state;
    struct topo_workload w = writes();
    w.start = 5;
    struct workload_job j;
    struct workload_operation o;
    ps_t until = 0;
    workload_init(&j, &w, 1, WORKLOAD_SPAN);
    assert_int_equal(workload_next(&j, 0, &o, &until), WORKLOAD_WAIT);
    assert_int_equal(until, 5);
    for (int i = 0; i < 4; i++)
        assert_int_equal(workload_next(&j, 5, &o, &until), WORKLOAD_OPERATION);
    assert_int_equal(workload_next(&j, 6, &o, &until), WORKLOAD_BUSY);
    workload_done(&j);
    assert_int_equal(workload_next(&j, 6, &o, &until), WORKLOAD_OPERATION);
    workload_done(&j);
    assert_int_equal(workload_next(&j, 5 + PS_PER_S, &o, &until), WORKLOAD_OVER);
}

static void by_bytes_ends_with_the_rest(void **state)
{
    (void)state;
    struct topo_workload w = writes();
    w.duration = 0;
    w.bytes = 65536 + 1000;
    struct workload_job j;
    struct workload_operation o;
    ps_t until;
    workload_init(&j, &w, 1, WORKLOAD_SPAN);
    assert_int_equal(workload_next(&j, 0, &o, &until), WORKLOAD_OPERATION);
    assert_int_equal(workload_next(&j, 0, &o, &until), WORKLOAD_OPERATION);
    assert_int_equal(o.bytes, 1000);
    assert_int_equal(workload_next(&j, 0, &o, &until), WORKLOAD_OVER);
}

static void rates_are_exact(void **state)
{
    (void)state;
    static const struct {
        double rate, iops;
        uint64_t block, operations; /* in 10 s, worked by hand; the first is due at 0 */
    } cases[] = {
        {10e6, 0, 65536, 1526},   /* 1e8 / 65536 = 1525.9 */
        {0, 333, 4096, 3330},     /* a third of a millisecond and remainders */
        {10e6, 100, 65536, 1000}, /* 152.6 a second allowed by the rate, 100 by the count */
        {1e6, 1e6, 4096, 2442},   /* 244.1 a second by the rate */
    };
    for (unsigned i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct topo_workload w = writes();
        w.rate = cases[i].rate;
        w.iops = cases[i].iops;
        w.block = cases[i].block;
        w.duration = 10 * PS_PER_S;
        struct workload_job j;
        uint64_t reads = 0;
        workload_init(&j, &w, 1, WORKLOAD_SPAN);
        assert_int_equal(drive(&j, PS_PER_MS, 10 * PS_PER_S, &reads), cases[i].operations);
    }
}

static void debt_is_bounded(void **state)
{
    (void)state;
    struct topo_workload w = writes();
    w.iops = 1000;
    w.duration = 10 * PS_PER_S;
    struct workload_job j;
    struct workload_operation o;
    ps_t until = 0;
    workload_init(&j, &w, 1, WORKLOAD_SPAN);
    for (int i = 0; i < 4; i++)
        while (workload_next(&j, i * PS_PER_MS, &o, &until) == WORKLOAD_OPERATION)
            ;
    /* All four hang for a second; then everything ends at once. Four may follow as a burst, not a thousand. */
    for (int i = 0; i < 4; i++)
        workload_done(&j);
    int burst = 0;
    while (workload_next(&j, PS_PER_S, &o, &until) == WORKLOAD_OPERATION) {
        workload_done(&j);
        burst++;
    }
    assert_in_range(burst, 4, 5);
}

static void same_seed_same_operations(void **state)
{
    (void)state;
    struct topo_workload w = writes();
    w.op = TOPO_MIXED;
    w.read_share = 0.7;
    w.sequential = false;
    w.outstanding = 1;
    struct workload_job a, b, c;
    struct workload_operation oa, ob, oc;
    ps_t until;
    uint64_t seed = workload_seed(1, "10.10.5.11", "ds1", "mixed");
    workload_init(&a, &w, seed, WORKLOAD_SPAN);
    workload_init(&b, &w, seed, WORKLOAD_SPAN);
    workload_init(&c, &w, workload_seed(1, "10.10.5.11", "ds2", "mixed"), WORKLOAD_SPAN);
    unsigned reads = 0, differ = 0;
    for (int i = 0; i < 10000; i++) {
        workload_next(&a, i, &oa, &until);
        workload_next(&b, (ps_t)7 * i, &ob, &until);
        workload_next(&c, i, &oc, &until);
        assert_true(oa.write == ob.write && oa.offset == ob.offset && oa.bytes == ob.bytes);
        assert_true(oa.offset + oa.bytes <= WORKLOAD_SPAN && oa.offset % w.block == 0);
        differ += oa.offset != oc.offset;
        reads += !oa.write;
        workload_done(&a);
        workload_done(&b);
        workload_done(&c);
    }
    assert_in_range(reads, 6800, 7200); /* 7000 +- 4 sigma of 46 */
    assert_true(differ > 9000);
}

/* Plays a clone whose reads and writes take `latency`, in any order; returns bytes written. */
static uint64_t copy(struct workload_job *j, unsigned outstanding)
{
    unsigned reads = 0, writes = 0;
    uint64_t written = 0, read = 0, number = 0;
    ps_t until;
    struct workload_operation o;
    for (int step = 0; step < 100000; step++) {
        enum workload_next what = workload_next(j, step, &o, &until);
        assert_true(reads + writes <= outstanding);
        if (what == WORKLOAD_OVER)
            break;
        if (what == WORKLOAD_OPERATION) {
            if (o.write) {
                assert_true(written + o.bytes <= read); /* nothing is written that has not been read */
                assert_int_equal(o.number, number++);
                written += o.bytes;
            }
            reads += !o.write;
            writes += o.write;
            continue;
        }
        assert_int_equal(what, WORKLOAD_BUSY);
        if (writes && (step % 3 || !reads)) {
            writes--;
            workload_done(j);
        } else {
            reads--;
            read += 65536;
            workload_have_read(j);
        }
    }
    assert_int_equal(j->out, 0);
    return written;
}

static void a_clone_writes_what_it_has_read(void **state)
{
    (void)state;
    struct topo_workload w = {
        .op = TOPO_CLONE, .sequential = true, .block = 65536, .outstanding = 5, .bytes = 65536 * 40 + 1};
    struct workload_job j;
    workload_init(&j, &w, 1, WORKLOAD_SPAN);
    assert_int_equal(copy(&j, 5), 65536 * 40 + 1);
}

static void random_gaps_keep_the_rate(void **state)
{
    (void)state;
    struct topo_workload w = writes();
    w.iops = 500;
    w.by_chance = true;
    w.outstanding = 60;
    w.duration = 100 * PS_PER_S;
    struct workload_job j;
    struct workload_operation o;
    ps_t until = 0, now = 0, before = 0;
    double sum = 0, squares = 0;
    unsigned n = 0;
    workload_init(&j, &w, 7, WORKLOAD_SPAN);
    for (enum workload_next what; (what = workload_next(&j, now, &o, &until)) != WORKLOAD_OVER;) {
        if (what == WORKLOAD_WAIT) {
            now = until;
            continue;
        }
        double gap = (double)(now - before) / 1e12;
        sum += gap;
        squares += gap * gap;
        n++;
        before = now;
        workload_done(&j);
    }
    /* Exponential: as much deviation as mean. 50,000 gaps, within 4 standard errors. */
    assert_true(n > 49100 && n < 50900);
    double mean = sum / n, deviation = squares / n - mean * mean;
    assert_true(deviation > 0.93 * mean * mean && deviation < 1.07 * mean * mean);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sequential_wraps_at_the_span),
        cmocka_unit_test(outstanding_and_stop),
        cmocka_unit_test(by_bytes_ends_with_the_rest),
        cmocka_unit_test(rates_are_exact),
        cmocka_unit_test(debt_is_bounded),
        cmocka_unit_test(same_seed_same_operations),
        cmocka_unit_test(a_clone_writes_what_it_has_read),
        cmocka_unit_test(random_gaps_keep_the_rate),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
