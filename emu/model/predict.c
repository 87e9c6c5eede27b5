#include "emu/model/predict.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "emu/model/maxmin.h"
#include "emu/model/path_internal.h"
#include "emu/model/storage_load.h"

struct predict {
    const struct topo *t;
    const struct flow *flows;
    const double *weights; /* may be NULL */
    size_t n_flows;
    enum flow_direction direction;
    struct predict_use *uses; /* by flow, first_use[flow] .. first_use[flow + 1] */
    size_t *first_use, n_uses, uses_size;
    struct predict_load *loads; /* by link direction, likewise */
    size_t *first_load;
    bool *broken;
    int *class_of;        /* per flow */
    size_t *busy_in;      /* per class: busy flows */
    int *busy, *was_busy; /* classes with busy flows, now and in the call before */
    size_t n_busy;
    size_t n_classes;
    struct maxmin *m; /* resources: link directions, then nodes (storage) */
};

/* Collecting the shares of one flow. */
struct collect {
    struct predict *p;
    size_t first;
    bool failed;
};

static void collect_share(void *context, int linkdir, double share)
{
    struct collect *c = context;
    struct predict *p = c->p;

    for (size_t i = c->first; i < p->n_uses; i++)
        if (p->uses[i].linkdir == linkdir) {
            p->uses[i].share += share;
            return;
        }
    if (p->n_uses == p->uses_size) {
        size_t size = p->uses_size ? 2 * p->uses_size : 1024;
        struct predict_use *uses = realloc(p->uses, size * sizeof *uses);

        if (!uses) {
            c->failed = true;
            return;
        }
        p->uses = uses;
        p->uses_size = size;
    }
    p->uses[p->n_uses++] = (struct predict_use){linkdir, share};
}

static int by_linkdir(const void *a, const void *b)
{
    const struct predict_use *x = a, *y = b;

    return (x->linkdir > y->linkdir) - (x->linkdir < y->linkdir);
}

static bool collect_paths(struct predict *p, const struct path_state *state)
{
    struct path path;

    for (size_t i = 0; i < p->n_flows; i++) {
        struct collect c = {.p = p, .first = p->n_uses};

        p->first_use[i] = p->n_uses;
        p->broken[i] = path_walk(p->t, state, &p->flows[i], p->direction, false, &path) != PATH_OK;
        if (p->broken[i])
            continue;
        path_shares(p->t, state, &p->flows[i], p->direction, collect_share, &c);
        if (c.failed)
            return false;
        qsort(p->uses + c.first, p->n_uses - c.first, sizeof *p->uses, by_linkdir);
    }
    p->first_use[p->n_flows] = p->n_uses;
    return true;
}

/* The lists by link direction, from those by flow. */
static bool turn_round(struct predict *p)
{
    size_t n_dirs = 2 * p->t->n_links, at = 0;

    p->loads = malloc((p->n_uses + 1) * sizeof *p->loads);
    p->first_load = calloc(n_dirs + 2, sizeof *p->first_load);
    if (!p->loads || !p->first_load)
        return false;
    for (size_t i = 0; i < p->n_uses; i++)
        p->first_load[p->uses[i].linkdir + 2]++;
    for (size_t d = 0; d < n_dirs + 2; d++) {
        at += p->first_load[d];
        p->first_load[d] = at;
    }
    for (size_t f = 0; f < p->n_flows; f++)
        for (size_t i = p->first_use[f]; i < p->first_use[f + 1]; i++)
            p->loads[p->first_load[p->uses[i].linkdir + 1]++] = (struct predict_load){(int)f, p->uses[i].share};
    return true;
}

/* At a host or controller its interface's, between switches what the port says. */
uint16_t predict_tag(const struct topo *t, const struct flow *flow, int linkdir)
{
    const struct topo_iface *host = &t->ifaces[flow->iface], *nas = flow_server_iface(t, flow);
    int from = topo_linkdir_from(t, linkdir), to = topo_linkdir_to(t, linkdir);
    uint16_t vlan = host->vlan ? host->vlan : nas->vlan, tag;

    if (t->ports[from].box == host->box || t->ports[to].box == host->box)
        return host->vlan;
    if (t->ports[from].box == nas->box || t->ports[to].box == nas->box)
        return nas->vlan;
    return path_vlan_out(t, from, vlan, &tag) ? tag : vlan;
}

double predict_wire_factor(const struct topo *t, const struct flow *flow, enum flow_direction direction, int linkdir)
{
    const struct topo_iface *host = &t->ifaces[flow->iface], *nas = &t->ifaces[t->vips[flow->vip].iface];
    const struct topo_stack *client = &t->stacks[host->box], *server = &t->stacks[nas->box];
    bool write = direction == FLOW_WRITE;
    const bps_t rate = 1000000000;

    return (double)rate / 8 /
           path_goodput(rate, host->mtu < nas->mtu ? host->mtu : nas->mtu, predict_tag(t, flow, linkdir) != 0,
                        host->addr.version == 6, client->timestamps && server->timestamps,
                        write ? client->wsize : client->rsize, write);
}

double predict_capacity(const struct topo *t, int linkdir)
{
    double capacity = (double)t->links[linkdir / 2].rate / 8;

    for (size_t i = 0; i < t->n_background; i++)
        if (t->background[i].linkdir == linkdir)
            capacity -= t->background[i].share * (double)t->links[linkdir / 2].rate / 8;
    return capacity > 0 ? capacity : 0;
}

/* Payload bytes/s that the storage of a node gives to operations of `block` bytes; INFINITY: it never limits. */
static double storage_limit(const struct topo *t, int node, enum flow_direction direction, double block)
{
    const struct topo_box *first = &t->boxes[t->nodes[node].first_box];
    double limit = direction == FLOW_WRITE ? first->limit_write : first->limit_read;

    if (t->nodes[node].storage)
        return storage_stream_rate(t->nodes[node].storage, (unsigned)t->nodes[node].n_boxes, direction == FLOW_WRITE,
                                   block);
    if (!(limit > 0))
        limit = (double)INFINITY;
    return first->limit_iops > 0 ? fmin(limit, first->limit_iops * block) : limit;
}

static double block_of(const struct predict *p, size_t flow)
{
    const struct topo_stack *s = &p->t->stacks[p->t->ifaces[p->flows[flow].iface].box];

    return (double)(p->direction == FLOW_WRITE ? s->wsize : s->rsize);
}

static double weight_of(const struct predict *p, size_t flow) { return p->weights ? p->weights[flow] : 1; }

/* What sorts flows into classes: equal ones have the same path, the same bytes on the wire and the same storage. */
struct member {
    const struct predict *p;
    size_t flow;
    double factor, weight;
};

static int by_class(const void *a, const void *b)
{
    const struct member *x = a, *y = b;
    const struct predict *p = x->p;
    size_t fx = p->first_use[x->flow], fy = p->first_use[y->flow];
    size_t nx = p->first_use[x->flow + 1] - fx, ny = p->first_use[y->flow + 1] - fy;
    int node_x = p->t->vips[p->flows[x->flow].vip].node, node_y = p->t->vips[p->flows[y->flow].vip].node;
    double block_x = block_of(p, x->flow), block_y = block_of(p, y->flow);

    if (nx != ny)
        return nx < ny ? -1 : 1;
    for (size_t i = 0; i < nx; i++) {
        const struct predict_use *u = &p->uses[fx + i], *v = &p->uses[fy + i];

        if (u->linkdir != v->linkdir)
            return u->linkdir < v->linkdir ? -1 : 1;
        if (u->share < v->share || u->share > v->share)
            return u->share < v->share ? -1 : 1;
    }
    if (x->factor < y->factor || x->factor > y->factor)
        return x->factor < y->factor ? -1 : 1;
    if (x->weight < y->weight || x->weight > y->weight)
        return x->weight < y->weight ? -1 : 1;
    if (block_x < block_y || block_x > block_y)
        return block_x < block_y ? -1 : 1;
    return (node_x > node_y) - (node_x < node_y);
}

/* A class like this flow. */
static int add_class(struct predict *p, size_t flow, struct maxmin_use *uses)
{
    size_t n = 0, node = (size_t)p->t->vips[p->flows[flow].vip].node, storage = 2 * p->t->n_links + node;
    double cap = (double)INFINITY, limit = storage_limit(p->t, (int)node, p->direction, block_of(p, flow));

    for (size_t i = p->first_use[flow]; i < p->first_use[flow + 1]; i++) {
        const struct predict_use *u = &p->uses[i];
        double factor = predict_wire_factor(p->t, &p->flows[flow], p->direction, u->linkdir);

        uses[n++] = (struct maxmin_use){u->linkdir, u->share * factor};
        cap = fmin(cap, predict_capacity(p->t, u->linkdir) / factor);
    }
    /* The storage's capacity is 1: each flow takes its rate over the limit that its operation size has. */
    if (limit < (double)INFINITY)
        uses[n++] = (struct maxmin_use){(int)storage, 1 / limit};
    if (!(cap > 0))
        cap = 1e-9; /* a link of no rate left by background: nearly nothing, not "no cap" */
    return maxmin_add_class(p->m, uses, n, weight_of(p, flow), cap < (double)INFINITY ? cap : MAXMIN_NO_CAP, 0);
}

static bool classify(struct predict *p)
{
    struct member *order = malloc((p->n_flows + 1) * sizeof *order);
    struct maxmin_use *uses = malloc((2 * p->t->n_links + 2) * sizeof *uses);
    size_t n = 0;
    int class_ = -1;
    bool ok = order && uses;

    for (size_t f = 0; ok && f < p->n_flows; f++) {
        p->class_of[f] = -1;
        if (p->broken[f] || p->first_use[f] == p->first_use[f + 1])
            continue;
        order[n++] = (struct member){
            .p = p,
            .flow = f,
            .factor = predict_wire_factor(p->t, &p->flows[f], p->direction, p->uses[p->first_use[f]].linkdir),
            .weight = weight_of(p, f),
        };
    }
    if (ok)
        qsort(order, n, sizeof *order, by_class);
    for (size_t i = 0; ok && i < n; i++) {
        if (i == 0 || by_class(&order[i - 1], &order[i]) != 0) {
            class_ = add_class(p, order[i].flow, uses);
            ok = class_ >= 0;
            p->n_classes++;
        }
        p->class_of[order[i].flow] = class_;
    }
    free(order);
    free(uses);
    return ok;
}

struct predict *predict_new(const struct topo *t, const struct path_state *state, const struct flow *flows,
                            const double *weights, size_t n, enum flow_direction direction)
{
    struct predict *p = calloc(1, sizeof *p);
    size_t n_dirs = 2 * t->n_links;

    if (!p)
        return NULL;
    *p = (struct predict){.t = t, .flows = flows, .weights = weights, .n_flows = n, .direction = direction};
    p->first_use = calloc(n + 1, sizeof *p->first_use);
    p->broken = calloc(n + 1, sizeof *p->broken);
    p->class_of = calloc(n + 1, sizeof *p->class_of);
    p->busy_in = calloc(n + 1, sizeof *p->busy_in);
    p->busy = calloc(n + 1, sizeof *p->busy);
    p->was_busy = calloc(n + 1, sizeof *p->was_busy);
    p->m = maxmin_new(n_dirs + t->n_nodes);
    if (!p->first_use || !p->broken || !p->class_of || !p->busy_in || !p->busy || !p->was_busy || !p->m ||
        !collect_paths(p, state) || !turn_round(p) || !classify(p)) {
        predict_free(p);
        return NULL;
    }
    for (size_t d = 0; d < n_dirs; d++)
        maxmin_set_capacity(p->m, d, predict_capacity(t, (int)d));
    for (size_t node = 0; node < t->n_nodes; node++)
        maxmin_set_capacity(p->m, n_dirs + node, 1);
    return p;
}

void predict_free(struct predict *p)
{
    if (!p)
        return;
    free(p->uses);
    free(p->first_use);
    free(p->loads);
    free(p->first_load);
    free(p->broken);
    free(p->class_of);
    free(p->busy_in);
    free(p->busy);
    free(p->was_busy);
    maxmin_free(p->m);
    free(p);
}

const struct predict_use *predict_uses(const struct predict *p, size_t flow, size_t *n)
{
    *n = p->first_use[flow + 1] - p->first_use[flow];
    return p->uses + p->first_use[flow];
}

const struct predict_load *predict_loads(const struct predict *p, int linkdir, size_t *n)
{
    *n = p->first_load[linkdir + 1] - p->first_load[linkdir];
    return p->loads + p->first_load[linkdir];
}

bool predict_broken(const struct predict *p, size_t flow) { return p->broken[flow]; }

/* One more busy flow of a class; notes the class when it is the first. */
static void count(struct predict *p, size_t flow)
{
    int class_ = p->class_of[flow];

    if (class_ < 0)
        return;
    if (p->busy_in[class_]++ == 0)
        p->busy[p->n_busy++] = class_;
}

int predict_rates(struct predict *p, const size_t *busy, size_t n_busy, double *rates)
{
    size_t before = p->n_busy, n = busy ? n_busy : p->n_flows;
    int rc;

    for (size_t i = 0; i < before; i++)
        p->was_busy[i] = p->busy[i];
    for (size_t i = 0; i < before; i++)
        p->busy_in[p->was_busy[i]] = 0;
    p->n_busy = 0;
    for (size_t i = 0; i < n; i++)
        count(p, busy ? busy[i] : i);
    for (size_t i = 0; i < before; i++)
        maxmin_set_count(p->m, p->was_busy[i], p->busy_in[p->was_busy[i]]);
    for (size_t i = 0; i < p->n_busy; i++)
        maxmin_set_count(p->m, p->busy[i], p->busy_in[p->busy[i]]);
    rc = maxmin_solve(p->m);
    for (size_t i = 0; i < n; i++) {
        int class_ = p->class_of[busy ? busy[i] : i];

        rates[i] = rc == 0 && class_ >= 0 ? maxmin_rate(p->m, class_) : 0;
    }
    return rc;
}

double predict_wire(const struct predict *p, int linkdir, double *utilisation)
{
    double rate = (double)p->t->links[linkdir / 2].rate / 8, used = maxmin_used(p->m, (size_t)linkdir);

    *utilisation = rate > 0 ? (used + rate - predict_capacity(p->t, linkdir)) / rate : 0;
    return used;
}
