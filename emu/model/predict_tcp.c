/* Theory of operation
 *
 * Each link has a rate that a flow gets there which meets no other full link. A flow over several gets the sum of these rates, each to the
 * power of -a, to the power of -1/a: the least of them for large a, less than that for small ones. A link's rate falls while the link is
 * overfull and rises while it is not; half of the step that would be right for this link alone settles all of them within some hundred
 * rounds. With one a for all flows that is the dual of maximising sum of x^(1-a)/(1-a). Flows over the same links are one class.
 */
#include "emu/model/predict_tcp.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define FAIRNESS(flows) (0.35 + 1 / fmax(flows, 2)) /* of a link with so many flows */
#define FULL            0.95                        /* of its capacity, by max-min */
#define SETTLED         0.002                       /* a link's load over its capacity may be off by so much */
#define UNIT            1e8                         /* bytes/s: numbers near 1 */
#define NO_LIMIT        1e6                         /* of these: a link that limits nobody */
enum { FLOWS_MAX = 4000, ROUNDS_MAX = 4000 };

struct alike {
    size_t flow; /* one of them */
    double count;
    double fairness; /* the mean of its full links' */
    double rate;
};

struct dual {
    struct path_site *s;
    enum flow_direction direction;
    struct alike *classes;
    size_t n_classes;
    int *class_of; /* per flow, -1: broken */
    double *alone; /* per link direction: what a flow gets that meets no other */
    double *loads;
    double *capacity; /* 0: no flow uses it */
};

static const struct predict_use *uses_of(const struct dual *d, size_t flow, size_t *n)
{
    return predict_uses(d->s->predict[d->direction], flow, n);
}

static bool is_on(const struct dual *d, size_t flow, int linkdir)
{
    size_t n;
    const struct predict_use *u = uses_of(d, flow, &n);
    for (size_t i = 0; i < n; i++)
        if (u[i].linkdir == linkdir)
            return true;
    return false;
}

static bool same_links(const struct dual *d, size_t a, size_t b)
{
    size_t n, m;
    const struct predict_use *x = uses_of(d, a, &n), *y = uses_of(d, b, &m);
    if (n != m || d->s->weights[a] < d->s->weights[b] || d->s->weights[a] > d->s->weights[b])
        return false;
    for (size_t i = 0; i < n; i++)
        if (x[i].linkdir != y[i].linkdir)
            return false;
    return true;
}

static bool is_full(const struct dual *d, int linkdir)
{
    double utilisation;
    predict_wire(d->s->predict[d->direction], linkdir, &utilisation);
    return utilisation >= FULL;
}

/* Some flow is on a and not on b. */
static bool has_others(const struct dual *d, int a, int b)
{
    size_t n;
    const struct predict_load *l = predict_loads(d->s->predict[d->direction], a, &n);
    for (size_t i = 0; i < n; i++)
        if (!is_on(d, (size_t)l[i].flow, b))
            return true;
    return false;
}

/* Whether a flow meets two full links, on each of which are flows that the other has not. */
static bool is_between(const struct dual *d, size_t flow)
{
    size_t n;
    const struct predict_use *u = uses_of(d, flow, &n);
    for (size_t a = 0; a < n; a++)
        for (size_t b = 0; b < a && is_full(d, u[a].linkdir); b++)
            if (is_full(d, u[b].linkdir) && has_others(d, u[a].linkdir, u[b].linkdir) &&
                has_others(d, u[b].linkdir, u[a].linkdir))
                return true;
    return false;
}

/* Draws spread a flow over links, and storage is no queue of packets. */
static bool can_be_estimated(const struct path_site *s, enum flow_direction direction)
{
    const struct topo *t = s->t;
    if (s->n_flows > FLOWS_MAX)
        return false;
    for (size_t b = 0; b < t->n_boxes; b++)
        if (t->boxes[b].limit_read > 0 || t->boxes[b].limit_write > 0 || t->boxes[b].limit_iops > 0)
            return false;
    for (size_t f = 0; f < s->n_flows; f++) {
        size_t n;
        const struct predict_use *u = predict_uses(s->predict[direction], f, &n);
        for (size_t i = 0; i < n; i++)
            if (u[i].share < 1 - 1e-9)
                return false;
    }
    return true;
}

static void classify(struct dual *d)
{
    for (size_t f = 0; f < d->s->n_flows; f++) {
        size_t n, c = 0;
        uses_of(d, f, &n);
        d->class_of[f] = -1;
        if (n == 0 || predict_broken(d->s->predict[d->direction], f))
            continue;
        while (c < d->n_classes && !same_links(d, d->classes[c].flow, f))
            c++;
        if (c == d->n_classes)
            d->classes[d->n_classes++] = (struct alike){.flow = f};
        d->classes[c].count++;
        d->class_of[f] = (int)c;
    }
}

/* Each class's fairness, by the links that are full. */
static void judge(struct dual *d)
{
    for (size_t c = 0; c < d->n_classes; c++) {
        size_t n, full = 0;
        const struct predict_use *u = uses_of(d, d->classes[c].flow, &n);
        double sum = 0;
        for (size_t i = 0; i < n; i++) {
            size_t flows;
            predict_loads(d->s->predict[d->direction], u[i].linkdir, &flows);
            if (!is_full(d, u[i].linkdir))
                continue;
            sum += FAIRNESS((double)flows);
            full++;
        }
        d->classes[c].fairness = full ? sum / (double)full : 1;
    }
}

static double wire_of(const struct dual *d, const struct alike *c, int linkdir)
{
    return predict_wire_factor(d->s->t, &d->s->flows[c->flow], d->direction, linkdir) * UNIT / d->capacity[linkdir];
}

/* One round: rates of flows by those of links, loads by rates. The worst error of a link that limits. */
static double settle(struct dual *d, size_t n_dirs)
{
    double worst = 0;
    memset(d->loads, 0, n_dirs * sizeof *d->loads);
    for (size_t c = 0; c < d->n_classes; c++) {
        struct alike *k = &d->classes[c];
        size_t n;
        const struct predict_use *u = uses_of(d, k->flow, &n);
        double sum = 0;
        for (size_t i = 0; i < n; i++)
            sum += pow(d->alone[u[i].linkdir], -k->fairness);
        k->rate = d->s->weights[k->flow] * pow(sum, -1 / k->fairness);
        for (size_t i = 0; i < n; i++)
            d->loads[u[i].linkdir] += k->count * k->rate * wire_of(d, k, u[i].linkdir);
    }
    for (size_t l = 0; l < n_dirs; l++) {
        if (!(d->loads[l] > 0))
            continue;
        if (d->loads[l] > 1 || d->alone[l] < NO_LIMIT / 2)
            worst = fmax(worst, fabs(d->loads[l] - 1));
        d->alone[l] = fmin(d->alone[l] / sqrt(fmin(fmax(d->loads[l], 0.1), 10)), NO_LIMIT);
    }
    return worst;
}

static void solve(struct dual *d, size_t n_dirs)
{
    double most = 0;
    for (size_t l = 0; l < n_dirs; l++)
        d->alone[l] = 1;
    for (int round = 0; round < ROUNDS_MAX; round++)
        if (settle(d, n_dirs) < SETTLED)
            break;
    /* Nothing is overfull: what rounding has left goes. */
    for (size_t l = 0; l < n_dirs; l++)
        most = fmax(most, d->loads[l]);
    for (size_t c = 0; c < d->n_classes && most > 0; c++)
        d->classes[c].rate *= UNIT / most;
}

int predict_tcp(struct path_site *s, enum flow_direction direction, double *rates, size_t *flows_between)
{
    size_t n_dirs = 2 * s->t->n_links;
    struct dual d = {.s = s, .direction = direction};
    int rc = path_site_all_busy(s);
    *flows_between = 0;
    memcpy(rates, s->all[direction], s->n_flows * sizeof *rates);
    if (rc != 0 || !can_be_estimated(s, direction))
        return rc;
    for (size_t f = 0; f < s->n_flows; f++)
        *flows_between += is_between(&d, f);
    if (*flows_between == 0)
        return 0;
    d.classes = calloc(s->n_flows + 1, sizeof *d.classes);
    d.class_of = calloc(s->n_flows + 1, sizeof *d.class_of);
    d.alone = calloc(3 * n_dirs + 3, sizeof *d.alone);
    rc = -ENOMEM;
    if (d.classes && d.class_of && d.alone) {
        d.loads = d.alone + n_dirs;
        d.capacity = d.loads + n_dirs;
        for (size_t l = 0; l < n_dirs; l++)
            d.capacity[l] = fmax(predict_capacity(s->t, (int)l), 1);
        classify(&d);
        judge(&d);
        solve(&d, n_dirs);
        for (size_t f = 0; f < s->n_flows; f++)
            rates[f] = d.class_of[f] < 0 ? 0 : d.classes[d.class_of[f]].rate;
        rc = 1;
    }
    free(d.classes);
    free(d.class_of);
    free(d.alone);
    return rc;
}
