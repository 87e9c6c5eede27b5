/* Planning a new site of 64 hosts, 1,000 datastores and 16 VIPs over all four hashes, with equal datastores and with weights: plans a
 * second of processor time, how far the slowest datastore may be from the best there is, and what people do instead. */
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "nfsbal/plan/exact.h"
#include "nfsbal/plan/layout.h"
#include "nfsbal/plan/plan.h"

enum { HOSTS = 64, DATASTORES = 1000, VIPS = 16, CONTROLLERS = 4 };
#define MOST_GAP 0.005

/* The site as YAML; weights drawn from a fixed sequence. */
static char *make_site(bool weights)
{
    static const int vips[VIPS] = {11, 14, 29, 30, 52, 57, 71, 90, 104, 117, 133, 150, 178, 201, 222, 247};
    uint64_t state = 7;
    char *text = NULL;
    size_t size;
    FILE *f = open_memstream(&text, &size);
    if (!f)
        return NULL;
    fprintf(f, "version: 1\nname: big\nnodes:\n");
    fprintf(f, "  'h[1-%d]': {kind: esxi, vswitches: {v: {uplinks: 'n[0-3]', teaming: ip-hash}},\n", HOSTS);
    fprintf(f, "    vmknics: {vmk1: {vswitch: v, address: '10.0.0.[1-%d]/16'}}}\n", HOSTS);
    fprintf(f, "  sw:\n    kind: switch\n    hash: xor-src-dst-ip\n    lags:\n");
    fprintf(f, "      'po[1-%d]': {to: 'h[1-%d]:v', mode: static}\n", HOSTS, HOSTS);
    fprintf(f, "      'pn[1-%d]': {to: 'nas:c[1-%d].a', mode: lacp}\n", CONTROLLERS, CONTROLLERS);
    fprintf(f, "  nas:\n    kind: nas\n    controllers:\n");
    fprintf(f, "      'c[1-%d]': {nics: 'e[0-3]', lag: {name: a, mode: lacp, hash: xor-src-dst-ip}}\n", CONTROLLERS);
    fprintf(f, "    vips:\n");
    for (int v = 0; v < VIPS; v++)
        fprintf(f, "      10.0.9.%d/16: {home: c%d}\n", vips[v], v % CONTROLLERS + 1);
    fprintf(f, "    exports:\n");
    for (int d = 0; d < DATASTORES; d++)
        fprintf(f, "      /d%d: {owner: c%d}\n", d, d % CONTROLLERS + 1);
    fprintf(f, "links:\n  - {ends: ['h[1-%d]:n[0-3]', 'sw:p[1-%d]'], speed: 10G}\n", HOSTS, 4 * HOSTS);
    fprintf(f, "  - {ends: ['nas:c[1-%d].e[0-3]', 'sw:q[1-%d]'], speed: 100G}\n", CONTROLLERS, 4 * CONTROLLERS);
    fprintf(f, "datastores:\n");
    for (int d = 0; d < DATASTORES; d++) {
        state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        fprintf(f, "  d%d: {export: 'nas:/d%d'", d, d);
        if (weights)
            fprintf(f, ", weight: %d.%02d", (int)(state >> 33) % 10, (int)(state >> 43) % 99 + 1);
        fprintf(f, "}\n");
    }
    fclose(f);
    return text;
}

/* Every class dealt over its VIPs in turn: what is done by hand. */
static double round_robin(const struct plan_problem *p)
{
    struct plan_layout *l = plan_layout_new(p);
    size_t turn = 0;
    if (!l)
        return 0;
    for (size_t k = 0; k < p->n_classes; k++)
        for (size_t i = 0; i < p->classes[k].n; i++)
            plan_layout_move(l, k, 0, turn++ % p->classes[k].n_options, 1);
    double max = plan_layout_max(l);
    plan_layout_free(l);
    return max;
}

static double all_on_one(const struct plan_problem *p)
{
    struct plan_layout *l = plan_layout_new(p);
    double max = l ? plan_layout_max(l) : 0;
    plan_layout_free(l);
    return max;
}

static bool measure(const char *name, bool weights)
{
    char *text = make_site(weights), problem[256];
    struct plan_options options = {.best = true};
    struct diag d;
    bool ok = false;
    diag_init(&d, name);
    struct topo_file *f = text ? topo_file_parse(name, text, strlen(text), &d) : NULL;
    struct topo *t = f ? topo_load(f, NULL, &d) : NULL;
    clock_t start = clock(); /* processor time: what else the machine does must not count */
    struct plan *plan = t ? plan_make(t, &options, problem, sizeof problem) : NULL;
    double seconds = (double)(clock() - start) / CLOCKS_PER_SEC;
    if (plan) {
        const struct plan_row *row = &plan->rows[plan->best];
        double gap = row->max_load / row->bound - 1;
        printf("%s: %.3f s, fullest link %.4f %% above the bound; all on one VIP %.0f %%, round robin %.2f %%\n", name,
               seconds, 100 * gap, 100 * (all_on_one(plan->problem) / row->bound - 1),
               100 * (round_robin(plan->problem) / row->bound - 1));
        printf("bench: %s %.4g plans/s\n", name, 1 / seconds);
        ok = gap <= MOST_GAP;
        if (!ok)
            fprintf(stderr, "plan: %s: a gap of %.3f %%, allowed are %.1f %%\n", name, 100 * gap, 100 * MOST_GAP);
    } else {
        diag_print_text(&d, stderr, true);
    }
    plan_free(plan);
    topo_free(t);
    topo_file_close(f);
    diag_free(&d);
    free(text);
    return ok;
}

/* The integer program alone, given the same datastores. */
static void plain_program(bool weights, int nodes)
{
    char *text = make_site(weights), problem[256];
    struct plan_options options = {.best = true};
    struct diag d;
    diag_init(&d, "plain");
    struct topo_file *f = text ? topo_file_parse("plain", text, strlen(text), &d) : NULL;
    struct topo *t = f ? topo_load(f, NULL, &d) : NULL;
    struct plan_problem *p = t ? plan_problem_new(t, &options, problem, sizeof problem) : NULL;
    struct plan_layout *l = p ? plan_layout_new(p) : NULL;
    if (l) {
        struct plan_exact how = {.max_changes = SIZE_MAX, .nodes = nodes};
        bool found;
        double bound;
        clock_t start = clock();
        plan_exact(p, &how, l, &found, &bound);
        printf("CBC alone, %s datastores, %d nodes: %.3f s, %s, %.4f %% above its bound\n",
               weights ? "weighted" : "equal", nodes, (double)(clock() - start) / CLOCKS_PER_SEC,
               found ? "a layout" : "no layout", 100 * (plan_layout_max(l) / bound - 1));
    }
    plan_layout_free(l);
    plan_problem_free(p);
    topo_free(t);
    topo_file_close(f);
    diag_free(&d);
    free(text);
}

int main(void)
{
    bool equal = measure("plan-equal", false), weighted = measure("plan-weights", true);
    plain_program(false, 2000);
    plain_program(true, 20);
    return equal && weighted ? 0 : 1;
}
