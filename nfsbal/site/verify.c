#include "nfsbal/site/verify.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double CERTAIN = 0.999;

/* ---- groups ---- */

/* The team over which the sender of a link direction spreads, or -1. */
static int sending_team(const struct topo *t, int linkdir)
{
    int team = t->ports[topo_linkdir_from(t, linkdir)].team;

    return team >= 0 && t->teams[team].kind != TOPO_TEAM_SINGLE ? team : -1;
}

static int receiving_team(const struct topo *t, int linkdir) { return t->ports[topo_linkdir_to(t, linkdir)].team; }

/* Numbers of groups, before those without links are left out. */
static size_t group_key(const struct topo *t, int linkdir)
{
    int team = sending_team(t, linkdir);

    if (team >= 0)
        return (size_t)team;
    team = receiving_team(t, linkdir);
    return team >= 0 ? t->n_teams + (size_t)team : 2 * t->n_teams + (size_t)linkdir;
}

struct place {
    size_t key;
    int linkdir;
};

static int by_key(const void *a, const void *b)
{
    const struct place *x = a, *y = b;

    if (x->key != y->key)
        return x->key < y->key ? -1 : 1;
    return (x->linkdir > y->linkdir) - (x->linkdir < y->linkdir);
}

/* Members of a sending team stand in the team's order, others in the file's. */
static int by_order(const struct topo *t, const struct verify_link *a, const struct verify_link *b)
{
    int team = sending_team(t, a->linkdir), at[2] = {0, 0};

    for (size_t i = 0; team >= 0 && i < t->teams[team].n_ports; i++) {
        at[0] = t->teams[team].ports[i] == topo_linkdir_from(t, a->linkdir) ? (int)i : at[0];
        at[1] = t->teams[team].ports[i] == topo_linkdir_from(t, b->linkdir) ? (int)i : at[1];
    }
    return team >= 0 ? at[0] - at[1] : a->linkdir - b->linkdir;
}

static void sort_links(const struct topo *t, struct verify_link *links, size_t n)
{
    for (size_t i = 1; i < n; i++)
        for (size_t k = i; k > 0 && by_order(t, &links[k - 1], &links[k]) > 0; k--) {
            struct verify_link swap = links[k];

            links[k] = links[k - 1];
            links[k - 1] = swap;
        }
}

static bool make_groups(struct verify *v)
{
    const struct topo *t = v->site->t;
    size_t n = 2 * t->n_links;
    struct place *places = malloc((n + 1) * sizeof *places);

    v->groups = calloc(n + 1, sizeof *v->groups);
    v->links = calloc(n + 1, sizeof *v->links);
    v->group_of = calloc(n + 1, sizeof *v->group_of);
    if (!places || !v->groups || !v->links || !v->group_of) {
        free(places);
        return false;
    }
    for (size_t i = 0; i < n; i++)
        places[i] = (struct place){group_key(t, (int)i), (int)i};
    if (n)
        qsort(places, n, sizeof *places, by_key);
    for (size_t i = 0, end; i < n; i = end) {
        struct verify_group *g = &v->groups[v->n];

        for (end = i; end < n && places[end].key == places[i].key; end++) {
            v->links[end] = (struct verify_link){.linkdir = places[end].linkdir, .moved = -1};
            v->group_of[places[end].linkdir] = (int)v->n;
        }
        *g = (struct verify_group){.box = t->ports[topo_linkdir_from(t, places[i].linkdir)].box,
                                   .team = sending_team(t, places[i].linkdir),
                                   .receiver = receiving_team(t, places[i].linkdir),
                                   .links = &v->links[i],
                                   .n = end - i};
        sort_links(t, g->links, g->n);
        v->n++;
    }
    free(places);
    return true;
}

/* ---- plan and counters ---- */

struct adding {
    struct verify *v;
    double count;
};

static void add_share(void *context, int linkdir, double share)
{
    struct adding *a = context;
    struct verify_group *g = &a->v->groups[a->v->group_of[linkdir]];

    for (size_t i = 0; i < g->n; i++)
        if (g->links[i].linkdir == linkdir) {
            g->links[i].planned += share * a->count;
            g->links[i].certain += share > CERTAIN ? a->count : 0;
        }
    g->planned += share * a->count;
}

static void plan(struct verify *v)
{
    const struct path_site *s = v->site;

    for (size_t f = 0; f < s->n_flows; f++)
        for (int d = 0; d < 2; d++) {
            struct adding a = {v, s->counts[f]};

            path_shares(s->t, NULL, &s->flows[f], (enum flow_direction)d, add_share, &a);
        }
}

static int count(struct verify *v, const struct counters *before, const struct counters *after, char *problem,
                 size_t size)
{
    const struct topo *t = v->site->t;

    for (size_t i = 0; i < 2 * t->n_links; i++) {
        struct verify_link *l = &v->links[i];
        double seconds;
        char rate[32];

        l->state = counters_linkdir(t, before, after, l->linkdir, &l->bytes);
        v->wrapped += l->state == COUNTER_WRAPPED;
        v->reset += l->state == COUNTER_RESET;
        if (l->state != COUNTER_IMPOSSIBLE && l->state != COUNTER_WRAPPED)
            continue;
        seconds = counters_seconds(before, after, topo_linkdir_from(t, l->linkdir));
        if (!isfinite(seconds))
            seconds = counters_seconds(before, after, topo_linkdir_to(t, l->linkdir));
        if (l->state == COUNTER_WRAPPED) {
            double wrap = 0x1p32 * 8 / (double)t->links[l->linkdir / 2].rate;

            if (!(seconds < wrap) && (v->wrap_seconds <= 0 || wrap < v->wrap_seconds))
                v->wrap_seconds = wrap;
            continue;
        }
        snprintf(problem, size,
                 "%s: %.0f bytes in %.0f s is more than %s can carry: the two readings don't belong together",
                 topo_linkdir_name(t, l->linkdir), l->bytes, seconds,
                 unit_print_rate(rate, sizeof rate, t->links[l->linkdir / 2].rate));
        return -EINVAL;
    }
    return 0;
}

/* ---- verdicts ---- */

static bool counted(const struct verify_group *g)
{
    for (size_t i = 0; i < g->n; i++)
        if (g->links[i].state == COUNTER_NONE)
            return false;
    return true;
}

static enum verify_verdict judge(struct verify_group *g)
{
    enum verify_verdict verdict = VERIFY_AGREES;

    if (!counted(g))
        return VERIFY_NOT_COUNTED;
    for (size_t i = 0; i < g->n; i++)
        g->bytes += g->links[i].bytes;
    if (g->planned < CERTAIN) /* half a flow may be what draws leave over */
        return g->planned <= 0 && g->bytes >= VERIFY_BYTES_OF_FLOW ? VERIFY_UNPLANNED : VERIFY_UNUSED;
    if (g->bytes < g->planned * VERIFY_BYTES_OF_FLOW)
        return VERIFY_TOO_LITTLE;
    for (size_t i = 0; i < g->n; i++) {
        struct verify_link *l = &g->links[i];

        if (l->certain > 0 && l->bytes < VERIFY_IDLE * g->bytes)
            l->finding = VERIFY_IDLE_LINK;
        else if (l->planned <= 0 && l->bytes > VERIFY_LOADED * g->bytes)
            l->finding = VERIFY_LOADED_LINK;
        if (l->finding != VERIFY_FINE)
            verdict = VERIFY_DIFFERS;
    }
    return verdict;
}

/* Other traffic than of mounts isn't in the file: a group without any is only of interest beside one that lacks its own, on the
 * same box. */
static bool lacks(const struct verify *v, int box)
{
    for (size_t i = 0; i < v->n; i++)
        if (v->groups[i].verdict == VERIFY_TOO_LITTLE && v->groups[i].box == box)
            return true;
    return false;
}

int verify_run(const struct path_site *site, const struct counters *before, const struct counters *after,
               struct verify *out, char *problem, size_t size)
{
    int rc;

    *out = (struct verify){.site = site};
    if (!make_groups(out))
        return -ENOMEM;
    plan(out);
    rc = count(out, before, after, problem, size);
    for (size_t i = 0; rc == 0 && i < out->n; i++)
        out->groups[i].verdict = judge(&out->groups[i]);
    for (size_t i = 0; rc == 0 && i < out->n; i++) {
        struct verify_group *g = &out->groups[i];

        if (g->verdict == VERIFY_UNPLANNED && !lacks(out, g->box))
            g->verdict = VERIFY_UNUSED;
    }
    for (size_t i = 0; rc == 0 && i < out->n; i++) {
        struct verify_group *g = &out->groups[i];

        out->count[g->verdict]++;
        if (g->verdict == VERIFY_DIFFERS || g->verdict == VERIFY_UNPLANNED)
            rc = verify_explain(out, g);
    }
    if (rc == 0)
        verify_settle(out);
    return rc;
}

void verify_free(struct verify *v)
{
    free(v->groups);
    free(v->links);
    free(v->group_of);
    *v = (struct verify){0};
}

char *verify_member_name(const struct topo *t, int linkdir, char *out, size_t size)
{
    int port = topo_linkdir_from(t, linkdir);
    const struct topo_box *box = &t->boxes[t->ports[port].box];
    const char *name, *dot;

    if (t->nodes[box->node].kind == TOPO_SWITCH || t->nodes[box->node].kind == TOPO_ROUTER)
        port = topo_linkdir_to(t, linkdir);
    box = &t->boxes[t->ports[port].box];
    name = t->ports[port].name;
    dot = box->part ? strchr(name, '.') : NULL;
    snprintf(out, size, "%s %s", box->name, dot ? dot + 1 : name);
    return out;
}
