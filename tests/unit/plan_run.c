/* needs: release. What a plan predicts is what a run of it gives, within 5 %, on 200 random sites: rates per datastore in fluid detail, the whole in
 * trains. There TCP is not max-min fair: flows that meet two full links get less than their share and others more, so the plan
 * has an estimate for these (predict_tcp.h), within 5 % on all but very few; without such flows the whole is met within 1 %. The
 * estimate is calibrated: its one constant was fitted to sites with seeds 1 to 200 of TEST_SEED 1 to 5; here it is held against others. */
#include "nfsbal/plan/plan.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "emu/model/path_site.h"
#include "emu/model/predict_tcp.h"
#include "emu/model/result.h"
#include "emu/sim/run.h"
#include "tests/support/random_site.h"
#include "tests/support/runs.h"

enum { HELD_OUT = 100000, FLUID_SITES = 200, TRAIN_SITES = 200, TRAIN_SITES_SLOW = 16 };
#define WITHIN          0.05
#define FULL            0.95 /* of its capacity, by max-min */
#define WITHIN_PLAIN    0.01 /* no flow meets two full links */
#define WITHIN_ESTIMATE 0.08 /* some do; all but one in a hundred sites within 5 % (measured: 1 of 588 beyond, 5.6 %) */

static int beyond;                /* totals further off than 5 % */
static int singles, near_singles; /* datastores no flow of which meets two full links; of these those within 5 % */

/* Trains take a fifth of a second a site: all of them where the build is fast, some in others. */
#if defined(__SANITIZE_ADDRESS__) || defined(__clang__) || BUILD_MINIMAL
#define SITES_IN_TRAINS TRAIN_SITES_SLOW
#else
#define SITES_IN_TRAINS TRAIN_SITES
#endif

/* The site of a seed with its best plan applied; NULL when some link of it is drawn: then a run is one of many. */
static struct topo *planned_site(struct topo_file *f, struct diag *d, struct path_site **site)
{
    struct topo *t = topo_load(f, NULL, d);
    struct plan_options options = {.best = true};
    struct topo_assignment *all;
    struct flow *flows;
    char problem[1024];
    struct plan *plan = plan_make(t, &options, problem, sizeof problem);
    assert_non_null(plan);
    long n = plan_assignments(plan, &plan->rows[plan->chosen], &all);
    assert_true(n > 0);
    struct topo *after = topo_load_assigned(f, NULL, all, (size_t)n, d);
    assert_non_null(after);
    /* Every mount is where the plan says. */
    for (long i = 0; i < n; i++) {
        const struct topo_datastore *ds = &after->datastores[topo_find_datastore(after, all[i].datastore)];
        for (int m = ds->first_mount; m < ds->first_mount + ds->n_mounts; m++)
            assert_string_equal(after->vips[after->mounts[m].vip].text, all[i].vip);
    }
    free(all);
    plan_free(plan);
    topo_free(t);
    n = flow_list(after, &flows);
    *site = path_site_new(after, flows, (size_t)n);
    free(flows);
    assert_non_null(*site);
    for (size_t m = 0; m < after->n_mounts; m++)
        if (path_site_drawn(*site, (int)m, FLOW_WRITE) || path_site_drawn(*site, (int)m, FLOW_READ)) {
            path_site_free(*site);
            topo_free(after);
            return NULL;
        }
    return after;
}

static double predicted(const struct path_site *s, int datastore, enum flow_direction d)
{
    double rate = 0;
    for (size_t f = 0; f < s->n_flows; f++)
        if (datastore < 0 || s->t->mounts[s->flows[f].mount].datastore == datastore)
            rate += s->all[d][f];
    return rate;
}

/* The rates where flows meet two full links: true when they are an estimate. free(*rates). */
static bool by_tcp(struct path_site *s, enum flow_direction d, double **rates)
{
    size_t between;
    *rates = calloc(s->n_flows + 1, sizeof **rates);
    assert_non_null(*rates);
    int rc = predict_tcp(s, d, *rates, &between);
    assert_true(rc >= 0);
    assert_int_equal(rc, between > 0);
    return rc > 0;
}

/* No flow of the datastore meets more than one full link. */
static bool meets_one(const struct path_site *s, int datastore, enum flow_direction d)
{
    for (size_t f = 0; f < s->n_flows; f++) {
        size_t n, full = 0;
        const struct predict_use *u = predict_uses(s->predict[d], f, &n);
        if (s->t->mounts[s->flows[f].mount].datastore != datastore)
            continue;
        for (size_t i = 0; i < n; i++) {
            double utilisation;
            predict_wire(s->predict[d], u[i].linkdir, &utilisation);
            full += utilisation >= FULL;
        }
        if (full > 1)
            return false;
    }
    return true;
}

static double sum_of(const struct path_site *s, int datastore, const double *rates)
{
    double sum = 0;
    for (size_t f = 0; f < s->n_flows; f++)
        if (datastore < 0 || s->t->mounts[s->flows[f].mount].datastore == datastore)
            sum += rates[f];
    return sum;
}

static void near(double run, double want, double within, uint64_t seed, const char *what, const char *which)
{
    if (fabs(run - want) > within * want)
        fail_msg("site %llu, %s of %s: the plan says %.1f MB/s, the run %.1f", (unsigned long long)seed, which, what,
                 want / 1e6, run / 1e6);
}

/* 1 when the site was compared. */
static int compare(uint64_t seed, enum sim_detail detail)
{
    char *with = random_site(seed, 0), *text = runs_with(with, ""), problem[256]; /* every datastore busy */
    struct sim_options options = {.detail = detail, .seed = 1};
    struct path_site *site;
    struct diag d, d2;
    diag_init(&d, "site.yaml");
    struct topo_file *f = topo_file_parse("site.yaml", text, strlen(text), &d);
    struct topo *t = planned_site(f, &d, &site);
    if (t) {
        /* The run owns and frees its topology: one more of the same. */
        struct topo_assignment *all = calloc(t->n_mounts + 1, sizeof *all);
        assert_non_null(all);
        for (size_t m = 0; m < t->n_mounts; m++)
            all[m] =
                (struct topo_assignment){t->datastores[t->mounts[m].datastore].name, t->boxes[t->mounts[m].host].name,
                                         t->mounts[m].server, t->vips[t->mounts[m].vip].text};
        diag_init(&d2, "site.yaml");
        struct topo *again = topo_load_assigned(f, NULL, all, t->n_mounts, &d2);
        assert_non_null(again);
        struct result *r = sim_run(again, &options, problem, sizeof problem);
        assert_non_null(r);
        for (size_t i = 0; i < t->n_datastores && detail == SIM_FLUID; i++) {
            near(r->datastores[i].write.rate, predicted(site, (int)i, FLOW_WRITE), WITHIN, seed, t->datastores[i].name,
                 "writes");
            near(r->datastores[i].read.rate, predicted(site, (int)i, FLOW_READ), WITHIN, seed, t->datastores[i].name,
                 "reads");
        }
        for (int d3 = 0; d3 < 2; d3++) {
            enum flow_direction direction = (enum flow_direction)d3;
            double run = direction == FLOW_WRITE ? r->write.rate : r->read.rate, whole = predicted(site, -1, direction);
            double *rates = NULL;
            bool plain = detail == SIM_FLUID || !by_tcp(site, direction, &rates);
            for (size_t i = 0; i < t->n_datastores && detail == SIM_TRAIN; i++) {
                double its = direction == FLOW_WRITE ? r->datastores[i].write.rate : r->datastores[i].read.rate;
                if (!meets_one(site, (int)i, direction))
                    continue;
                singles++;
                near_singles += fabs(its - sum_of(site, (int)i, rates)) <= WITHIN * sum_of(site, (int)i, rates);
            }
            if (!plain)
                whole = sum_of(site, -1, rates);
            free(rates);
            beyond += !plain && fabs(run - whole) > WITHIN * whole;
            near(run, whole,
                 !plain                ? WITHIN_ESTIMATE
                 : detail == SIM_TRAIN ? WITHIN_PLAIN
                                       : WITHIN,
                 seed, "all", d3 == FLOW_WRITE ? "writes" : "reads");
        }
        result_free(r);
        free(all);
        diag_free(&d2);
        path_site_free(site);
    }
    topo_free(t);
    topo_file_close(f);
    diag_free(&d);
    free(text);
    free(with);
    return t != NULL;
}

static void test_fluid(void **unused)
{
    int compared = 0;
    (void)unused;
    for (uint64_t seed = 1; seed <= FLUID_SITES; seed++)
        compared += compare(seed, SIM_FLUID);
    assert_true(compared >= FLUID_SITES / 4);
}

static void test_train(void **unused)
{
    int compared = 0;
    (void)unused;
    for (uint64_t seed = 1; seed <= SITES_IN_TRAINS; seed++)
        compared += compare(HELD_OUT + seed, SIM_TRAIN);
    assert_true(compared >= SITES_IN_TRAINS / 4);
    assert_true(beyond <= 1 + compared / 100);
    /* TCP's shares settle slowly: half a minute is enough for most, not for all. */
    assert_true(singles < 100 || 2 * near_singles > singles);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_fluid),
        cmocka_unit_test(test_train),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
