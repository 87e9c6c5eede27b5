/* Whole calls against trains, on random sites at the loads that whole calls are for: paced operations on links that are not
 * full. Throughput within 2 %; medians of small operations within a frame time per hop and two messages: where two messages meet, trains share a
 * link frame by frame and whole calls pass one after the other. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "emu/model/topology.h"
#include "tests/support/random_site.h"
#include "tests/support/runs.h"
#include "tests/support/seed.h"

enum { SITES = 12 };

static double throughput(const struct result *r) { return r->read.rate + r->write.rate; }

/* One frame per hop there and back, and two messages, on the slowest link. */
static ps_t margin(const struct result *r)
{
    const struct topo *t = r->topo;
    bps_t slowest = UINT64_MAX;
    for (size_t i = 0; i < t->n_links; i++)
        slowest = t->links[i].rate < slowest ? t->links[i].rate : slowest;
    return runs_frame_time_per_hop(r) +
           (ps_t)(2 * t->workloads[0].block * 8 * (PS_PER_S / 1000) / (int64_t)(slowest / 1000));
}

/* Trains lose what no whole call loses: then there is nothing to compare. */
static bool is_quiet(const struct result *train)
{
    for (size_t i = 0; i < train->n_links; i++)
        if (train->links[i].dropped_frames || train->links[i].utilisation > 0.6)
            return false;
    return train->retransmissions == 0;
}

static bool compare(uint64_t seed, const char *work)
{
    char *site = random_site(seed, 0), *text = runs_with(site, work), what[200];
    struct result *train = runs_text(text, NULL, SIM_TRAIN, 1), *call = runs_text(text, NULL, SIM_CALL, 1);
    bool quiet = is_quiet(train);
    snprintf(what, sizeof(what), "site %llu, %s", (unsigned long long)seed, work);
    if (quiet) {
        runs_near(throughput(call), throughput(train), 0.02, what);
        ps_t off = runs_median(train) - runs_median(call);
        if (train->topo->workloads[0].block <= 8192 && llabs(off) > margin(train))
            fail_msg("%s: medians are %lld ns apart, train %lld ns", what, (long long)(off / 1000),
                     (long long)(runs_median(train) / 1000));
    }
    result_free(train);
    result_free(call);
    free(text);
    free(site);
    return quiet;
}

static void calls_are_trains_on_quiet_links(void **state)
{
    (void)state;
    static const char *const works[] = {
        "workloads: {w: {op: write, block: 8KiB, iops: 100, pattern: random, outstanding: 8, for: 3s}}\n",
        "workloads: {w: {op: read, block: 8KiB, iops: 100, pattern: random, outstanding: 8, for: 3s}}\n",
        "workloads: {w: {op: mixed, block: 4KiB, iops: 150, pattern: random, outstanding: 8, for: 3s}}\n",
        "workloads: {w: {op: write, block: 128KiB, iops: 40, pattern: random, outstanding: 8, for: 3s}}\n",
    };
    unsigned compared = 0;
    for (uint64_t i = 0; i < SITES; i++)
        for (unsigned k = 0; k < sizeof(works) / sizeof(works[0]); k++)
            compared += compare(test_seed() % 1000 + i, works[k]);
    print_message("%u runs compared\n", compared);
    assert_true(compared >= SITES);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(calls_are_trains_on_quiet_links)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
