/* The planner against a twin that looks at every layout of datastores, one by one, with loads summed flow by flow: on random
 * sites the two must find the same slowest rate for every number of changes, and the same least even hosts. */
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

#include "emu/model/predict.h"
#include "nfsbal/plan/exact.h"
#include "nfsbal/plan/layout.h"
#include "nfsbal/plan/search.h"
#include "tests/support/path_site.h"
#include "tests/support/random_site.h"

enum { SITES = 60, LAYOUTS = 4096, DATASTORES_MAX = 16 };

/* Loads of a layout: VIP per datastore, every flow walked for itself. */
struct slow {
    const struct plan_problem *p;
    size_t n; /* datastores */
    int vip[DATASTORES_MAX];
    double *loads;
};

/* One flow on the links; what isn't known on all candidates alike. */
static void add_flow(struct slow *s, int host, int vip, int d)
{
    const struct topo *t = &s->p->site;
    struct flow flow = plan_flow(s->p, (size_t)host * t->n_vips + (size_t)vip);
    struct path path;
    assert_int_equal(path_walk(t, NULL, &flow, (enum flow_direction)d, false, &path), PATH_OK);
    for (size_t h = 0; h < path.n_hops; h++) {
        const struct path_hop *hop = &path.hops[h];
        bool known = hop->index >= 0 &&
                     (hop->n == 1 ||
                      ((hop->status == HASH_EXACT || hop->status == HASH_APPROXIMATE) && hop->inputs <= TOPO_DERIVED));
        for (int k = 0; k < hop->n; k++) {
            int linkdir = topo_port_out(t, hop->candidates[k]);
            double share = known ? k == hop->index : hop->index < 0 ? hop->share[k] : 1.0 / hop->n;
            s->loads[2 * linkdir + d] +=
                share * predict_wire_factor(t, &flow, (enum flow_direction)d, linkdir) / predict_capacity(t, linkdir);
        }
    }
}

/* The fullest of the links that the planner says some layout moves. */
static double slow_max(struct slow *s)
{
    const struct plan_problem *p = s->p;
    double max = 0;
    memset(s->loads, 0, (4 * p->t->n_links + 1) * sizeof *s->loads);
    for (size_t i = 0; i < s->n; i++)
        for (int h = 0; h < (int)p->n_hosts; h++)
            for (int d = 0; d < 2; d++)
                add_flow(s, h, s->vip[i], d);
    for (size_t r = 0; r < p->n_resources; r++)
        if (p->resources[r].movable)
            max = fmax(max, s->loads[2 * p->resources[r].linkdir + (int)p->resources[r].direction]);
    return max;
}

/* least[m]: of all layouts with m changes or fewer. */
static void look_at_all(struct slow *s, const int *today, double *least)
{
    size_t vips = s->p->t->n_vips;
    long count = 1;
    for (size_t i = 0; i < s->n; i++)
        count *= (long)vips;
    for (size_t m = 0; m <= s->n; m++)
        least[m] = (double)INFINITY;
    for (long k = 0; k < count; k++) {
        size_t changes = 0;
        long rest = k;
        for (size_t i = 0; i < s->n; i++, rest /= (long)vips) {
            s->vip[i] = (int)(rest % (long)vips);
            changes += s->vip[i] != today[i];
        }
        least[changes] = fmin(least[changes], slow_max(s));
    }
    for (size_t m = 1; m <= s->n; m++)
        least[m] = fmin(least[m], least[m - 1]);
}

static void assert_near(double a, double b, uint64_t seed, size_t changes)
{
    if (fabs(a - b) > 1e-6 * fmax(fabs(a), fabs(b)))
        fail_msg("site %llu, %zu changes: %.9g is not %.9g", (unsigned long long)seed, changes, a, b);
}

/* A row of the plan that has the least load up to so many changes. */
static double planned(const struct plan *plan, size_t changes)
{
    double least = (double)INFINITY;
    for (size_t i = 0; i < plan->n_rows; i++)
        if (plan->rows[i].changes <= changes && !plan->rows[i].uneven)
            least = fmin(least, plan->rows[i].max_load);
    return least;
}

static bool few(const struct topo *t)
{
    double n = 1;
    for (size_t i = 0; i < t->n_datastores; i++)
        n *= (double)t->n_vips;
    return n <= LAYOUTS;
}

static void test_exhaustive(void **unused)
{
    size_t compared = 0;
    (void)unused;
    for (uint64_t seed = 1; seed <= SITES; seed++) {
        char *text = random_site(seed, 0), problem[1024];
        struct topo *t = site_parse(text, NULL);
        struct plan_options options = {0};
        free(text);
        if (few(t)) {
            struct plan *plan = plan_make(t, &options, problem, sizeof problem);
            assert_non_null(plan);
            struct slow s = {.p = plan->problem, .n = t->n_datastores};
            double least[DATASTORES_MAX + 1];
            int today[DATASTORES_MAX];
            s.loads = calloc(4 * t->n_links + 1, sizeof *s.loads);
            assert_non_null(s.loads);
            for (size_t i = 0; i < s.n; i++)
                today[i] = t->mounts[t->datastores[i].first_mount].vip;
            look_at_all(&s, today, least);
            for (size_t m = 0; m <= s.n; m++)
                assert_near(planned(plan, m), least[m], seed, m);
            compared++;
            free(s.loads);
            plan_free(plan);
        }
        topo_free(t);
    }
    assert_true(compared >= SITES / 2);
}

/* Local search and integer program alone, from the worst layout and from today's, reach what looking at all layouts finds. */
static void test_search_and_program(void **unused)
{
    (void)unused;
    for (uint64_t seed = 1; seed <= SITES; seed++) {
        char *text = random_site(seed, 0), problem[1024];
        struct topo *t = site_parse(text, NULL);
        struct plan_options options = {.best = true};
        free(text);
        if (few(t)) {
            struct plan *plan = plan_make(t, &options, problem, sizeof problem);
            assert_non_null(plan);
            double best = plan->rows[plan->best].max_load, bound;
            struct plan_layout *worst = plan_layout_new(plan->problem), *solved = plan_layout_new(plan->problem);
            struct plan_exact how = {.max_changes = SIZE_MAX, .nodes = 10000};
            bool found;
            plan_search_improve(worst, SIZE_MAX, false, true);
            /* A local optimum: never better, seldom worse. */
            assert_true(plan_layout_max(worst) >= best * (1 - 1e-9));
            assert_int_equal(plan_exact(plan->problem, &how, solved, &found, &bound), PLAN_EXACT_OPTIMAL);
            assert_true(found);
            assert_near(plan_layout_max(solved), best, seed, SIZE_MAX);
            assert_near(bound, best, seed, SIZE_MAX);
            for (size_t m = 0; m <= t->n_datastores; m++) {
                how.max_changes = m;
                assert_int_equal(plan_exact(plan->problem, &how, solved, &found, &bound), PLAN_EXACT_OPTIMAL);
                assert_near(plan_layout_max(solved), planned(plan, m), seed, m);
            }
            plan_layout_free(worst);
            plan_layout_free(solved);
            plan_free(plan);
        }
        topo_free(t);
    }
}

/* Other names, another order, cables turned round: the same rows, and the same VIPs where all layouts were looked at. */
static void test_relabelled(void **unused)
{
    (void)unused;
    for (uint64_t seed = 1; seed <= SITES; seed++) {
        struct plan_options options = {0};
        struct plan *plans[2];
        struct topo *topos[2];
        char problem[1024];
        for (int i = 0; i < 2; i++) {
            char *text = random_site(seed, i ? RANDOM_SITE_RENAMED | RANDOM_SITE_PERMUTED | RANDOM_SITE_REVERSED : 0);
            topos[i] = site_parse(text, NULL);
            free(text);
            plans[i] = plan_make(topos[i], &options, problem, sizeof problem);
            assert_non_null(plans[i]);
        }
        assert_int_equal(plans[0]->n_rows, plans[1]->n_rows);
        for (size_t r = 0; r < plans[0]->n_rows; r++) {
            assert_int_equal(plans[0]->rows[r].changes, plans[1]->rows[r].changes);
            assert_near(plans[0]->rows[r].max_load, plans[1]->rows[r].max_load, seed, plans[0]->rows[r].changes);
            assert_near(plans[0]->rows[r].max_host, plans[1]->rows[r].max_host, seed, plans[0]->rows[r].changes);
            for (size_t u = 0; plans[0]->looked_at_all && u < plans[0]->n_units; u++) {
                int other = topo_find_datastore(topos[1], topos[0]->datastores[plans[0]->units[u].datastore].name);
                size_t k = 0;
                while (plans[1]->units[k].datastore != other)
                    k++;
                assert_string_equal(topos[0]->vips[plans[0]->rows[r].vips[u]].text,
                                    topos[1]->vips[plans[1]->rows[r].vips[k]].text);
            }
        }
        for (int i = 0; i < 2; i++) {
            plan_free(plans[i]);
            topo_free(topos[i]);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_exhaustive),
        cmocka_unit_test(test_search_and_program),
        cmocka_unit_test(test_relabelled),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
