/* Rows of the frontier over all levers, on random sites: what a row says is what the file gives with its changes made and its
 * datastores moved, flow by flow; no row is as good as another and dearer; and each is better than what is cheaper. */
#include "nfsbal/plan/frontier.h"

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
#include "emu/model/topology_write.h"
#include "nfsbal/plan/layout.h"
#include "nfsbal/plan/problem.h"
#include "tests/support/path_site.h"
#include "tests/support/random_site.h"

enum { SITES = 40 };

/* The load of one link direction as the planner counts it: what isn't known on all candidates alike. */
static double load_of(const struct topo *t, int linkdir, enum flow_direction d, size_t *flows)
{
    const struct plan_options options = {.allow_indirect = true};
    char problem[1024];
    struct plan_problem *p = plan_problem_new(t, &options, problem, sizeof problem);
    double load = 0;
    assert_non_null(p);
    *flows = 0;
    for (size_t m = 0; m < t->n_mounts; m++) {
        struct flow flow = plan_flow(p, plan_pair_of(p, t->mounts[m].datastore, t->mounts[m].host, t->mounts[m].vip));
        struct path path;
        assert_int_equal(path_walk(&p->site, NULL, &flow, d, false, &path), PATH_OK);
        for (size_t h = 0; h < path.n_hops; h++) {
            const struct path_hop *hop = &path.hops[h];
            bool known =
                hop->index >= 0 && (hop->n == 1 || ((hop->status == HASH_EXACT || hop->status == HASH_APPROXIMATE) &&
                                                    hop->inputs <= TOPO_DERIVED));
            for (int k = 0; k < hop->n; k++) {
                double share = known ? k == hop->index : hop->index < 0 ? hop->share[k] : 1.0 / hop->n;
                if (topo_port_out(t, hop->candidates[k]) != linkdir)
                    continue;
                load += share * predict_wire_factor(t, &flow, d, linkdir) / predict_capacity(t, linkdir);
                *flows += share > 0;
            }
        }
    }
    plan_problem_free(p);
    return load;
}

static size_t moved(const struct topo *before, const struct topo *after)
{
    size_t n = 0;
    for (size_t d = 0; d < before->n_datastores; d++)
        n += before->mounts[before->datastores[d].first_mount].vip !=
             after->mounts[after->datastores[d].first_mount].vip;
    return n;
}

static void check_row(const struct topo_file *f, const struct topo *t, const struct plan_frontier *frontier,
                      const struct plan_frontier_row *row, struct diag *d)
{
    struct topo_assignment *all;
    long n = plan_frontier_assignments(frontier, row, &all);
    struct topo_change *words = plan_frontier_words(row);
    assert_true(n >= 0 && words);
    struct topo *after = topo_load_changed(f, NULL, words, row->n_changes, all, (size_t)n, d);
    assert_non_null(after);
    assert_int_equal(row->total, row->n_changes + moved(t, after));
    for (size_t i = 0; i < row->n_changes; i++)
        assert_true(plan_lever_cost(row->changes[i].lever) <= row->cost);
    if (row->max_load > 0) {
        size_t flows;
        double load = load_of(after, row->fullest_linkdir, (enum flow_direction)row->fullest_direction, &flows);
        assert_true(fabs(load - row->max_load) <= 1e-9 * load);
    }
    diag_free(d);
    topo_free(after);
    free(words);
    free(all);
}

static void check_order(const struct plan_frontier *f)
{
    assert_int_equal(f->rows[0].total, 0);
    for (size_t a = 0; a < f->n_rows; a++)
        for (size_t b = 0; b < f->n_rows; b++) {
            const struct plan_frontier_row *x = &f->rows[a], *y = &f->rows[b];
            if (a == b || x->uneven || y->uneven || x->row->wrong || y->row->wrong)
                continue;
            /* x is as cheap as y: y must be worth it. */
            if (x->cost <= y->cost && x->total <= y->total)
                assert_true(y->max_load < x->max_load ||
                            (y->max_load <= x->max_load * (1 + 1e-9) && y->max_host < x->max_host));
        }
}

static void test_rows(void **unused)
{
    size_t others = 0;
    (void)unused;
    for (uint64_t seed = 1; seed <= SITES; seed++) {
        char *text = random_site(seed, 0), problem[1024];
        const struct plan_options options = {0};
        const struct plan_lever_options levers = {.levers = PLAN_LEVERS_DEFAULT, .most = PLAN_OUTAGE};
        struct diag d;
        diag_init(&d, "site.yaml");
        struct topo_file *f = topo_file_parse("site.yaml", text, strlen(text), &d);
        struct topo *t = f ? topo_load(f, NULL, &d) : NULL;
        assert_non_null(t);
        struct plan_frontier *frontier = plan_frontier_make(f, t, &options, &levers, problem, sizeof problem);
        assert_non_null(frontier);
        check_order(frontier);
        for (size_t r = 0; r < frontier->n_rows; r++) {
            struct diag own;
            diag_init(&own, "site.yaml");
            check_row(f, t, frontier, &frontier->rows[r], &own);
            others += frontier->rows[r].n_changes > 0;
        }
        plan_frontier_free(frontier);
        topo_free(t);
        topo_file_close(f);
        diag_free(&d);
        free(text);
    }
    assert_true(others > 0);
}

/* The same without other levers is the plan of VIPs, row by row. */
static void test_vips_alone(void **unused)
{
    (void)unused;
    for (uint64_t seed = 1; seed <= SITES; seed++) {
        char *text = random_site(seed, 0), problem[1024];
        const struct plan_options options = {0};
        const struct plan_lever_options levers = {.levers = 1u << PLAN_LEVER_VIP, .most = PLAN_OUTAGE};
        struct diag d;
        diag_init(&d, "site.yaml");
        struct topo_file *f = topo_file_parse("site.yaml", text, strlen(text), &d);
        struct topo *t = f ? topo_load(f, NULL, &d) : NULL;
        struct plan *plan = plan_make(t, &options, problem, sizeof problem);
        struct plan_frontier *frontier = plan_frontier_make(f, t, &options, &levers, problem, sizeof problem);
        assert_true(plan && frontier);
        size_t even = 0;
        for (size_t r = 0; r < plan->n_rows; r++)
            even += !plan->rows[r].uneven;
        for (size_t r = 0, k = 0; r < frontier->n_rows; r++) {
            if (frontier->rows[r].uneven)
                continue;
            even--;
            while (plan->rows[k].uneven)
                k++;
            assert_int_equal(frontier->rows[r].total, plan->rows[k].changes);
            assert_true(fabs(frontier->rows[r].max_load - plan->rows[k].max_load) <= 1e-9 * plan->rows[k].max_load);
            k++;
        }
        assert_int_equal(even, 0);
        plan_frontier_free(frontier);
        plan_free(plan);
        topo_free(t);
        topo_file_close(f);
        diag_free(&d);
        free(text);
    }
}

/* Any mounts can be written into the text, and are read back. */
static void test_written(void **unused)
{
    (void)unused;
    for (uint64_t seed = 1; seed <= SITES; seed++) {
        char *text = random_site(seed, seed % 2 ? 0 : RANDOM_SITE_PERMUTED);
        uint64_t state = seed * 7919;
        struct diag d, again;
        diag_init(&d, "site.yaml");
        diag_init(&again, "site.yaml");
        struct topo_file *f = topo_file_parse("site.yaml", text, strlen(text), &d);
        struct topo *t = f ? topo_load(f, NULL, &d) : NULL;
        assert_non_null(t);
        struct topo_assignment *all = calloc(t->n_mounts + 1, sizeof *all);
        int *vips = calloc(t->n_datastores + 1, sizeof *vips);
        assert_true(all && vips);
        for (size_t m = 0; m < t->n_mounts; m++) {
            int *vip = &vips[t->mounts[m].datastore];
            if (!*vip) {
                state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
                *vip = (int)((state >> 33) % t->n_vips) + 1;
            }
            all[m] =
                (struct topo_assignment){t->datastores[t->mounts[m].datastore].name, t->boxes[t->mounts[m].host].name,
                                         t->vips[*vip - 1].text, t->vips[*vip - 1].text};
        }
        char *new = topo_file_write(f, text, strlen(text), NULL, NULL, 0, all, t->n_mounts, &d);
        assert_non_null(new);
        struct topo_file *g = topo_file_parse("site.yaml", new, strlen(new), &again);
        struct topo *then = g ? topo_load(g, NULL, &again) : NULL;
        assert_non_null(then);
        assert_int_equal(then->n_mounts, t->n_mounts);
        for (size_t m = 0; m < t->n_mounts; m++)
            assert_int_equal(then->mounts[m].vip, vips[t->mounts[m].datastore] - 1);
        topo_free(then);
        topo_file_close(g);
        topo_free(t);
        topo_file_close(f);
        diag_free(&d);
        diag_free(&again);
        free(new);
        free(all);
        free(vips);
        free(text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rows),
        cmocka_unit_test(test_vips_alone),
        cmocka_unit_test(test_written),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
