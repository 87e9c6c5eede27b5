/* Expressions of expect: grammar, names, units, verdicts. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "emu/model/expect.h"
#include "emu/model/result.h"
#include "emu/model/topology_file.h"
#include "tests/support/site.h"

/* Cases "ip-hash" (200 MB/s over two links), "ip" (100 MB/s over one), "2" (not run), and one without a name. */
static struct result *results[3];
static struct topo *not_run;
static struct expect_case cases[4];

static struct result *run(const char *name, unsigned links)
{
    struct result *r = result_new(site_new(name, TOPO_WRITE), "train", 1, 0, 0);
    r->window_end = PS_PER_S;
    for (size_t l = 0; l < links; l++) {
        for (int i = 0; i < 1000; i++)
            result_operation(r, l, (int)l, 2, true, 100000, (1 + i % 10) * PS_PER_MS);
        r->links[2 * l].bulk_bytes = r->links[2 * l].bytes = 100000000;
        r->links[4 + 2 * l + 1].bulk_bytes = r->links[4 + 2 * l + 1].bytes = 100000000;
        r->links[2 * l].flows_write = 1;
    }
    r->links[0].dropped_frames = 7;
    r->mac_flaps = 2;
    r->jobs[0].retransmissions = 5;
    r->complete = true;
    result_finish(r);
    return r;
}

static int set_up(void **state)
{
    (void)state;
    results[0] = run("ip-hash", 2);
    results[1] = run("ip", 1);
    results[2] = run(NULL, 1);
    results[2]->complete = false;
    not_run = site_new("2", TOPO_WRITE);
    for (int i = 0; i < 3; i++)
        cases[i] = (struct expect_case){results[i]->case_name, results[i]->topo, results[i]};
    cases[3] = (struct expect_case){"2", not_run, NULL};
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    for (int i = 0; i < 3; i++)
        result_free(results[i]);
    topo_free(not_run);
    return 0;
}

static void values(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        double value;
        enum expect_unit unit;
    } good[] = {
        {"4", 4, EXPECT_NUMBER},
        {" ( 1 + 2 ) * 3 - 4 / 2 ", 7, EXPECT_NUMBER},
        {"7 - 2 - 1", 4, EXPECT_NUMBER},
        {"-2 * -(3)", 6, EXPECT_NUMBER},
        {"1e3 + 1.5e-1", 1000.15, EXPECT_NUMBER},
        {"20k", 20000, EXPECT_NUMBER},
        {"8%", 0.08, EXPECT_NUMBER},
        {"118MB/s", 118e6, EXPECT_BYTES_PER_S},
        {"1Gbit/s/2", 62.5e6, EXPECT_BYTES_PER_S},
        {"4.5ms", 0.0045, EXPECT_SECONDS},
        {"ip-hash.write", 200e6, EXPECT_BYTES_PER_S},
        {"ip-hash.write/ip.write", 2, EXPECT_NUMBER},
        {"ip-hash.write / 1MB/s", 200, EXPECT_NUMBER},
        {"ip-hash.write - ip.write", 100e6, EXPECT_BYTES_PER_S},
        {"ip-hash.write[ds1]", 100e6, EXPECT_BYTES_PER_S},
        {"ip-hash.write[esx1]", 200e6, EXPECT_BYTES_PER_S},
        {"ip-hash.write[10.0.0.102]", 100e6, EXPECT_BYTES_PER_S},
        {"ip-hash.write[nas:c1]", 200e6, EXPECT_BYTES_PER_S},
        {"ip-hash.write[nas]", 200e6, EXPECT_BYTES_PER_S},
        {"ip-hash.read", 0, EXPECT_BYTES_PER_S},
        {"ip-hash.links_used", 2, EXPECT_NUMBER},
        {"ip.links_used", 1, EXPECT_NUMBER},
        {"ip-hash.links_used[esx1] + ip-hash.links_used[nas] + ip-hash.links_used[sw1]", 8, EXPECT_NUMBER},
        {"ip-hash.util[esx1:vmnic1>sw1:p1]", 0.8, EXPECT_NUMBER},
        {"ip.flows[esx1:vmnic2>sw1:p2]", 0, EXPECT_NUMBER},
        {"ip.drops + ip.drops[esx1:vmnic1>sw1:p1] + ip.drops[sw1:p1>esx1:vmnic1]", 14, EXPECT_NUMBER},
        {"ip.retransmissions[ds1] - ip.retransmissions[ds2]", 5, EXPECT_NUMBER},
        {"ip.timeouts + ip.flooded", 0, EXPECT_NUMBER},
        {"ip.flaps", 2, EXPECT_NUMBER},
        {"2", 2, EXPECT_NUMBER}, /* a case has that name */
    };
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        struct expect_outcome out;
        size_t at;
        if (!expect_evaluate(good[i].text, cases, 4, &out, &at))
            fail_msg("%s: %s", good[i].text, out.problem);
        assert_int_equal(out.verdict, EXPECT_PASS);
        if (fabs(out.value - good[i].value) > 1e-9 * fabs(good[i].value))
            fail_msg("%s is %.15g, not %.15g", good[i].text, out.value, good[i].value);
        assert_int_equal(out.unit, good[i].unit);
    }
    struct expect_outcome out;
    size_t at;
    assert_true(expect_evaluate("ip.latency_p50[ds1]", cases, 4, &out, &at));
    assert_true(fabs(out.value - 0.005) < 0.00001 && out.unit == EXPECT_SECONDS);
    assert_true(expect_evaluate("ip.latency_p99", cases, 4, &out, &at));
    assert_true(fabs(out.value - 0.010) < 0.00002);
}

static void mistakes(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        size_t at;
        const char *problem; /* part of it */
    } bad[] = {
        {"", 0, "at the end"},
        {"1 +", 3, "at the end"},
        {"1 + * 2", 4, "before `*`"},
        {"(1", 2, "`)`"},
        {"1)", 1, "`)`"},
        {"1 2", 2, "operator"},
        {"1.2.3", 0, "1.2.3"},
        {"1e999", 0, "1e-300"},
        {"118Mb", 0, "118Mb"},
        {"ip-hsah.write", 0, "did you mean `ip-hash`"},
        {"quite-else.write", 0, "no case"},
        {"write", 0, "CASE.METRIC"},
        {"ip-hash.wriet", 8, "did you mean `write`"},
        {"ip-hash.", 8, "no metric"},
        {"ip-hash.write[ds1", 13, "not closed"},
        {"ip-hash.write[ds3]", 14, "did you mean `ds1`"},
        {"ip-hash.write[sw1]", 14, "no such name"},
        {"ip-hash.util", 8, "link direction"},
        {"ip-hash.util[esx1:vmnic1]", 13, "no such name"},
        {"ip-hash.flaps[esx1]", 14, "no selector"},
        {"2.wrote", 2, "did you mean `write`"}, /* also where the case was not run */
        {"1 / 0 + x", 8, "CASE.METRIC"},        /* also behind what is undefined */
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        struct expect_outcome out;
        size_t at = 99;
        if (expect_evaluate(bad[i].text, cases, 4, &out, &at))
            fail_msg("%s: accepted", bad[i].text);
        if (!strstr(out.problem, bad[i].problem) || at != bad[i].at)
            fail_msg("%s: at %zu: %s", bad[i].text, at, out.problem);
    }
    char deep[2000];
    struct expect_outcome out;
    size_t at;
    memset(deep, '(', sizeof deep - 1);
    deep[sizeof deep - 1] = 0;
    assert_false(expect_evaluate(deep, cases, 4, &out, &at));
    memset(deep, '-', sizeof deep - 1);
    assert_false(expect_evaluate(deep, cases, 4, &out, &at));
    memset(deep, '7', sizeof deep - 1);
    assert_false(expect_evaluate(deep, cases, 4, &out, &at));
}

static void no_values(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        enum expect_verdict verdict;
        const char *problem;
    } none[] = {
        {"2.write", EXPECT_NOT_RUN, "case 2 was not run"},
        {"run.write", EXPECT_NOT_RUN, "case run was interrupted"},
        {"ip.write / ip.read", EXPECT_UNDEFINED, "division by zero"},
        {"ip.latency_p50[ds2]", EXPECT_UNDEFINED, "nothing to measure"},
        {"1 / 0 + 2.write", EXPECT_NOT_RUN, "case 2"},
        {"1e300 * 1e300", EXPECT_UNDEFINED, "finite"},
    };
    for (size_t i = 0; i < sizeof none / sizeof none[0]; i++) {
        struct expect_outcome out;
        size_t at;
        assert_true(expect_evaluate(none[i].text, cases, 4, &out, &at));
        assert_int_equal(out.verdict, none[i].verdict);
        assert_true(isnan(out.value));
        assert_non_null(strstr(out.problem, none[i].problem));
    }
}

static enum expect_verdict judge(struct topo_expect e)
{
    struct expect_outcome out;
    struct diag d;
    diag_init(&d, "x.yaml");
    bool ok = expect_judge(&e, cases, 4, &out, &d);
    assert_int_equal(ok ? 0 : 1, diag_count(&d, DIAG_ERROR));
    diag_free(&d);
    return ok ? out.verdict : EXPECT_UNDEFINED;
}

#define EXPECTATION(text) .value = text, .near = nan(""), .min = nan(""), .max = nan("")

static void verdicts(void **state)
{
    (void)state;
    struct topo_expect e = {EXPECTATION("ip-hash.write / ip.write")};
    e.near = 1.9;
    e.within = 0.06;
    assert_int_equal(judge(e), EXPECT_PASS);
    e.within = 0.05;
    assert_int_equal(judge(e), EXPECT_FAIL);
    e.near = 2;
    e.exact = true;
    e.within = 0;
    assert_int_equal(judge(e), EXPECT_PASS);
    e.near = 2.0001;
    assert_int_equal(judge(e), EXPECT_FAIL);

    struct topo_expect range = {EXPECTATION("ip.write")};
    range.min = 100e6;
    assert_int_equal(judge(range), EXPECT_PASS);
    range.max = 99e6;
    assert_int_equal(judge(range), EXPECT_FAIL);

    struct topo_expect zero = {EXPECTATION("ip.timeouts")};
    zero.near = 0;
    zero.exact = true;
    assert_int_equal(judge(zero), EXPECT_PASS);

    struct topo_expect absent = {EXPECTATION("2.write")};
    absent.near = 1;
    assert_int_equal(judge(absent), EXPECT_NOT_RUN);
    struct topo_expect wrong = {EXPECTATION("2.wrote")};
    assert_int_equal(judge(wrong), EXPECT_UNDEFINED);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values),
        cmocka_unit_test(mistakes),
        cmocka_unit_test(no_values),
        cmocka_unit_test(verdicts),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
