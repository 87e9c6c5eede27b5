/* Theory of operation
 *
 * A dial is a thing that a lever can set: an interface's address, what a mount is bound to, the home of a VIP, the owner of a volume,
 * the hash of a switch. Where the dials of all levers together have few settings, each setting is a state of its own, and with the
 * plans of their VIPs, which are proven, the frontier is so too. Else a chain of single steps decides which states there are
 * (frontier.c), and all that can be said of the others is a bound: flows that leave a host leave by its uplinks, and what a NAS is
 * sent comes in by its ports, whatever is changed. So the fullest of these links is no less full than the even split.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "emu/model/predict.h"
#include "nfsbal/plan/frontier_private.h"
#include "nfsbal/plan/layout.h"
#include "nfsbal/plan/problem.h"
#include "nfsbal/plan/search.h"
#include "nfsbal/plan/suggest_bind.h"
#include "nfsbal/plan/suggest_vmk.h"

enum { DIALS_MAX = 64, SETTINGS_MAX = 64 };
#define WORK_MAX 4e7 /* settings times layouts times links that looking at all may cost */
#define PER_WAY  400 /* of the same: a way from a host to a VIP */
#define LAYOUTS  3e4 /* more are not looked at one by one: nothing is proven then */

struct dial {
    struct plan_change settings[SETTINGS_MAX]; /* besides what is there */
    size_t n;
};

struct dials {
    struct dial *all;
    size_t n;
    bool too_many;
};

static struct dial *new_dial(struct dials *d)
{
    if (d->n == DIALS_MAX) {
        d->too_many = true;
        return NULL;
    }
    d->all[d->n].n = 0;
    return &d->all[d->n];
}

static void add_setting(struct dials *d, struct dial *dial, struct plan_change change)
{
    if (dial->n == SETTINGS_MAX)
        d->too_many = true;
    else
        dial->settings[dial->n++] = change;
}

/* A dial without settings is none. */
static void end_dial(struct dials *d, const struct dial *dial) { d->n += dial->n > 0; }

static void add_addresses(struct making *m, struct dials *d)
{
    const struct topo *t = m->f->t;
    for (int i = 0; i < (int)t->n_ifaces && !d->too_many; i++) {
        bool used = false;
        for (size_t k = 0; k < t->n_mounts; k++)
            used |= t->mounts[k].iface == i;
        struct dial *dial = used ? new_dial(d) : NULL;
        for (size_t a = 0; dial && a < m->n_from && !d->too_many; a++)
            if (plan_address_fits(t, i, &m->from[a], m->levers->taken, m->levers->n_taken))
                add_setting(d, dial, plan_address_change(m, t, i, &m->from[a]));
        if (dial)
            end_dial(d, dial);
    }
}

/* The interfaces of a host by which some VIP could be reached, but for those of today. */
static void add_bindings(struct making *m, struct dials *d)
{
    const struct plan_problem *p = m->f->plan->problem;
    const struct topo *t = m->f->t;
    for (size_t i = 0; i < t->n_mounts && !d->too_many; i++) {
        const struct topo_mount *mount = &t->mounts[i];
        int ifaces[SETTINGS_MAX];
        struct dial *dial = mount->vip >= 0 ? new_dial(d) : NULL;
        if (!dial)
            continue;
        size_t n = plan_bindable(p, mount->datastore, mount->host, mount->vip, ifaces, SETTINGS_MAX);
        for (size_t k = 0; k < n; k++)
            add_setting(d, dial, plan_binding_change(m, t, mount->datastore, mount->host, ifaces[k], mount->iface));
        end_dial(d, dial);
    }
}

static void add_homes(struct making *m, struct dials *d)
{
    const struct topo *t = m->f->t;
    for (size_t v = 0; v < t->n_vips && !d->too_many; v++) {
        const struct topo_node *nas = &t->nodes[t->vips[v].node];
        struct dial *dial = t->vips[v].up ? new_dial(d) : NULL;
        for (int b = nas->first_box; dial && b < nas->first_box + nas->n_boxes; b++)
            if (b != t->vips[v].home)
                add_setting(d, dial, plan_home_change(m, t, v, b));
        if (dial)
            end_dial(d, dial);
    }
}

static void add_owners(struct making *m, struct dials *d)
{
    const struct topo *t = m->f->t;
    for (int e = 0; e < (int)t->n_exports && !d->too_many; e++) {
        const struct topo_node *nas = &t->nodes[t->exports[e].node];
        bool used = false;
        for (size_t i = 0; i < t->n_datastores; i++)
            used |= t->datastores[i].export_ == e && t->datastores[i].n_mounts > 0;
        struct dial *dial = used && t->exports[e].owner >= 0 ? new_dial(d) : NULL;
        for (int b = nas->first_box; dial && b < nas->first_box + nas->n_boxes; b++)
            if (b != t->exports[e].owner)
                add_setting(d, dial, plan_owner_change(m, t, e, b));
        if (dial)
            end_dial(d, dial);
    }
}

static void add_hashes(struct making *m, struct dials *d)
{
    for (size_t n = 0; n < m->f->t->n_nodes && !d->too_many; n++) {
        struct dial *dial = new_dial(d);
        if (!dial)
            return;
        for (unsigned i = 0; plan_hash_policy(m->f->t, n, i); i++)
            add_setting(d, dial, plan_hash_change(m, m->f->t, n, i));
        end_dial(d, dial);
    }
}

/* Two interfaces with one address, or a change that is no change of the file, make no state. */
static bool is_possible(const struct plan_change *changes, size_t n)
{
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < i; k++)
            if (changes[i].lever == PLAN_LEVER_VMK_ADDRESS && changes[k].lever == PLAN_LEVER_VMK_ADDRESS &&
                !strcmp(changes[i].words.words[3], changes[k].words.words[3]))
                return false;
    return true;
}

/* Whether all settings of all dials can be looked at; *count: how many there are. */
static bool are_few(const struct making *m, const struct dials *d, double *count)
{
    const struct plan *plan = m->f->plan;
    double layouts = plan_search_count(plan->problem, LAYOUTS);
    *count = 1;
    for (size_t i = 0; i < d->n; i++)
        *count *= (double)d->all[i].n + 1;
    return !d->too_many && *count <= ALL_STATES && plan->looked_at_all &&
           *count * (layouts * (double)plan->problem->n_resources + PER_WAY * (double)plan_pairs(plan->problem)) <=
               WORK_MAX;
}

static void make_states(struct making *m, const struct dials *d, size_t count)
{
    for (size_t k = 1; k < count; k++) {
        struct plan_change *changes = arena_alloc(m->arena, (d->n + 1) * sizeof *changes);
        size_t n = 0, rest = k;
        for (size_t i = 0; i < d->n; i++) {
            size_t setting = rest % (d->all[i].n + 1);
            rest /= d->all[i].n + 1;
            if (setting)
                changes[n++] = d->all[i].settings[setting - 1];
        }
        if (is_possible(changes, n))
            plan_add_state(m, changes, n);
    }
}

bool plan_all_states(struct making *m)
{
    struct dials d = {.all = calloc(DIALS_MAX, sizeof *d.all)};
    double count = 0;
    if (!d.all)
        return false;
    if (plan_lever_allowed(m, PLAN_LEVER_VMK_ADDRESS))
        add_addresses(m, &d);
    if (plan_lever_allowed(m, PLAN_LEVER_VMK_BINDING))
        add_bindings(m, &d);
    if (plan_lever_allowed(m, PLAN_LEVER_LIF_HOME))
        add_homes(m, &d);
    if (plan_lever_allowed(m, PLAN_LEVER_VOLUME_OWNER))
        add_owners(m, &d);
    if (plan_lever_allowed(m, PLAN_LEVER_SWITCH_HASH))
        add_hashes(m, &d);
    bool all = !m->f->levers_left_out && are_few(m, &d, &count);
    if (all) {
        m->most_states = ALL_STATES;
        make_states(m, &d, (size_t)count);
        m->f->n_settings = (size_t)count;
    }
    free(d.all);
    return all;
}

/* ---- a bound on all of them ---- */

/* Links that together carry all of some flows in one direction. */
struct group {
    double wire, capacity; /* bytes/s for each datastore of weight 1; bytes/s */
    bool counts;           /* all of its links are looked at */
};

static void add_link(const struct making *m, struct group *g, const bool *movable, int linkdir, int d)
{
    if (m->f->t->links[linkdir / 2].down)
        return;
    g->capacity += predict_capacity(m->f->t, linkdir);
    g->counts &= movable[2 * linkdir + d];
}

/* The least that a byte of data is on the wire at its host's uplink or the NAS's port, over all ways of a host. */
static double least_factor(const struct plan_problem *p, size_t host, enum flow_direction d)
{
    double least = (double)INFINITY;
    for (size_t i = 0; i < plan_pairs(p); i++) {
        const struct plan_pair *pair = &p->pairs[i];
        if (i / p->t->n_vips % p->n_hosts != host || !pair->works)
            continue;
        struct flow flow = plan_flow(p, i);
        struct path path;
        if (path_walk(&p->site, NULL, &flow, d, false, &path) != PATH_OK)
            continue;
        for (size_t h = 0; h < path.n_hops; h++)
            if (path.hops[h].index >= 0)
                least = fmin(least, predict_wire_factor(&p->site, &flow, d, path.hops[h].linkdir));
    }
    return isfinite(least) ? least : 0;
}

static double weight_of(const struct topo_datastore *ds, int d)
{
    return d == FLOW_WRITE ? ds->weight_write : ds->weight_read;
}

static double even_of(const struct group *g) { return g->counts && g->capacity > 0 ? g->wire / g->capacity : 0; }

/* The host has a way over this team. */
static bool is_used(const struct plan_problem *p, size_t host, int team)
{
    for (size_t i = 0; i < plan_pairs(p); i++)
        if (i / p->t->n_vips % p->n_hosts == host && p->pairs[i].works &&
            p->t->ifaces[p->pairs[i].mount->iface].team == team)
            return true;
    return false;
}

/* A host's uplinks, in one direction. */
static double host_bound(const struct making *m, const struct plan_problem *p, size_t host, int d, const bool *movable)
{
    const struct topo *t = m->f->t;
    const struct topo_box *box = &t->boxes[p->hosts[host].box];
    struct group g = {.counts = true};
    for (size_t u = 0; u < p->n_units; u++) {
        size_t n;
        const int *hosts = plan_unit_hosts(p, &p->units[u], &n);
        for (size_t i = 0; i < n; i++)
            g.wire += hosts[i] == p->hosts[host].box ? weight_of(&t->datastores[p->units[u].datastore], d) : 0;
    }
    g.wire *= m->factors[2 * host + (size_t)d];
    for (int port = box->first_port; port < box->first_port + box->n_ports; port++)
        if (t->ports[port].link >= 0 && t->ports[port].team >= 0 && is_used(p, host, t->ports[port].team))
            add_link(m, &g, movable, d == FLOW_WRITE ? topo_port_out(t, port) : topo_port_out(t, port) ^ 1, d);
    return even_of(&g);
}

/* A NAS's ports, or those of one controller (box), in one direction. */
static double nas_bound(const struct making *m, const struct plan_problem *p, size_t node, int only, int d,
                        const bool *movable)
{
    const struct topo *t = m->f->t;
    struct group g = {.counts = true};
    for (size_t u = 0; u < p->n_units; u++) {
        const struct topo_datastore *ds = &t->datastores[p->units[u].datastore];
        const struct topo_export *e = &t->exports[ds->export_];
        size_t n;
        const int *hosts = plan_unit_hosts(p, &p->units[u], &n);
        for (size_t i = 0; i < n && e->node == (int)node && (only < 0 || e->owner == only); i++)
            g.wire += weight_of(ds, d) * m->factors[2 * (size_t)p->host_of[hosts[i]] + (size_t)d];
    }
    for (int b = t->nodes[node].first_box; b < t->nodes[node].first_box + t->nodes[node].n_boxes; b++)
        for (int port = t->boxes[b].first_port;
             port < t->boxes[b].first_port + t->boxes[b].n_ports && (only < 0 || b == only); port++)
            if (t->ports[port].link >= 0)
                add_link(m, &g, movable, d == FLOW_WRITE ? topo_port_out(t, port) ^ 1 : topo_port_out(t, port), d);
    return even_of(&g);
}

double plan_levers_bound(struct making *m, const bool *movable)
{
    const struct plan_problem *p = m->f->plan->problem;
    const struct topo *t = m->f->t;
    bool moves = plan_lever_allowed(m, PLAN_LEVER_LIF_HOME) || plan_lever_allowed(m, PLAN_LEVER_VOLUME_OWNER) ||
                 m->options.allow_indirect;
    double bound = 0;
    m->factors = arena_alloc(m->arena, (2 * p->n_hosts + 1) * sizeof *m->factors);
    for (int d = 0; d < 2; d++) {
        for (size_t h = 0; h < p->n_hosts; h++) {
            m->factors[2 * h + (size_t)d] = least_factor(p, h, (enum flow_direction)d);
            bound = fmax(bound, host_bound(m, p, h, d, movable));
        }
        for (size_t n = 0; n < t->n_nodes; n++) {
            if (t->nodes[n].kind != TOPO_NAS)
                continue;
            bound = fmax(bound, nas_bound(m, p, n, -1, d, movable));
            for (int b = t->nodes[n].first_box; !moves && b < t->nodes[n].first_box + t->nodes[n].n_boxes; b++)
                bound = fmax(bound, nas_bound(m, p, n, b, d, movable));
        }
    }
    return bound;
}
