/* Theory of operation
 *
 * Local search needs one number that falls when a layout gets better. Comparing sorted loads is what counts in the end, but a
 * move that empties one of two equally full links must be seen as progress. So each load counts with its 16th power, relative to
 * the fullest of the moment: that orders nearly as the sorted loads do, and a move's difference needs only the links that it
 * touches. The hosts' ratios enter in the same way, as the lesser part, or as the greater one in the "uneven" order. The final word
 * between layouts has plan_key_compare().
 *
 * Everything is tried in the order of classes and options, which depends on names and addresses only.
 */
#include "nfsbal/plan/search.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "nfsbal/plan/failure.h"

enum { ROUNDS_MAX = 200, TIES_MAX = 200 };
#define PAIRS_MAX 2e7  /* products of moves and links that pairs may cost */
#define LESSER    1e-4 /* weight of the second criterion */

static double power16(double x)
{
    x *= x;
    x *= x;
    x *= x;
    return x * x;
}

double plan_search_count(const struct plan_problem *p, double most)
{
    double n = 1;
    for (size_t k = 0; k < p->n_classes && n < most; k++) {
        const struct plan_class *c = &p->classes[k];
        for (size_t i = 1; i < c->n_options && n < most; i++) /* combinations of n units over the options */
            n = n * (double)(c->n + i) / (double)i;
    }
    return n < most ? n : most;
}

/* ---- all layouts ---- */

struct all {
    struct plan_layout *l;
    struct plan_key *key;
    struct plan_found *found;
    size_t max_changes;
    long failures_left; /* comparisons after a failure that may still be made */
    bool failed;
};

/* Worse in the first number that counts; `max` is its plan_layout_max(). */
static bool hopeless(const struct plan_layout *l, const struct plan_key *best, bool uneven, double max)
{
    if (l->wrong != best->wrong)
        return l->wrong > best->wrong;
    if (!uneven)
        return best->n_loads && plan_compare_real(max, best->loads[0]) > 0;
    for (size_t h = 0; h < l->p->n_hosts; h++)
        if (plan_compare_real(plan_layout_host(l, h, FLOW_WRITE), best->hosts[0]) > 0)
            return true;
    return false;
}

/* Equal in all that is measured: by what is left after a failure, then plan_layout_tie(). */
static int compare_rest(struct all *a, struct plan_found *f, int order)
{
    struct plan_failure mine, its;
    if (a->failures_left > 0) {
        a->failures_left--;
        plan_failure_worst(a->l, &mine);
        plan_failure_worst(f->layout[order], &its);
        int rest = plan_failure_compare(&mine, &its);
        if (rest)
            return rest;
    }
    return plan_layout_tie(a->l, f->layout[order]);
}

static void consider(struct all *a)
{
    struct plan_found *f = &a->found[a->l->changes];
    double max = plan_layout_max(a->l);
    bool filled = false;
    for (int order = 0; order < 2; order++) {
        if (f->key[order] && hopeless(a->l, f->key[order], order, max))
            continue;
        if (!filled)
            plan_key_fill(a->key, a->l);
        filled = true;
        int better = f->key[order] ? plan_key_compare(a->key, f->key[order], order) : -1;
        if (better == 0)
            better = compare_rest(a, f, order);
        if (better >= 0)
            continue;
        if (!f->key[order]) {
            f->key[order] = plan_key_new(a->l->p);
            f->layout[order] = plan_layout_copy(a->l);
            a->failed |= !f->key[order] || !f->layout[order];
        }
        if (a->failed)
            return;
        plan_key_set(f->key[order], a->key);
        plan_layout_set(f->layout[order], a->l);
    }
}

/* Deals the units of class k that are on its last option over the options from `option` on. */
static void deal(struct all *a, size_t k, size_t option)
{
    const struct plan_problem *p = a->l->p;
    if (a->failed)
        return;
    if (k == p->n_classes) {
        if (a->l->changes <= a->max_changes)
            consider(a);
        return;
    }
    const struct plan_class *c = &p->classes[k];
    if (option + 1 == c->n_options) {
        deal(a, k + 1, 0);
        return;
    }
    int n = a->l->counts[c->first + c->n_options - 1];
    for (int i = 0; i <= n; i++) {
        deal(a, k, option + 1);
        if (i < n)
            plan_layout_move(a->l, k, c->n_options - 1, option, 1);
    }
    plan_layout_move(a->l, k, option, c->n_options - 1, n);
}

bool plan_search_all(const struct plan_problem *p, size_t max_changes, struct plan_found *found)
{
    struct all a = {plan_layout_new(p), plan_key_new(p), found, max_changes, TIES_MAX, false};
    a.failed = !a.l || !a.key;
    for (size_t k = 0; !a.failed && k < p->n_classes; k++)
        plan_layout_move(a.l, k, 0, p->classes[k].n_options - 1, (int)p->classes[k].n);
    deal(&a, 0, 0);
    plan_layout_free(a.l);
    plan_key_free(a.key);
    return !a.failed;
}

void plan_found_free(struct plan_found *f)
{
    for (int order = 0; order < 2; order++) {
        plan_layout_free(f->layout[order]);
        plan_key_free(f->key[order]);
        f->layout[order] = NULL;
        f->key[order] = NULL;
    }
}

/* ---- local search ---- */

struct search {
    struct plan_layout *l;
    size_t max_changes;
    double *scale; /* per resource: what its load is multiplied with before the power */
    double *weight, *host_scale, *host_weight;
};

static double cost_of(const struct search *s, int r, double load)
{
    return s->weight[r] * power16(load * s->scale[r]) + s->host_weight[r] * power16(load * s->host_scale[r]);
}

/* What a move of one unit changes. */
static double difference(const struct search *s, size_t class_, size_t from, size_t to)
{
    const struct plan_problem *p = s->l->p;
    const struct plan_class *c = &p->classes[class_];
    const struct plan_vector *a = c->options[from].vector, *b = c->options[to].vector;
    double sum = 0;
    for (size_t i = 0, k = 0; i < a->n || k < b->n;) {
        int x = i < a->n ? a->uses[i].resource : INT32_MAX, y = k < b->n ? b->uses[k].resource : INT32_MAX;
        int r = x < y ? x : y;
        double change = 0, load = s->l->loads[r];
        if (x == r)
            change -= a->uses[i++].load;
        if (y == r)
            change += b->uses[k++].load;
        change *= c->weight[p->resources[r].direction];
        if (change > 0 || change < 0)
            sum += cost_of(s, r, load + change) - cost_of(s, r, load);
    }
    return sum;
}

/* Allowed by the budget; what it does to `wrong`, which counts more than any balance. */
static bool allowed(const struct search *s, size_t class_, size_t from, size_t to, long *wrong)
{
    const struct plan_class *c = &s->l->p->classes[class_];
    if (c->today >= 0 && (int)from == c->today && s->l->changes >= s->max_changes)
        return false;
    *wrong = plan_layout_clash(s->l, class_, from, to);
    return true;
}

/* Makes the best move of a unit of this class away from `from`, if any is good. */
static bool move_best(struct search *s, size_t class_, size_t from)
{
    const struct plan_class *c = &s->l->p->classes[class_];
    size_t best = from;
    double least = -1e-12;
    long least_wrong = 0;
    for (size_t to = 0; to < c->n_options; to++) {
        long wrong;
        if (to == from || !allowed(s, class_, from, to, &wrong) || wrong > least_wrong)
            continue;
        double change = difference(s, class_, from, to);
        if (wrong < least_wrong || change < least) {
            least_wrong = wrong;
            least = change;
            best = to;
        }
    }
    if (best == from)
        return false;
    plan_layout_move(s->l, class_, from, best, 1);
    return true;
}

/* The loads of the moment as the measure. */
static void rescale(struct search *s, bool uneven)
{
    const struct plan_problem *p = s->l->p;
    double max = plan_layout_max(s->l), host = 1;
    for (size_t h = 0; h < p->n_hosts; h++)
        host = fmax(host, plan_layout_host(s->l, h, FLOW_WRITE));
    for (size_t r = 0; r < p->n_resources; r++) {
        const struct plan_resource *own = &p->resources[r];
        double even = own->host >= 0 ? p->hosts[own->host].even[own->direction] : 0;
        s->scale[r] = max > 0 ? 1 / max : 0;
        s->weight[r] = own->movable ? uneven ? LESSER : 1 : 0;
        s->host_scale[r] = even > 0 ? 1 / (even * host) : 0;
        s->host_weight[r] = even > 0 ? (uneven ? 1 : LESSER) * (own->direction == FLOW_WRITE ? 1 : LESSER) : 0;
    }
}

static bool sweep(struct search *s)
{
    const struct plan_problem *p = s->l->p;
    bool any = false;
    for (size_t k = 0; k < p->n_classes; k++)
        for (size_t from = 0; from < p->classes[k].n_options; from++)
            while (s->l->counts[p->classes[k].first + from] > 0 && move_best(s, k, from))
                any = true;
    return any;
}

/* A second move that makes the first one, made already, worth it, and keeps to the budget. */
static bool second(struct search *s, double first, long wrong_first)
{
    const struct plan_problem *p = s->l->p;
    for (size_t k = 0; k < p->n_classes; k++) {
        const struct plan_class *c = &p->classes[k];
        for (size_t from = 0; from < c->n_options; from++)
            for (size_t to = 0; s->l->counts[c->first + from] > 0 && to < c->n_options; to++) {
                size_t changes = s->l->changes;
                if (c->today >= 0)
                    changes = changes + ((int)to != c->today) - ((int)from != c->today);
                if (to == from || changes > s->max_changes)
                    continue;
                long wrong = plan_layout_clash(s->l, k, from, to);
                if (wrong + wrong_first > 0)
                    continue;
                if (wrong + wrong_first == 0 && first + difference(s, k, from, to) > -1e-12)
                    continue;
                plan_layout_move(s->l, k, from, to, 1);
                return true;
            }
    }
    return false;
}

static bool pair_of_moves(struct search *s)
{
    const struct plan_problem *p = s->l->p;
    for (size_t k = 0; k < p->n_classes; k++) {
        const struct plan_class *c = &p->classes[k];
        for (size_t from = 0; from < c->n_options; from++)
            for (size_t to = 0; s->l->counts[c->first + from] > 0 && to < c->n_options; to++) {
                /* It may go over the budget: the second may be one back. */
                if (to == from || s->l->changes > s->max_changes)
                    continue;
                double change = difference(s, k, from, to);
                long wrong = plan_layout_clash(s->l, k, from, to);
                plan_layout_move(s->l, k, from, to, 1);
                if (second(s, change, wrong))
                    return true;
                plan_layout_move(s->l, k, to, from, 1);
            }
    }
    return false;
}

static size_t moves(const struct plan_problem *p)
{
    size_t n = 0;
    for (size_t k = 0; k < p->n_classes; k++)
        n += p->classes[k].n_options * (p->classes[k].n_options - 1);
    return n;
}

static bool search_new(struct search *s, struct plan_layout *l, size_t max_changes)
{
    size_t n = l->p->n_resources + 1;
    *s = (struct search){.l = l, .max_changes = max_changes};
    s->scale = calloc(4 * n, sizeof *s->scale);
    if (!s->scale)
        return false;
    s->weight = s->scale + n;
    s->host_scale = s->weight + n;
    s->host_weight = s->host_scale + n;
    return true;
}

void plan_search_improve(struct plan_layout *l, size_t max_changes, bool uneven, bool pairs)
{
    struct search s;
    double n = (double)moves(l->p);
    if (!search_new(&s, l, max_changes))
        return;
    pairs &= n * n * (double)l->p->n_resources <= PAIRS_MAX * 10;
    for (int round = 0; round < ROUNDS_MAX; round++) {
        rescale(&s, uneven);
        if (!sweep(&s) && !(pairs && pair_of_moves(&s)))
            break;
    }
    free(s.scale);
}
