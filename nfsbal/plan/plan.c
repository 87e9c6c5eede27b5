/* Theory of operation
 *
 * Few layouts: all are looked at, so every row is the best there is. More: for a rising number of changes, local search from the
 * row before, from today and (without limit) from everything on one VIP; an integer program bounds and, for small sites, solves what
 * the search leaves open. The search's layouts are compared by plan_key_compare(), so the program only ever offers one more start.
 *
 * A row is kept where the slowest rate rises, that is where plan_layout_max() falls; past the last of these, where the hosts get
 * more even at the same rate.
 */
#include "nfsbal/plan/plan.h"

#include <assert.h>
#include <errno.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "nfsbal/plan/conflict.h"
#include "nfsbal/plan/exact.h"
#include "nfsbal/plan/failure.h"
#include "nfsbal/plan/layout.h"
#include "nfsbal/plan/search.h"

enum {
    SMALL_UNITS = 64, /* up to here every number of changes gets a step of its own */
    FEW_OPTIONS =
        256, /* up to here the integer program is asked; equal datastores share theirs, however many there are */
    FEW_CLASSES = 16, /* up to here it is asked to close the smallest gap */
    NODES = 500,
};
/* A gap that it is not asked to close when classes are many: with weights of any size it could be at it for ever. */
#define NEAR        4e-3
#define ALL_LAYOUTS 3e4 /* looked at one by one, up to here */
#define ALL_WORK    5e6 /* ... times links */

static const char *const cost_names[] = {"nothing stops", "rolling", "copy", "outage"};
static_assert(sizeof cost_names / sizeof cost_names[0] == PLAN_OUTAGE + 1, "a name for each cost");

const char *plan_cost_name(enum plan_cost cost) { return cost_names[cost]; }

/* A number of changes and what was found for it. */
struct step {
    size_t changes; /* at most */
    struct plan_layout *layout[2];
    struct plan_key *key[2];
    double bound;
};

struct making {
    struct plan *plan;
    struct plan_problem *p;
    struct step *steps;
    size_t n_steps, steps_size;
    size_t movable; /* units that are mounted */
    size_t asked;   /* changes that must have their step */
    struct plan_key *key;
    bool small; /* a step for each number of changes */
    bool few;   /* options: pairs of moves, and the integer program */
    double optimum;
    struct plan_layout *best; /* of any number of changes */
};

static bool better(struct making *m, const struct plan_layout *l, const struct step *s, int order)
{
    plan_key_fill(m->key, l);
    int compared = s->key[order] ? plan_key_compare(m->key, s->key[order], order) : -1;
    if (compared == 0)
        compared = plan_layout_tie(l, s->layout[order]);
    return compared < 0;
}

/* Keeps a copy of the layout where it is better than what the step has. False on lack of memory. */
static bool offer(struct making *m, struct step *s, int order, const struct plan_layout *l)
{
    if (!better(m, l, s, order))
        return true;
    if (!s->layout[order]) {
        s->layout[order] = plan_layout_copy(l);
        s->key[order] = plan_key_new(m->p);
        if (!s->layout[order] || !s->key[order])
            return false;
    }
    plan_layout_set(s->layout[order], l);
    plan_key_fill(s->key[order], s->layout[order]);
    return true;
}

static struct step *new_step(struct making *m, size_t changes)
{
    if (m->n_steps == m->steps_size) {
        size_t size = m->steps_size ? 2 * m->steps_size : 64;
        struct step *grown = realloc(m->steps, size * sizeof *grown);
        if (!grown)
            return NULL;
        m->steps = grown;
        m->steps_size = size;
    }
    m->steps[m->n_steps] = (struct step){.changes = changes};
    return &m->steps[m->n_steps++];
}

/* ---- few layouts ---- */

static bool look_at_all(struct making *m)
{
    struct plan_found *found = calloc(m->movable + 1, sizeof *found);
    bool ok = found && plan_search_all(m->p, m->movable, found);
    for (size_t k = 0; ok && k <= m->movable; k++) {
        struct step *s = new_step(m, k);
        ok = s != NULL;
        for (int order = 0; ok && order < 2; order++) {
            if (k > 0)
                ok = offer(m, s, order, m->steps[k - 1].layout[order]);
            if (ok && found[k].layout[order])
                ok = !s->key[order] || plan_key_compare(found[k].key[order], s->key[order], order) < 0
                         ? offer(m, s, order, found[k].layout[order])
                         : true;
        }
        if (ok)
            s->bound = plan_layout_max(s->layout[0]);
    }
    for (size_t k = 0; found && k <= m->movable; k++)
        plan_found_free(&found[k]);
    free(found);
    return ok;
}

/* ---- many ---- */

/* Improves a copy of `start` and offers it in both orders. */
static bool try_from(struct making *m, struct step *s, const struct plan_layout *start, bool uneven)
{
    struct plan_layout *l = plan_layout_copy(start);
    bool ok = l != NULL;
    if (ok) {
        plan_search_improve(l, s->changes, uneven, m->few);
        ok = offer(m, s, uneven, l);
    }
    plan_layout_free(l);
    return ok;
}

/* The integer program, where the bound of the continuous one leaves something open. */
static bool prove(struct making *m, struct step *s)
{
    struct plan_exact how = {.max_changes = s->changes >= m->movable ? SIZE_MAX : s->changes};
    double max = plan_layout_max(s->layout[0]), bound;
    bool found;
    if (!m->few && how.max_changes != SIZE_MAX) {
        s->bound = m->optimum;
        return true;
    }
    plan_exact(m->p, &how, NULL, &found, &s->bound);
    if (s->bound > max || s->layout[0]->wrong > 0)
        s->bound = max;
    /* Where classes are many, so are the rows between today's and the best: for these the bound is all. */
    bool between = m->p->n_classes > FEW_CLASSES && s->changes < m->movable && s->changes != m->asked;
    if (!m->few || between || max <= s->bound * (1 + PLAN_EQUAL + NEAR * (m->p->n_classes > FEW_CLASSES)))
        return true;
    struct plan_layout *l = plan_layout_copy(s->layout[0]);
    bool ok = l != NULL;
    how.nodes = NODES;
    if (ok && plan_exact(m->p, &how, l, &found, &bound) != PLAN_EXACT_INFEASIBLE) {
        s->bound = fmin(fmax(s->bound, bound), max);
        if (found && l->changes <= s->changes) {
            ok = offer(m, s, 0, l) && try_from(m, s, l, false);
            s->bound = fmin(s->bound, plan_layout_max(s->layout[0]));
            /* What the solver's tolerance leaves of a proof is none. */
            if (plan_layout_max(s->layout[0]) <= s->bound * (1 + 2e-6))
                s->bound = plan_layout_max(s->layout[0]);
        }
    }
    plan_layout_free(l);
    return ok;
}

/* Any number of changes: the optimum, or nearly. */
static bool find_best(struct making *m, const struct plan_layout *today)
{
    struct step s = {.changes = m->movable};
    struct plan_layout *worst = plan_layout_new(m->p);
    bool ok = worst && try_from(m, &s, today, false) && try_from(m, &s, worst, false);
    plan_layout_free(worst);
    m->optimum = 0;
    ok = ok && prove(m, &s);
    m->optimum = s.bound;
    m->best = s.layout[0];
    plan_layout_free(s.layout[1]);
    plan_key_free(s.key[0]);
    plan_key_free(s.key[1]);
    return ok;
}

static size_t next_changes(const struct making *m, size_t k)
{
    size_t step = m->small || k < 8 ? 1 : k / 4;
    if (k < m->asked && k + step > m->asked)
        return m->asked;
    return k + step < m->movable ? k + step : m->movable;
}

static bool search_step(struct making *m, size_t changes, const struct plan_layout *today)
{
    struct step *s = new_step(m, changes);
    if (!s)
        return false;
    const struct step *before = m->n_steps > 1 ? &m->steps[m->n_steps - 2] : NULL;
    bool ok = try_from(m, s, today, false);
    if (ok && changes == 0) /* nothing to search but where what is mounted nowhere goes */
        ok = try_from(m, s, today, true);
    for (int order = 0; ok && before && order < 2; order++)
        ok = offer(m, s, order, before->layout[order]) && try_from(m, s, before->layout[order], order);
    if (ok && m->best->changes <= changes)
        ok = offer(m, s, 0, m->best);
    ok = ok && prove(m, s);
    return ok && try_from(m, s, s->layout[0], true);
}

static bool search_all_steps(struct making *m, const struct plan_layout *today)
{
    if (!find_best(m, today))
        return false;
    for (size_t k = 0;; k = next_changes(m, k)) {
        if (!search_step(m, k, today))
            return false;
        const struct step *s = &m->steps[m->n_steps - 1];
        if (k >= m->movable || (s->layout[0]->wrong == 0 &&
                                plan_compare_real(plan_layout_max(s->layout[0]), plan_layout_max(m->best)) <= 0))
            return true;
    }
}

/* ---- rows ---- */

/* The units that leave go to the options in order; the others stay. What is mounted nowhere is dealt in turn. */
static void give_vips(const struct plan_layout *l, int *vips)
{
    const struct plan_problem *p = l->p;
    for (size_t k = 0; k < p->n_classes; k++) {
        const struct plan_class *c = &p->classes[k];
        size_t option = 0, given = 0;
        for (size_t i = 0, unit = 0; i < c->n && c->today >= 0; i++, unit++) {
            while (option < c->n_options &&
                   ((int)option == c->today || given == (size_t)l->counts[c->first + option])) {
                option++;
                given = 0;
            }
            size_t at = option < c->n_options ? option : (size_t)c->today;
            vips[c->units[unit]] = c->options[at].vip;
            given++;
        }
        for (size_t i = 0, round = 0; i < c->n && c->today < 0; round++)
            for (size_t o = 0; o < c->n_options && i < c->n; o++)
                if ((size_t)l->counts[c->first + o] > round)
                    vips[c->units[c->n - 1 - i++]] = c->options[o].vip;
    }
}

static bool add_row(struct making *m, const struct step *s, bool uneven)
{
    struct plan *plan = m->plan;
    struct plan_row *grown = realloc(plan->rows, (plan->n_rows + 1) * sizeof *grown);
    if (!grown)
        return false;
    plan->rows = grown;
    struct plan_row *row = &plan->rows[plan->n_rows];
    const struct plan_layout *l = s->layout[uneven];
    *row = (struct plan_row){.changes = l->changes, .uneven = uneven, .wrong = l->wrong};
    row->vips = calloc(m->p->n_units + 1, sizeof *row->vips);
    row->layout = plan_layout_copy(l);
    plan->n_rows++;
    if (!row->vips || !row->layout)
        return false;
    row->max_load = plan_layout_max(l);
    row->bound = s->bound;
    row->max_host = s->key[uneven]->n_hosts ? s->key[uneven]->hosts[0] : 1;
    row->vms = plan_layout_vms(l);
    give_vips(l, row->vips);
    for (size_t u = 0; u < m->p->n_units; u++) {
        const struct plan_unit *unit = &m->p->units[u];
        bool stays = row->vips[u] == PLAN_AS_TODAY || (!unit->mixed && row->vips[u] == unit->today);
        if (unit->mounted && !stays && unit->cost > row->cost)
            row->cost = unit->cost;
    }
    return true;
}

/* Whether `s` is worth a row of its own after the last one. */
static bool gains(const struct step *s, const struct plan_row *last, bool at_the_end)
{
    int loads = plan_compare_real(s->key[0]->n_loads ? s->key[0]->loads[0] : 0, last->max_load);
    if (s->layout[0]->wrong != last->wrong)
        return s->layout[0]->wrong < last->wrong;
    return loads < 0 || (at_the_end && loads == 0 && s->key[0]->n_hosts &&
                         plan_compare_real(s->key[0]->hosts[0], last->max_host) < 0);
}

static bool add_rows(struct making *m)
{
    const struct step *last = &m->steps[m->n_steps - 1];
    double least = plan_layout_max(last->layout[0]);
    m->plan->optimum = last->bound;
    for (size_t i = 0; i < m->n_steps; i++) {
        const struct step *s = &m->steps[i];
        const struct plan_row *even = m->plan->n_rows ? &m->plan->rows[m->plan->best] : NULL;
        bool at_the_end = even && even->wrong == 0 && plan_compare_real(even->max_load, least) <= 0;
        if (even && !gains(s, even, at_the_end))
            continue;
        m->plan->best = m->plan->n_rows;
        if (!add_row(m, s, false))
            return false;
        even = &m->plan->rows[m->plan->best];
        if (i > 0 && s->layout[1]->wrong == 0 && s->layout[1]->changes > 0 && s->key[1]->n_hosts &&
            plan_compare_real(s->key[1]->hosts[0], even->max_host) < 0 &&
            plan_compare_real(plan_layout_max(s->layout[1]), even->max_load) > 0 && !add_row(m, s, true))
            return false;
    }
    return true;
}

static void choose(struct plan *plan, const struct plan_options *o)
{
    plan->chosen = 0;
    if (o->best) {
        plan->chosen = plan->best;
        return;
    }
    for (size_t i = 1; i < plan->n_rows; i++) {
        const struct plan_row *row = &plan->rows[i], *now = &plan->rows[plan->chosen];
        if (row->uneven)
            continue;
        double more = (double)(row->changes - now->changes),
               gain = now->max_load > 0 ? 1 - row->max_load / now->max_load : 0;
        if (o->max_changes > 0 ? row->changes <= o->max_changes : o->worth > 0 && gain >= o->worth * more - 1e-12)
            plan->chosen = i;
    }
}

static bool make_steps(struct making *m)
{
    const struct plan_problem *p = m->p;
    struct plan_layout *today = plan_layout_new(p);
    double count = plan_search_count(p, ALL_LAYOUTS);
    bool ok = today != NULL;
    if (ok) {
        plan_layout_today(today);
        m->plan->looked_at_all = count < ALL_LAYOUTS && count * (double)p->n_resources < ALL_WORK;
        ok = m->plan->looked_at_all ? look_at_all(m) : search_all_steps(m, today);
    }
    plan_layout_free(today);
    return ok;
}

struct plan *plan_make(const struct topo *t, const struct plan_options *options, char *problem, size_t size)
{
    struct plan_problem *p = plan_problem_new(t, options, problem, size);
    struct plan *plan = p ? calloc(1, sizeof *plan) : NULL;
    struct making m = {.plan = plan, .p = p, .asked = options->max_changes};
    bool ok = false;
    if (!p)
        return NULL;
    if (plan) {
        *plan = (struct plan){.t = t, .problem = p, .units = p->units, .n_units = p->n_units};
        for (size_t u = 0; u < p->n_units; u++)
            m.movable += p->units[u].mounted;
        m.small = p->n_units <= SMALL_UNITS;
        m.few = p->n_options <= FEW_OPTIONS;
        m.key = plan_key_new(p);
        ok = m.key && make_steps(&m) && add_rows(&m);
    }
    if (!ok)
        snprintf(problem, size, "out of memory");
    if (ok && plan->rows[plan->best].wrong > 0) {
        plan_conflict(p, problem, size);
        ok = false;
    }
    for (size_t i = 0; i < m.n_steps; i++)
        for (int order = 0; order < 2; order++) {
            plan_layout_free(m.steps[i].layout[order]);
            plan_key_free(m.steps[i].key[order]);
        }
    free(m.steps);
    plan_key_free(m.key);
    plan_layout_free(m.best);
    if (ok) {
        choose(plan, options);
        return plan;
    }
    if (plan)
        plan_free(plan);
    else
        plan_problem_free(p);
    return NULL;
}

void plan_free(struct plan *p)
{
    if (!p)
        return;
    for (size_t i = 0; i < p->n_rows; i++) {
        free(p->rows[i].vips);
        plan_layout_free(p->rows[i].layout);
    }
    free(p->rows);
    plan_problem_free(p->problem);
    free(p);
}

int plan_vip(const struct plan *p, const struct plan_row *row, size_t unit, int host)
{
    return row->vips[unit] == PLAN_AS_TODAY ? plan_vip_today(p->t, &p->units[unit], host) : row->vips[unit];
}

/* ---- assignments ---- */

static const struct topo_mount *mount_of(const struct topo *t, const struct topo_datastore *ds, int host)
{
    for (int m = ds->first_mount; m < ds->first_mount + ds->n_mounts; m++)
        if (t->mounts[m].host == host)
            return &t->mounts[m];
    return NULL;
}

/* Whether a server string is an address, perhaps with a path behind it. */
static bool is_address(const char *server)
{
    struct topo_addr a;
    char host[256];
    const char *colon = strstr(server, ":/");
    size_t n = colon ? (size_t)(colon - server) : strlen(server);
    if (n >= sizeof host)
        return false;
    memcpy(host, server, n);
    host[n] = '\0';
    return topo_addr_parse(&a, host);
}

static const char *server_of(const struct topo *t, const struct plan_unit *u, bool stays, int host, int vip)
{
    const struct topo_datastore *ds = &t->datastores[u->datastore];
    const struct topo_mount *m = mount_of(t, ds, host);
    if (m && stays)
        return m->server;
    if (ds->server && (!m || u->cost == PLAN_ROLLING))
        return ds->server;
    /* One string for all hosts: the first mount says whether by name. */
    const struct topo_mount *first = ds->n_mounts ? &t->mounts[ds->first_mount] : NULL;
    return first && !is_address(first->server) && t->vips[vip].name ? t->vips[vip].name : t->vips[vip].text;
}

long plan_assignments(const struct plan *p, const struct plan_row *row, struct topo_assignment **all)
{
    const struct topo *t = p->t;
    size_t n = 0;
    for (size_t u = 0; u < p->n_units; u++) {
        size_t hosts;
        plan_unit_hosts(p->problem, &p->units[u], &hosts);
        n += hosts;
    }
    *all = calloc(n + 1, sizeof **all);
    if (!*all)
        return -ENOMEM;
    n = 0;
    for (size_t u = 0; u < p->n_units; u++) {
        const struct plan_unit *unit = &p->units[u];
        size_t n_hosts;
        const int *hosts = plan_unit_hosts(p->problem, unit, &n_hosts);
        bool stays = row->vips[u] == PLAN_AS_TODAY || (unit->mounted && !unit->mixed && row->vips[u] == unit->today);
        for (size_t h = 0; h < n_hosts; h++) {
            int vip = plan_vip(p, row, u, hosts[h]);
            if (vip < 0)
                continue;
            (*all)[n++] = (struct topo_assignment){
                .datastore = t->datastores[unit->datastore].name,
                .host = t->boxes[hosts[h]].name,
                .server = server_of(t, unit, stays, hosts[h], vip),
                .vip = t->vips[vip].text,
            };
        }
    }
    return (long)n;
}
