/* The frontier over all levers against a twin that makes every change itself: on random small sites each address, binding, home, owner
 * and hash is set in every combination, the file is read anew, every layout of VIPs is loaded flow by flow, and for each number of
 * changes and each class the least load of the fullest link must be the planner's. */
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

#include "emu/model/predict.h"
#include "nfsbal/plan/problem.h"
#include "tests/support/path_site.h"
#include "tests/support/seed.h"

enum { SITES = 27, MANY = 400, TOTAL_MAX = 12, CHANGES_MAX = 64, LAYOUTS_MAX = 256 };

/* ---- a small site ---- */

struct dice {
    uint64_t state;
};

static unsigned roll(struct dice *d, unsigned n)
{
    d->state = d->state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (unsigned)(d->state >> 33) % n;
}

struct shape {
    unsigned hosts, datastores, vips;
    bool two_vmknics, lag, named;
};

static void put_host(FILE *out, const struct shape *s, unsigned h, struct dice *d)
{
    fprintf(out, "  h%u:\n    kind: esxi\n    version: '8.0u3'\n", h);
    if (s->two_vmknics) {
        fputs("    vswitches: {v: {uplinks: 'u[0-1]', teaming: explicit}}\n    portgroups:\n"
              "      g0: {vswitch: v, active: u0, standby: u1}\n      g1: {vswitch: v, active: u1, standby: u0}\n",
              out);
        fprintf(out, "    vmknics:\n      k0: {portgroup: g0, address: 10.0.0.%u/24}\n", 10 + 10 * h + roll(d, 8));
        fprintf(out, "      k1: {portgroup: g1, address: 10.0.0.%u/24}\n", 50 + 10 * h + roll(d, 8));
        return;
    }
    fprintf(out, "    vswitches: {v: {uplinks: 'u[0-1]', teaming: %s}}\n", s->lag ? "ip-hash" : "explicit");
    fprintf(out, "    vmknics: {k0: {vswitch: v, address: 10.0.0.%u/24}}\n", 10 + 10 * h + roll(d, 8));
}

/* Two NAS controllers of two ports each; VIPs and volumes on either. */
static char *small_site(const struct shape *s, struct dice *d)
{
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    unsigned homes[8];
    assert_non_null(out);
    fputs("version: 1\nname: small\nnodes:\n", out);
    for (unsigned h = 0; h < s->hosts; h++)
        put_host(out, s, h, d);
    fputs("  s:\n    kind: switch\n    model: cisco-3750x\n    hash: cisco-src-dst-ip\n    lags:\n", out);
    for (unsigned h = 0; h < s->hosts && s->lag && !s->two_vmknics; h++)
        fprintf(out, "      ph%u: {to: 'h%u:v', mode: static}\n", h, h);
    fputs("      pa: {to: 'n:a.l', mode: lacp}\n      pb: {to: 'n:b.l', mode: lacp}\n"
          "  n:\n    kind: nas\n    model: netapp\n    controllers:\n"
          "      '[a,b]': {nics: 'e[0-1]', lag: {name: l, mode: lacp, hash: xor-src-dst-ip}}\n    vips:\n",
          out);
    for (unsigned v = 0; v < s->vips; v++) {
        homes[v] = v < 2 ? v : roll(d, 2);
        fprintf(out, "      10.0.0.%u/24: {home: %c}\n", 100 + 8 * v + roll(d, 8), "ab"[homes[v]]);
    }
    fputs("    exports:\n", out);
    unsigned owners[8];
    for (unsigned i = 0; i < s->datastores; i++) {
        owners[i] = roll(d, 2);
        fprintf(out, "      /e%u: {owner: %c}\n", i, "ab"[owners[i]]);
    }
    fputs("links:\n", out);
    for (unsigned h = 0; h < s->hosts; h++)
        fprintf(out, "  - {ends: ['h%u:u[0-1]', 's:p[%u-%u]'], speed: 1G}\n", h, 2 * h, 2 * h + 1);
    fputs("  - {ends: ['n:a.e[0-1]', 's:q[0-1]'], speed: 1G}\n  - {ends: ['n:b.e[0-1]', 's:q[2-3]'], speed: 1G}\n"
          "datastores:\n",
          out);
    fflush(out);
    for (unsigned i = 0; i < s->datastores; i++) {
        const char *at = text;
        for (unsigned v = 0; v <= owners[i]; v++)
            at = strstr(at, "      10.0.0.1") + 6;
        fprintf(out, "  d%u: {export: 'n:/e%u', vms: %u, ", i, i, roll(d, 9));
        if (s->named && i == 0)
            fprintf(out, "mounted: d0.example, server: d0.example, vip: %.10s}\n", at);
        else
            fprintf(out, "mounted: %.10s}\n", at);
    }
    fclose(out);
    return text;
}

/* ---- the twin ---- */

struct change {
    struct topo_change words;
    char text[4][32];
    enum plan_lever lever;
    unsigned dial;
};

struct slow {
    const struct topo_file *f;
    const struct topo *t;
    struct change changes[CHANGES_MAX];
    size_t n_changes;
    unsigned n_dials;
    double *low, *high; /* [2 * linkdir + direction]: over all that is possible: what differs is movable */
    double *loads;      /* the same of each layout, one after the other */
    size_t n_layouts, capacity;
    struct {
        size_t total;
        enum plan_cost cost;
    } * of;
};

static void add_change(struct slow *s, unsigned dial, enum plan_lever lever, const char *a, const char *b,
                       const char *c, const char *e)
{
    assert_true(s->n_changes < CHANGES_MAX);
    struct change *x = &s->changes[s->n_changes++];
    const char *const all[4] = {a, b, c, e};
    x->lever = lever;
    x->dial = dial;
    for (int i = 0; i < 4; i++) {
        snprintf(x->text[i], sizeof x->text[i], "%s", all[i] ? all[i] : "");
        x->words.words[i] = all[i] ? x->text[i] : NULL;
    }
}

/* What each lever could do, found in the file's topology without the planner. */
static void list_changes(struct slow *s, unsigned levers, const struct topo_addr *from, size_t n_from)
{
    const struct topo *t = s->t;
    char a[64], b[64];
    for (size_t i = 0; i < t->n_ifaces && levers >> PLAN_LEVER_VMK_ADDRESS & 1; i++) {
        bool used = false;
        for (size_t m = 0; m < t->n_mounts; m++)
            used |= t->mounts[m].iface == (int)i;
        if (!used)
            continue;
        for (size_t k = 0; k < n_from; k++)
            add_change(s, s->n_dials, PLAN_LEVER_VMK_ADDRESS, "address", t->boxes[t->ifaces[i].box].name,
                       t->ifaces[i].name, topo_addr_print(a, sizeof a, &from[k], false));
        s->n_dials++;
    }
    for (size_t m = 0; m < t->n_mounts && levers >> PLAN_LEVER_VMK_BINDING & 1; m++) {
        for (size_t i = 0; i < t->n_ifaces; i++)
            if (t->ifaces[i].box == t->mounts[m].host && (int)i != t->mounts[m].iface)
                add_change(s, s->n_dials, PLAN_LEVER_VMK_BINDING, "bind", t->datastores[t->mounts[m].datastore].name,
                           t->boxes[t->mounts[m].host].name, t->ifaces[i].name);
        s->n_dials++;
    }
    for (size_t v = 0; v < t->n_vips && levers >> PLAN_LEVER_LIF_HOME & 1; v++)
        add_change(s, s->n_dials++, PLAN_LEVER_LIF_HOME, "home", t->vips[v].text,
                   strcmp(t->boxes[t->vips[v].home].part, "a") == 0 ? "b" : "a", NULL);
    for (size_t e = 0; e < t->n_exports && levers >> PLAN_LEVER_VOLUME_OWNER & 1; e++) {
        snprintf(b, sizeof b, "n:%s", t->exports[e].path);
        add_change(s, s->n_dials++, PLAN_LEVER_VOLUME_OWNER, "owner", b,
                   strcmp(t->boxes[t->exports[e].owner].part, "a") == 0 ? "b" : "a", NULL);
    }
    if (levers >> PLAN_LEVER_SWITCH_HASH & 1) {
        static const char *const hashes[] = {"cisco-src-ip", "cisco-dst-ip", "cisco-src-mac", "cisco-dst-mac",
                                             "cisco-src-dst-mac"};
        for (size_t i = 0; i < sizeof hashes / sizeof hashes[0]; i++)
            add_change(s, s->n_dials, PLAN_LEVER_SWITCH_HASH, "hash", "s", hashes[i], NULL);
        s->n_dials++;
    }
}

static bool is_known(const struct path_hop *hop)
{
    return hop->index >= 0 && !hop->conditional &&
           (hop->n == 1 ||
            ((hop->status == HASH_EXACT || hop->status == HASH_APPROXIMATE) && hop->inputs <= TOPO_DERIVED));
}

/* The flow of a mount as it would be by another VIP. */
static void add_mount(const struct topo *t, struct topo_mount *mount, int vip, double *loads, size_t *known)
{
    mount->vip = vip;
    struct flow flow = {.mount = (int)(mount - t->mounts),
                        .iface = mount->iface,
                        .vip = vip,
                        .sport = 1023,
                        .dport = 2049,
                        .sport_origin = TOPO_DRAWN};
    for (int d = 0; d < 2; d++) {
        struct path path;
        assert_int_equal(path_walk(t, NULL, &flow, (enum flow_direction)d, false, &path), PATH_OK);
        for (size_t h = 0; h < path.n_hops; h++) {
            const struct path_hop *hop = &path.hops[h];
            *known += hop->n > 1 && is_known(hop);
            for (int k = 0; k < hop->n; k++) {
                int linkdir = topo_port_out(t, hop->candidates[k]);
                double share = is_known(hop) ? k == hop->index : hop->index < 0 ? hop->share[k] : 1.0 / hop->n;
                loads[2 * linkdir + d] += share * predict_wire_factor(t, &flow, (enum flow_direction)d, linkdir) /
                                          predict_capacity(t, linkdir);
            }
        }
    }
}

/* Choices that are known, of every host to every VIP as routing goes: a change may not make them fewer. */
static size_t known_of(struct topo *t)
{
    double *unused = calloc(4 * t->n_links + 1, sizeof *unused);
    size_t known = 0;
    assert_non_null(unused);
    for (size_t m = 0; m < t->n_mounts; m++) {
        int vip = t->mounts[m].vip;
        for (size_t v = 0; v < t->n_vips; v++)
            add_mount(t, &t->mounts[m], (int)v, unused, &known);
        t->mounts[m].vip = vip;
    }
    free(unused);
    return known;
}

static double *new_layout(struct slow *s, size_t total, enum plan_cost cost)
{
    size_t dirs = 4 * s->t->n_links;
    if (s->n_layouts == s->capacity) {
        s->capacity = s->capacity ? 2 * s->capacity : 1024;
        s->loads = realloc(s->loads, s->capacity * dirs * sizeof *s->loads);
        s->of = realloc(s->of, s->capacity * sizeof *s->of);
        assert_true(s->loads && s->of);
    }
    s->of[s->n_layouts].total = total;
    s->of[s->n_layouts].cost = cost;
    memset(s->loads + s->n_layouts * dirs, 0, dirs * sizeof *s->loads);
    return s->loads + s->n_layouts++ * dirs;
}

static bool vip_serves(const struct topo *t, size_t datastore, int vip)
{
    return t->vips[vip].home == t->exports[t->datastores[datastore].export_].owner;
}

/* Every layout of VIPs with these changes made. */
static void add_layouts(struct slow *s, struct topo *t, size_t changes, enum plan_cost cost, bool vips,
                        enum plan_cost most)
{
    size_t count = 1;
    for (size_t i = 0; i < t->n_datastores; i++)
        count *= t->n_vips;
    assert_true(count <= LAYOUTS_MAX);
    for (size_t k = 0; k < count; k++) {
        size_t rest = k, total = changes, known = 0;
        enum plan_cost worst = cost;
        bool ok = true;
        for (size_t i = 0; i < t->n_datastores; i++, rest /= t->n_vips) {
            int vip = (int)(rest % t->n_vips), today = s->t->mounts[s->t->datastores[i].first_mount].vip;
            ok &= vip_serves(t, i, vip);
            if (vip == today)
                continue;
            enum plan_cost its = s->t->datastores[i].server ? PLAN_ROLLING : PLAN_OUTAGE;
            total++;
            worst = its > worst ? its : worst;
            ok &= vips && its <= most;
        }
        if (!ok)
            continue;
        double *loads = new_layout(s, total, worst);
        rest = k;
        for (size_t i = 0; i < t->n_datastores; i++, rest /= t->n_vips)
            for (int m = t->datastores[i].first_mount; m < t->datastores[i].first_mount + t->datastores[i].n_mounts;
                 m++)
                add_mount(t, &t->mounts[m], (int)(rest % t->n_vips), loads, &known);
    }
}

/* Changes of one dial exclude each other; so do two interfaces with one address. */
static bool fit_together(const struct change *a, const struct change *b)
{
    return a->dial != b->dial &&
           (a->lever != PLAN_LEVER_VMK_ADDRESS || b->lever != a->lever || strcmp(a->text[3], b->text[3]));
}

static void add_combinations(struct slow *s, size_t from, const struct change **chosen, size_t n, unsigned levers,
                             enum plan_cost most, size_t known)
{
    struct topo_change words[CHANGES_MAX];
    enum plan_cost cost = PLAN_NOTHING_STOPS;
    struct diag d;
    diag_init(&d, "small");
    for (size_t i = 0; i < n; i++) {
        words[i] = chosen[i]->words;
        cost = plan_lever_cost(chosen[i]->lever) > cost ? plan_lever_cost(chosen[i]->lever) : cost;
    }
    struct topo *t = topo_load_changed(s->f, NULL, words, n, NULL, 0, &d);
    assert_non_null(t);
    assert_int_equal(diag_count(&d, DIAG_ERROR), 0);
    if (known_of(t) >= known)
        add_layouts(s, t, n, cost, levers >> PLAN_LEVER_VIP & 1, most);
    topo_free(t);
    diag_free(&d);
    for (size_t i = from; i < s->n_changes; i++) {
        bool ok = plan_lever_cost(s->changes[i].lever) <= most;
        for (size_t k = 0; k < n && ok; k++)
            ok = fit_together(chosen[k], &s->changes[i]);
        chosen[n] = &s->changes[i];
        if (ok)
            add_combinations(s, i + 1, chosen, n + 1, levers, most, known);
    }
}

/* The least load of the fullest link that differs between any two layouts, of all with so many changes and this class at most. */
static double least_of(const struct slow *s, size_t total, enum plan_cost cost)
{
    size_t dirs = 4 * s->t->n_links;
    double least = (double)INFINITY;
    for (size_t l = 0; l < s->n_layouts; l++) {
        double max = 0;
        if (s->of[l].total > total || s->of[l].cost > cost)
            continue;
        for (size_t i = 0; i < dirs; i++)
            if (s->high[i] > s->low[i] * (1 + 1e-9))
                max = fmax(max, s->loads[l * dirs + i]);
        least = fmin(least, max);
    }
    return least;
}

static double planned(const struct plan_frontier *f, size_t total, enum plan_cost cost)
{
    double least = (double)INFINITY;
    for (size_t r = 0; r < f->n_rows; r++)
        if (!f->rows[r].uneven && f->rows[r].total <= total && f->rows[r].cost <= cost && f->rows[r].row->wrong == 0)
            least = fmin(least, f->rows[r].max_load);
    return least;
}

static void know_movable(struct slow *s)
{
    size_t dirs = 4 * s->t->n_links;
    s->low = calloc(dirs + 1, sizeof *s->low);
    s->high = calloc(dirs + 1, sizeof *s->high);
    assert_true(s->low && s->high);
    for (size_t i = 0; i < dirs; i++) {
        s->low[i] = (double)INFINITY;
        for (size_t l = 0; l < s->n_layouts; l++) {
            s->low[i] = fmin(s->low[i], s->loads[l * dirs + i]);
            s->high[i] = fmax(s->high[i], s->loads[l * dirs + i]);
        }
    }
}

/* Sets of levers that together have few settings on these sites. */
static const unsigned sets[] = {
    1u << PLAN_LEVER_VIP | 1u << PLAN_LEVER_VMK_BINDING,
    1u << PLAN_LEVER_VIP | 1u << PLAN_LEVER_VMK_ADDRESS,
    1u << PLAN_LEVER_VIP | 1u << PLAN_LEVER_LIF_HOME | 1u << PLAN_LEVER_VOLUME_OWNER,
    1u << PLAN_LEVER_VIP | 1u << PLAN_LEVER_SWITCH_HASH | 1u << PLAN_LEVER_VMK_ADDRESS,
    1u << PLAN_LEVER_VMK_BINDING | 1u << PLAN_LEVER_VOLUME_OWNER | 1u << PLAN_LEVER_VIP,
    1u << PLAN_LEVER_LIF_HOME | 1u << PLAN_LEVER_VOLUME_OWNER | 1u << PLAN_LEVER_VMK_ADDRESS | 1u << PLAN_LEVER_VIP,
    1u << PLAN_LEVER_VIP | 1u << PLAN_LEVER_NAMES | 1u << PLAN_LEVER_LIF_HOME,
    1u << PLAN_LEVER_VMK_ADDRESS | 1u << PLAN_LEVER_SWITCH_HASH,
    (1u << PLAN_LEVERS) - 1,
};

static void compare(uint64_t seed, size_t which)
{
    struct dice dice = {seed};
    const unsigned levers = sets[which % (sizeof sets / sizeof sets[0])];
    struct shape shape = {
        .hosts = 2, .vips = 2 + roll(&dice, 2), .lag = roll(&dice, 3) > 0, .named = roll(&dice, 3) == 0};
    enum plan_cost most = roll(&dice, 4) ? PLAN_OUTAGE : PLAN_ROLLING;
    char problem[1024];
    struct topo_addr from[2];
    struct diag d;
    roll(&dice, 5);
    shape.two_vmknics = levers >> PLAN_LEVER_VMK_BINDING & 1;
    shape.datastores = shape.vips > 2 || shape.two_vmknics ? 2 : 3;
    size_t n_from = 2;
    if (levers == (1u << PLAN_LEVERS) - 1) { /* all at once: one host, one address */
        shape.hosts = 1;
        shape.vips = 2;
        n_from = 1;
    }
    char *text = small_site(&shape, &dice);
    topo_addr_parse(&from[0], "10.0.0.201");
    topo_addr_parse(&from[1], "10.0.0.206");
    diag_init(&d, "small");
    struct topo_file *f = topo_file_parse("small", text, strlen(text), &d);
    struct topo *t = f ? topo_load(f, NULL, &d) : NULL;
    if (!t || diag_count(&d, DIAG_ERROR) > 0)
        fail_msg("seed %llu: %s\n%s", (unsigned long long)seed, d.count ? d.entries[0].text : "", text);
    const struct plan_options options = {0};
    const struct plan_lever_options wanted = {
        .levers = levers, .most = most, .from = from, .n_from = n_from, .domain = "example"};
    struct plan_frontier *frontier = plan_frontier_make(f, t, &options, &wanted, problem, sizeof problem);
    if (!frontier)
        fail_msg("seed %llu: %s\n%s", (unsigned long long)seed, problem, text);
    if (frontier->n_settings < 2)
        fail_msg("seed %llu, levers %x, class %d: not all was looked at\n%s", (unsigned long long)seed, levers,
                 (int)most, text);
    struct slow s = {.f = f, .t = t};
    const struct change *chosen[CHANGES_MAX];
    list_changes(&s, levers, from, n_from);
    add_combinations(&s, 0, chosen, 0, levers, most, known_of(t));
    know_movable(&s);
    for (size_t total = 0; total <= TOTAL_MAX; total++)
        for (int cost = PLAN_NOTHING_STOPS; cost <= (int)PLAN_OUTAGE; cost++) {
            double mine = least_of(&s, total, (enum plan_cost)cost),
                   its = planned(frontier, total, (enum plan_cost)cost);
            if (fabs(mine - its) > 1e-6 * mine)
                fail_msg("seed %llu, levers %x, class %d: with %zu changes %.9g, the planner has %.9g\n%s",
                         (unsigned long long)seed, levers, cost, total, mine, its, text);
        }
    assert_true(frontier->bound <= least_of(&s, SIZE_MAX, PLAN_OUTAGE) * (1 + 1e-9));
    plan_frontier_free(frontier);
    topo_free(t);
    topo_file_close(f);
    diag_free(&d);
    free(s.low);
    free(s.high);
    free(s.loads);
    free(s.of);
    free(text);
}

static void test_all_levers(void **unused)
{
    uint64_t seed = test_seed();
    const char *long_ = getenv("TEST_LONG");
    bool is_long = long_ && strcmp(long_, "yes") == 0;
    (void)unused;
    for (size_t i = 0; i < (is_long ? MANY : SITES); i++)
        compare(seed + i * 7919, i);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_all_levers)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
