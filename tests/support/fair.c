#include "tests/support/fair.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "tests/support/runs.h"

enum { SEEDS = 20 };

static double jain(const struct result *r)
{
    double sum = 0, squares = 0;
    for (size_t i = 0; i < r->n_jobs; i++) {
        double x = r->jobs[i].write.rate + r->jobs[i].read.rate;
        sum += x;
        squares += x * x;
    }
    return sum * sum / ((double)r->n_jobs * squares);
}

void fair_check(const char *text, enum sim_detail detail, bool lossy)
{
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        struct result *r = runs_text(text, NULL, detail, seed);
        double index = jain(r);
        if (!(index > 0.95))
            fail_msg("seed %d: Jain index %.4f", (int)seed, index);
        assert_int_equal(r->retransmissions > 0, lossy);
        result_free(r);
    }
}
