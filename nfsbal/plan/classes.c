#define _GNU_SOURCE /* strverscmp */
#include "nfsbal/plan/classes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "emu/model/topology_arena.h"
#include "nfsbal/plan/problem.h"

/* A set of hosts, and of interfaces that mounts are bound to there, and its vectors, one per VIP, made when first asked for. */
struct host_set {
    const int *hosts;
    size_t n;
    int datastore; /* one of them: all have their mounts bound alike */
    const struct plan_vector **vectors;
};

struct grouping {
    struct plan_problem *p;
    struct host_set *sets;
    size_t n_sets;
    int *set_of;           /* per unit */
    int *vips;             /* by address */
    double *loads, *flows; /* per resource, all 0 between uses */
    int *touched;
};

/* The option's VIP on a host. */
static int vip_on(const struct plan_problem *p, const struct plan_class *c, size_t option, int host)
{
    int vip = c->options[option].vip;
    return vip != PLAN_AS_TODAY ? vip : plan_vip_today(p->t, &p->units[c->units[0]], host);
}

static const struct plan_pair *pair_of(const struct plan_problem *p, int datastore, int box, int vip)
{
    return &p->pairs[plan_pair_of(p, datastore, box, vip)];
}

static int by_number(const void *a, const void *b)
{
    const int *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

/* The sum over hosts, each by its VIP: `vip`, or today's of the unit. */
static const struct plan_vector *add_up(struct grouping *g, const struct host_set *set, int vip,
                                        const struct plan_unit *u)
{
    const int *hosts = set->hosts;
    size_t n = set->n;
    struct plan_problem *p = g->p;
    struct plan_vector *v = arena_alloc(p->arena, sizeof *v);
    size_t n_touched = 0;
    for (size_t i = 0; i < n; i++) {
        int its = vip != PLAN_AS_TODAY ? vip : plan_vip_today(p->t, u, hosts[i]);
        const struct plan_pair *pair = its >= 0 ? pair_of(p, set->datastore, hosts[i], its) : NULL;
        for (size_t k = 0; pair && pair->works && k < pair->n_uses; k++) {
            const struct plan_use *use = &pair->uses[k];
            if (!(g->loads[use->resource] > 0))
                g->touched[n_touched++] = use->resource;
            g->loads[use->resource] += use->load;
            g->flows[use->resource] += use->flows;
        }
    }
    qsort(g->touched, n_touched, sizeof *g->touched, by_number);
    v->uses = arena_alloc(p->arena, (n_touched + 1) * sizeof *v->uses);
    for (size_t i = 0; i < n_touched; i++) {
        int r = g->touched[i];
        v->uses[v->n++] = (struct plan_use){r, g->loads[r], g->flows[r]};
        g->loads[r] = g->flows[r] = 0;
    }
    return v;
}

static const struct plan_vector *vector_of(struct grouping *g, size_t unit, int vip)
{
    struct host_set *s = &g->sets[g->set_of[unit]];
    if (vip == PLAN_AS_TODAY)
        return add_up(g, s, vip, &g->p->units[unit]);
    if (!s->vectors[vip])
        s->vectors[vip] = add_up(g, s, vip, NULL);
    return s->vectors[vip];
}

static bool bound_alike(const struct topo *t, int a, int b, const int *hosts, size_t n)
{
    if (!t->datastores[a].bound && !t->datastores[b].bound)
        return true;
    for (size_t i = 0; i < n; i++)
        if (topo_bound_iface(t, a, hosts[i]) != topo_bound_iface(t, b, hosts[i]))
            return false;
    return true;
}

static void find_sets(struct grouping *g)
{
    struct plan_problem *p = g->p;
    for (size_t u = 0; u < p->n_units; u++) {
        size_t n, i = 0;
        const int *hosts = plan_unit_hosts(p, &p->units[u], &n);
        int datastore = p->units[u].datastore;
        while (i < g->n_sets &&
               (g->sets[i].n != n ||
                (g->sets[i].hosts != hosts && memcmp(g->sets[i].hosts, hosts, n * sizeof *hosts) != 0) ||
                !bound_alike(p->t, g->sets[i].datastore, datastore, hosts, n)))
            i++;
        if (i == g->n_sets)
            g->sets[g->n_sets++] = (struct host_set){
                hosts, n, datastore, arena_alloc(p->arena, (p->t->n_vips + 1) * sizeof *g->sets->vectors)};
        g->set_of[u] = (int)i;
    }
}

static bool works_today(const struct plan_problem *p, size_t unit)
{
    const struct plan_unit *u = &p->units[unit];
    size_t n;
    const int *hosts = plan_unit_hosts(p, u, &n);
    for (size_t i = 0; i < n; i++) {
        int vip = plan_vip_today(p->t, u, hosts[i]);
        if (vip < 0 || !pair_of(p, u->datastore, hosts[i], vip)->works)
            return false;
    }
    return true;
}

/* Why a VIP can't serve a unit, or NULL. */
static const char *objection(const struct plan_problem *p, const struct plan_unit *u, int vip)
{
    const struct topo *t = p->t;
    const struct topo_datastore *ds = &t->datastores[u->datastore];
    const struct topo_export *e = &t->exports[ds->export_];
    const struct topo_vip *v = &t->vips[vip];
    /* Where it is mounted by a name of its own, `vip:` says what that leads to today. */
    int must = ds->pin >= 0 ? ds->pin : u->cost == PLAN_ROLLING ? -1 : ds->wish;
    size_t n;
    const int *hosts = plan_unit_hosts(p, u, &n);
    if (v->node != e->node || v->svm != e->svm)
        return "does not serve this export";
    if (!v->up)
        return "is down";
    if (e->owner >= 0 && v->home != e->owner &&
        (!p->wanted.allow_indirect || t->nodes[e->node].indirect == TOPO_INDIRECT_IMPOSSIBLE))
        return "lives on another controller than the owner of the export";
    if (must >= 0 && vip != must)
        return ds->pin >= 0 ? "is not the one that `pin:` demands" : "is not the one that `vip:` demands";
    for (size_t i = 0; i < n; i++)
        if (!pair_of(p, u->datastore, hosts[i], vip)->works)
            return "can't be reached from every host";
    return NULL;
}

static void explain_none(const struct plan_problem *p, const struct plan_unit *u, char *problem, size_t size)
{
    const struct topo *t = p->t;
    const struct topo_export *e = &t->exports[t->datastores[u->datastore].export_];
    size_t at = 0;
    int n = snprintf(problem, size, "no VIP can serve datastore %s:", t->datastores[u->datastore].name);
    for (size_t v = 0; v < t->n_vips && n > 0; v++) {
        const char *why = objection(p, u, (int)v);
        if (!why || t->vips[v].node != e->node || t->vips[v].svm != e->svm)
            continue;
        at += (size_t)n;
        if (at >= size)
            return;
        n = snprintf(problem + at, size - at, "\n  %s %s", t->vips[v].text, why);
    }
}

static int by_address(const void *a, const void *b, void *context)
{
    const struct grouping *g = context;
    const struct topo *t = g->p->t;
    const struct topo_vip *x = &t->vips[*(const int *)a], *y = &t->vips[*(const int *)b];
    if (x->addr.version != y->addr.version)
        return x->addr.version < y->addr.version ? -1 : 1;
    int order = memcmp(x->addr.bytes, y->addr.bytes, sizeof x->addr.bytes);
    return order ? order : x < y ? -1 : x > y;
}

/* Changes besides VIPs have put what it is mounted from today on another controller than its volume. */
static bool newly_indirect(const struct plan_problem *p, const struct plan_unit *u)
{
    const struct topo *t = p->t, *before = p->wanted.before;
    int export_ = t->datastores[u->datastore].export_, owner = t->exports[export_].owner;
    if (!before || p->wanted.allow_indirect || owner < 0)
        return false;
    for (size_t i = 0; i < t->n_mounts; i++) {
        int vip = t->mounts[i].datastore == u->datastore ? t->mounts[i].vip : -1;
        if (vip >= 0 && (u->host < 0 || u->host == t->mounts[i].host) && t->vips[vip].home != owner &&
            before->vips[vip].home == before->exports[export_].owner)
            return true;
    }
    return false;
}

/* The options of a unit into `out`; today's place in *today. 0: none. */
static size_t options_of(struct grouping *g, size_t unit, struct plan_option *out, int *today)
{
    struct plan_problem *p = g->p;
    const struct plan_unit *u = &p->units[unit];
    const struct topo_datastore *ds = &p->t->datastores[u->datastore];
    size_t n = 0;
    bool frozen = p->wanted.frozen > PLAN_NOTHING_STOPS && u->mounted && u->cost >= p->wanted.frozen;
    *today = -1;
    for (size_t i = 0; i < p->t->n_vips; i++) {
        int vip = g->vips[i];
        if (objection(p, u, vip) || (frozen && (u->mixed || vip != u->today)))
            continue;
        if (!u->mixed && u->mounted && vip == u->today)
            *today = (int)n;
        out[n++] = (struct plan_option){vip, true, vector_of(g, unit, vip)};
    }
    if ((n == 0 && !frozen) || !u->mounted || *today >= 0)
        return n;
    *today = (int)n;
    int vip = u->mixed ? PLAN_AS_TODAY : u->today;
    out[n++] = (struct plan_option){vip, works_today(p, unit) && ds->pin < 0 && !newly_indirect(p, u),
                                    vector_of(g, unit, vip)};
    return n;
}

static bool is_special(const struct plan_problem *p, const struct plan_unit *u)
{
    const struct topo_datastore *ds = &p->t->datastores[u->datastore];
    return ds->exclusive || ds->apart || u->mixed;
}

/* To the last bit: a class has one weight. */
static bool same_weight(const struct plan_class *a, const struct plan_class *b)
{
    for (int d = 0; d < 2; d++)
        if (a->weight[d] < b->weight[d] || a->weight[d] > b->weight[d])
            return false;
    return true;
}

static bool fits_class(const struct plan_problem *p, const struct plan_class *c, const struct plan_class *like,
                       size_t unit)
{
    const struct plan_unit *u = &p->units[unit], *first = &p->units[c->units[0]];
    if (!same_weight(c, like) || c->n_options != like->n_options || c->today != like->today || u->cost != first->cost ||
        is_special(p, u) || is_special(p, first))
        return false;
    for (size_t o = 0; o < c->n_options; o++)
        if (c->options[o].vip != like->options[o].vip || c->options[o].usable != like->options[o].usable ||
            c->options[o].vector != like->options[o].vector)
            return false;
    return true;
}

static int by_name(const void *a, const void *b, void *context)
{
    const struct plan_problem *p = context;
    const struct plan_unit *x = &p->units[*(const int *)a], *y = &p->units[*(const int *)b];
    int order = strverscmp(p->t->datastores[x->datastore].name, p->t->datastores[y->datastore].name);
    if (order || x->host < 0)
        return order;
    return strverscmp(p->t->boxes[x->host].name, p->t->boxes[y->host].name);
}

/* Fewest VMs first, then the last by name: the first datastores are seldom those to begin with. */
static int by_outage(const void *a, const void *b, void *context)
{
    const struct plan_problem *p = context;
    const struct plan_unit *x = &p->units[*(const int *)a], *y = &p->units[*(const int *)b];
    if (x->vms != y->vms)
        return x->vms < y->vms ? -1 : 1;
    return by_name(b, a, context);
}

static bool group(struct grouping *g, char *problem, size_t size)
{
    struct plan_problem *p = g->p;
    struct topo_arena *a = p->arena;
    int *order = arena_alloc(a, (p->n_units + 1) * sizeof *order);
    int **members = arena_alloc(a, (p->n_units + 1) * sizeof *members);
    struct plan_option *options = arena_alloc(a, (p->t->n_vips + 2) * sizeof *options);
    p->classes = arena_alloc(a, (p->n_units + 1) * sizeof *p->classes);
    p->class_of = arena_alloc(a, (p->n_units + 1) * sizeof *p->class_of);
    for (size_t u = 0; u < p->n_units; u++)
        order[u] = (int)u;
    qsort_r(order, p->n_units, sizeof *order, by_name, p);
    for (size_t i = 0; i < p->n_units; i++) {
        size_t unit = (size_t)order[i], k = 0;
        const struct topo_datastore *ds = &p->t->datastores[p->units[unit].datastore];
        struct plan_class like = {.weight = {ds->weight_write, ds->weight_read}, .options = options};
        like.n_options = options_of(g, unit, options, &like.today);
        if (like.n_options == 0) {
            explain_none(p, &p->units[unit], problem, size);
            return false;
        }
        while (k < p->n_classes && !fits_class(p, &p->classes[k], &like, unit))
            k++;
        struct plan_class *c = &p->classes[k];
        if (k == p->n_classes) {
            struct plan_option *own = arena_alloc(a, like.n_options * sizeof *own);
            memcpy(own, options, like.n_options * sizeof *own);
            *c = like;
            c->options = own;
            c->first = p->n_options;
            p->n_options += c->n_options;
            p->n_classes++;
            c->units = members[k] = arena_alloc(a, (p->n_units - i) * sizeof **members);
        }
        members[k][c->n++] = (int)unit;
        p->class_of[unit] = (int)k;
    }
    for (size_t k = 0; k < p->n_classes; k++)
        qsort_r(members[k], p->classes[k].n, sizeof **members, by_outage, p);
    return true;
}

/* Between options that may be; with none but today's, which may not, nothing moves. */
static void find_movable(struct plan_problem *p)
{
    double *first = arena_alloc(p->arena, (p->n_resources + 1) * sizeof *first);
    double *other = arena_alloc(p->arena, (p->n_resources + 1) * sizeof *other);
    for (size_t k = 0; k < p->n_classes; k++) {
        const struct plan_class *c = &p->classes[k];
        size_t n = 0;
        for (size_t o = 0; o < c->n_options; o++) {
            double *at = n ? other : first;
            if (!c->options[o].usable)
                continue;
            for (size_t r = 0; r < p->n_resources; r++)
                at[r] = 0;
            for (size_t i = 0; i < c->options[o].vector->n; i++)
                at[c->options[o].vector->uses[i].resource] = c->options[o].vector->uses[i].load;
            for (size_t r = 0; n && r < p->n_resources; r++)
                p->resources[r].movable |= other[r] > first[r] * (1 + 1e-9) || other[r] < first[r] * (1 - 1e-9);
            n++;
        }
    }
}

/* What the uplinks that a host may use in this direction have when its load is spread over them by capacity. */
static void find_even(struct plan_problem *p, struct plan_host *host, int place, enum flow_direction d, double *loads)
{
    const struct topo *t = p->t;
    double total = 0, capacity = 0;
    bool *seen = arena_alloc(p->arena, (t->n_ports + 1) * sizeof *seen);
    for (size_t i = 0; i < host->n[d]; i++) {
        const struct plan_resource *r = &p->resources[host->resources[(d ? host->n[0] : 0) + i]];
        total += loads[r - p->resources] * (double)t->links[r->linkdir / 2].rate;
    }
    for (size_t v = 0; v < t->n_vips * p->n_slots; v++) {
        size_t slot = v / t->n_vips;
        const struct plan_pair *pair = &p->pairs[(slot * p->n_hosts + (size_t)place) * t->n_vips + v % t->n_vips];
        const struct topo_iface *f = pair->works ? &t->ifaces[pair->mount->iface] : NULL;
        if (!f)
            continue;
        const struct topo_teaming *teaming = f->teaming;
        const int *ports = teaming->n_active ? teaming->active : t->teams[f->team].ports;
        size_t n = teaming->n_active ? teaming->n_active : t->teams[f->team].n_ports;
        for (size_t i = 0; i < n; i++)
            if (t->ports[ports[i]].link >= 0 && !t->links[t->ports[ports[i]].link].down && !seen[ports[i]]) {
                capacity += (double)t->links[t->ports[ports[i]].link].rate;
                seen[ports[i]] = true;
            }
    }
    host->even[d] = capacity > 0 ? total / capacity : 0;
}

/* By port of the host. */
static int by_port(const void *a, const void *b, void *context)
{
    const struct plan_problem *p = context;
    const struct plan_resource *x = &p->resources[*(const int *)a], *y = &p->resources[*(const int *)b];
    const struct topo *t = p->t;
    return x->direction == FLOW_WRITE ? topo_linkdir_from(t, x->linkdir) - topo_linkdir_from(t, y->linkdir)
                                      : topo_linkdir_to(t, x->linkdir) - topo_linkdir_to(t, y->linkdir);
}

static void know_uplinks(struct plan_problem *p)
{
    double *loads = arena_alloc(p->arena, (p->n_resources + 1) * sizeof *loads);
    for (size_t k = 0; k < p->n_classes; k++) {
        const struct plan_class *c = &p->classes[k];
        for (size_t i = 0; i < c->options[0].vector->n; i++) {
            const struct plan_use *u = &c->options[0].vector->uses[i];
            loads[u->resource] += u->load * c->weight[p->resources[u->resource].direction] * (double)c->n;
        }
    }
    for (size_t h = 0; h < p->n_hosts; h++) {
        struct plan_host *host = &p->hosts[h];
        size_t n = 0;
        host->resources = arena_alloc(p->arena, (p->n_resources + 1) * sizeof *host->resources);
        for (int d = 0; d < 2; d++)
            for (size_t r = 0; r < p->n_resources; r++)
                if (p->resources[r].host == (int)h && (int)p->resources[r].direction == d) {
                    host->resources[n++] = (int)r;
                    host->n[d]++;
                }
        qsort_r(host->resources, host->n[0], sizeof *host->resources, by_port, p);
        qsort_r(host->resources + host->n[0], host->n[1], sizeof *host->resources, by_port, p);
        find_even(p, host, (int)h, FLOW_WRITE, loads);
        find_even(p, host, (int)h, FLOW_READ, loads);
    }
}

static bool meet(const struct plan_pair *a, const struct plan_pair *b)
{
    for (size_t i = 0, k = 0; i < a->n_choices && k < b->n_choices;) {
        if (a->choices[i] == b->choices[k])
            return true;
        if (a->choices[i] < b->choices[k])
            i++;
        else
            k++;
    }
    return false;
}

/* True when both would share a known member of a LAG on some host that mounts both. */
static bool options_meet(const struct plan_problem *p, const struct plan_class *a, size_t oa,
                         const struct plan_class *b, size_t ob)
{
    size_t na, nb;
    const int *ha = plan_unit_hosts(p, &p->units[a->units[0]], &na),
              *hb = plan_unit_hosts(p, &p->units[b->units[0]], &nb);
    for (size_t i = 0; i < na; i++)
        for (size_t k = 0; k < nb; k++) {
            int va = ha[i] == hb[k] ? vip_on(p, a, oa, ha[i]) : -1, vb = va >= 0 ? vip_on(p, b, ob, hb[k]) : -1;
            if (vb >= 0 && meet(pair_of(p, p->units[a->units[0]].datastore, ha[i], va),
                                pair_of(p, p->units[b->units[0]].datastore, hb[k], vb)))
                return true;
        }
    return false;
}

/* What forbids that two classes meet, or NULL. */
static const char *forbidden(const struct plan_problem *p, const struct plan_class *a, const struct plan_class *b)
{
    const struct topo_datastore *x = &p->t->datastores[p->units[a->units[0]].datastore],
                                *y = &p->t->datastores[p->units[b->units[0]].datastore];
    if (x == y)
        return NULL; /* two hosts' mounts of one datastore */
    if (x->apart && y->apart && strcmp(x->apart, y->apart) == 0)
        return x->apart;
    return x->exclusive || y->exclusive ? "exclusive" : NULL;
}

static void find_clashes(struct plan_problem *p)
{
    size_t capacity = 0;
    for (size_t i = 0; i < p->n_classes; i++)
        for (size_t j = i + 1; j < p->n_classes; j++) {
            const struct plan_class *a = &p->classes[i], *b = &p->classes[j];
            const char *what = forbidden(p, a, b);
            if (!what)
                continue;
            bool *table = arena_alloc(p->arena, a->n_options * b->n_options * sizeof *table);
            for (size_t x = 0; x < a->n_options; x++)
                for (size_t y = 0; y < b->n_options; y++)
                    table[x * b->n_options + y] = options_meet(p, a, x, b, y);
            p->clashes = arena_grow(p->arena, p->clashes, p->n_clashes, &capacity, sizeof *p->clashes);
            p->clashes[p->n_clashes++] = (struct plan_clash){(int)i, (int)j, table, what};
        }
}

bool plan_classes(struct plan_problem *p, char *problem, size_t size)
{
    struct grouping g = {.p = p};
    g.sets = arena_alloc(p->arena, (p->n_units + 1) * sizeof *g.sets);
    g.set_of = arena_alloc(p->arena, (p->n_units + 1) * sizeof *g.set_of);
    g.vips = arena_alloc(p->arena, (p->t->n_vips + 1) * sizeof *g.vips);
    g.loads = arena_alloc(p->arena, (p->n_resources + 1) * sizeof *g.loads);
    g.flows = arena_alloc(p->arena, (p->n_resources + 1) * sizeof *g.flows);
    g.touched = arena_alloc(p->arena, (p->n_resources + 1) * sizeof *g.touched);
    for (size_t v = 0; v < p->t->n_vips; v++)
        g.vips[v] = (int)v;
    qsort_r(g.vips, p->t->n_vips, sizeof *g.vips, by_address, &g);
    find_sets(&g);
    if (!group(&g, problem, size))
        return false;
    find_movable(p);
    know_uplinks(p);
    find_clashes(p);
    return true;
}

bool plan_limits_hold(const struct plan_problem *p, char *problem, size_t size)
{
    const struct topo *t = p->t;
    for (size_t h = 0; h < p->n_hosts; h++) {
        const struct topo_node *node = &t->nodes[t->boxes[p->hosts[h].box].node];
        for (size_t l = 0; l < node->n_limits; l++) {
            bool v3 = strcmp(node->limits[l].name, "NFS.MaxVolumes") == 0;
            int64_t n = 0;
            if (!v3 && strcmp(node->limits[l].name, "NFS41.MaxVolumes") != 0)
                continue;
            for (size_t d = 0; d < t->n_datastores; d++)
                for (size_t i = 0; i < t->datastores[d].n_hosts; i++)
                    n += t->datastores[d].hosts[i] == p->hosts[h].box && (t->datastores[d].nfs == TOPO_NFS3) == v3;
            if (n <= node->limits[l].value)
                continue;
            snprintf(problem, size, "%s is to mount %lld datastores and its %s is %lld", node->name, (long long)n,
                     node->limits[l].name, (long long)node->limits[l].value);
            return false;
        }
    }
    return true;
}
