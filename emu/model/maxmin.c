/* Theory of operation
 *
 * Level. All flows rise with one level; a flow's rate is weight times level. A resource with capacity C is full at the
 * level where sum(a * min(ceiling, level)) = C, over its classes, with a = count * weight * share. The solution is the set of
 * levels at which resources are full, found in ascending order: the lowest one freezes its classes, that leaves more for the
 * others, whose levels can only rise. Each class is frozen once and touches each of its resources once, and a heap holds the
 * resources by level: O(uses + resources log resources) for a solve from nothing.
 *
 * Re-solving. A change of count or cap touches the resources of that class; they are dirty. If a resource is dirty, so are
 * all resources of the classes that were frozen by it, since their level will move. (All of these are full at the same level
 * or above, or never, so nothing below is touched.) Only dirty resources are filled again. For them, a class that was frozen
 * by a clean resource has that level as a ceiling, exactly like a cap. If a dirty resource now freezes such a class below its
 * ceiling, the clean resources of the class have more left than before: they become dirty at that moment, and their classes
 * lose their ceilings. Their old levels were above the present one, so the order of filling stays ascending.
 *
 * A ceiling above the level of interest must not count as if the class were already there. The key in the heap takes
 * ceilings as reached: that needs more capacity than there is at lower levels, so the key is a lower bound of the level, and
 * when a resource comes to the top its exact level is computed, going up from the bound. Without ceilings both are equal.
 *
 * Sums are made anew whenever a resource becomes dirty, so that rounding doesn't build up over a long run.
 */
#include "emu/model/maxmin.h"

#include <assert.h>
#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* One class on one resource; stands once in the list of the class and once in that of the resource. */
struct use {
    int other; /* the resource, or the class */
    int mate;  /* where the pair stands in the other list */
    double a;  /* count * weight * share */
};

/* What the inner loops read of a class. */
struct state {
    double ceiling; /* where the class stops rising: where it was frozen, or its cap while this pass must freeze it */
    int bottleneck;
    unsigned settled; /* pass that froze it */
};

struct class_ {
    double count, weight;
    double level;
    double cap;        /* as a level */
    int first, n_uses; /* in m->uses */
    bool changed;      /* in m->changed */
    bool touched;      /* in m->touched: its count or cap differs from the last solve */
};

struct resource {
    double capacity;
    double key;     /* lower bound of the level where it is full, exact once it is */
    double fixed;   /* used by frozen classes, and by those with a ceiling as if they were there */
    double rising;  /* coefficients of the others */
    double highest; /* no ceiling lies above it */
    int n_rising;
    int first, n_uses; /* in m->back */
    int heap;          /* place + 1, 0 = not there */
    unsigned dirty;    /* pass that made it dirty */
    bool queued;       /* dirty, but its sums are not made yet */
    bool touched;      /* in m->touched_resources */
};

struct maxmin {
    struct class_ *classes;
    struct state *states; /* of classes; made when built */
    size_t n_classes, class_capacity;
    struct resource *resources;
    size_t n_resources;
    struct use *uses, *back; /* by class, and by resource */
    double *coefs;           /* weight * share of uses */
    size_t n_uses, use_capacity, coef_capacity;
    bool built; /* `back` and the lists below are up to date with the classes */
    unsigned pass;
    int *heap, *queue; /* resources */
    size_t n_heap, n_queue;
    int *free_; /* classes that this pass must freeze */
    size_t n_free;
    int *changed, *touched, *touched_resources;
    size_t n_changed, n_touched, n_touched_resources;
};

enum { UNDECIDED = -3 };

/* Sums of levels that fill a resource exactly may miss its capacity by so much of it. */
#define ROUNDING 1e-12

#define UNLIMITED ((double)INFINITY)

struct maxmin *maxmin_new(size_t n_resources)
{
    struct maxmin *m = calloc(1, sizeof *m);

    if (!m)
        return NULL;
    m->n_resources = n_resources;
    m->resources = calloc(n_resources ? n_resources : 1, sizeof *m->resources);
    m->heap = malloc((n_resources + 1) * sizeof *m->heap);
    m->queue = malloc((n_resources + 1) * sizeof *m->queue);
    m->touched_resources = malloc((n_resources + 1) * sizeof *m->touched_resources);
    if (!m->resources || !m->heap || !m->queue || !m->touched_resources) {
        maxmin_free(m);
        return NULL;
    }
    return m;
}

void maxmin_free(struct maxmin *m)
{
    if (!m)
        return;
    free(m->classes);
    free(m->states);
    free(m->resources);
    free(m->uses);
    free(m->coefs);
    free(m->back);
    free(m->heap);
    free(m->queue);
    free(m->free_);
    free(m->changed);
    free(m->touched);
    free(m->touched_resources);
    free(m);
}

void maxmin_set_capacity(struct maxmin *m, size_t resource, double capacity)
{
    struct resource *r = &m->resources[resource];

    assert(capacity >= 0);
    if (r->capacity == capacity)
        return;
    r->capacity = capacity;
    if (!r->touched) {
        r->touched = true;
        m->touched_resources[m->n_touched_resources++] = (int)resource;
    }
}

/* `array` with room for `extra` more elements after `used`, moved if need be; NULL without memory, then it is unchanged. */
static void *grown(void *array, size_t *capacity, size_t used, size_t extra, size_t size)
{
    size_t want = *capacity ? *capacity : 16;

    if (array && used + extra <= *capacity)
        return array;
    while (want < used + extra)
        want *= 2;
    array = realloc(array, want * size);
    if (array)
        *capacity = want;
    return array;
}

/* Room for one more class with n_uses uses. */
static bool reserve(struct maxmin *m, size_t n_uses)
{
    void *p;

    if (!(p = grown(m->classes, &m->class_capacity, m->n_classes, 1, sizeof *m->classes)))
        return false;
    m->classes = p;
    if (!(p = grown(m->uses, &m->use_capacity, m->n_uses, n_uses, sizeof *m->uses)))
        return false;
    m->uses = p;
    if (!(p = grown(m->coefs, &m->coef_capacity, m->n_uses, n_uses, sizeof *m->coefs)))
        return false;
    m->coefs = p;
    return true;
}

int maxmin_add_class(struct maxmin *m, const struct maxmin_use *uses, size_t n_uses, double weight, double cap,
                     size_t count)
{
    struct class_ *c;

    assert(weight > 0 && cap >= 0);
    if (!reserve(m, n_uses))
        return -ENOMEM;
    c = &m->classes[m->n_classes];
    *c = (struct class_){.count = (double)count, .weight = weight, .first = (int)m->n_uses};
    c->cap = cap > 0 ? cap / weight : UNLIMITED;
    for (size_t i = 0; i < n_uses; i++) {
        int at = c->first;

        assert(uses[i].share > 0 && uses[i].resource >= 0 && (size_t)uses[i].resource < m->n_resources);
        while (at < c->first + c->n_uses && m->uses[at].other != uses[i].resource)
            at++;
        if (at == c->first + c->n_uses) {
            m->uses[at].other = uses[i].resource;
            m->coefs[at] = 0;
            c->n_uses++;
        }
        m->coefs[at] += weight * uses[i].share;
    }
    m->n_uses += (size_t)c->n_uses;
    m->built = false;
    return (int)m->n_classes++;
}

static void touch(struct maxmin *m, int class_)
{
    if (!m->built || m->classes[class_].touched)
        return;
    m->classes[class_].touched = true;
    m->touched[m->n_touched++] = class_;
}

void maxmin_set_count(struct maxmin *m, int class_, size_t count)
{
    struct class_ *c = &m->classes[class_];

    if (c->count == (double)count)
        return;
    c->count = (double)count;
    touch(m, class_);
    for (int i = c->first; m->built && i < c->first + c->n_uses; i++) {
        m->uses[i].a = c->count * m->coefs[i];
        m->back[m->uses[i].mate].a = m->uses[i].a;
    }
}

void maxmin_set_cap(struct maxmin *m, int class_, double cap)
{
    struct class_ *c = &m->classes[class_];
    double level = cap > 0 ? cap / c->weight : UNLIMITED;

    assert(cap >= 0);
    if (c->cap == level)
        return;
    c->cap = level;
    touch(m, class_);
}

/* The heap of dirty resources, lowest key first. */

static void heap_place(struct maxmin *m, size_t i, int r)
{
    m->heap[i] = r;
    m->resources[r].heap = (int)i + 1;
}

static void heap_up(struct maxmin *m, size_t i)
{
    int r = m->heap[i];

    for (; i > 0 && m->resources[r].key < m->resources[m->heap[(i - 1) / 2]].key; i = (i - 1) / 2)
        heap_place(m, i, m->heap[(i - 1) / 2]);
    heap_place(m, i, r);
}

static void heap_down(struct maxmin *m, size_t i)
{
    int r = m->heap[i];

    for (;;) {
        size_t child = 2 * i + 1;

        if (child >= m->n_heap)
            break;
        if (child + 1 < m->n_heap && m->resources[m->heap[child + 1]].key < m->resources[m->heap[child]].key)
            child++;
        if (m->resources[r].key <= m->resources[m->heap[child]].key)
            break;
        heap_place(m, i, m->heap[child]);
        i = child;
    }
    heap_place(m, i, r);
}

static void heap_remove(struct maxmin *m, int r)
{
    size_t i = (size_t)m->resources[r].heap - 1;
    int last = m->heap[--m->n_heap];

    m->resources[r].heap = 0;
    if (last == r)
        return;
    heap_place(m, i, last);
    heap_up(m, i);
    heap_down(m, (size_t)m->resources[last].heap - 1);
}

/* A lower bound of the level where r is full, at least `at_least`. */
static double bound(const struct resource *r, double at_least)
{
    double level;

    if (r->n_rising == 0) {
        /* Only ceilings are left: full before they are all reached, or never. */
        return r->fixed > r->capacity * (1 + ROUNDING) ? at_least : UNLIMITED;
    }
    level = (r->capacity - r->fixed) / r->rising;
    return level > at_least ? level : at_least;
}

/* Puts r where its key belongs after its sums changed; a resource that can't fill leaves the heap. */
static void rekey(struct maxmin *m, int id, double at_least)
{
    struct resource *r = &m->resources[id];

    r->key = bound(r, at_least);
    if (r->key == UNLIMITED) {
        if (r->heap)
            heap_remove(m, id);
        return;
    }
    if (!r->heap) {
        heap_place(m, m->n_heap, id);
        m->n_heap++;
    }
    heap_up(m, (size_t)r->heap - 1);
    heap_down(m, (size_t)r->heap - 1);
}

static void soil(struct maxmin *m, int id)
{
    struct resource *r = &m->resources[id];

    if (r->dirty == m->pass)
        return;
    r->dirty = m->pass;
    r->queued = true;
    m->queue[m->n_queue++] = id;
}

/* Class `id` is one that this pass must freeze: its resources are dirty and its only ceiling is its cap. `level` is where
 * filling has come to. */
static void release(struct maxmin *m, int id, double level)
{
    const struct class_ *c = &m->classes[id];
    struct state *s = &m->states[id];
    double ceiling = s->ceiling;

    s->bottleneck = UNDECIDED;
    s->ceiling = c->cap;
    m->free_[m->n_free++] = id;
    for (int i = c->first; i < c->first + c->n_uses; i++) {
        struct resource *r = &m->resources[m->uses[i].other];
        double a = m->uses[i].a;

        soil(m, m->uses[i].other);
        if (r->queued)
            continue;
        if (c->cap < UNLIMITED) {
            r->fixed += a * (c->cap - ceiling);
            if (c->cap > r->highest)
                r->highest = c->cap;
        } else {
            r->fixed -= a * ceiling;
            r->rising += a;
            r->n_rising++;
        }
        rekey(m, m->uses[i].other, level);
    }
}

static void sum_up(struct maxmin *m, struct resource *r)
{
    double fixed = 0, rising = 0, highest = 0;
    int n_rising = 0;

    for (int i = r->first; i < r->first + r->n_uses; i++) {
        double ceiling = m->states[m->back[i].other].ceiling;

        if (ceiling < UNLIMITED) {
            fixed += m->back[i].a * ceiling;
            if (ceiling > highest)
                highest = ceiling;
        } else {
            rising += m->back[i].a;
            n_rising++;
        }
    }
    r->fixed = fixed;
    r->rising = rising;
    r->highest = highest;
    r->n_rising = n_rising;
    r->queued = false;
}

/* Follows the dirt upwards from the queue, then makes the sums and keys of all that it reached. */
static void spread(struct maxmin *m, double level)
{
    for (size_t i = 0; i < m->n_queue; i++) {
        const struct resource *r = &m->resources[m->queue[i]];

        for (int k = r->first; k < r->first + r->n_uses; k++) {
            const struct state *s = &m->states[m->back[k].other];

            if (s->bottleneck == m->queue[i] && s->settled != m->pass)
                release(m, m->back[k].other, level);
        }
    }
    for (size_t i = 0; i < m->n_queue; i++) {
        sum_up(m, &m->resources[m->queue[i]]);
        rekey(m, m->queue[i], level);
    }
    m->n_queue = 0;
}

/* The exact level of a resource whose classes have ceilings, from a lower bound: classes whose ceiling lies above the level
 * are still rising there. Each step goes up and drops at least one of them. */
static double exact_level(const struct maxmin *m, const struct resource *r)
{
    double level = r->key;

    for (;;) {
        double fixed = 0, rising = 0, next;

        for (int i = r->first; i < r->first + r->n_uses; i++) {
            double ceiling = m->states[m->back[i].other].ceiling;

            if (ceiling <= level)
                fixed += m->back[i].a * ceiling;
            else
                rising += m->back[i].a;
        }
        if (rising <= 0)
            return UNLIMITED;
        next = (r->capacity - fixed) / rising;
        if (next <= level)
            return level;
        level = next;
    }
}

static void settle(struct maxmin *m, int id, double level, int bottleneck)
{
    struct class_ *c = &m->classes[id];

    m->states[id] = (struct state){level, bottleneck, m->pass};
    if (c->level == level)
        return;
    c->level = level;
    if (c->changed)
        return;
    c->changed = true;
    m->changed[m->n_changed++] = id;
}

/* Class `id` is frozen at `level` by `by`: its other resources have more left for the rest. */
static void freeze(struct maxmin *m, int id, double level, int by)
{
    const struct class_ *c = &m->classes[id];
    double ceiling = m->states[id].ceiling;

    settle(m, id, level, by);
    for (int i = c->first; i < c->first + c->n_uses; i++) {
        int other = m->uses[i].other;
        struct resource *r = &m->resources[other];
        double a = m->uses[i].a;

        if (other == by)
            continue;
        if (r->dirty != m->pass) {
            soil(m, other);
        } else if (ceiling < UNLIMITED) {
            r->fixed += a * (level - ceiling);
        } else {
            r->fixed += a * level;
            r->rising -= a;
            r->n_rising--;
        }
    }
}

/* Moves the resource on top of the heap to where `key` belongs; true when it stays on top. */
static bool stays_on_top(struct maxmin *m, int id, double key)
{
    struct resource *r = &m->resources[id];

    if (key == r->key)
        return true;
    r->key = key;
    if (key < UNLIMITED)
        heap_down(m, 0);
    else
        heap_remove(m, id);
    return r->heap == 1;
}

/* Makes the key of the resource on top of the heap its exact level; false when it isn't the lowest any more. */
static bool exact_on_top(struct maxmin *m, int id)
{
    const struct resource *r = &m->resources[id];

    if (!stays_on_top(m, id, bound(r, r->key)))
        return false;
    return r->highest <= r->key || stays_on_top(m, id, exact_level(m, r));
}

static void fill(struct maxmin *m)
{
    while (m->n_heap > 0) {
        int id = m->heap[0];
        const struct resource *r = &m->resources[id];

        if (!exact_on_top(m, id))
            continue;
        heap_remove(m, id);
        for (int i = r->first; i < r->first + r->n_uses; i++) {
            int other = m->back[i].other;
            const struct state *s = &m->states[other];

            if (s->settled == m->pass)
                continue;
            if (s->ceiling > r->key)
                freeze(m, other, r->key, id);
            else if (s->bottleneck == UNDECIDED)
                settle(m, other, s->ceiling, MAXMIN_CAP);
        }
        if (m->n_queue > 0)
            spread(m, r->key);
    }
    for (size_t i = 0; i < m->n_free; i++) {
        const struct state *s = &m->states[m->free_[i]];

        if (s->settled != m->pass)
            settle(m, m->free_[i], s->ceiling, s->ceiling < UNLIMITED ? MAXMIN_CAP : MAXMIN_NO_LIMIT);
    }
}

/* The lists by resource, from those by class. */
static void link_back(struct maxmin *m)
{
    int at = 0;

    for (size_t i = 0; i < m->n_resources; i++)
        m->resources[i].n_uses = 0;
    for (size_t i = 0; i < m->n_uses; i++)
        m->resources[m->uses[i].other].n_uses++;
    for (size_t i = 0; i < m->n_resources; i++) {
        m->resources[i].first = at;
        at += m->resources[i].n_uses;
        m->resources[i].n_uses = 0;
    }
    for (size_t c = 0; c < m->n_classes; c++) {
        const struct class_ *k = &m->classes[c];

        for (int i = k->first; i < k->first + k->n_uses; i++) {
            struct resource *r = &m->resources[m->uses[i].other];

            m->uses[i].mate = r->first + r->n_uses++;
            m->uses[i].a = k->count * m->coefs[i];
            m->back[m->uses[i].mate] = (struct use){(int)c, i, m->uses[i].a};
        }
    }
}

/* Room for n zeroed elements instead of `old`. */
static void *renewed(void *old, size_t n, size_t size)
{
    free(old);
    return calloc(n + 1, size);
}

/* Makes room for the classes that there are now. Everything is new to the solve that follows. */
static int build(struct maxmin *m)
{
    m->states = renewed(m->states, m->n_classes, sizeof *m->states);
    m->back = renewed(m->back, m->n_uses, sizeof *m->back);
    m->free_ = renewed(m->free_, m->n_classes, sizeof *m->free_);
    m->changed = renewed(m->changed, m->n_classes, sizeof *m->changed);
    m->touched = renewed(m->touched, m->n_classes, sizeof *m->touched);
    if (!m->states || !m->back || !m->free_ || !m->changed || !m->touched)
        return -ENOMEM;
    link_back(m);
    m->n_changed = 0;
    m->n_touched = m->n_classes;
    for (size_t c = 0; c < m->n_classes; c++) {
        m->states[c].bottleneck = MAXMIN_NO_LIMIT;
        m->classes[c].changed = false;
        m->classes[c].touched = true;
        m->touched[c] = (int)c;
    }
    m->built = true;
    return 0;
}

int maxmin_solve(struct maxmin *m)
{
    int rc = m->built ? 0 : build(m);

    if (rc)
        return rc;
    m->pass++;
    m->n_free = m->n_heap = m->n_queue = 0;
    for (size_t i = 0; i < m->n_changed; i++)
        m->classes[m->changed[i]].changed = false;
    m->n_changed = 0;
    for (size_t i = 0; i < m->n_touched; i++) {
        struct class_ *c = &m->classes[m->touched[i]];

        c->touched = false;
        release(m, m->touched[i], 0);
        if (c->count == 0)
            settle(m, m->touched[i], 0, MAXMIN_NO_LIMIT);
    }
    m->n_touched = 0;
    for (size_t i = 0; i < m->n_touched_resources; i++) {
        m->resources[m->touched_resources[i]].touched = false;
        soil(m, m->touched_resources[i]);
    }
    m->n_touched_resources = 0;
    spread(m, 0);
    fill(m);
    return 0;
}

const int *maxmin_changed(const struct maxmin *m, size_t *n)
{
    *n = m->n_changed;
    return m->changed;
}

double maxmin_rate(const struct maxmin *m, int class_) { return m->classes[class_].level * m->classes[class_].weight; }

double maxmin_used(const struct maxmin *m, size_t resource)
{
    const struct resource *r = &m->resources[resource];
    double sum = 0;

    for (int i = r->first; m->built && i < r->first + r->n_uses; i++)
        if (m->back[i].a > 0)
            sum += m->back[i].a * m->classes[m->back[i].other].level;
    return sum;
}

int maxmin_bottleneck(const struct maxmin *m, int class_) { return m->states[class_].bottleneck; }
