#include "nfsbal/plan/problem.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "emu/model/predict.h"
#include "emu/model/topology_arena.h"
#include "nfsbal/plan/classes.h"

/* Collecting the loads of one pair by link direction. */
struct collect {
    double *share; /* per link direction */
    int *touched;
    size_t n;
};

static void collect_share(void *context, int linkdir, double share)
{
    struct collect *c = context;
    if (!(c->share[linkdir] > 0))
        c->touched[c->n++] = linkdir;
    c->share[linkdir] += share;
}

/* How sure a hop is: a policy whose arithmetic stands in for an unpublished one ranks, one that was read off a box by others, or
 * whose inputs nobody gave, does not. */
static bool known(const struct path_hop *hop)
{
    return hop->index >= 0 && !hop->conditional &&
           (hop->n == 1 || hop->observed ||
            ((hop->status == HASH_EXACT || hop->status == HASH_APPROXIMATE) && hop->inputs <= TOPO_DERIVED));
}

/* All candidates lead to one box. */
static bool same_far_end(const struct topo *t, const struct path_hop *hop)
{
    for (int i = 1; i < hop->n; i++) {
        int a = topo_linkdir_to(t, topo_port_out(t, hop->candidates[0])),
            b = topo_linkdir_to(t, topo_port_out(t, hop->candidates[i]));
        if (t->ports[a].box != t->ports[b].box)
            return false;
    }
    return true;
}

/* What is not known, spread evenly where that leads to the same place. */
static void blur(const struct topo *t, const struct path *path, struct collect *c)
{
    for (size_t i = 0; i < path->n_hops; i++) {
        const struct path_hop *hop = &path->hops[i];
        if (known(hop) || hop->index < 0 || hop->conditional || !same_far_end(t, hop))
            continue;
        double share = c->share[hop->linkdir];
        c->share[hop->linkdir] = 0;
        for (int k = 0; k < hop->n; k++)
            if (topo_port_out(t, hop->candidates[k]) == hop->linkdir)
                c->share[hop->linkdir] = share / hop->n;
            else
                collect_share(c, topo_port_out(t, hop->candidates[k]), share / hop->n);
    }
}

size_t plan_shares(const struct topo *t, const struct flow *flow, enum flow_direction direction,
                   const struct path *path, double *share, int *touched)
{
    struct collect c = {share, touched, 0};
    path_shares(t, NULL, flow, direction, collect_share, &c);
    blur(t, path, &c);
    return c.n;
}

int plan_slot(const struct plan_problem *p, int host, int iface)
{
    for (size_t s = 1; s < p->n_slots; s++)
        if (p->slot_iface[s * p->n_hosts + (size_t)host] == iface)
            return (int)s;
    return -1;
}

size_t plan_pair_of(const struct plan_problem *p, int datastore, int host, int vip)
{
    int iface = topo_bound_iface(p->t, datastore, host), place = p->host_of[host];
    int slot = iface < 0 ? 0 : plan_slot(p, place, iface);
    return ((size_t)(slot < 0 ? 0 : slot) * p->n_hosts + (size_t)place) * p->t->n_vips + (size_t)vip;
}

struct flow plan_flow(const struct plan_problem *p, size_t pair)
{
    return (struct flow){.mount = (int)pair,
                         .iface = p->site.mounts[pair].iface,
                         .vip = (int)(pair % p->t->n_vips),
                         .sport = 1023,
                         .dport = 2049,
                         .sport_origin = TOPO_DRAWN};
}

static int by_number(const void *a, const void *b)
{
    const int *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

/* The number of a resource, given out when it is first met. */
static int resource_of(struct plan_problem *p, int *place, int linkdir, enum flow_direction direction)
{
    int *at = &place[2 * linkdir + (int)direction];
    if (*at < 0) {
        const struct topo *t = p->t;
        int from = t->ports[topo_linkdir_from(t, linkdir)].box, to = t->ports[topo_linkdir_to(t, linkdir)].box;
        int own = direction == FLOW_WRITE ? from : to;
        *at = (int)p->n_resources;
        p->resources[p->n_resources++] = (struct plan_resource){linkdir, direction, p->host_of[own], false};
    }
    return *at;
}

/* Paths of one pair in both directions. */
static void walk_pair(struct plan_problem *p, size_t index, struct collect *c, int *place)
{
    const struct topo *t = &p->site;
    struct plan_pair *pair = &p->pairs[index];
    struct flow flow = plan_flow(p, index);
    int vip = flow.vip;
    struct plan_use uses[256] = {0};
    int choices[2 * PATH_MAX_HOPS] = {0};
    size_t n_uses = 0, n_choices = 0;
    pair->works = pair->mount->iface >= 0 && t->vips[vip].up;
    for (int d = 0; d < 2 && pair->works; d++) {
        struct path path;
        enum flow_direction direction = (enum flow_direction)d;
        pair->works = path_walk(t, NULL, &flow, direction, false, &path) == PATH_OK;
        if (!pair->works)
            break;
        c->n = plan_shares(t, &flow, direction, &path, c->share, c->touched);
        for (size_t i = 0; i < c->n; i++) {
            int linkdir = c->touched[i];
            double capacity = predict_capacity(t, linkdir);
            if (c->share[linkdir] > 0 && n_uses < sizeof uses / sizeof uses[0])
                uses[n_uses++] = (struct plan_use){
                    resource_of(p, place, linkdir, direction),
                    c->share[linkdir] * predict_wire_factor(t, &flow, direction, linkdir) /
                        (capacity > 1 ? capacity : 1),
                    c->share[linkdir],
                };
            c->share[linkdir] = 0;
        }
        for (size_t i = 0; i < path.n_hops; i++)
            if (path.hops[i].n > 1 && known(&path.hops[i]))
                choices[n_choices++] = path.hops[i].linkdir;
    }
    qsort(choices, n_choices, sizeof *choices, by_number);
    pair->uses = arena_alloc(p->arena, (n_uses + 1) * sizeof *pair->uses);
    memcpy(pair->uses, uses, n_uses * sizeof *uses);
    pair->n_uses = n_uses;
    pair->choices = arena_alloc(p->arena, (n_choices + 1) * sizeof *pair->choices);
    memcpy(pair->choices, choices, n_choices * sizeof *choices);
    pair->n_choices = n_choices;
}

/* The router's interface that is the gateway of a host's, or -1. */
static int router_of(const struct topo *t, int iface)
{
    for (size_t i = 0; i < t->n_ifaces; i++)
        if (t->nodes[t->boxes[t->ifaces[i].box].node].kind == TOPO_ROUTER &&
            topo_addr_equal(&t->ifaces[i].addr, &t->ifaces[iface].gateway))
            return (int)i;
    return -1;
}

/* Over an interface that a mount is bound to. */
static void bind_to(const struct topo *t, struct topo_mount *m, int iface)
{
    const struct topo_iface *f = &t->ifaces[iface];
    const struct topo_addr *to = &t->vips[m->vip].addr;
    m->bound = true;
    m->iface_origin = TOPO_GIVEN;
    if (f->addr.version != to->version || !topo_addr_same_subnet(&f->addr, to, f->addr.prefix))
        m->gateway_iface = f->gateway.version == to->version ? router_of(t, iface) : -1;
    else
        m->iface = iface;
    if (m->gateway_iface >= 0)
        m->iface = iface;
}

static void route(struct plan_problem *p, int slot, int host, int vip, int first, int n)
{
    const struct topo *t = p->t;
    size_t pair = ((size_t)slot * p->n_hosts + (size_t)host) * t->n_vips + (size_t)vip;
    struct topo_mount *m = &p->site.mounts[pair];
    bool several;
    int routed, bound = slot > 0 ? p->slot_iface[(size_t)slot * p->n_hosts + (size_t)host] : -1;
    p->pairs[pair].mount = m;
    *m = (struct topo_mount){.host = p->hosts[host].box,
                             .iface = -1,
                             .server = "",
                             .path = "",
                             .vip = vip,
                             .gateway_iface = -1,
                             .nconnect = 1,
                             .asked = 1,
                             .shares_with = -1};
    if (bound >= 0)
        bind_to(t, m, bound);
    if (slot > 0)
        return;
    m->iface = topo_route(t, first, n, &t->vips[vip].addr, &several, &routed);
    m->iface_origin = several ? TOPO_ASSUMED : TOPO_DERIVED;
    if (m->iface < 0 && routed >= 0)
        m->gateway_iface = router_of(t, routed);
    if (m->gateway_iface >= 0)
        m->iface = routed;
}

/* Interfaces that mounts may be bound to: of ESXi hosts where the file binds some, or several in the subnet of a VIP where the lever
 * is asked for. */
static bool may_bind(const struct plan_problem *p, int iface)
{
    const struct topo *t = p->t;
    const struct topo_iface *f = &t->ifaces[iface];
    if (t->nodes[t->boxes[f->box].node].kind != TOPO_ESXI)
        return false;
    for (size_t d = 0; d < t->n_datastores; d++)
        for (size_t i = 0; t->datastores[d].bound && i < t->datastores[d].n_hosts; i++)
            if (t->datastores[d].bound[i] == iface)
                return true;
    for (size_t v = 0; v < t->n_vips && p->wanted.bindings; v++)
        if (f->addr.version == t->vips[v].addr.version &&
            topo_addr_same_subnet(&f->addr, &t->vips[v].addr, f->addr.prefix))
            return true;
    return false;
}

static void find_slots(struct plan_problem *p)
{
    const struct topo *t = p->t;
    size_t *n = arena_alloc(p->arena, (p->n_hosts + 1) * sizeof *n), most = 0;
    bool any = p->wanted.bindings;
    p->n_slots = 1;
    for (size_t d = 0; d < t->n_datastores && !any; d++)
        any = t->datastores[d].bound != NULL;
    for (int i = 0; any && i < (int)t->n_ifaces; i++)
        if (p->host_of[t->ifaces[i].box] >= 0 && may_bind(p, i)) {
            size_t *its = &n[p->host_of[t->ifaces[i].box]];
            most = ++*its > most ? *its : most;
        }
    p->n_slots += most;
    p->slot_iface = arena_alloc(p->arena, (p->n_slots * p->n_hosts + 1) * sizeof *p->slot_iface);
    for (size_t i = 0; i < p->n_slots * p->n_hosts; i++)
        p->slot_iface[i] = -1;
    for (size_t h = 0; h < p->n_hosts; h++)
        n[h] = 0;
    for (int i = 0; most && i < (int)t->n_ifaces; i++) {
        int host = p->host_of[t->ifaces[i].box];
        if (host >= 0 && may_bind(p, i))
            p->slot_iface[++n[host] * p->n_hosts + (size_t)host] = i;
    }
}

static bool is_host(const struct topo *t, int box)
{
    enum topo_kind kind = t->nodes[t->boxes[box].node].kind;
    return kind == TOPO_ESXI || kind == TOPO_LINUX;
}

static void find_hosts(struct plan_problem *p)
{
    const struct topo *t = p->t;
    p->host_of = arena_alloc(p->arena, (t->n_boxes + 1) * sizeof *p->host_of);
    p->hosts = arena_alloc(p->arena, (t->n_boxes + 1) * sizeof *p->hosts);
    for (size_t b = 0; b < t->n_boxes; b++) {
        p->host_of[b] = -1;
        if (!is_host(t, (int)b))
            continue;
        p->host_of[b] = (int)p->n_hosts;
        p->hosts[p->n_hosts++].box = (int)b;
    }
}

static void make_pairs(struct plan_problem *p)
{
    const struct topo *t = p->t;
    size_t n = plan_pairs(p);
    int *place = malloc((4 * t->n_links + 1) * sizeof *place);
    struct collect c = {calloc(2 * t->n_links + 1, sizeof *c.share), malloc((2 * t->n_links + 1) * sizeof *c.touched),
                        0};
    if (!place || !c.share || !c.touched)
        abort();
    for (size_t i = 0; i < 4 * t->n_links; i++)
        place[i] = -1;
    p->site = *t;
    p->site.mounts = arena_alloc(p->arena, (n + 1) * sizeof *p->site.mounts);
    p->site.n_mounts = n;
    p->pairs = arena_alloc(p->arena, (n + 1) * sizeof *p->pairs);
    p->resources = arena_alloc(p->arena, (4 * t->n_links + 1) * sizeof *p->resources);
    for (int h = 0; h < (int)p->n_hosts; h++) {
        int first = 0, count = 0;
        for (int i = 0; i < (int)t->n_ifaces; i++)
            if (t->ifaces[i].box == p->hosts[h].box && !count++)
                first = i;
        for (int s = 0; s < (int)p->n_slots; s++)
            for (int v = 0; v < (int)t->n_vips; v++) {
                route(p, s, h, v, first, count);
                walk_pair(p, ((size_t)s * p->n_hosts + (size_t)h) * t->n_vips + (size_t)v, &c, place);
            }
    }
    free(place);
    free(c.share);
    free(c.touched);
}

int plan_vip_today(const struct topo *t, const struct plan_unit *u, int host)
{
    const struct topo_datastore *ds = &t->datastores[u->datastore];
    for (int m = ds->first_mount; m < ds->first_mount + ds->n_mounts; m++)
        if (t->mounts[m].host == host)
            return t->mounts[m].vip;
    return -1;
}

const int *plan_unit_hosts(const struct plan_problem *p, const struct plan_unit *u, size_t *n)
{
    const struct topo_datastore *ds = &p->t->datastores[u->datastore];
    *n = u->host >= 0 ? 1 : ds->n_hosts;
    return u->host >= 0 ? &p->hosts[p->host_of[u->host]].box : ds->hosts;
}

/* Storage vMotion is there for all hosts. */
static bool can_copy(const struct plan_problem *p, const struct plan_unit *u)
{
    const struct topo_datastore *ds = &p->t->datastores[u->datastore];
    for (size_t i = 0; i < ds->n_hosts; i++)
        if (p->t->nodes[p->t->boxes[ds->hosts[i]].node].kind != TOPO_ESXI)
            return false;
    return u->host < 0;
}

/* What is known of a unit today. */
static void look_at_today(const struct plan_problem *p, struct plan_unit *u)
{
    const struct topo *t = p->t;
    const struct topo_datastore *ds = &t->datastores[u->datastore];
    size_t n;
    const int *hosts = plan_unit_hosts(p, u, &n);
    bool own_name = ds->n_mounts > 0 && ds->server;
    u->today = -1;
    for (size_t i = 0; i < n; i++) {
        int vip = plan_vip_today(t, u, hosts[i]);
        u->mounted |= vip >= 0;
        if (i > 0 && vip != u->today)
            u->mixed = true;
        u->today = i == 0 ? vip : u->today;
    }
    for (int m = ds->first_mount; m < ds->first_mount + ds->n_mounts; m++)
        own_name &= strcmp(t->mounts[m].server, ds->server ? ds->server : "") == 0;
    if (u->mixed)
        u->today = -1;
    u->cost = !u->mounted                          ? PLAN_NOTHING_STOPS
              : own_name                           ? PLAN_ROLLING
              : p->wanted.copies && can_copy(p, u) ? PLAN_COPY
                                                   : PLAN_OUTAGE;
    u->vms = u->cost == PLAN_OUTAGE ? ds->vms : 0;
}

static void make_units(struct plan_problem *p)
{
    const struct topo *t = p->t;
    size_t n = 0;
    for (size_t d = 0; d < t->n_datastores; d++)
        n += t->datastores[d].per_host ? t->datastores[d].n_hosts : 1;
    p->units = arena_alloc(p->arena, (n + 1) * sizeof *p->units);
    p->new_site = true;
    for (size_t d = 0; d < t->n_datastores; d++) {
        const struct topo_datastore *ds = &t->datastores[d];
        for (size_t h = 0; h < (ds->per_host ? ds->n_hosts : ds->n_hosts > 0); h++) {
            struct plan_unit *u = &p->units[p->n_units++];
            u->datastore = (int)d;
            u->host = ds->per_host ? ds->hosts[h] : -1;
            look_at_today(p, u);
            p->new_site &= !u->mounted;
        }
    }
}

struct plan_problem *plan_problem_new(const struct topo *t, const struct plan_options *wanted, char *problem,
                                      size_t size)
{
    struct topo_arena *arena = arena_new();
    struct plan_problem *p = arena_alloc(arena, sizeof *p);
    *p = (struct plan_problem){.t = t, .wanted = *wanted, .arena = arena};
    problem[0] = '\0';
    find_hosts(p);
    find_slots(p);
    make_pairs(p);
    make_units(p);
    for (size_t d = 0; d < t->n_datastores && !*problem; d++)
        if (t->datastores[d].iscsi)
            snprintf(problem, size, "%s is a volume over iSCSI: plans are for NFS datastores", t->datastores[d].name);
    if (*problem)
        goto failed;
    if (p->n_units == 0)
        snprintf(problem, size, "there are no datastores to plan for");
    else if (plan_limits_hold(p, problem, size) && plan_classes(p, problem, size))
        return p;
failed:
    plan_problem_free(p);
    return NULL;
}

void plan_problem_free(struct plan_problem *p)
{
    if (p)
        arena_free(p->arena);
}
