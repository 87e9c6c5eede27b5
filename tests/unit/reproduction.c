/* What is claimed of a result, and when real frames and virtual time are apart. */
#include "emu/report/reproduction.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "emu/model/topology.h"

static bool apart(double here, double live)
{
    const struct reproduction_result r = {.outcome = {.value = here}, .live = live};
    return reproduction_apart(&r);
}

static void ten_percent(void **state)
{
    (void)state;
    assert_false(apart(100, 109.9));
    assert_true(apart(100, 110.1));
    assert_false(apart(100, 90.1));
    assert_true(apart(100, 89.9));
    assert_false(apart(0, 0)); /* nothing, in both */
    assert_true(apart(0, 1));
    assert_false(apart(100, nan(""))); /* nothing to compare */
    assert_false(apart(nan(""), 100));
}

static void counts(void **state)
{
    (void)state;
    const int fitted[] = {0};
    struct topo_expect e[] = {
        {.value = "predicted"},
        {.value = "fitted", .calibrated = fitted, .n_calibrated = 1},
        {.value = "no claim", .not_claimed = "why"},
        {.value = "missed"},
    };
    struct reproduction_result results[4] = {
        {.outcome = {.expect = &e[0], .verdict = EXPECT_PASS, .value = 1}, .live = 1.05},
        {.outcome = {.expect = &e[1], .verdict = EXPECT_PASS, .value = 1}, .live = 2},
        {.outcome = {.expect = &e[2], .verdict = EXPECT_NOT_CLAIMED, .value = 1}, .live = nan("")},
        {.outcome = {.expect = &e[3], .verdict = EXPECT_NOT_RUN, .value = nan("")}, .live = nan("")},
    };
    const struct topo t = {.expects = e, .n_expects = 4};
    const struct reproduction_file file = {.topo = &t, .results = results};
    const struct reproduction r = {.files = &file, .n_files = 1, .seeds = 1, .live = true};
    struct reproduction_counts n;
    reproduction_count(&r, &n);
    assert_int_equal(n.total, 4);
    assert_int_equal(n.predicted, 2);
    assert_int_equal(n.calibrated, 1);
    assert_int_equal(n.not_claimed, 1);
    assert_int_equal(n.failed, 1); /* what did not run has failed */
    assert_int_equal(n.live, 2);
    assert_int_equal(n.apart, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(ten_percent), cmocka_unit_test(counts)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
