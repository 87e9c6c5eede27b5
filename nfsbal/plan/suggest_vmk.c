/* Theory of operation
 *
 * In a copy of the topology one host's interface gets one candidate address at a time, and the path function says what its flows then
 * load. That is done once for each host and address; the rest is arithmetic: the site's loads are the sum over hosts of the vector of
 * the address that each has. Step by step the host and address are taken that lower the sum of the 16th powers of the loads most
 * (see search.c), as long as that falls.
 */
#include "nfsbal/plan/suggest_vmk.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "emu/model/predict.h"
#include "nfsbal/plan/layout.h"

#define LESSER 1e-4 /* weight of the hosts' uplinks beside the loads */

struct site {
    const struct plan_problem *p;
    struct topo ext; /* with ifaces of its own */
    const struct topo_addr *from;
    size_t n_from, dirs; /* 4 * links: per link direction, writes and reads */
    double *amount;      /* [pair * 2 + direction] of weight */
    double **vectors;    /* [host * (n_from + 1) + address]: loads; NULL: not for this host. The last is what it has */
    double *loads;       /* of the moment */
    int *has;            /* per host: address, n_from = its own */
    bool *used;          /* per address */
    double *share;
    int *touched;
};

static double power16(double x)
{
    x *= x;
    x *= x;
    x *= x;
    return x * x;
}

/* The i-th pair of a host: slots, and in each the VIPs. */
static size_t pair_at(const struct site *s, size_t host, size_t i)
{
    return (i / s->ext.n_vips * s->p->n_hosts + host) * s->ext.n_vips + i % s->ext.n_vips;
}

/* The first that carries something. */
static int iface_of(const struct site *s, size_t host)
{
    for (size_t i = 0; i < s->p->n_slots * s->ext.n_vips; i++) {
        size_t pair = pair_at(s, host, i);
        if (s->amount[2 * pair] > 0 || s->amount[2 * pair + 1] > 0)
            return s->p->pairs[pair].mount->iface;
    }
    return -1;
}

/* The loads of a host's flows with the addresses that ext has. NULL when some have no way, or on lack of memory. */
static double *vector_of(struct site *s, size_t host)
{
    double *loads = calloc(s->dirs + 1, sizeof *loads);
    for (size_t i = 0; loads && i < s->p->n_slots * s->ext.n_vips; i++) {
        size_t pair = pair_at(s, host, i);
        struct flow flow = plan_flow(s->p, pair);
        for (int d = 0; d < 2; d++) {
            struct path path;
            enum flow_direction direction = (enum flow_direction)d;
            if (!(s->amount[2 * pair + (size_t)d] > 0))
                continue;
            if (path_walk(&s->ext, NULL, &flow, direction, false, &path) != PATH_OK) {
                free(loads);
                return NULL;
            }
            size_t n = plan_shares(&s->ext, &flow, direction, &path, s->share, s->touched);
            for (size_t k = 0; k < n; k++) {
                int linkdir = s->touched[k];
                loads[2 * linkdir + d] += s->amount[2 * pair + (size_t)d] * s->share[linkdir] *
                                          predict_wire_factor(&s->ext, &flow, direction, linkdir) /
                                          fmax(predict_capacity(&s->ext, linkdir), 1);
                s->share[linkdir] = 0;
            }
        }
    }
    return loads;
}

static void count_amounts(struct site *s, const struct plan *plan, const struct plan_row *row)
{
    for (size_t u = 0; u < plan->n_units; u++) {
        const struct topo_datastore *ds = &plan->t->datastores[plan->units[u].datastore];
        size_t n;
        const int *hosts = plan_unit_hosts(s->p, &plan->units[u], &n);
        for (size_t h = 0; h < n; h++) {
            int vip = plan_vip(plan, row, u, hosts[h]);
            size_t pair = plan_pair_of(s->p, plan->units[u].datastore, hosts[h], vip < 0 ? 0 : vip);
            if (vip < 0 || !s->p->pairs[pair].works)
                continue;
            s->amount[2 * pair] += ds->weight_write;
            s->amount[2 * pair + 1] += ds->weight_read;
        }
    }
}

bool plan_address_fits(const struct topo *t, int iface, const struct topo_addr *a, const struct topo_addr *reserved,
                       size_t n)
{
    const struct topo_addr *own = &t->ifaces[iface].addr;
    unsigned ones = 0, bits = own->version == 4 ? 32 : 128;
    if (!topo_addr_same_subnet(own, a, own->prefix))
        return false;
    for (unsigned i = own->prefix; i < bits; i++)
        ones += a->bytes[i / 8] >> (7 - i % 8) & 1;
    if (bits - own->prefix >= 2 && (ones == 0 || (own->version == 4 && ones == bits - own->prefix)))
        return false;
    for (size_t i = 0; i < t->n_vips; i++)
        if (topo_addr_equal(&t->vips[i].addr, a))
            return false;
    for (size_t i = 0; i < t->n_ifaces; i++)
        if (topo_addr_equal(&t->ifaces[i].addr, a) || topo_addr_equal(&t->ifaces[i].gateway, a))
            return false;
    for (size_t i = 0; i < n; i++)
        if (topo_addr_equal(&reserved[i], a))
            return false;
    return true;
}

static bool make_vectors(struct site *s, const struct topo_addr *reserved, size_t n_reserved)
{
    for (size_t h = 0; h < s->p->n_hosts; h++) {
        int iface = iface_of(s, h);
        s->has[h] = (int)s->n_from;
        if (iface < 0)
            continue;
        struct topo_addr own = s->ext.ifaces[iface].addr;
        double **vectors = s->vectors + h * (s->n_from + 1);
        vectors[s->n_from] = vector_of(s, h);
        if (!vectors[s->n_from])
            return false;
        for (size_t r = 0; r < s->dirs; r++)
            s->loads[r] += vectors[s->n_from][r];
        for (size_t a = 0; a < s->n_from; a++) {
            if (!plan_address_fits(s->p->t, iface, &s->from[a], reserved, n_reserved))
                continue;
            s->ext.ifaces[iface].addr = s->from[a];
            s->ext.ifaces[iface].addr.prefix = own.prefix;
            vectors[a] = vector_of(s, h);
        }
        s->ext.ifaces[iface].addr = own;
    }
    return true;
}

/* Fullest link; of links that no address of a host and no VIP moves the load counts as well, for they limit too. */
static double max_of(const struct site *s)
{
    double max = 0;
    for (size_t r = 0; r < s->dirs; r++)
        max = fmax(max, s->loads[r]);
    return max;
}

/* A resource of the problem as a place among the loads. */
static size_t place_of(const struct plan_resource *r) { return 2 * (size_t)r->linkdir + (size_t)r->direction; }

static double host_ratio(const struct plan_problem *p, const double *loads, size_t host)
{
    const struct plan_host *h = &p->hosts[host];
    double max = 0;
    for (size_t i = 0; i < h->n[FLOW_WRITE]; i++)
        if (h->even[FLOW_WRITE] > 0)
            max = fmax(max, loads[place_of(&p->resources[h->resources[i]])] / h->even[FLOW_WRITE]);
    return max;
}

double plan_worst_host(const struct plan_problem *p, const double *loads)
{
    double max = 0;
    for (size_t h = 0; h < p->n_hosts; h++)
        max = fmax(max, host_ratio(p, loads, h));
    return max;
}

double plan_potential(const struct plan_problem *p, const double *loads, double scale)
{
    double sum = 0;
    for (size_t r = 0; r < 4 * p->t->n_links; r++)
        if (loads[r] > 0)
            sum += power16(loads[r] * scale);
    for (size_t h = 0; h < p->n_hosts; h++)
        sum += LESSER * power16(host_ratio(p, loads, h) / 2);
    return sum;
}

static void set_address(struct site *s, size_t host, int address)
{
    const double *old = s->vectors[host * (s->n_from + 1) + (size_t)s->has[host]],
                 *new = s->vectors[host * (s->n_from + 1) + (size_t)address];
    for (size_t r = 0; r < s->dirs; r++)
        s->loads[r] += new[r] - old[r];
    s->has[host] = address;
}

/* The best host and address that is free, for hosts that have their own yet. False when none is better. */
static bool best_step(struct site *s, size_t *host, int *address, double *gain)
{
    double scale = 1 / fmax(max_of(s), 1e-300), before = plan_potential(s->p, s->loads, scale),
           least = before * (1 - 1e-6);
    bool found = false;
    for (size_t h = 0; h < s->p->n_hosts; h++) {
        if (!s->vectors[h * (s->n_from + 1) + s->n_from] || s->has[h] != (int)s->n_from)
            continue;
        for (size_t a = 0; a < s->n_from; a++) {
            if (s->used[a] || !s->vectors[h * (s->n_from + 1) + a])
                continue;
            set_address(s, h, (int)a);
            double now = plan_potential(s->p, s->loads, scale);
            set_address(s, h, (int)s->n_from);
            if (now < least * (1 - 1e-12)) {
                least = now;
                *host = h;
                *address = (int)a;
                found = true;
            }
        }
    }
    *gain = found ? least / before : 1;
    return found;
}

static bool site_new(struct site *s, const struct plan *plan, const struct topo_addr *from, size_t n_from)
{
    const struct plan_problem *p = plan->problem;
    const struct topo *t = &p->site;
    *s = (struct site){.p = p, .ext = *t, .from = from, .n_from = n_from, .dirs = 4 * t->n_links};
    s->ext.ifaces = malloc((t->n_ifaces + 1) * sizeof *s->ext.ifaces);
    s->amount = calloc(2 * plan_pairs(p) + 1, sizeof *s->amount);
    s->vectors = calloc(p->n_hosts * (n_from + 1) + 1, sizeof *s->vectors);
    s->loads = calloc(s->dirs + 1, sizeof *s->loads);
    s->has = calloc(p->n_hosts + 1, sizeof *s->has);
    s->used = calloc(n_from + 1, sizeof *s->used);
    s->share = calloc(2 * t->n_links + 1, sizeof *s->share);
    s->touched = calloc(2 * t->n_links + 1, sizeof *s->touched);
    if (!s->ext.ifaces || !s->amount || !s->vectors || !s->loads || !s->has || !s->used || !s->share || !s->touched)
        return false;
    memcpy(s->ext.ifaces, t->ifaces, t->n_ifaces * sizeof *s->ext.ifaces);
    return true;
}

static void site_free(struct site *s)
{
    for (size_t i = 0; s->vectors && i < s->p->n_hosts * (s->n_from + 1); i++)
        free(s->vectors[i]);
    free(s->vectors);
    free(s->ext.ifaces);
    free(s->amount);
    free(s->loads);
    free(s->has);
    free(s->used);
    free(s->share);
    free(s->touched);
}

long plan_suggest_vmk(const struct plan *p, const struct plan_row *row, const struct topo_addr *from, size_t n_from,
                      const struct topo_addr *reserved, size_t n_reserved, struct plan_readdressed *before,
                      struct plan_readdressed **all)
{
    struct site s;
    size_t n = 0, host = 0;
    int address = 0;
    double gain;
    bool ok = site_new(&s, p, from, n_from);
    *all = calloc(p->problem->n_hosts + 1, sizeof **all);
    ok = ok && *all;
    if (ok) {
        count_amounts(&s, p, row);
        ok = make_vectors(&s, reserved, n_reserved);
    }
    if (ok)
        *before = (struct plan_readdressed){
            .iface = -1, .max_load = max_of(&s), .max_host = plan_worst_host(s.p, s.loads), .gain = 1};
    while (ok && best_step(&s, &host, &address, &gain)) {
        set_address(&s, host, address);
        s.used[address] = true;
        (*all)[n++] = (struct plan_readdressed){iface_of(&s, host), from[address], max_of(&s),
                                                plan_worst_host(s.p, s.loads), gain};
    }
    site_free(&s);
    if (ok)
        return (long)n;
    free(*all);
    *all = NULL;
    return -ENOMEM;
}
