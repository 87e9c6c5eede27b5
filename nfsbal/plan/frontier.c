/* Theory of operation
 *
 * A state is the site with a set of changes besides VIPs, and the plan of its VIPs. The first has none. From a state and one row of
 * its plan, changes are taken one after the other, each time the one that lowers plan_potential() most for its number, as long as
 * one does; after each there is a new state. So chains grow from today's layout and from each layout of the first plan, once with
 * what stops nothing and once with all that is allowed. Every row of every state's plan is a candidate for the frontier, which keeps
 * what nothing as cheap (in class and in number) is as good as. In this way "two addresses", "six datastores" and "one address and
 * two datastores" are held against each other.
 *
 * Addresses are judged by plan_suggest_vmk(), a vector for each host and address. Every other change is made on the file's tree and
 * read anew: a VIP on another controller, its owner's volumes with it, a volume and a VIP for it there, another hash.
 */
#include "nfsbal/plan/frontier.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "emu/model/topology_file.h"
#include "nfsbal/plan/frontier_private.h"
#include "nfsbal/plan/layout.h"
#include "nfsbal/plan/names.h"
#include "nfsbal/plan/problem.h"
#include "nfsbal/plan/suggest_bind.h"
#include "nfsbal/plan/suggest_vmk.h"

enum {
    STATES_MAX = 40,
    STATES_MANY = 10, /* of one with more classes than MANY_CLASSES */
    MANY_CLASSES = 16,
    CANDIDATES_MANY = 24,
    STATES_LARGE = 6,      /* of a site with more options than PAIRS_LARGE */
    CHAIN_MAX = 12,        /* changes after one layout */
    MOUNTS_LARGE = 4000,   /* more: controllers, volumes and hashes are left alone */
    ADDRESS_WORK = 120000, /* hosts times VIPs times addresses */
    ADDRESSES_MAX = 250,
};
#define GAIN (1 - 1e-6) /* a change that gains less is none */

/* ---- loads ---- */

/* Seconds per byte on each link direction, writes and reads in turn, with these VIPs. calloc()ed. */
static double *loads_of(const struct plan_problem *p, const int *vips)
{
    double *loads = calloc(4 * p->t->n_links + 1, sizeof *loads);
    for (size_t u = 0; loads && u < p->n_units; u++) {
        const struct topo_datastore *ds = &p->t->datastores[p->units[u].datastore];
        size_t n;
        const int *hosts = plan_unit_hosts(p, &p->units[u], &n);
        for (size_t h = 0; h < n; h++) {
            int vip = vips[u] == PLAN_AS_TODAY ? plan_vip_today(p->t, &p->units[u], hosts[h]) : vips[u];
            if (vip < 0)
                continue;
            const struct plan_pair *pair = &p->pairs[plan_pair_of(p, p->units[u].datastore, hosts[h], vip)];
            for (size_t i = 0; pair->works && i < pair->n_uses; i++) {
                const struct plan_resource *r = &p->resources[pair->uses[i].resource];
                loads[2 * r->linkdir + (int)r->direction] +=
                    pair->uses[i].load * (r->direction == FLOW_WRITE ? ds->weight_write : ds->weight_read);
            }
        }
    }
    return loads;
}

/* Choices of links that are known, over all ways of the site. */
static size_t known_choices(const struct plan_problem *p)
{
    size_t n = 0;
    for (size_t i = 0; i < p->n_hosts * p->t->n_vips; i++)
        n += p->pairs[i].works ? p->pairs[i].n_choices : 0;
    return n;
}

static double fullest(const double *loads, size_t n)
{
    double max = 0;
    for (size_t i = 0; i < n; i++)
        max = fmax(max, loads[i]);
    return max;
}

/* ---- states ---- */

static bool same_words(const struct topo_change *a, const struct topo_change *b)
{
    for (size_t i = 0; i < TOPO_CHANGE_WORDS; i++)
        if (!a->words[i] != !b->words[i] || (a->words[i] && strcmp(a->words[i], b->words[i]) != 0))
            return false;
    return true;
}

/* The changes of a state with more; one that has the target of an older takes its place. */
static struct plan_change *join(struct making *m, const struct state *s, const struct plan_change *more, size_t n_more,
                                size_t *n)
{
    struct plan_change *all = arena_alloc(m->arena, (s->n_changes + n_more + 1) * sizeof *all);
    *n = s->n_changes;
    if (s->n_changes)
        memcpy(all, s->changes, s->n_changes * sizeof *all);
    for (size_t i = 0; i < n_more; i++) {
        size_t at = 0;
        while (at < *n && !plan_same_target(&all[at], &more[i]))
            at++;
        const char *from = at < *n ? all[at].from : more[i].from;
        all[at] = more[i];
        all[at].from = from;
        *n += at == *n;
    }
    return all;
}

/* The site with these changes; NULL when one can't be made. */
static struct topo *changed_site(const struct making *m, const struct plan_change *changes, size_t n)
{
    struct topo_change *words = calloc(n + 1, sizeof *words);
    struct diag unheard;
    struct topo *t = NULL;
    diag_init(&unheard, m->f->t->file);
    for (size_t i = 0; words && i < n; i++)
        words[i] = changes[i].words;
    if (words)
        t = topo_load_changed(m->file, m->f->t->case_name, words, n, NULL, 0, &unheard);
    if (t && diag_count(&unheard, DIAG_ERROR) > 0) {
        topo_free(t);
        t = NULL;
    }
    diag_free(&unheard);
    free(words);
    return t;
}

static struct state *find_state(const struct making *m, const struct plan_change *changes, size_t n)
{
    for (size_t s = 0; s < m->n_states; s++) {
        size_t same = 0;
        for (size_t i = 0; i < n && m->states[s].n_changes == n; i++)
            for (size_t k = 0; k < n; k++)
                same += same_words(&changes[i].words, &m->states[s].changes[k].words);
        if (m->states[s].n_changes == n && same == n)
            return &m->states[s];
    }
    return NULL;
}

/* Plans of a state's VIPs: with all that may change, and with what is milder than an outage where both kinds are there. */
static bool make_plans(struct making *m, struct state *s, char *problem, size_t size)
{
    struct plan_options options = m->options;
    enum plan_cost most = plan_vips_allowed(m) ? m->levers->most : PLAN_NOTHING_STOPS;
    bool mild = false, hard = false;
    if (most < PLAN_OUTAGE)
        options.frozen = most + 1;
    options.before = s->own ? m->f->t : NULL;
    s->plans[0] = plan_make(s->t, &options, problem, size);
    for (size_t u = 0; s->plans[0] && u < s->plans[0]->n_units; u++) {
        const struct plan_unit *unit = &s->plans[0]->units[u];
        mild |= unit->mounted && unit->cost < most;
        hard |= unit->mounted && unit->cost == most;
    }
    options.frozen = most;
    if (mild && hard && most > PLAN_NOTHING_STOPS)
        s->plans[1] = plan_make(s->t, &options, problem, size);
    return s->plans[0] != NULL;
}

/* The state with these changes, a new one if there is room for it and its VIPs can be planned. It takes over `t`. */
static struct state *add_state(struct making *m, struct topo *t, struct plan_change *changes, size_t n)
{
    char problem[256];
    struct state *there = t ? find_state(m, changes, n) : NULL;
    if (m->n_states >= m->most_states || !t || there) {
        topo_free(t);
        return there;
    }
    struct state *s = &m->states[m->n_states];
    *s = (struct state){.own = t, .t = t, .changes = changes, .n_changes = n};
    if (!make_plans(m, s, problem, sizeof problem)) {
        topo_free(t);
        return NULL;
    }
    m->n_states++;
    return s;
}

void plan_add_state(struct making *m, struct plan_change *changes, size_t n)
{
    size_t before = m->n_states;
    struct state *s = add_state(m, changed_site(m, changes, n), changes, n);
    if (!s || m->n_states == before || known_choices(s->plans[0]->problem) >= known_choices(m->f->plan->problem))
        return;
    plan_free(s->plans[0]);
    plan_free(s->plans[1]);
    topo_free(s->own);
    m->n_states--;
}

/* ---- what a step is worth ---- */

static bool is_better(const struct candidate *a, const struct candidate *b)
{
    return log(a->gain) / (double)(a->n + (a->vip >= 0)) <
           log(b->gain) / (double)(b->n + (b->vip >= 0)) * (1 + 1e-9) - 1e-12;
}

/* What each is worth after these VIPs; the best is returned with its site, or NULL. */
static const struct candidate *judge(struct making *m, const struct state *s, const int *vips, struct list *list,
                                     struct topo **site)
{
    const struct plan_problem *p = s->plans[0]->problem;
    double *now = loads_of(p, vips), before, scale;
    const struct candidate *best = NULL;
    int *then_vips = malloc((p->n_units + 1) * sizeof *then_vips);
    char problem[256];
    *site = NULL;
    if (!now || !then_vips) {
        free(now);
        free(then_vips);
        return NULL;
    }
    scale = 1 / fmax(fullest(now, 4 * s->t->n_links), 1e-300);
    before = plan_potential(p, now, scale);
    for (size_t i = 0; i < list->n; i++) {
        struct candidate *c = &list->all[i];
        size_t n;
        struct plan_change *all = join(m, s, c->changes, c->n, &n);
        struct topo *t = changed_site(m, all, n);
        struct plan_problem *then = t ? plan_problem_new(t, &m->options, problem, sizeof problem) : NULL;
        memcpy(then_vips, vips, p->n_units * sizeof *then_vips);
        if (c->unit >= 0)
            then_vips[c->unit] = c->vip;
        /* What is not known counts as even: a change that makes less known would always look good. */
        double *loads = then && known_choices(then) >= known_choices(p) ? loads_of(then, then_vips) : NULL;
        c->gain = loads ? plan_potential(then, loads, scale) / before : 1;
        free(loads);
        plan_problem_free(then);
        if (c->gain < GAIN && (!best || is_better(c, best))) {
            topo_free(*site);
            *site = t;
            best = c;
        } else {
            topo_free(t);
        }
    }
    free(now);
    free(then_vips);
    return best;
}

/* ---- chains ---- */

/* Addresses alone: the whole chain at once. */
static void take_addresses(struct making *m, const struct state *s, const struct plan_readdressed *all, size_t n)
{
    struct state from = *s;
    for (size_t i = 0; i < n && i < CHAIN_MAX; i++) {
        struct plan_change change = plan_address_change(m, s->t, all[i].iface, &all[i].addr);
        from.changes = join(m, &from, &change, 1, &from.n_changes);
        add_state(m, changed_site(m, from.changes, from.n_changes), from.changes, from.n_changes);
    }
}

static struct plan_change binding_change(struct making *m, const struct topo *t, const struct plan_problem *p,
                                         const int *vips, const struct plan_binding *b)
{
    int from = -1;
    for (size_t u = 0; u < p->n_units; u++) {
        bool its = p->units[u].datastore == b->datastore && (p->units[u].host < 0 || p->units[u].host == b->host);
        int vip = its && vips[u] == PLAN_AS_TODAY ? plan_vip_today(t, &p->units[u], b->host) : vips[u];
        if (its && vip >= 0)
            from = plan_iface_of(p, b->datastore, b->host, vip);
    }
    return plan_binding_change(m, t, b->datastore, b->host, b->iface, from);
}

/* A whole chain of bindings, with a state wherever the fullest link or the least even host gets better; the last state. */
static const struct state *take_bindings(struct making *m, const struct state *s, const int *vips,
                                         const struct plan_binding *all, size_t n)
{
    struct state from = *s;
    const struct state *last = NULL;
    double load = (double)INFINITY, host = (double)INFINITY;
    for (size_t i = 0; i < n; i++) {
        struct plan_change change = binding_change(m, s->t, s->plans[0]->problem, vips, &all[i]);
        bool better = i + 1 == n || (plan_compare_real(all[i + 1].max_load, all[i].max_load) >= 0 &&
                                     plan_compare_real(all[i + 1].max_host, all[i].max_host) >= 0);
        from.changes = join(m, &from, &change, 1, &from.n_changes);
        better &=
            i + 1 == n || plan_compare_real(all[i].max_load, load) < 0 || plan_compare_real(all[i].max_host, host) < 0;
        if (!better)
            continue;
        load = all[i].max_load;
        host = all[i].max_host;
        last = add_state(m, changed_site(m, from.changes, from.n_changes), from.changes, from.n_changes);
    }
    return last;
}

/* One chain of changes after these VIPs, each no worse than `most`. */
static void extend(struct making *m, size_t from, const int *vips_of_row, enum plan_cost most)
{
    struct state s = m->states[from];
    size_t n_units = s.plans[0]->n_units;
    int *vips = malloc((n_units + 1) * sizeof *vips);
    struct list *list = malloc(sizeof *list);
    if (vips && list)
        memcpy(vips, vips_of_row, n_units * sizeof *vips);
    for (size_t step = 0; vips && list && step < CHAIN_MAX; step++) {
        struct plan_readdressed before, *addresses = NULL;
        struct plan_row row = {.vips = vips};
        struct topo *site;
        struct plan_binding *bindings = NULL;
        long n_addresses = 0, n_bindings = 0;
        list->n = 0;
        list->most = m->most_candidates;
        if (plan_lever_allowed(m, PLAN_LEVER_VMK_ADDRESS) && most >= PLAN_ROLLING)
            n_addresses = plan_suggest_vmk(s.plans[0], &row, m->from, m->n_from, m->levers->taken, m->levers->n_taken,
                                           &before, &addresses);
        if (plan_lever_allowed(m, PLAN_LEVER_VMK_BINDING) && most >= PLAN_ROLLING)
            n_bindings = plan_suggest_bindings(s.plans[0], vips, &bindings);
        if (!m->f->levers_left_out && plan_lever_allowed(m, PLAN_LEVER_LIF_HOME))
            plan_home_candidates(m, &s, vips, plan_lever_allowed(m, PLAN_LEVER_VOLUME_OWNER), list);
        if (!m->f->levers_left_out && plan_lever_allowed(m, PLAN_LEVER_VOLUME_OWNER))
            plan_owner_candidates(m, &s, vips, list);
        if (!m->f->levers_left_out && plan_lever_allowed(m, PLAN_LEVER_SWITCH_HASH) && most >= PLAN_ROLLING)
            plan_hash_candidates(m, &s, list);
        const struct candidate *best = judge(m, &s, vips, list, &site);
        struct candidate address = {.n = 1, .vip = -1, .gain = n_addresses > 0 ? addresses[0].gain : 1};
        struct candidate binding = {.n = 1, .vip = -1, .gain = n_bindings > 0 ? bindings[0].gain : 1};
        bool by_address = n_addresses > 0 && (!best || is_better(&address, best)),
             by_binding =
                 n_bindings > 0 && !(by_address ? is_better(&address, &binding) : best && is_better(best, &binding));
        const struct state *next = NULL;
        if (by_binding) {
            next = take_bindings(m, &s, vips, bindings, (size_t)n_bindings);
        } else if (by_address && !best && n_bindings <= 0) {
            take_addresses(m, &s, addresses, (size_t)n_addresses);
        } else if (by_address) {
            struct plan_change change = plan_address_change(m, s.t, addresses[0].iface, &addresses[0].addr);
            size_t n;
            struct plan_change *all = join(m, &s, &change, 1, &n);
            next = add_state(m, changed_site(m, all, n), all, n);
        } else if (best) {
            size_t n;
            struct plan_change *all = join(m, &s, best->changes, best->n, &n);
            next = add_state(m, site, all, n);
            site = NULL;
            if (best->unit >= 0)
                vips[best->unit] = best->vip;
        }
        topo_free(site);
        free(addresses);
        free(bindings);
        if (!next)
            break;
        s = *next;
    }
    free(vips);
    free(list);
}

/* VIPs that serve nothing might serve another controller's volumes. */
static void move_idle_vips(struct making *m)
{
    const struct state *first = &m->states[0];
    const struct topo *t = first->t;
    for (size_t v = 0; v < t->n_vips; v++) {
        const struct topo_node *node = &t->nodes[t->vips[v].node];
        bool idle = t->vips[v].up;
        for (size_t i = 0; i < t->n_mounts; i++)
            idle &= t->mounts[i].vip != (int)v;
        for (int b = node->first_box; idle && b < node->first_box + node->n_boxes; b++) {
            bool owns = false;
            for (size_t e = 0; e < t->n_exports; e++)
                owns |= t->exports[e].owner == b && t->exports[e].svm == t->vips[v].svm;
            if (!owns || b == t->vips[v].home)
                continue;
            struct plan_change *change = arena_alloc(m->arena, sizeof *change);
            *change = plan_home_change(m, t, v, b);
            add_state(m, changed_site(m, change, 1), change, 1);
        }
    }
}

static void explore(struct making *m)
{
    const struct plan *plan = m->states[0].plans[0];
    if (plan->n_rows == 0 || plan_all_states(m))
        return;
    extend(m, 0, plan->rows[0].vips, PLAN_NOTHING_STOPS);
    bool many = plan->problem->n_classes > MANY_CLASSES;
    for (size_t r = 0; r < plan->n_rows; r++)
        if (!plan->rows[r].uneven && plan->rows[r].wrong == 0 &&
            (!many || r == 0 || r == plan->best || r == plan->best / 2))
            extend(m, 0, plan->rows[r].vips, m->levers->most);
    if (plan_lever_allowed(m, PLAN_LEVER_LIF_HOME) && plan_vips_allowed(m) && !m->f->levers_left_out)
        move_idle_vips(m);
}

/* ---- addresses to choose from ---- */

static bool is_given(const struct topo_addr *all, size_t n, const struct topo_addr *a)
{
    for (size_t i = 0; i < n; i++)
        if (topo_addr_equal(&all[i], a))
            return true;
    return false;
}

/* Without --from: the addresses after the hosts' own, up to the end of their subnet, then those before. plan_suggest_vmk() leaves
 * out what is taken. */
static void find_addresses(struct making *m)
{
    const struct topo *t = m->f->t;
    const struct plan_problem *p = m->f->plan->problem;
    size_t work = p->n_hosts * t->n_vips, limit = ADDRESS_WORK / (work ? work : 1);
    limit = limit < ADDRESSES_MAX ? limit : ADDRESSES_MAX;
    m->from = m->levers->from;
    m->n_from = m->levers->n_from;
    if (m->n_from || !plan_lever_allowed(m, PLAN_LEVER_VMK_ADDRESS))
        return;
    struct topo_addr *all = arena_alloc(m->arena, (limit + 1) * sizeof *all);
    for (uint32_t away = 1; away <= 2 * ADDRESSES_MAX && m->n_from < limit; away++)
        for (size_t h = 0; h < p->n_hosts * t->n_vips && m->n_from < limit; h++) {
            const struct plan_pair *pair = &p->pairs[h];
            const struct topo_addr *own = pair->works ? &t->ifaces[pair->mount->iface].addr : NULL;
            struct topo_addr a = own ? *own : (struct topo_addr){0};
            if (a.version != 4)
                continue;
            uint32_t value =
                (uint32_t)a.bytes[0] << 24 | (uint32_t)a.bytes[1] << 16 | (uint32_t)a.bytes[2] << 8 | a.bytes[3];
            value = away & 1 ? value + away / 2 + 1 : value - away / 2;
            for (unsigned i = 0; i < 4; i++)
                a.bytes[i] = (uint8_t)(value >> (24 - 8 * i));
            if (topo_addr_same_subnet(own, &a, own->prefix) && !is_given(all, m->n_from, &a))
                all[m->n_from++] = a;
        }
    m->from = all;
}

/* ---- rows ---- */

static const bool *find_movable(struct making *m)
{
    size_t n = 4 * m->f->t->n_links;
    bool *movable = arena_alloc(m->arena, n + 1);
    const struct plan *first = m->states[0].plans[0];
    double *before = first->n_rows ? loads_of(first->problem, first->rows[0].vips) : NULL;
    for (size_t s = 0; s < m->n_states; s++) {
        const struct plan *plan = m->states[s].plans[0];
        /* What its VIPs don't move is the same in all of its layouts that may be. */
        double *then = before ? loads_of(plan->problem, plan->rows[plan->best].vips) : NULL;
        for (size_t i = 0; then && i < n; i++)
            movable[i] |= plan_compare_real(before[i], then[i]) != 0;
        for (size_t r = 0; r < plan->problem->n_resources; r++)
            if (plan->problem->resources[r].movable)
                movable[2 * plan->problem->resources[r].linkdir + (int)plan->problem->resources[r].direction] = true;
        free(then);
    }
    free(before);
    return movable;
}

/* Flows on a link direction under a row's layout. */
static double flows_on(const struct plan_row *row, int place)
{
    const struct plan_problem *p = row->layout->p;
    for (size_t r = 0; r < p->n_resources; r++)
        if (2 * p->resources[r].linkdir + (int)p->resources[r].direction == place)
            return plan_layout_flows(row->layout, (int)r);
    return 0;
}

static struct plan_frontier_row make_row(struct making *m, const struct state *s, const struct plan *plan,
                                         const struct plan_row *row, const bool *movable)
{
    struct plan_frontier_row r = {.plan = plan,
                                  .row = row,
                                  .changes = s->changes,
                                  .n_changes = s->n_changes,
                                  .total = s->n_changes + row->changes,
                                  .cost = row->cost,
                                  .vms = row->vms,
                                  .max_host = row->max_host,
                                  .uneven = row->uneven};
    double *loads = loads_of(plan->problem, row->vips);
    int where = -1;
    m->failed |= !loads;
    for (size_t i = 0; i < s->n_changes; i++) {
        enum plan_cost cost = plan_lever_cost(s->changes[i].lever);
        r.cost = cost > r.cost ? cost : r.cost;
    }
    for (size_t i = 0; loads && i < plan->problem->n_resources; i++) {
        const struct plan_resource *its = &plan->problem->resources[i];
        int place = 2 * its->linkdir + (int)its->direction;
        if (movable[place] && (where < 0 || plan_compare_real(loads[place], loads[where]) > 0))
            where = place;
    }
    if (where >= 0) {
        r.max_load = loads[where];
        r.fullest_linkdir = where / 2;
        r.fullest_direction = where % 2;
        r.fullest_flows = flows_on(row, where);
    } else {
        r.fullest_linkdir = -1;
    }
    free(loads);
    return r;
}

/* By total, class, then what is better. */
static int in_order(const void *a_, const void *b_)
{
    const struct plan_frontier_row *a = a_, *b = b_;
    if (a->total != b->total)
        return a->total < b->total ? -1 : 1;
    if (a->cost != b->cost)
        return a->cost < b->cost ? -1 : 1;
    if (a->uneven != b->uneven)
        return a->uneven ? 1 : -1;
    int order = plan_compare_real(a->max_load, b->max_load);
    if (!order)
        order = plan_compare_real(a->max_host, b->max_host);
    return order ? order : a->n_changes < b->n_changes ? -1 : a->n_changes > b->n_changes;
}

/* As cheap and as good. `last`: nothing is faster, so that evenness decides. */
static bool beats(const struct plan_frontier_row *a, const struct plan_frontier_row *b, double least)
{
    int load = plan_compare_real(a->max_load, b->max_load), host = plan_compare_real(a->max_host, b->max_host);
    if (a->cost > b->cost || a->total > b->total || load > 0 || (a->uneven && !b->uneven))
        return false;
    /* What VIPs alone can do is shown beside what saves VMs by other means. */
    if (a->uneven)
        return host < 0 || (host == 0 && a->vms <= b->vms && (b->n_changes > 0 || a->total < b->total || load < 0)) ||
               (host == 0 && load == 0 && a->plan == b->plan && a->vms == b->vms);
    if (b->uneven)
        return host <= 0;
    return load < 0 || plan_compare_real(b->max_load, least) > 0 || host <= 0;
}

static void add_other(struct making *m, struct plan_frontier_row *kept, const struct plan_frontier_row *r)
{
    struct plan_other *grown;
    for (size_t i = 0; i < kept->n_others; i++)
        if (kept->others[i].cost == r->cost)
            return;
    grown = arena_alloc(m->arena, (kept->n_others + 1) * sizeof *grown);
    if (kept->n_others)
        memcpy(grown, kept->others, kept->n_others * sizeof *grown);
    grown[kept->n_others] = (struct plan_other){r->cost, r->total, r->vms};
    kept->others = grown;
    kept->n_others++;
}

/* Today's row, then what nothing cheaper is as good as. */
static void keep_rows(struct making *m, struct plan_frontier_row *all, size_t n)
{
    struct plan_frontier *f = m->f;
    double least = (double)INFINITY;
    size_t first = 0;
    if (!all) /* every plan has a row */
        return;
    f->rows = arena_alloc(m->arena, (n + 1) * sizeof *f->rows);
    for (size_t i = 0; i < n; i++)
        if (all[i].row->wrong == 0)
            least = fmin(least, all[i].max_load);
    for (size_t i = 0; i < n; i++)
        if (all[i].plan == f->plan && all[i].row == &f->plan->rows[0])
            first = i;
    f->rows[f->n_rows++] = all[first];
    if (n > 1)
        qsort(all, n, sizeof *all, in_order);
    for (size_t i = 0; i < n; i++) {
        bool beaten = all[i].row->wrong > 0 || (all[i].plan == f->rows[0].plan && all[i].row == f->rows[0].row);
        for (size_t k = 0; k < f->n_rows && !beaten; k++)
            if (f->rows[k].row->wrong == 0 && beats(&f->rows[k], &all[i], least)) {
                beaten = true;
                if (k > 0 && plan_compare_real(f->rows[k].max_load, all[i].max_load) == 0 &&
                    f->rows[k].cost < all[i].cost && !all[i].uneven)
                    add_other(m, &f->rows[k], &all[i]);
            }
        if (!beaten)
            f->rows[f->n_rows++] = all[i];
    }
    /* An uneven row has its even sister, or none is worth it. */
    size_t kept = 0;
    for (size_t i = 0; i < f->n_rows; i++) {
        bool sister = !f->rows[i].uneven;
        for (size_t k = 0; k < kept && !sister; k++)
            sister = !f->rows[k].uneven && f->rows[k].total == f->rows[i].total;
        for (size_t k = i + 1; k < f->n_rows && sister && f->rows[i].uneven; k++)
            sister = !(f->rows[k].uneven && f->rows[k].vms < f->rows[i].vms && beats(&f->rows[k], &f->rows[i], least));
        if (sister)
            f->rows[kept++] = f->rows[i];
    }
    f->n_rows = kept;
}

/* The least of any state, where all are there: that of its VIPs, or of the links that these can't move. Else what no change can
 * get below. */
static void know_bound(struct making *m, const struct plan_frontier_row *all, size_t n, const bool *movable)
{
    struct plan_frontier *f = m->f;
    double least = (double)INFINITY;
    f->proven = f->n_settings > 0;
    for (size_t s = 0; s < m->n_states; s++) {
        const struct plan *plan = m->states[s].plans[0];
        f->proven &= plan->looked_at_all;
        for (size_t r = 0; r < n; r++)
            if (all[r].plan == plan && all[r].row == &plan->rows[plan->best])
                least = fmin(least, plan_compare_real(all[r].max_load, all[r].row->max_load) > 0 ? all[r].max_load
                                                                                                 : plan->optimum);
    }
    if (m->f->t->n_mounts <= MOUNTS_LARGE)
        f->bound = plan_levers_bound(m, movable);
    if (f->n_settings > 0 || m->n_states == 1)
        f->bound = fmax(f->bound, isfinite(least) ? least : 0);
}

static void make_rows(struct making *m)
{
    const bool *movable = find_movable(m);
    struct plan_frontier_row *all = NULL;
    size_t n = 0, capacity = 0;
    for (size_t s = 0; s < m->n_states; s++)
        for (int k = 0; k < 2; k++) {
            const struct plan *plan = m->states[s].plans[k];
            for (size_t r = 0; plan && r < plan->n_rows; r++) {
                all = arena_grow(m->arena, all, n, &capacity, sizeof *all);
                all[n++] = make_row(m, &m->states[s], plan, &plan->rows[r], movable);
            }
        }
    keep_rows(m, all, n);
    know_bound(m, all, n, movable);
}

static void choose(struct plan_frontier *f, const struct plan_options *o)
{
    for (size_t i = 0; i < f->n_rows; i++) {
        const struct plan_frontier_row *row = &f->rows[i], *best = &f->rows[f->best], *now = &f->rows[f->chosen];
        if (row->uneven || row->row->wrong > best->row->wrong)
            continue;
        int load = plan_compare_real(row->max_load, best->max_load),
            host = plan_compare_real(row->max_host, best->max_host);
        if (row->row->wrong < best->row->wrong || load < 0 || (load == 0 && host < 0) ||
            (load == 0 && host == 0 && row->cost < best->cost))
            f->best = i;
        if (o->max_changes > 0 && row->total <= o->max_changes &&
            (row->row->wrong < now->row->wrong || plan_compare_real(row->max_load, now->max_load) < 0 ||
             (plan_compare_real(row->max_load, now->max_load) == 0 &&
              (row->cost < now->cost || plan_compare_real(row->max_host, now->max_host) < 0))))
            f->chosen = i;
        double more = (double)row->total - (double)now->total,
               gain = now->max_load > 0 ? 1 - row->max_load / now->max_load : 0;
        if (o->worth > 0 && i > 0 && more > 0 && gain >= o->worth * more - 1e-12)
            f->chosen = i;
    }
    if (o->best)
        f->chosen = f->best;
}

/* ---- names ---- */

static bool moves(const struct plan_row *row, const struct plan_unit *u, size_t unit)
{
    return row->vips[unit] != PLAN_AS_TODAY && (!u->mounted || u->mixed || row->vips[unit] != u->today);
}

/* Each datastore that moves gets a name of its own, if it has none. */
static bool give_names(struct making *m, char *problem, size_t size)
{
    struct plan_frontier *f = m->f;
    const char *domain = m->levers->domain ? m->levers->domain : plan_names_domain(f->t);
    if (!domain) {
        snprintf(problem, size, "no VIP has a name whose domain the datastores' names could have: --domain DOMAIN");
        return false;
    }
    for (size_t r = 0; r < f->n_rows; r++) {
        struct plan_frontier_row *row = &f->rows[r];
        size_t n = row->n_changes, units = row->plan->n_units;
        struct plan_change *all = arena_alloc(m->arena, (n + units + 1) * sizeof *all);
        if (n)
            memcpy(all, row->changes, n * sizeof *all);
        for (size_t u = 0; u < units; u++) {
            const struct plan_unit *unit = &row->plan->units[u];
            const struct topo_datastore *ds = &f->t->datastores[unit->datastore];
            char label[PLAN_LABEL_MAX + 1];
            if (ds->server || unit->host >= 0 || !moves(row->row, unit, u))
                continue;
            plan_names_label(f->t, unit->datastore, label);
            all[n + row->n_names++] =
                (struct plan_change){.lever = PLAN_LEVER_NAMES,
                                     .words = {{"name", ds->name, arena_printf(m->arena, "%s.%s", label, domain)}}};
        }
        row->changes = all;
        row->n_changes = n + row->n_names;
    }
    return true;
}

/* ---- the whole ---- */

struct owned { /* what plan_frontier_free() needs */
    struct topo_arena *arena;
    struct state *states;
    size_t n_states;
};

struct plan_frontier *plan_frontier_make(const struct topo_file *f, const struct topo *t,
                                         const struct plan_options *options, const struct plan_lever_options *levers,
                                         char *problem, size_t size)
{
    struct topo_arena *arena = arena_new();
    struct plan_frontier *out = arena_alloc(arena, sizeof *out);
    struct owned *owned = arena_alloc(arena, sizeof *owned);
    struct making m = {.f = out, .file = f, .options = *options, .levers = levers, .arena = arena};
    m.states = arena_alloc(arena, (ALL_STATES + 1) * sizeof *m.states);
    m.states[0].t = t;
    m.n_states = 1;
    *out = (struct plan_frontier){.t = t, .memory = owned};
    m.options.copies = levers->most == PLAN_COPY;
    m.options.bindings = plan_lever_allowed(&m, PLAN_LEVER_VMK_BINDING);
    bool ok = make_plans(&m, &m.states[0], problem, size);
    if (ok) {
        const struct plan *plan = out->plan = m.states[0].plans[0];
        bool new_site = true;
        for (size_t u = 0; u < plan->n_units; u++)
            new_site &= !plan->units[u].mounted;
        out->levers_left_out = t->n_mounts > MOUNTS_LARGE && (levers->levers >> PLAN_LEVER_LIF_HOME & 1 ||
                                                              levers->levers >> PLAN_LEVER_VOLUME_OWNER & 1 ||
                                                              levers->levers >> PLAN_LEVER_SWITCH_HASH & 1);
        bool many = plan->problem->n_classes > MANY_CLASSES;
        m.most_states = t->n_mounts > MOUNTS_LARGE ? STATES_LARGE : many ? STATES_MANY : STATES_MAX;
        m.most_candidates = many ? CANDIDATES_MANY : CANDIDATES_MAX;
        find_addresses(&m);
        if (!new_site)
            explore(&m);
        make_rows(&m);
        choose(out, options);
        ok = !m.failed;
        if (m.failed)
            snprintf(problem, size, "out of memory");
        if (ok && levers->levers >> PLAN_LEVER_NAMES & 1)
            ok = give_names(&m, problem, size);
    }
    *owned = (struct owned){arena, m.states, m.n_states};
    if (ok)
        return out;
    plan_frontier_free(out);
    return NULL;
}

void plan_frontier_free(struct plan_frontier *f)
{
    if (!f)
        return;
    struct owned *owned = f->memory;
    for (size_t s = 0; s < owned->n_states; s++) {
        plan_free(owned->states[s].plans[0]);
        plan_free(owned->states[s].plans[1]);
        topo_free(owned->states[s].own);
    }
    arena_free(owned->arena);
}

long plan_frontier_assignments(const struct plan_frontier *f, const struct plan_frontier_row *row,
                               struct topo_assignment **all)
{
    long n = plan_assignments(row->plan, row->row, all);
    (void)f;
    for (long i = 0; i < n; i++)
        for (size_t c = row->n_changes - row->n_names; c < row->n_changes; c++)
            if (!strcmp((*all)[i].datastore, row->changes[c].words.words[1]))
                (*all)[i].server = row->changes[c].words.words[2];
    return n;
}

struct topo_change *plan_frontier_words(const struct plan_frontier_row *row)
{
    struct topo_change *words = calloc(row->n_changes + 1, sizeof *words);
    for (size_t i = 0; words && i < row->n_changes; i++)
        words[i] = row->changes[i].words;
    return words;
}
