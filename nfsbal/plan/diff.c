#define _GNU_SOURCE /* strverscmp() */
#include "nfsbal/plan/diff.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "emu/model/path_site.h"
#include "emu/model/topology_file.h"
#include "nfsbal/plan/problem.h"

#define SAME_FLOWS 1e-9 /* a sum of shares that differs by less is the same */

static const struct topo_mount *mount_of(const struct topo *t, int datastore, int host)
{
    const struct topo_datastore *ds = &t->datastores[datastore];
    for (int m = ds->first_mount; m < ds->first_mount + ds->n_mounts; m++)
        if (t->mounts[m].host == host)
            return &t->mounts[m];
    return NULL;
}

static bool is_nas(const struct topo *t, int port)
{
    return t->nodes[t->boxes[t->ports[port].box].node].kind == TOPO_NAS;
}

/* Flows on each link direction, writes and reads apart, counted as the planner does. */
struct tally {
    double *count; /* [direction * n + linkdir] */
    double *share; /* zero, and room for the link directions of one flow */
    int *touched;
    size_t n; /* link directions */
};

static bool tally_init(struct tally *y, const struct topo *t)
{
    y->n = 2 * t->n_links;
    y->count = calloc(2 * y->n + 1, sizeof *y->count);
    y->share = calloc(y->n + 1, sizeof *y->share);
    y->touched = calloc(y->n + 1, sizeof *y->touched);
    return y->count && y->share && y->touched;
}

static void tally_free(struct tally *y)
{
    free(y->count);
    free(y->share);
    free(y->touched);
}

/* Adds `sign` times the flows first .. end - 1 of a site. */
static void tally_flows(struct tally *y, const struct path_site *site, size_t first, size_t end, double sign)
{
    for (size_t f = first; f < end; f++)
        for (int d = 0; d < 2; d++) {
            struct path path;
            enum flow_direction direction = (enum flow_direction)d;
            if (path_walk(site->t, NULL, &site->flows[f], direction, false, &path) != PATH_OK)
                continue;
            size_t n = plan_shares(site->t, &site->flows[f], direction, &path, y->share, y->touched);
            for (size_t i = 0; i < n; i++) {
                y->count[(size_t)d * y->n + (size_t)y->touched[i]] += sign * y->share[y->touched[i]] * site->counts[f];
                y->share[y->touched[i]] = 0;
            }
        }
}

/* The most flows on a link direction at the NAS. */
static void tally_busiest(const struct tally *y, const struct topo *t, double *most, int *linkdir)
{
    *most = 0;
    *linkdir = -1;
    for (size_t i = 0; i < 2 * y->n; i++) {
        int at = (int)(i % y->n);
        double count = round(y->count[i] / SAME_FLOWS) * SAME_FLOWS;
        if (count > *most + SAME_FLOWS && (is_nas(t, topo_linkdir_from(t, at)) || is_nas(t, topo_linkdir_to(t, at)))) {
            *most = count;
            *linkdir = at;
        }
    }
}

static struct path_site *site_of(const struct topo *t)
{
    struct flow *flows = NULL;
    long n = flow_list(t, &flows);
    struct path_site *site = n < 0 ? NULL : path_site_new(t, flows, (size_t)n);
    free(flows);
    return site;
}

static bool mount_changes(const struct topo_mount *today, const struct topo_mount *goal)
{
    return !today || today->vip != goal->vip || strcmp(today->server, goal->server) != 0;
}

static enum plan_cost mount_cost(const struct topo_datastore *ds, const struct diff_mount *m)
{
    if (!m->today)
        return PLAN_NOTHING_STOPS;
    if (ds->server && !strcmp(m->today->server, ds->server) && !strcmp(m->goal->server, ds->server))
        return PLAN_ROLLING;
    return PLAN_OUTAGE;
}

/* The string that most hosts have, or NULL where all have the same (or each its own identity). */
static const char *find_drift(const struct topo *t, const struct topo_datastore *ds)
{
    const struct topo_mount *all = &t->mounts[ds->first_mount], *most = NULL;
    int best = 0;
    for (int i = 0; i < ds->n_mounts && !ds->per_host; i++) {
        int same = 0;
        for (int k = 0; k < ds->n_mounts; k++)
            same += !strcmp(all[i].server, all[k].server);
        if (same > best) {
            best = same;
            most = &all[i];
        }
    }
    return most && best < ds->n_mounts ? most->server : NULL;
}

/* Adds the step of a datastore on one host or all (-1), if anything changes there. `step` has no mounts yet. False on lack of
 * memory. */
static bool add_step(struct diff *x, int datastore, int host)
{
    const struct topo_datastore *ds = &x->goal->datastores[datastore];
    struct diff_step *step = &x->steps[x->n_steps];
    *step = (struct diff_step){.datastore = datastore, .host = host, .cost = PLAN_NOTHING_STOPS, .linkdir = -1};
    step->mounts = calloc((size_t)ds->n_mounts + 1, sizeof *step->mounts);
    if (!step->mounts)
        return false;
    for (int m = ds->first_mount; m < ds->first_mount + ds->n_mounts; m++) {
        const struct topo_mount *goal = &x->goal->mounts[m];
        struct diff_mount change = {mount_of(x->today, datastore, goal->host), goal};
        if ((host >= 0 && goal->host != host) || !mount_changes(change.today, goal))
            continue;
        enum plan_cost cost = mount_cost(&x->today->datastores[datastore], &change);
        step->cost = cost > step->cost ? cost : step->cost;
        step->mounts[step->n_mounts++] = change;
    }
    if (step->n_mounts == 0) {
        free(step->mounts);
        step->mounts = NULL;
        return true;
    }
    step->vms = step->cost == PLAN_OUTAGE ? ds->vms : 0;
    step->can_copy = step->cost == PLAN_OUTAGE && host < 0;
    for (size_t i = 0; i < ds->n_hosts; i++)
        step->can_copy &= x->goal->nodes[x->goal->boxes[ds->hosts[i]].node].kind == TOPO_ESXI;
    step->drift = find_drift(x->today, &x->today->datastores[datastore]);
    x->n_steps++;
    return true;
}

static double weight_of(const struct topo_datastore *ds) { return ds->weight_read + ds->weight_write; }

struct sorted { /* a step with its datastore, for qsort() */
    struct diff_step step;
    const struct topo_datastore *ds;
};

static int in_order(const void *a_, const void *b_)
{
    const struct sorted *a = a_, *b = b_;
    if ((a->ds->n_holds > 0) != (b->ds->n_holds > 0))
        return a->ds->n_holds > 0 ? 1 : -1;
    if (a->ds->vms != b->ds->vms)
        return a->ds->vms < b->ds->vms ? -1 : 1;
    if (weight_of(a->ds) < weight_of(b->ds) || weight_of(a->ds) > weight_of(b->ds))
        return weight_of(a->ds) < weight_of(b->ds) ? -1 : 1;
    if (a->step.datastore != b->step.datastore)
        return a->step.datastore > b->step.datastore ? -1 : 1;
    return (a->step.host > b->step.host) - (a->step.host < b->step.host);
}

static bool sort_steps(struct diff *x)
{
    struct sorted *all = malloc((x->n_steps + 1) * sizeof *all);
    if (!all)
        return false;
    for (size_t i = 0; i < x->n_steps; i++)
        all[i] = (struct sorted){x->steps[i], &x->today->datastores[x->steps[i].datastore]};
    qsort(all, x->n_steps, sizeof *all, in_order);
    for (size_t i = 0; i < x->n_steps; i++)
        x->steps[i] = all[i].step;
    free(all);
    return true;
}

/* The fullest NAS link of a topology. False on lack of memory. */
static bool find_busiest(const struct topo *t, double *most, int *linkdir)
{
    struct tally y;
    struct path_site *site = site_of(t);
    bool ok = tally_init(&y, t) && site;
    if (ok) {
        tally_flows(&y, site, 0, site->n_flows, 1);
        tally_busiest(&y, t, most, linkdir);
    }
    tally_free(&y);
    path_site_free(site);
    return ok;
}

/* The first n changes as topo_load_changed() takes them: free(). */
static struct topo_change *words_of(const struct diff *x, size_t n)
{
    struct topo_change *words = calloc(n + 1, sizeof *words);
    for (size_t i = 0; words && i < n; i++)
        words[i] = x->changes[i].change.words;
    return words;
}

/* On Linux the mounts of one server share a connection, so that a step changes what other datastores count: the fullest NAS link
 * after each step is that of a topology with the mounts of all steps so far. */
static bool follow_by_loading(struct diff *x, const struct topo_file *f, struct diag *d)
{
    size_t n = 0;
    struct topo_assignment *all = calloc(x->goal->n_mounts + 1, sizeof *all);
    struct topo_change *words = words_of(x, x->n_changes);
    bool ok = all && words;
    for (size_t i = 0; ok && i < x->n_steps; i++) {
        struct diff_step *step = &x->steps[i];
        for (size_t m = 0; m < step->n_mounts; m++) {
            const struct topo_mount *goal = step->mounts[m].goal;
            all[n++] = (struct topo_assignment){.datastore = x->goal->datastores[goal->datastore].name,
                                                .host = x->goal->boxes[goal->host].name,
                                                .server = goal->server,
                                                .vip = x->goal->vips[goal->vip].text};
        }
        struct topo *t = topo_load_changed(f, x->today->case_name, words, x->n_changes, all, n, d);
        ok = t && find_busiest(t, &step->busiest, &step->linkdir);
        topo_free(t);
    }
    free(all);
    free(words);
    return ok;
}

/* On ESXi each mount counts by itself: a step takes away its flows of today and adds those of the plan. */
static bool follow_by_mount(struct diff *x)
{
    struct tally y;
    struct path_site *today = site_of(x->changed ? x->changed : x->today), *goal = site_of(x->goal);
    bool ok = tally_init(&y, x->today) && today && goal;
    if (ok)
        tally_flows(&y, today, 0, today->n_flows, 1);
    for (size_t i = 0; ok && i < x->n_steps; i++) {
        struct diff_step *step = &x->steps[i];
        for (size_t k = 0; k < step->n_mounts; k++) {
            size_t to = (size_t)(step->mounts[k].goal - x->goal->mounts);
            if (step->mounts[k].today) {
                size_t from = (size_t)(step->mounts[k].today - x->today->mounts);
                tally_flows(&y, today, today->first_flow[from], today->first_flow[from + 1], -1);
            }
            tally_flows(&y, goal, goal->first_flow[to], goal->first_flow[to + 1], 1);
        }
        tally_busiest(&y, x->today, &step->busiest, &step->linkdir);
    }
    tally_free(&y);
    path_site_free(today);
    path_site_free(goal);
    return ok;
}

/* The fullest NAS link today and after each change of the site, with today's mounts. */
static bool follow_changes(struct diff *x, const struct topo_file *f, struct diag *d)
{
    struct topo_change *words = words_of(x, x->n_changes);
    bool ok = words && find_busiest(x->today, &x->busiest, &x->linkdir);
    for (size_t i = 0; ok && i < x->n_changes; i++) {
        topo_free(x->changed);
        x->changed = topo_load_changed(f, x->today->case_name, words, i + 1, NULL, 0, d);
        ok = x->changed && find_busiest(x->changed, &x->changes[i].busiest, &x->changes[i].linkdir);
    }
    free(words);
    return ok;
}

static bool follow(struct diff *x, const struct topo_file *f, struct diag *d)
{
    bool esxi = true;
    if (!follow_changes(x, f, d))
        return false;
    for (size_t m = 0; m < x->goal->n_mounts; m++)
        esxi &= x->goal->nodes[x->goal->boxes[x->goal->mounts[m].host].node].kind == TOPO_ESXI;
    return esxi ? follow_by_mount(x) : follow_by_loading(x, f, d);
}

static bool is_binding(const struct diff_change *c) { return c->change.lever == PLAN_LEVER_VMK_BINDING; }

/* By class; bindings last of theirs, host by host. */
static int in_class(const void *a_, const void *b_)
{
    const struct diff_change *a = a_, *b = b_;
    int x = (int)plan_lever_cost(a->change.lever), y = (int)plan_lever_cost(b->change.lever);
    if (x != y)
        return x - y;
    if (is_binding(a) != is_binding(b))
        return is_binding(a) ? 1 : -1;
    int order = is_binding(a) ? strverscmp(a->change.words.words[2], b->change.words.words[2]) : 0;
    return order ? order : (a->place > b->place) - (a->place < b->place);
}

static bool take_changes(struct diff *x, const struct plan_change *changes, size_t n)
{
    x->changes = calloc(n + 1, sizeof *x->changes);
    for (size_t i = 0; x->changes && i < n; i++)
        x->changes[x->n_changes++] = (struct diff_change){changes[i], i, false, 0, -1};
    if (x->changes && n > 1)
        qsort(x->changes, n, sizeof *x->changes, in_class);
    return x->changes != NULL;
}

/* The step mounts the datastore anew on this host. */
static bool mounts_on(const struct diff *x, const struct diff_step *s, const struct diff_change *binding)
{
    if (strcmp(x->goal->datastores[s->datastore].name, binding->change.words.words[1]) != 0 || s->cost == PLAN_ROLLING)
        return false;
    for (size_t m = 0; m < s->n_mounts; m++)
        if (!strcmp(x->goal->boxes[s->mounts[m].goal->host].name, binding->change.words.words[2]))
            return true;
    return false;
}

/* A name comes with its datastore's step, and so does a binding where the datastore is mounted anew; else the bindings of a host are
 * one step. */
static void find_followers(struct diff *x)
{
    for (size_t i = 0; i < x->n_changes; i++) {
        struct diff_change *c = &x->changes[i];
        c->follows = c->change.lever == PLAN_LEVER_NAMES;
        for (size_t s = 0; s < x->n_steps && is_binding(c) && !c->follows; s++)
            c->follows = mounts_on(x, &x->steps[s], c);
        for (size_t k = 0; k < i && is_binding(c) && !c->follows; k++)
            c->follows = is_binding(&x->changes[k]) && !x->changes[k].follows &&
                         !strcmp(x->changes[k].change.words.words[2], c->change.words.words[2]);
    }
}

struct diff *diff_new(const struct topo_file *f, const struct topo *today, const struct topo *goal,
                      const struct plan_change *changes, size_t n_changes, struct diag *d)
{
    struct diff *x = calloc(1, sizeof *x);
    size_t most = today->n_datastores + goal->n_mounts + 1;
    bool ok = x != NULL;
    if (ok) {
        x->today = today;
        x->goal = goal;
        x->steps = calloc(most, sizeof *x->steps);
        ok = x->steps && take_changes(x, changes, n_changes);
    }
    for (int i = 0; ok && i < (int)goal->n_datastores; i++) {
        const struct topo_datastore *ds = &goal->datastores[i];
        if (!ds->per_host)
            ok = add_step(x, i, -1);
        for (int m = ds->first_mount; ok && ds->per_host && m < ds->first_mount + ds->n_mounts; m++)
            ok = add_step(x, i, goal->mounts[m].host);
    }
    ok = ok && sort_steps(x);
    if (ok)
        find_followers(x);
    ok = ok && follow(x, f, d);
    if (ok)
        return x;
    if (diag_count(d, DIAG_ERROR) == 0)
        diag_add(d, DIAG_ERROR, NULL, (struct diag_mark){0}, NULL, "out of memory");
    diff_free(x);
    return NULL;
}

void diff_free(struct diff *x)
{
    if (!x)
        return;
    for (size_t i = 0; x->steps && i < x->n_steps; i++)
        free(x->steps[i].mounts);
    free(x->steps);
    free(x->changes);
    topo_free(x->changed);
    free(x);
}

size_t diff_copies(const struct diff *x)
{
    size_t n = 0;
    for (size_t i = 0; i < x->n_steps; i++)
        n += x->steps[i].can_copy;
    return n;
}

size_t diff_count(const struct diff *x, enum plan_cost cost, unsigned *vms)
{
    size_t n = 0;
    *vms = 0;
    for (size_t i = 0; i < x->n_steps; i++)
        if (x->steps[i].cost == cost) {
            n++;
            *vms += x->steps[i].vms;
        }
    return n;
}
