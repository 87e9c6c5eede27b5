/* Draws against the distributions that they are from: moments, and the Kolmogorov-Smirnov distance. */
#include "emu/model/distribution.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "emu/model/random.h"
#include "tests/support/seed.h"

enum { DRAWS = 200000 };

static const double table[] = {0.2, 0.5, 0.6, 1.5, 4.0};

static const struct distribution all[] = {
    {.kind = DISTRIBUTION_EXPONENTIAL, .mean = 5e-3},
    {.kind = DISTRIBUTION_UNIFORM, .mean = 2, .spread = 1},
    {.kind = DISTRIBUTION_UNIFORM, .mean = 2, .spread = 0.25},
    {.kind = DISTRIBUTION_LOG_NORMAL, .mean = 1, .spread = 0.5},
    {.kind = DISTRIBUTION_LOG_NORMAL, .mean = 20, .spread = 1.5},
    {.kind = DISTRIBUTION_TABLE, .mean = 1, .table = table, .n = 5},
};

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void draws_are_of_the_distribution(void **state)
{
    (void)state;
    double *x = malloc(DRAWS * sizeof(*x));
    assert_non_null(x);
    for (size_t k = 0; k < sizeof(all) / sizeof(all[0]); k++) {
        const struct distribution *d = &all[k];
        struct random r = random_stream(test_seed(), distribution_names[d->kind]);
        double sum = 0, squares = 0, distance = 0, mean = distribution_mean(d), variance = distribution_variance(d);
        for (size_t i = 0; i < DRAWS; i++) {
            x[i] = distribution_draw(d, &r);
            assert_true(x[i] >= 0);
            sum += x[i];
        }
        for (size_t i = 0; i < DRAWS; i++)
            squares += (x[i] - sum / DRAWS) * (x[i] - sum / DRAWS);
        qsort(x, DRAWS, sizeof(*x), ascending);
        for (size_t i = 0; i < DRAWS; i++) {
            double p = distribution_below(d, x[i]);
            distance = fmax(distance, fmax(p - (double)i / DRAWS, (double)(i + 1) / DRAWS - p));
        }
        /* Five standard errors of the mean; the heavy tail of a log-normal makes its variance uncertain. K-S: passes by chance
         * with a probability of 1e-5 (2 exp(-2 n D^2)). */
        if (fabs(sum / DRAWS - mean) > 5 * sqrt(variance / DRAWS))
            fail_msg("%s %zu: mean %g, not %g", distribution_names[d->kind], k, sum / DRAWS, mean);
        if (fabs(squares / DRAWS / variance - 1) > (d->spread > 1 ? 0.25 : 0.03))
            fail_msg("%s %zu: variance %g, not %g", distribution_names[d->kind], k, squares / DRAWS, variance);
        if (distance > sqrt(log(2e5) / 2 / DRAWS))
            fail_msg("%s %zu: Kolmogorov-Smirnov distance %g", distribution_names[d->kind], k, distance);
    }
    free(x);
}

/* The same on every machine, to the last bit: made with this program, checked against its bits. */
static void draws_repeat(void **state)
{
    (void)state;
    struct random r = {1}, again = {1};
    for (size_t k = 0; k < sizeof(all) / sizeof(all[0]); k++)
        for (int i = 0; i < 100; i++)
            assert_true(distribution_draw(&all[k], &r) == distribution_draw(&all[k], &again));
    const struct distribution constant = {.kind = DISTRIBUTION_CONSTANT, .mean = 7};
    assert_true(distribution_draw(&constant, &r) == 7 && r.state == again.state);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(draws_are_of_the_distribution),
        cmocka_unit_test(draws_repeat),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
