#include "emu/model/path_site.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

int path_site_owner(const struct topo *t, int mount)
{
    while (t->mounts[mount].nconnect == 0 && t->mounts[mount].shares_with >= 0)
        mount = t->mounts[mount].shares_with;
    return mount;
}

/* Copies the flows in mount order; mounts without any of their own get copies of their owner's. */
static bool take_flows(struct path_site *s, const struct flow *flows, size_t n_flows)
{
    const struct topo *t = s->t;
    size_t *first = calloc(t->n_mounts + 2, sizeof *first), n = 0;

    s->first_flow = calloc(t->n_mounts + 1, sizeof *s->first_flow);
    if (!first || !s->first_flow) {
        free(first);
        return false;
    }
    for (size_t f = 0; f < n_flows; f++)
        first[flows[f].mount + 1]++;
    for (size_t m = 0; m < t->n_mounts; m++)
        first[m + 1] += first[m];
    for (size_t m = 0; m < t->n_mounts; m++) {
        size_t owner = (size_t)path_site_owner(t, (int)m);

        s->first_flow[m] = n;
        n += first[owner + 1] - first[owner];
    }
    s->first_flow[t->n_mounts] = s->n_flows = n;
    s->flows = malloc((n + 1) * sizeof *s->flows);
    for (size_t m = 0; s->flows && m < t->n_mounts; m++) {
        const struct flow *from = flows + first[path_site_owner(t, (int)m)];

        for (size_t f = s->first_flow[m]; f < s->first_flow[m + 1]; f++) {
            s->flows[f] = *from++;
            s->flows[f].mount = (int)m;
        }
    }
    free(first);
    return s->flows != NULL;
}

/* A group whose flows share connections: of one owner, or of one ESXi host and VIP. */
struct shared {
    int host, vip, owner;
    size_t flow;
    bool own;
};

static int by_group(const void *a, const void *b)
{
    const struct shared *x = a, *y = b;

    if (x->host != y->host)
        return x->host < y->host ? -1 : 1;
    if (x->vip != y->vip)
        return x->vip < y->vip ? -1 : 1;
    return (x->owner > y->owner) - (x->owner < y->owner);
}

static bool weigh(struct path_site *s)
{
    const struct topo *t = s->t;
    struct shared *all = malloc((s->n_flows + 1) * sizeof *all);

    s->weights = malloc((s->n_flows + 1) * sizeof *s->weights);
    s->counts = malloc((s->n_flows + 1) * sizeof *s->counts);
    for (size_t f = 0; all && f < s->n_flows; f++) {
        int mount = s->flows[f].mount, host = t->mounts[mount].host, owner = path_site_owner(t, mount);
        bool esxi = t->nodes[t->boxes[host].node].kind == TOPO_ESXI;

        all[f] = (struct shared){host, s->flows[f].vip, esxi ? -1 : owner, f, owner == mount};
    }
    if (!all || !s->weights || !s->counts) {
        free(all);
        return false;
    }
    qsort(all, s->n_flows, sizeof *all, by_group);
    for (size_t i = 0, end; i < s->n_flows; i = end) {
        size_t own = 0;

        for (end = i; end < s->n_flows && by_group(&all[i], &all[end]) == 0; end++)
            own += all[end].own;
        for (size_t k = i; k < end; k++) {
            s->weights[all[k].flow] = (double)own / (double)(end - i);
            s->counts[all[k].flow] = all[k].owner < 0 ? 1 : s->weights[all[k].flow];
        }
    }
    free(all);
    return true;
}

static bool make(struct path_site *s, const struct flow *flows, size_t n_flows)
{
    if (!take_flows(s, flows, n_flows) || !weigh(s))
        return false;
    s->host_flows = calloc(s->n_flows + 1, sizeof *s->host_flows);
    if (!s->host_flows)
        return false;
    for (int d = 0; d < 2; d++) {
        s->predict[d] = predict_new(s->t, NULL, s->flows, s->weights, s->n_flows, (enum flow_direction)d);
        s->all[d] = calloc(s->n_flows + 1, sizeof *s->all[d]);
        s->host_rates[d] = calloc(s->n_flows + 1, sizeof *s->host_rates[d]);
        if (!s->predict[d] || !s->all[d] || !s->host_rates[d])
            return false;
    }
    return path_site_all_busy(s) == 0;
}

struct path_site *path_site_new(const struct topo *t, const struct flow *flows, size_t n_flows)
{
    struct path_site *s = calloc(1, sizeof *s);

    if (!s)
        return NULL;
    *s = (struct path_site){.t = t, .busy_host = -1};
    if (!make(s, flows, n_flows)) {
        path_site_free(s);
        return NULL;
    }
    return s;
}

void path_site_free(struct path_site *s)
{
    if (!s)
        return;
    for (int d = 0; d < 2; d++) {
        predict_free(s->predict[d]);
        free(s->all[d]);
        free(s->host_rates[d]);
    }
    free(s->flows);
    free(s->weights);
    free(s->counts);
    free(s->first_flow);
    free(s->host_flows);
    free(s);
}

int path_site_all_busy(struct path_site *s)
{
    int rc = 0;

    for (int d = 0; d < 2 && rc == 0; d++)
        rc = predict_rates(s->predict[d], NULL, 0, s->all[d]);
    return rc;
}

/* Makes the rates with this host busy alone those at hand. */
static int busy_host(struct path_site *s, int host)
{
    int rc = 0;

    if (s->busy_host == host)
        return 0;
    s->n_host_flows = 0;
    for (size_t f = 0; f < s->n_flows; f++)
        if (s->t->mounts[s->flows[f].mount].host == host)
            s->host_flows[s->n_host_flows++] = f;
    for (int d = 0; d < 2 && rc == 0; d++)
        rc = predict_rates(s->predict[d], s->host_flows, s->n_host_flows, s->host_rates[d]);
    s->busy_host = rc == 0 ? host : -1;
    return rc;
}

const size_t *path_site_flows_of(struct path_site *s, int host, size_t *n)
{
    int rc = busy_host(s, host);

    *n = rc == 0 ? s->n_host_flows : 0;
    return rc == 0 ? s->host_flows : NULL;
}

int path_site_host_rate(struct path_site *s, int host, enum flow_direction direction, double *rate)
{
    int rc = busy_host(s, host);

    *rate = 0;
    for (size_t i = 0; rc == 0 && i < s->n_host_flows; i++)
        *rate += s->host_rates[direction][i];
    return rc;
}

/* True when some hop of the flow has no index. */
static bool drawn(const struct path_site *s, size_t flow, enum flow_direction direction)
{
    size_t n;
    const struct predict_use *uses = predict_uses(s->predict[direction], flow, &n);

    for (size_t i = 0; i < n; i++)
        if (uses[i].share < 1 - 1e-9)
            return true;
    return false;
}

bool path_site_drawn(const struct path_site *s, int mount, enum flow_direction direction)
{
    for (size_t f = s->first_flow[mount]; f < s->first_flow[mount + 1]; f++)
        if (drawn(s, f, direction))
            return true;
    return false;
}

/* The flows of the mount and no others. */
static int alone(struct path_site *s, size_t first, size_t n, enum flow_direction direction, struct path_rates *out)
{
    size_t *mine = malloc((n + 1) * sizeof *mine);
    double *rates = malloc((n + 1) * sizeof *rates), one = 0;
    int rc = mine && rates ? 0 : -ENOMEM;
    bool any = false;

    for (size_t i = 0; rc == 0 && i < n; i++) {
        mine[i] = first + i;
        any |= drawn(s, first + i, direction);
    }
    if (rc == 0 && any && n > 0) {
        rc = predict_rates(s->predict[direction], mine, 1, rates);
        one = rates[0];
    }
    if (rc == 0)
        rc = predict_rates(s->predict[direction], mine, n, rates);
    for (size_t i = 0; rc == 0 && i < n; i++)
        out->alone += rates[i];
    out->least = any ? fmin(one, out->alone) : out->alone;
    free(mine);
    free(rates);
    return rc;
}

int path_site_rates(struct path_site *s, int mount, enum flow_direction direction, struct path_rates *out)
{
    size_t first = s->first_flow[mount], n = s->first_flow[mount + 1] - first;
    int rc = busy_host(s, s->t->mounts[mount].host);

    *out = (struct path_rates){0};
    for (size_t i = 0; rc == 0 && i < n; i++)
        out->all += s->all[direction][first + i];
    for (size_t i = 0; rc == 0 && i < s->n_host_flows; i++)
        if (s->host_flows[i] >= first && s->host_flows[i] < first + n)
            out->host += s->host_rates[direction][i];
    return rc ? rc : alone(s, first, n, direction, out);
}

double path_site_count(const struct path_site *s, int linkdir, int host, enum flow_direction direction)
{
    size_t n;
    const struct predict_load *loads = predict_loads(s->predict[direction], linkdir, &n);
    double sum = 0;

    for (size_t i = 0; i < n; i++)
        if (host < 0 || s->t->mounts[s->flows[loads[i].flow].mount].host == host)
            sum += loads[i].share * s->counts[loads[i].flow];
    return sum;
}
