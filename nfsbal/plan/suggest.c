/* Theory of operation
 *
 * Every free address becomes a VIP of every controller that has one, in a copy of the topology, and the path function says on which
 * members of which teams its flows from all hosts go. Then addresses are chosen: one by one where they do least harm, and exchanged
 * one for one as long as that helps, from several starts. Harm is how far members of a team exceed an even split, squared and summed
 * over all teams. When nothing is uneven, lower addresses take the place of higher ones where that keeps it so.
 *
 * Teams whose choice does not depend on the address, or is not known, are even by construction of the problem or not at all: they
 * add the same to every choice. Where a NAS team receives by the VIP's NIC the address does not matter.
 */
#include "nfsbal/plan/suggest.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "emu/model/topology_arena.h"
#include "nfsbal/plan/problem.h"

enum { STARTS = 40 };

struct team_use { /* a team in one direction */
    int team;
    bool reads;
    size_t members;
};

struct member { /* a link of such a team */
    int use;    /* place among the uses, or -1 */
};

struct suggesting {
    const struct topo *t;
    struct topo ext;
    struct plan_problem *p;
    struct topo_arena *arena;
    int node, svm;
    size_t n_existing; /* VIPs that are there; the others are candidates */
    struct team_use *uses;
    size_t n_uses;
    struct member *members; /* per resource */
    double *counts;         /* per resource */
    double *sums;           /* per use */
    bool *chosen;           /* per VIP of ext */
    size_t *want;           /* per box: VIPs to add */
};

static bool same_nas(const struct suggesting *s, const struct topo_vip *v)
{
    return v->node == s->node && v->svm == s->svm && v->up;
}

static bool is_taken(const struct topo *t, const struct topo_addr *a, const struct topo_addr *reserved,
                     size_t n_reserved)
{
    for (size_t i = 0; i < t->n_vips; i++)
        if (topo_addr_equal(&t->vips[i].addr, a))
            return true;
    for (size_t i = 0; i < t->n_ifaces; i++)
        if (topo_addr_equal(&t->ifaces[i].addr, a) || topo_addr_equal(&t->ifaces[i].gateway, a))
            return true;
    for (size_t i = 0; i < n_reserved; i++)
        if (topo_addr_equal(&reserved[i], a))
            return true;
    return false;
}

/* The first or last address of its subnet. */
static bool is_edge(const struct topo_addr *a, unsigned prefix)
{
    unsigned bits = a->version == 4 ? 32 : 128, ones = 0;
    for (unsigned i = prefix; i < bits; i++)
        ones += a->bytes[i / 8] >> (7 - i % 8) & 1;
    return bits - prefix >= 2 && (ones == 0 || (a->version == 4 && ones == bits - prefix));
}

/* Who serves the datastores, and how the VIPs that are missing are shared out: by the datastores that controllers own. */
static bool find_nas(struct suggesting *s, size_t total, char *problem, size_t size)
{
    const struct topo *t = s->t;
    size_t *owned = arena_alloc(s->arena, (t->n_boxes + 1) * sizeof *owned), existing = 0;
    s->want = arena_alloc(s->arena, (t->n_boxes + 1) * sizeof *s->want);
    s->node = t->n_datastores ? t->exports[t->datastores[0].export_].node : -1;
    s->svm = t->n_datastores ? t->exports[t->datastores[0].export_].svm : -1;
    for (size_t d = 0; d < t->n_datastores; d++) {
        const struct topo_export *e = &t->exports[t->datastores[d].export_];
        if (e->node != s->node || e->svm != s->svm) {
            snprintf(problem, size,
                     "the datastores are of several NAS or svms: VIPs can be suggested for one at a time");
            return false;
        }
        if (e->owner >= 0)
            owned[e->owner]++;
    }
    size_t *have = arena_alloc(s->arena, (t->n_boxes + 1) * sizeof *have);
    for (size_t v = 0; v < t->n_vips; v++)
        if (same_nas(s, &t->vips[v])) {
            have[t->vips[v].home]++;
            existing++;
        }
    if (existing == 0 || total <= existing) {
        snprintf(problem, size, "%zu VIPs are there already: ask for more", existing);
        return false;
    }
    for (size_t i = existing; i < total; i++) {
        int least = -1;
        double least_share = 0;
        for (size_t b = 0; b < t->n_boxes; b++) {
            if (have[b] == 0)
                continue;
            double share = (double)(have[b] + s->want[b]) / (double)(owned[b] ? owned[b] : 1);
            if (least < 0 || share < least_share) {
                least = (int)b;
                least_share = share;
            }
        }
        s->want[least]++;
    }
    return true;
}

/* A copy of the topology with every candidate as a VIP. */
static void extend(struct suggesting *s, const struct topo_addr *from, size_t n_from, const struct topo_addr *reserved,
                   size_t n_reserved, size_t *n_candidates)
{
    const struct topo *t = s->t;
    struct topo_vip *vips = arena_alloc(s->arena, (t->n_vips + n_from * t->n_boxes + 1) * sizeof *vips);
    memcpy(vips, t->vips, t->n_vips * sizeof *vips);
    s->ext = *t;
    s->ext.vips = vips;
    s->n_existing = t->n_vips;
    *n_candidates = 0;
    for (size_t i = 0; i < n_from; i++) {
        bool any = false;
        for (size_t b = 0; b < t->n_boxes; b++) {
            const struct topo_vip *like = NULL;
            for (size_t v = 0; v < t->n_vips && s->want[b] > 0; v++)
                if (same_nas(s, &t->vips[v]) && t->vips[v].home == (int)b &&
                    topo_addr_same_subnet(&t->vips[v].addr, &from[i], t->vips[v].addr.prefix))
                    like = &t->vips[v];
            if (!like || is_edge(&from[i], like->addr.prefix) || is_taken(t, &from[i], reserved, n_reserved))
                continue;
            struct topo_vip *vip = &vips[s->ext.n_vips++];
            *vip = *like;
            vip->name = NULL;
            vip->text = "";
            vip->addr = from[i];
            vip->addr.prefix = like->addr.prefix;
            any = true;
        }
        *n_candidates += any;
    }
}

/* The teams whose members can be uneven. */
static void find_teams(struct suggesting *s)
{
    const struct plan_problem *p = s->p;
    const struct topo *t = &s->ext;
    s->members = arena_alloc(s->arena, (p->n_resources + 1) * sizeof *s->members);
    s->uses = arena_alloc(s->arena, (p->n_resources + 1) * sizeof *s->uses);
    s->counts = arena_alloc(s->arena, (p->n_resources + 1) * sizeof *s->counts);
    s->sums = arena_alloc(s->arena, (p->n_resources + 1) * sizeof *s->sums);
    for (size_t r = 0; r < p->n_resources; r++) {
        const struct topo_port *from = &t->ports[topo_linkdir_from(t, p->resources[r].linkdir)];
        bool reads = p->resources[r].direction == FLOW_READ;
        const struct topo_team *team = from->team < 0 ? NULL : &t->teams[from->team];
        size_t members = !team ? 1 : team->teaming.n_active ? team->teaming.n_active : team->n_ports, u = 0;
        s->members[r].use = -1;
        if (members < 2)
            continue;
        while (u < s->n_uses && (s->uses[u].team != from->team || s->uses[u].reads != reads))
            u++;
        if (u == s->n_uses)
            s->uses[s->n_uses++] = (struct team_use){from->team, reads, members};
        s->members[r].use = (int)u;
    }
}

static void add(struct suggesting *s, size_t vip, double n)
{
    const struct plan_problem *p = s->p;
    for (size_t h = 0; h < p->n_hosts; h++) {
        const struct plan_pair *pair = &p->pairs[h * s->ext.n_vips + vip];
        for (size_t i = 0; i < pair->n_uses; i++) {
            const struct plan_use *u = &pair->uses[i];
            s->counts[u->resource] += n * u->flows;
            if (s->members[u->resource].use >= 0)
                s->sums[s->members[u->resource].use] += n * u->flows;
        }
    }
}

static double even_of(const struct suggesting *s, int use)
{
    return ceil(s->sums[use] / (double)s->uses[use].members - 1e-6);
}

static double harm(const struct suggesting *s)
{
    double sum = 0;
    for (size_t r = 0; r < s->p->n_resources; r++) {
        int use = s->members[r].use;
        double over = use < 0 ? 0 : s->counts[r] - even_of(s, use);
        if (over > 1e-6)
            sum += over * over;
    }
    return sum;
}

static uint64_t next(uint64_t *state)
{
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return *state >> 33;
}

/* True when the address of the candidate is chosen already, for whichever controller. */
static bool address_chosen(const struct suggesting *s, size_t vip)
{
    for (size_t v = s->n_existing; v < s->ext.n_vips; v++)
        if (s->chosen[v] && topo_addr_equal(&s->ext.vips[v].addr, &s->ext.vips[vip].addr))
            return true;
    return false;
}

/* Fills up what a controller wants, each time with the address that does least harm; `state` non-zero: the first ones are drawn. */
static bool fill(struct suggesting *s, uint64_t *state)
{
    size_t n = s->ext.n_vips - s->n_existing;
    for (size_t b = 0; b < s->ext.n_boxes; b++)
        for (size_t i = 0; i < s->want[b]; i++) {
            size_t best = SIZE_MAX, from = *state && n ? (size_t)next(state) % n : 0;
            double least = 0;
            for (size_t k = 0; k < n; k++) {
                size_t v = s->n_existing + (from + k) % n;
                if (s->ext.vips[v].home != (int)b || address_chosen(s, v))
                    continue;
                add(s, v, 1);
                double h = harm(s);
                add(s, v, -1);
                if (best == SIZE_MAX || h < least - 1e-9) {
                    best = v;
                    least = h;
                }
                if (*state && i == 0)
                    break;
            }
            if (best == SIZE_MAX)
                return false;
            add(s, best, 1);
            s->chosen[best] = true;
        }
    return true;
}

/* Exchanges one address for another of its controller. `lower`: only for lower ones, at equal harm. */
static bool exchange(struct suggesting *s, bool lower)
{
    double now = harm(s);
    for (size_t out = s->n_existing; out < s->ext.n_vips; out++) {
        if (!s->chosen[out])
            continue;
        s->chosen[out] = false;
        add(s, out, -1);
        for (size_t in = s->n_existing; in < (lower ? out : s->ext.n_vips); in++) {
            if (s->chosen[in] || s->ext.vips[in].home != s->ext.vips[out].home || address_chosen(s, in))
                continue;
            add(s, in, 1);
            double h = harm(s);
            if (lower ? h <= now + 1e-9 : h < now - 1e-9) {
                s->chosen[in] = true;
                return true;
            }
            add(s, in, -1);
        }
        add(s, out, 1);
        s->chosen[out] = true;
    }
    return false;
}

static void clear(struct suggesting *s)
{
    memset(s->counts, 0, s->p->n_resources * sizeof *s->counts);
    memset(s->sums, 0, s->n_uses * sizeof *s->sums);
    memset(s->chosen, 0, s->ext.n_vips * sizeof *s->chosen);
    for (size_t v = 0; v < s->n_existing; v++)
        if (same_nas(s, &s->ext.vips[v]))
            add(s, v, 1);
}

static bool search(struct suggesting *s)
{
    bool *best = arena_alloc(s->arena, (s->ext.n_vips + 1) * sizeof *best);
    double least = -1;
    uint64_t state = 0;
    s->chosen = arena_alloc(s->arena, (s->ext.n_vips + 1) * sizeof *s->chosen);
    for (int start = 0; start < STARTS && !(least >= 0 && least < 1e-9); start++) {
        clear(s);
        if (!fill(s, &state))
            return false;
        while (exchange(s, false))
            ;
        double h = harm(s);
        if (least < 0 || h < least - 1e-9) {
            least = h;
            memcpy(best, s->chosen, s->ext.n_vips * sizeof *best);
        }
        state = (uint64_t)start + 1;
    }
    clear(s);
    for (size_t v = s->n_existing; v < s->ext.n_vips; v++)
        if ((s->chosen[v] = best[v]))
            add(s, v, 1);
    while (exchange(s, true))
        ;
    return true;
}

static int by_address(const void *a, const void *b)
{
    const struct plan_suggested *x = a, *y = b;
    return memcmp(x->addr.bytes, y->addr.bytes, sizeof x->addr.bytes);
}

static bool report(const struct suggesting *s, struct plan_suggestion *out)
{
    out->added = calloc(s->ext.n_vips + 1, sizeof *out->added);
    out->uneven = calloc(s->n_uses + 1, sizeof *out->uneven);
    if (!out->added || !out->uneven)
        return false;
    for (size_t v = 0; v < s->ext.n_vips; v++) {
        if (v < s->n_existing)
            out->n_existing += same_nas(s, &s->ext.vips[v]);
        else if (s->chosen[v])
            out->added[out->n_added++] = (struct plan_suggested){s->ext.vips[v].addr, s->ext.vips[v].home};
    }
    qsort(out->added, out->n_added, sizeof *out->added, by_address);
    for (size_t u = 0; u < s->n_uses; u++) {
        double most = 0;
        for (size_t r = 0; r < s->p->n_resources; r++)
            if (s->members[r].use == (int)u)
                most = fmax(most, s->counts[r]);
        if (most > even_of(s, (int)u) + 1e-6)
            out->uneven[out->n_uneven++] =
                (struct plan_uneven){s->uses[u].team, s->uses[u].reads, most, even_of(s, (int)u)};
    }
    return true;
}

bool plan_suggest(const struct topo *t, size_t total, const struct topo_addr *from, size_t n_from,
                  const struct topo_addr *reserved, size_t n_reserved, struct plan_suggestion *out, char *problem,
                  size_t size)
{
    struct suggesting s = {.t = t, .arena = arena_new()};
    const struct plan_options options = {.allow_indirect = false};
    bool ok = false;
    *out = (struct plan_suggestion){0};
    if (!find_nas(&s, total, problem, size))
        goto end;
    extend(&s, from, n_from, reserved, n_reserved, &out->n_candidates);
    s.p = plan_problem_new(&s.ext, &options, problem, size);
    if (!s.p)
        goto end;
    find_teams(&s);
    ok = search(&s) && report(&s, out);
    if (!ok)
        snprintf(problem, size, "%zu addresses are free to choose from, in the subnet of the VIPs: too few",
                 out->n_candidates);
end:
    plan_problem_free(s.p);
    arena_free(s.arena);
    return ok;
}

void plan_suggestion_free(struct plan_suggestion *s)
{
    free(s->added);
    free(s->uneven);
}
