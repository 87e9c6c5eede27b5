/* Theory of operation
 *
 * The problem knows the way of each host to each VIP over each interface. So a binding moves a mount's load from one set of links to
 * another, and the potential of search.c changes by what happens on these: many bindings can be tried for the price of one path.
 */
#include "nfsbal/plan/suggest_bind.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "nfsbal/plan/problem.h"
#include "nfsbal/plan/suggest_vmk.h"

#define GAIN   1e-9 /* of the potential: less is none */
#define LESSER 1e-4 /* weight of the hosts' uplinks beside the loads */

enum { IFACES_MAX = 64 };

struct site {
    const struct plan_problem *p;
    const int *vips; /* per unit */
    double *loads;   /* [2 * linkdir + direction] */
    double *even;    /* the same: of a host's own uplink, else 0 */
    double scale;
    bool *bound; /* [unit * n_hosts + host]: has a new interface already */
    int *iface;  /* the same: what it has */
};

struct step {
    size_t unit;
    int host; /* box */
    int iface;
    double change;
};

static double power16(double x)
{
    x *= x;
    x *= x;
    x *= x;
    return x * x;
}

int plan_iface_of(const struct plan_problem *p, int datastore, int host, int vip)
{
    return p->site.mounts[plan_pair_of(p, datastore, host, vip)].iface;
}

/* The pair over an interface; NULL: there is no way. */
static const struct plan_pair *pair_over(const struct plan_problem *p, int host, int vip, int iface)
{
    int place = p->host_of[host], slot = plan_slot(p, place, iface);
    size_t pair = ((size_t)(slot < 0 ? 0 : slot) * p->n_hosts + (size_t)place) * p->t->n_vips + (size_t)vip;
    return p->pairs[pair].works && p->pairs[pair].mount->iface == iface ? &p->pairs[pair] : NULL;
}

size_t plan_bindable(const struct plan_problem *p, int datastore, int host, int vip, int *out, size_t most)
{
    const struct topo_datastore *ds = &p->t->datastores[datastore];
    int place = p->host_of[host], now = plan_iface_of(p, datastore, host, vip);
    size_t n = 0;
    if (ds->iscsi || !topo_can_bind(&p->t->nodes[p->t->boxes[host].node], ds->nfs))
        return 0;
    for (size_t s = 1; s < p->n_slots && n < most; s++) {
        int iface = p->slot_iface[s * p->n_hosts + (size_t)place];
        if (iface >= 0 && iface != now && pair_over(p, host, vip, iface))
            out[n++] = iface;
    }
    return n;
}

static size_t place_of(const struct plan_resource *r) { return 2 * (size_t)r->linkdir + (size_t)r->direction; }

static double weight(const struct topo_datastore *ds, const struct plan_resource *r)
{
    return r->direction == FLOW_WRITE ? ds->weight_write : ds->weight_read;
}

static double cost_of(const struct site *s, size_t place)
{
    double even = s->even[place];
    return power16(s->loads[place] * s->scale) + (even > 0 ? LESSER * power16(s->loads[place] / even / 2) : 0);
}

/* Adds a mount's load times `sign`; what that does to the potential. */
static double put(struct site *s, const struct topo_datastore *ds, const struct plan_pair *pair, double sign)
{
    double change = 0;
    for (size_t i = 0; i < pair->n_uses; i++) {
        const struct plan_resource *r = &s->p->resources[pair->uses[i].resource];
        size_t place = place_of(r);
        change -= cost_of(s, place);
        s->loads[place] += sign * pair->uses[i].load * weight(ds, r);
        change += cost_of(s, place);
    }
    return change;
}

static int vip_of(const struct site *s, size_t unit, int host)
{
    int vip = s->vips[unit];
    return vip == PLAN_AS_TODAY ? plan_vip_today(s->p->t, &s->p->units[unit], host) : vip;
}

static double potential(const struct site *s)
{
    double sum = 0;
    for (size_t i = 0; i < 4 * s->p->t->n_links; i++)
        sum += cost_of(s, i);
    return sum;
}

static double fullest(const struct site *s)
{
    double max = 0;
    for (size_t i = 0; i < 4 * s->p->t->n_links; i++)
        max = fmax(max, s->loads[i]);
    return max;
}

static bool site_new(struct site *s, const struct plan *plan, const int *vips)
{
    const struct plan_problem *p = plan->problem;
    size_t dirs = 4 * p->t->n_links, places = p->n_units * p->n_hosts;
    *s = (struct site){.p = p, .vips = vips};
    s->loads = calloc(dirs + 1, sizeof *s->loads);
    s->even = calloc(dirs + 1, sizeof *s->even);
    s->bound = calloc(places + 1, sizeof *s->bound);
    s->iface = calloc(places + 1, sizeof *s->iface);
    if (!s->loads || !s->even || !s->bound || !s->iface)
        return false;
    for (size_t h = 0; h < p->n_hosts; h++)
        for (size_t i = 0; i < p->hosts[h].n[FLOW_WRITE]; i++)
            s->even[place_of(&p->resources[p->hosts[h].resources[i]])] = p->hosts[h].even[FLOW_WRITE];
    for (size_t u = 0; u < p->n_units; u++) {
        int datastore = p->units[u].datastore;
        size_t n;
        const int *hosts = plan_unit_hosts(p, &p->units[u], &n);
        for (size_t i = 0; i < n; i++) {
            int vip = vip_of(s, u, hosts[i]);
            size_t place = u * p->n_hosts + (size_t)p->host_of[hosts[i]];
            const struct plan_pair *pair = vip < 0 ? NULL : &p->pairs[plan_pair_of(p, datastore, hosts[i], vip)];
            s->iface[place] = pair && pair->works ? pair->mount->iface : -1;
            if (pair && pair->works)
                put(s, &p->t->datastores[datastore], pair, 1);
        }
    }
    return true;
}

static void site_free(struct site *s)
{
    free(s->loads);
    free(s->even);
    free(s->bound);
    free(s->iface);
}

/* A mount to another interface; what that does to the potential. */
static double move(struct site *s, size_t unit, int host, int to)
{
    const struct plan_problem *p = s->p;
    const struct topo_datastore *ds = &p->t->datastores[p->units[unit].datastore];
    int vip = vip_of(s, unit, host), *iface = &s->iface[unit * p->n_hosts + (size_t)p->host_of[host]];
    const struct plan_pair *from = pair_over(p, host, vip, *iface), *then = pair_over(p, host, vip, to);
    double change = (from ? put(s, ds, from, -1) : 0) + (then ? put(s, ds, then, 1) : 0);
    *iface = to;
    return change;
}

static void try_unit(struct site *s, size_t unit, int host, struct step *best)
{
    const struct plan_problem *p = s->p;
    size_t place = unit * p->n_hosts + (size_t)p->host_of[host];
    int ifaces[IFACES_MAX], vip = vip_of(s, unit, host), now = s->iface[place];
    if (now < 0 || s->bound[place])
        return;
    size_t n = plan_bindable(p, p->units[unit].datastore, host, vip, ifaces, IFACES_MAX);
    for (size_t i = 0; i < n; i++) {
        double change = move(s, unit, host, ifaces[i]);
        move(s, unit, host, now);
        if (change < best->change * (1 + 1e-9) - 1e-12)
            *best = (struct step){unit, host, ifaces[i], change};
    }
}

long plan_suggest_bindings(const struct plan *plan, const int *vips, struct plan_binding **all)
{
    const struct plan_problem *p = plan->problem;
    struct site s;
    size_t n = 0;
    *all = calloc(p->n_units * p->n_hosts + 1, sizeof **all);
    bool ok = site_new(&s, plan, vips) && *all;
    for (bool found = ok; found;) {
        double max = fullest(&s), before;
        s.scale = max > 0 ? 1 / max : 0;
        before = potential(&s);
        struct step best = {.change = -GAIN * before};
        found = false;
        for (size_t u = 0; u < p->n_units; u++) {
            size_t n_hosts;
            const int *hosts = plan_unit_hosts(p, &p->units[u], &n_hosts);
            for (size_t h = 0; h < n_hosts; h++)
                try_unit(&s, u, hosts[h], &best);
        }
        if (best.change < -GAIN * before) {
            found = true;
            move(&s, best.unit, best.host, best.iface);
            s.bound[best.unit * p->n_hosts + (size_t)p->host_of[best.host]] = true;
            (*all)[n++] =
                (struct plan_binding){p->units[best.unit].datastore, best.host,   best.iface,
                                      1 + best.change / before,      fullest(&s), plan_worst_host(p, s.loads)};
        }
    }
    site_free(&s);
    if (ok)
        return (long)n;
    free(*all);
    *all = NULL;
    return -ENOMEM;
}
