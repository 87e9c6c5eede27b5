#include "nfsbal/plan/failure.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "emu/model/predict.h"

struct scene {
    const struct plan_problem *p;
    const struct topo *t; /* with a mount per pair */
    double *amount;       /* [pair * 2 + direction] of weight */
    double *mounts;       /* [pair] */
    double *base, *loads; /* [2 * linkdir + direction] */
    bool *down;           /* per link direction */
    int *vip_box;
    double *share; /* per link direction, 0 between uses */
    int *touched;
    size_t n_touched;
};

static void collect_share(void *context, int linkdir, double share)
{
    struct scene *s = context;
    if (!(s->share[linkdir] > 0))
        s->touched[s->n_touched++] = linkdir;
    s->share[linkdir] += share;
}

/* What a pair puts where in one direction, added (sign 1) or taken off (-1). */
static void load_direction(struct scene *s, size_t pair, const struct flow *flow, enum flow_direction d,
                           const struct path_state *state, double sign, double *loads)
{
    s->n_touched = 0;
    path_shares(s->t, state, flow, d, collect_share, s);
    for (size_t i = 0; i < s->n_touched; i++) {
        int linkdir = s->touched[i];
        double capacity = predict_capacity(s->t, linkdir);
        loads[2 * linkdir + (int)d] += sign * s->amount[2 * pair + (size_t)d] * s->share[linkdir] *
                                       predict_wire_factor(s->t, flow, d, linkdir) / (capacity > 1 ? capacity : 1);
        s->share[linkdir] = 0;
    }
}

/* Both directions; nothing, and false, when there is no way in one of them. */
static bool load_pair(struct scene *s, size_t pair, const struct path_state *state, double sign, double *loads,
                      bool *assumed)
{
    struct flow flow = plan_flow(s->p, pair);
    for (int d = 0; d < 2; d++) {
        struct path path;
        if (path_walk(s->t, state, &flow, (enum flow_direction)d, false, &path) != PATH_OK)
            return false;
        for (size_t h = 0; h < path.n_hops; h++)
            *assumed |= path.hops[h].n > 1 && path.hops[h].inputs >= TOPO_ASSUMED;
    }
    for (int d = 0; d < 2; d++)
        load_direction(s, pair, &flow, (enum flow_direction)d, state, sign, loads);
    return true;
}

static void count_amounts(struct scene *s, const struct plan_layout *l)
{
    const struct plan_problem *p = s->p;
    for (size_t k = 0; k < p->n_classes; k++) {
        const struct plan_class *c = &p->classes[k];
        const struct plan_unit *u = &p->units[c->units[0]];
        size_t n;
        const int *hosts = plan_unit_hosts(p, u, &n);
        for (size_t o = 0; o < c->n_options; o++)
            for (size_t h = 0; l->counts[c->first + o] && h < n; h++) {
                int vip = c->options[o].vip >= 0 ? c->options[o].vip : plan_vip_today(p->t, u, hosts[h]);
                size_t pair = plan_pair_of(p, u->datastore, hosts[h], vip < 0 ? 0 : vip);
                if (vip < 0 || !p->pairs[pair].works)
                    continue;
                s->mounts[pair] += l->counts[c->first + o];
                for (size_t d = 0; d < 2; d++)
                    s->amount[2 * pair + d] += l->counts[c->first + o] * c->weight[d];
            }
    }
}

static void scene_free(struct scene *s)
{
    free(s->amount);
    free(s->mounts);
    free(s->base);
    free(s->loads);
    free(s->down);
    free(s->vip_box);
    free(s->share);
    free(s->touched);
}

static bool scene_new(struct scene *s, const struct plan_layout *l)
{
    const struct topo *t = &l->p->site;
    size_t n = plan_pairs(l->p), dirs = 2 * t->n_links;
    bool assumed = false;
    *s = (struct scene){.p = l->p, .t = t};
    s->amount = calloc(2 * n + 1, sizeof *s->amount);
    s->mounts = calloc(n + 1, sizeof *s->mounts);
    s->base = calloc(2 * dirs + 1, sizeof *s->base);
    s->loads = calloc(2 * dirs + 1, sizeof *s->loads);
    s->down = calloc(dirs + 1, sizeof *s->down);
    s->vip_box = calloc(t->n_vips + 1, sizeof *s->vip_box);
    s->share = calloc(dirs + 1, sizeof *s->share);
    s->touched = calloc(dirs + 1, sizeof *s->touched);
    if (!s->amount || !s->mounts || !s->base || !s->loads || !s->down || !s->vip_box || !s->share || !s->touched)
        return false;
    count_amounts(s, l);
    for (size_t pair = 0; pair < n; pair++)
        if (s->mounts[pair] > 0)
            load_pair(s, pair, NULL, 1, s->base, &assumed);
    return true;
}

/* Everything up that the file has up. */
static void mend(struct scene *s)
{
    for (size_t i = 0; i < s->t->n_links; i++)
        s->down[2 * i] = s->down[2 * i + 1] = s->t->links[i].down;
    for (size_t v = 0; v < s->t->n_vips; v++)
        s->vip_box[v] = s->t->vips[v].up ? s->t->vips[v].home : -1;
}

static void break_box(struct scene *s, int box)
{
    const struct topo_box *b = &s->t->boxes[box];
    for (int port = b->first_port; port < b->first_port + b->n_ports; port++)
        if (s->t->ports[port].link >= 0)
            s->down[2 * s->t->ports[port].link] = s->down[2 * s->t->ports[port].link + 1] = true;
    for (size_t v = 0; v < s->t->n_vips; v++)
        if (s->vip_box[v] == box)
            s->vip_box[v] = b->takeover;
}

/* Two links of one team, at either end, or the same link. */
static bool related(const struct topo *t, int a, int b)
{
    for (int i = 0; i < 2; i++)
        for (int k = 0; k < 2; k++) {
            const struct topo_port *x = &t->ports[t->links[a].port[i]], *y = &t->ports[t->links[b].port[k]];
            if (x->team >= 0 && x->team == y->team)
                return true;
        }
    return a == b;
}

/* Whether the failure can touch the way of a pair. Of a box that fails, everything may be touched. */
static bool concerns(const struct scene *s, size_t pair, const struct plan_failure *f)
{
    const struct plan_pair *own = &s->p->pairs[pair];
    if (f->what == PLAN_FAIL_VIP)
        return (int)(pair % s->t->n_vips) == f->index;
    if (f->what != PLAN_FAIL_LINK)
        return true;
    for (size_t i = 0; i < own->n_uses; i++)
        if (related(s->t, s->p->resources[own->uses[i].resource].linkdir / 2, f->index))
            return true;
    return false;
}

static void judge(struct scene *s, struct plan_failure *f)
{
    const struct path_state state = {.linkdir_down = s->down, .vip_box = s->vip_box};
    size_t n = plan_pairs(s->p);
    bool ignored = false;
    memcpy(s->loads, s->base, 4 * s->t->n_links * sizeof *s->loads);
    for (size_t pair = 0; pair < n; pair++) {
        if (!(s->mounts[pair] > 0) || !concerns(s, pair, f))
            continue;
        load_pair(s, pair, NULL, -1, s->loads, &ignored);
        if (!load_pair(s, pair, &state, 1, s->loads, &f->assumed))
            f->cut += (size_t)s->mounts[pair];
    }
    f->linkdir = -1;
    for (size_t i = 0; i < 4 * s->t->n_links; i++)
        if (s->loads[i] > f->max_load * (1 + PLAN_EQUAL)) {
            f->max_load = s->loads[i];
            f->linkdir = (int)(i / 2);
        }
}

static void try_one(struct scene *s, enum plan_failing what, int index,
                    void (*each)(void *context, const struct plan_failure *f), void *context)
{
    struct plan_failure f = {.what = what, .index = index};
    mend(s);
    if (what == PLAN_FAIL_LINK)
        s->down[2 * index] = s->down[2 * index + 1] = true;
    else if (what == PLAN_FAIL_VIP)
        s->vip_box[index] = -1;
    else
        break_box(s, index);
    judge(s, &f);
    each(context, &f);
}

void plan_failures(const struct plan_layout *l, void (*each)(void *context, const struct plan_failure *f),
                   void *context)
{
    struct scene s;
    if (scene_new(&s, l)) {
        const struct topo *t = s.t;
        for (size_t i = 0; i < t->n_links; i++)
            if (!t->links[i].down)
                try_one(&s, PLAN_FAIL_LINK, (int)i, each, context);
        for (size_t b = 0; b < t->n_boxes; b++)
            if (t->nodes[t->boxes[b].node].kind == TOPO_SWITCH)
                try_one(&s, PLAN_FAIL_SWITCH, (int)b, each, context);
        for (size_t v = 0; v < t->n_vips; v++)
            if (t->vips[v].up)
                try_one(&s, PLAN_FAIL_VIP, (int)v, each, context);
        for (size_t b = 0; b < t->n_boxes; b++)
            if (t->nodes[t->boxes[b].node].kind == TOPO_NAS)
                try_one(&s, PLAN_FAIL_CONTROLLER, (int)b, each, context);
    }
    scene_free(&s);
}

int plan_failure_compare(const struct plan_failure *a, const struct plan_failure *b)
{
    int order = plan_compare_real(a->max_load, b->max_load);
    if (a->cut != b->cut)
        return a->cut < b->cut ? -1 : 1;
    return order;
}

static void keep_worst(void *context, const struct plan_failure *f)
{
    struct plan_failure *worst = context;
    /* One that cuts nothing off is what balance is about; of the others the least is told only where there is no such. */
    bool first = worst->what == PLAN_FAIL_NONE, spares = f->cut == 0, did = worst->cut == 0;
    if (first || (spares && !did) ||
        (spares == did && (spares ? plan_failure_compare(f, worst) > 0 : f->cut < worst->cut)))
        *worst = *f;
}

void plan_failure_worst(const struct plan_layout *l, struct plan_failure *out)
{
    *out = (struct plan_failure){.linkdir = -1};
    plan_failures(l, keep_worst, out);
}

char *plan_failure_name(const struct topo *t, const struct plan_failure *f, char *buf, size_t size)
{
    switch (f->what) {
    case PLAN_FAIL_NONE:
        snprintf(buf, size, "none");
        break;
    case PLAN_FAIL_LINK:
        snprintf(buf, size, "%s - %s", t->ports[t->links[f->index].port[0]].full,
                 t->ports[t->links[f->index].port[1]].full);
        break;
    case PLAN_FAIL_SWITCH:
        snprintf(buf, size, "switch %s", t->boxes[f->index].name);
        break;
    case PLAN_FAIL_VIP:
        snprintf(buf, size, "VIP %s", t->vips[f->index].text);
        break;
    case PLAN_FAIL_CONTROLLER:
        snprintf(buf, size, "controller %s", t->boxes[f->index].name);
        break;
    }
    return buf;
}
