#include "nfsbal/plan/layout.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

int plan_compare_real(double a, double b)
{
    double slack = PLAN_EQUAL * fmax(fabs(a), fabs(b));
    return a < b - slack ? -1 : a > b + slack;
}

static struct plan_layout *empty(const struct plan_problem *p)
{
    struct plan_layout *l = calloc(1, sizeof *l);
    if (!l)
        return NULL;
    l->p = p;
    l->counts = calloc(p->n_options + 1, sizeof *l->counts);
    l->loads = calloc(p->n_resources + 1, sizeof *l->loads);
    if (l->counts && l->loads)
        return l;
    plan_layout_free(l);
    return NULL;
}

void plan_layout_free(struct plan_layout *l)
{
    if (!l)
        return;
    free(l->counts);
    free(l->loads);
    free(l);
}

static void add(struct plan_layout *l, const struct plan_class *c, size_t option, double n)
{
    const struct plan_vector *v = c->options[option].vector;
    for (size_t i = 0; i < v->n; i++) {
        int r = v->uses[i].resource;
        l->loads[r] += n * c->weight[l->p->resources[r].direction] * v->uses[i].load;
    }
}

/* A change: what is mounted nowhere yet changes nothing. */
static bool leaves(const struct plan_class *c, size_t option) { return c->today >= 0 && (int)option != c->today; }

/* Sums anew, without what rounding has left over. */
static void settle(struct plan_layout *l)
{
    const struct plan_problem *p = l->p;
    l->wrong = 0;
    l->changes = 0;
    memset(l->loads, 0, p->n_resources * sizeof *l->loads);
    for (size_t k = 0; k < p->n_classes; k++) {
        const struct plan_class *c = &p->classes[k];
        for (size_t o = 0; o < c->n_options; o++) {
            int n = l->counts[c->first + o];
            if (n == 0)
                continue;
            add(l, c, o, n);
            l->changes += leaves(c, o) ? (size_t)n : 0;
            l->wrong += c->options[o].usable ? 0 : n;
        }
    }
    for (size_t i = 0; i < p->n_clashes; i++) {
        const struct plan_clash *x = &p->clashes[i];
        const struct plan_class *a = &p->classes[x->i], *b = &p->classes[x->j];
        for (size_t s = 0; s < a->n_options; s++)
            for (size_t t = 0; t < b->n_options; t++)
                if (x->table[s * b->n_options + t])
                    l->wrong += (long)l->counts[a->first + s] * l->counts[b->first + t];
    }
}

void plan_layout_all_on_one(struct plan_layout *l)
{
    const struct plan_problem *p = l->p;
    memset(l->counts, 0, p->n_options * sizeof *l->counts);
    for (size_t k = 0; k < p->n_classes; k++)
        l->counts[p->classes[k].first] = (int)p->classes[k].n;
    settle(l);
}

void plan_layout_today(struct plan_layout *l)
{
    const struct plan_problem *p = l->p;
    for (size_t k = 0; k < p->n_classes; k++) {
        const struct plan_class *c = &p->classes[k];
        if (c->today < 0)
            continue;
        memset(l->counts + c->first, 0, c->n_options * sizeof *l->counts);
        l->counts[c->first + (size_t)c->today] = (int)c->n;
    }
    settle(l);
}

struct plan_layout *plan_layout_new(const struct plan_problem *p)
{
    struct plan_layout *l = empty(p);
    if (l)
        plan_layout_all_on_one(l);
    return l;
}

struct plan_layout *plan_layout_copy(const struct plan_layout *l)
{
    struct plan_layout *copy = empty(l->p);
    if (copy)
        plan_layout_set(copy, l);
    return copy;
}

void plan_layout_set(struct plan_layout *to, const struct plan_layout *from)
{
    memcpy(to->counts, from->counts, from->p->n_options * sizeof *to->counts);
    settle(to);
}

long plan_layout_clash(const struct plan_layout *l, size_t class_, size_t from, size_t to)
{
    const struct plan_problem *p = l->p;
    const struct plan_class *c = &p->classes[class_];
    long more = (long)!c->options[to].usable - (long)!c->options[from].usable;
    for (size_t i = 0; i < p->n_clashes; i++) {
        const struct plan_clash *x = &p->clashes[i];
        bool first = x->i == (int)class_;
        if (!first && x->j != (int)class_)
            continue;
        const struct plan_class *other = &p->classes[first ? x->j : x->i];
        for (size_t o = 0; o < other->n_options; o++) {
            long n = l->counts[other->first + o];
            if (n && x->table[first ? to * other->n_options + o : o * c->n_options + to])
                more += n;
            if (n && x->table[first ? from * other->n_options + o : o * c->n_options + from])
                more -= n;
        }
    }
    return more;
}

void plan_layout_move(struct plan_layout *l, size_t class_, size_t from, size_t to, int n)
{
    const struct plan_class *c = &l->p->classes[class_];
    l->wrong += n * plan_layout_clash(l, class_, from, to);
    l->counts[c->first + from] -= n;
    l->counts[c->first + to] += n;
    add(l, c, from, -n);
    add(l, c, to, n);
    l->changes += leaves(c, to) ? (size_t)n : 0;
    l->changes -= leaves(c, from) ? (size_t)n : 0;
}

double plan_layout_max(const struct plan_layout *l)
{
    double max = 0;
    for (size_t r = 0; r < l->p->n_resources; r++)
        if (l->p->resources[r].movable && l->loads[r] > max)
            max = l->loads[r];
    return max;
}

double plan_layout_host(const struct plan_layout *l, size_t host, enum flow_direction d)
{
    const struct plan_host *h = &l->p->hosts[host];
    double max = 0;
    for (size_t i = 0; i < h->n[d]; i++)
        if (h->even[d] > 0)
            max = fmax(max, l->loads[h->resources[(d ? h->n[0] : 0) + i]] / h->even[d]);
    return max;
}

double plan_layout_flows(const struct plan_layout *l, int resource)
{
    double flows = 0;
    for (size_t k = 0; k < l->p->n_classes; k++) {
        const struct plan_class *c = &l->p->classes[k];
        for (size_t o = 0; o < c->n_options; o++)
            for (size_t i = 0; l->counts[c->first + o] && i < c->options[o].vector->n; i++)
                if (c->options[o].vector->uses[i].resource == resource)
                    flows += l->counts[c->first + o] * c->options[o].vector->uses[i].flows;
    }
    return flows;
}

unsigned plan_layout_vms(const struct plan_layout *l)
{
    const struct plan_problem *p = l->p;
    unsigned vms = 0;
    for (size_t k = 0; k < p->n_classes; k++) {
        const struct plan_class *c = &p->classes[k];
        if (c->today < 0)
            continue;
        for (size_t i = 0; i < c->n - (size_t)l->counts[c->first + (size_t)c->today]; i++)
            vms += p->units[c->units[i]].vms;
    }
    return vms;
}

struct plan_key *plan_key_new(const struct plan_problem *p)
{
    struct plan_key *k = calloc(1, sizeof *k);
    if (!k)
        return NULL;
    k->loads = calloc(p->n_resources + 1, sizeof *k->loads);
    k->hosts = calloc(2 * p->n_hosts + 1, sizeof *k->hosts);
    if (k->loads && k->hosts) {
        k->reads = k->hosts + p->n_hosts;
        return k;
    }
    plan_key_free(k);
    return NULL;
}

void plan_key_free(struct plan_key *k)
{
    if (!k)
        return;
    free(k->loads);
    free(k->hosts);
    free(k);
}

static int descending(const void *a, const void *b)
{
    const double *x = a, *y = b;
    return (*x < *y) - (*x > *y);
}

void plan_key_fill(struct plan_key *k, const struct plan_layout *l)
{
    k->wrong = l->wrong;
    k->n_loads = k->n_hosts = 0;
    for (size_t r = 0; r < l->p->n_resources; r++)
        if (l->p->resources[r].movable)
            k->loads[k->n_loads++] = l->loads[r];
    for (size_t h = 0; h < l->p->n_hosts; h++) {
        k->reads[k->n_hosts] = plan_layout_host(l, h, FLOW_READ);
        k->hosts[k->n_hosts++] = plan_layout_host(l, h, FLOW_WRITE);
    }
    qsort(k->loads, k->n_loads, sizeof *k->loads, descending);
    qsort(k->hosts, k->n_hosts, sizeof *k->hosts, descending);
    qsort(k->reads, k->n_hosts, sizeof *k->reads, descending);
}

void plan_key_set(struct plan_key *to, const struct plan_key *from)
{
    to->wrong = from->wrong;
    to->n_loads = from->n_loads;
    to->n_hosts = from->n_hosts;
    memcpy(to->loads, from->loads, from->n_loads * sizeof *to->loads);
    memcpy(to->hosts, from->hosts, from->n_hosts * sizeof *to->hosts);
    memcpy(to->reads, from->reads, from->n_hosts * sizeof *to->reads);
}

static int compare_all(const double *a, const double *b, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        int order = plan_compare_real(a[i], b[i]);
        if (order)
            return order;
    }
    return 0;
}

int plan_key_compare(const struct plan_key *a, const struct plan_key *b, bool uneven)
{
    if (a->wrong != b->wrong)
        return a->wrong < b->wrong ? -1 : 1;
    int loads = compare_all(a->loads, b->loads, a->n_loads), hosts = compare_all(a->hosts, b->hosts, a->n_hosts);
    int first = uneven ? hosts : loads, then = uneven ? loads : hosts;
    return first ? first : then ? then : compare_all(a->reads, b->reads, a->n_hosts);
}

int plan_layout_tie(const struct plan_layout *a, const struct plan_layout *b)
{
    unsigned x = plan_layout_vms(a), y = plan_layout_vms(b);
    if (x != y)
        return x < y ? -1 : 1;
    /* Options stand in the order of addresses. */
    for (size_t i = 0; i < a->p->n_options; i++)
        if (a->counts[i] != b->counts[i])
            return a->counts[i] > b->counts[i] ? -1 : 1;
    return 0;
}
