/* Max-min on problems that are solved by hand; docs/model.md shows the arithmetic of the first ones. */
#include "emu/model/maxmin.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static struct maxmin *with_capacities(const double *capacity, size_t n)
{
    struct maxmin *m = maxmin_new(n);

    assert_non_null(m);
    for (size_t i = 0; i < n; i++)
        maxmin_set_capacity(m, i, capacity[i]);
    return m;
}

static int add(struct maxmin *m, size_t count, double cap, const struct maxmin_use *uses, size_t n)
{
    int id = maxmin_add_class(m, uses, n, 1, cap, count);

    assert_true(id >= 0);
    return id;
}

static void assert_rate(const struct maxmin *m, int class_, double rate)
{
    if (fabs(maxmin_rate(m, class_) - rate) > 1e-9 * fmax(rate, 1))
        fail_msg("class %d has %.12g, not %.12g", class_, maxmin_rate(m, class_), rate);
}

/* Twelve datastores of one host on four uplinks 6, 6, 0, 0, then 12 of six hosts on one link towards the NAS. */
static void test_two_bottlenecks(void **unused)
{
    const double capacity[] = {120, 120, 120}; /* uplink of A, uplink of B, link to the NAS */
    struct maxmin *m = with_capacities(capacity, 3);
    int a, b;

    (void)unused;
    a = add(m, 6, MAXMIN_NO_CAP, (struct maxmin_use[]){{0, 1}}, 1);
    b = add(m, 2, MAXMIN_NO_CAP, (struct maxmin_use[]){{1, 1}, {2, 1}}, 2);
    add(m, 6, MAXMIN_NO_CAP, (struct maxmin_use[]){{2, 1}}, 1);
    assert_int_equal(maxmin_solve(m), 0);
    assert_rate(m, a, 20);
    assert_rate(m, b, 15);
    assert_int_equal(maxmin_bottleneck(m, a), 0);
    assert_int_equal(maxmin_bottleneck(m, b), 2);
    assert_true(fabs(maxmin_used(m, 1) - 30) < 1e-9);
    maxmin_free(m);
}

/* What a flow leaves on one link, another takes. */
static void test_left_over(void **unused)
{
    const double capacity[] = {100, 60};
    struct maxmin *m = with_capacities(capacity, 2);
    int both, first, second;

    (void)unused;
    both = add(m, 1, MAXMIN_NO_CAP, (struct maxmin_use[]){{0, 1}, {1, 1}}, 2);
    first = add(m, 1, MAXMIN_NO_CAP, (struct maxmin_use[]){{0, 1}}, 1);
    second = add(m, 2, MAXMIN_NO_CAP, (struct maxmin_use[]){{1, 1}}, 1);
    assert_int_equal(maxmin_solve(m), 0);
    assert_rate(m, both, 20);
    assert_rate(m, second, 20);
    assert_rate(m, first, 80);

    /* One of the two ends: 60/2 and 100 - 30. */
    maxmin_set_count(m, second, 1);
    assert_int_equal(maxmin_solve(m), 0);
    assert_rate(m, both, 30);
    assert_rate(m, second, 30);
    assert_rate(m, first, 70);

    /* The link comes to a stop, then has its rate again. */
    maxmin_set_capacity(m, 1, 0);
    assert_int_equal(maxmin_solve(m), 0);
    assert_rate(m, both, 0);
    assert_rate(m, first, 100);
    maxmin_set_capacity(m, 1, 60);
    assert_int_equal(maxmin_solve(m), 0);
    assert_rate(m, both, 30);
    maxmin_free(m);
}

/* A hop that is a draw over two members counts half on each; a cap frees what it doesn't use. */
static void test_shares_weights_caps(void **unused)
{
    const double capacity[] = {100, 100};
    struct maxmin *m = with_capacities(capacity, 2);
    int drawn, heavy, capped;

    (void)unused;
    drawn = add(m, 4, MAXMIN_NO_CAP, (struct maxmin_use[]){{0, 0.5}, {1, 0.5}}, 2);
    assert_int_equal(maxmin_solve(m), 0);
    assert_rate(m, drawn, 50);
    heavy = maxmin_add_class(m, (struct maxmin_use[]){{0, 1}}, 1, 2, MAXMIN_NO_CAP, 1);
    capped = add(m, 1, 10, (struct maxmin_use[]){{0, 1}}, 1);
    assert_int_equal(maxmin_solve(m), 0);
    /* 10 + 4 x 0.5 x level + 2 x level = 100 */
    assert_rate(m, capped, 10);
    assert_rate(m, drawn, 22.5);
    assert_rate(m, heavy, 45);
    assert_int_equal(maxmin_bottleneck(m, capped), MAXMIN_CAP);
    maxmin_free(m);
}

static void test_edges(void **unused)
{
    const double capacity[] = {100};
    struct maxmin *m = with_capacities(capacity, 1);
    int nowhere, none, twice;

    (void)unused;
    nowhere = add(m, 1, MAXMIN_NO_CAP, NULL, 0);
    none = add(m, 0, MAXMIN_NO_CAP, (struct maxmin_use[]){{0, 1}}, 1);
    twice = add(m, 1, MAXMIN_NO_CAP, (struct maxmin_use[]){{0, 1}, {0, 1}}, 2);
    assert_int_equal(maxmin_solve(m), 0);
    assert_true(isinf(maxmin_rate(m, nowhere)));
    assert_int_equal(maxmin_bottleneck(m, nowhere), MAXMIN_NO_LIMIT);
    assert_rate(m, none, 0);
    assert_rate(m, twice, 50);
    maxmin_free(m);
    maxmin_free(NULL);

    m = maxmin_new(0);
    assert_non_null(m);
    assert_int_equal(maxmin_solve(m), 0);
    maxmin_free(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_two_bottlenecks),
        cmocka_unit_test(test_left_over),
        cmocka_unit_test(test_shares_weights_caps),
        cmocka_unit_test(test_edges),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
