/* Max-min by classes against a slow twin: flow by flow, everything anew each time, nothing kept. Random problems, and random
 * changes of counts, caps and capacities between solves; and the two properties that define a max-min solution. */
#include "emu/model/maxmin.h"
#include "tests/support/seed.h"

#include <assert.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

enum { MAX_RESOURCES = 24, MAX_CLASSES = 60, MAX_USES = 6 };

struct problem {
    size_t n_resources, n_classes;
    double capacity[MAX_RESOURCES];
    struct twin_class {
        struct maxmin_use uses[MAX_USES];
        size_t n_uses, count;
        double weight, cap;
        double rate; /* the twin's answer */
    } classes[MAX_CLASSES];
};

static uint64_t state;

static uint64_t draw(uint64_t n)
{
    state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    assert(n > 0);
    return (state >> 33) % n;
}

/* Raises all rising flows together until a resource is full or a flow is at its cap, freezes these, and again. */
static void twin_solve(struct problem *p)
{
    bool frozen[MAX_CLASSES] = {false};

    for (size_t c = 0; c < p->n_classes; c++)
        p->classes[c].rate = 0;
    for (;;) {
        double step = (double)INFINITY;
        bool rising = false;

        for (size_t c = 0; c < p->n_classes; c++) {
            const struct twin_class *k = &p->classes[c];

            if (frozen[c] || k->count == 0)
                continue;
            rising = true;
            if (k->cap > 0)
                step = fmin(step, (k->cap - k->rate) / k->weight);
        }
        for (size_t r = 0; r < p->n_resources; r++) {
            double used = 0, slope = 0;

            for (size_t c = 0; c < p->n_classes; c++)
                for (size_t u = 0; u < p->classes[c].n_uses; u++) {
                    const struct twin_class *k = &p->classes[c];

                    if (k->uses[u].resource != (int)r)
                        continue;
                    used += (double)k->count * k->uses[u].share * k->rate;
                    if (!frozen[c])
                        slope += (double)k->count * k->uses[u].share * k->weight;
                }
            if (slope > 0)
                step = fmin(step, fmax(0, (p->capacity[r] - used) / slope));
        }
        if (!rising)
            return;
        for (size_t c = 0; c < p->n_classes; c++)
            if (!frozen[c] && p->classes[c].count > 0)
                p->classes[c].rate += isinf(step) ? (double)INFINITY : step * p->classes[c].weight;
        for (size_t c = 0; c < p->n_classes; c++) {
            const struct twin_class *k = &p->classes[c];

            if (isinf(k->rate) || (k->cap > 0 && k->rate >= k->cap * (1 - 1e-12)))
                frozen[c] = true;
        }
        for (size_t r = 0; r < p->n_resources; r++) {
            double used = 0;

            for (size_t c = 0; c < p->n_classes; c++)
                for (size_t u = 0; u < p->classes[c].n_uses; u++)
                    if (p->classes[c].uses[u].resource == (int)r && p->classes[c].count > 0)
                        used += (double)p->classes[c].count * p->classes[c].uses[u].share * p->classes[c].rate;
            if (used < p->capacity[r] * (1 - 1e-12))
                continue;
            for (size_t c = 0; c < p->n_classes; c++)
                for (size_t u = 0; u < p->classes[c].n_uses; u++)
                    if (p->classes[c].uses[u].resource == (int)r)
                        frozen[c] = true;
        }
    }
}

static void make_problem(struct problem *p, struct maxmin **m)
{
    static const double shares[] = {1, 1, 1, 0.5, 0.25, 1.0 / 3, 1.06};
    static const double weights[] = {1, 1, 1, 2, 0.5};

    p->n_resources = 1 + draw(MAX_RESOURCES);
    p->n_classes = 1 + draw(MAX_CLASSES);
    *m = maxmin_new(p->n_resources);
    assert_non_null(*m);
    for (size_t r = 0; r < p->n_resources; r++) {
        /* Few different values: ties are the hard part. */
        p->capacity[r] = draw(12) == 0 ? 0 : (double)(1 + draw(4)) * 125;
        maxmin_set_capacity(*m, r, p->capacity[r]);
    }
    for (size_t c = 0; c < p->n_classes; c++) {
        struct twin_class *k = &p->classes[c];

        k->n_uses = draw(20) == 0 ? 0 : 1 + draw(MAX_USES);
        for (size_t u = 0; u < k->n_uses; u++)
            k->uses[u] = (struct maxmin_use){(int)draw(p->n_resources), shares[draw(7)]};
        k->weight = weights[draw(5)];
        k->cap = draw(3) == 0 ? (double)(1 + draw(100)) : MAXMIN_NO_CAP;
        k->count = draw(4) == 0 ? 0 : 1 + draw(5);
        assert_int_equal(maxmin_add_class(*m, k->uses, k->n_uses, k->weight, k->cap, k->count), (int)c);
    }
}

static void change(struct problem *p, struct maxmin *m)
{
    size_t c = draw(p->n_classes), r = draw(p->n_resources);

    switch (draw(4)) {
    case 0:
        p->classes[c].cap = draw(2) ? (double)(1 + draw(100)) : MAXMIN_NO_CAP;
        maxmin_set_cap(m, (int)c, p->classes[c].cap);
        break;
    case 1:
        p->capacity[r] = draw(6) == 0 ? 0 : (double)(1 + draw(4)) * 125;
        maxmin_set_capacity(m, r, p->capacity[r]);
        break;
    default:
        p->classes[c].count = draw(3) == 0 ? 0 : draw(6);
        maxmin_set_count(m, (int)c, p->classes[c].count);
    }
}

static void assert_near(double a, double b, double scale)
{
    if (isinf(a) || isinf(b))
        assert_true(isinf(a) && isinf(b));
    else if (fabs(a - b) > 1e-9 * fmax(fabs(b), scale))
        fail_msg("%.17g is not %.17g", a, b);
}

static void compare(struct problem *p, const struct maxmin *m)
{
    twin_solve(p);
    for (size_t c = 0; c < p->n_classes; c++)
        assert_near(maxmin_rate(m, (int)c), p->classes[c].count ? p->classes[c].rate : 0, 1);
}

/* No resource carries more than it can, and every flow either has its cap or crosses a full resource where no flow has a
 * higher level than it. */
static void check_properties(const struct problem *p, const struct maxmin *m)
{
    for (size_t r = 0; r < p->n_resources; r++)
        assert_true(maxmin_used(m, r) <= p->capacity[r] * (1 + 1e-9) + 1e-9);
    for (size_t c = 0; c < p->n_classes; c++) {
        const struct twin_class *k = &p->classes[c];
        double level = maxmin_rate(m, (int)c) / k->weight;
        int b = maxmin_bottleneck(m, (int)c);

        if (k->count == 0)
            continue;
        if (b == MAXMIN_CAP) {
            assert_near(maxmin_rate(m, (int)c), k->cap, 1);
            continue;
        }
        if (b == MAXMIN_NO_LIMIT) {
            assert_true(isinf(level));
            continue;
        }
        assert_near(maxmin_used(m, (size_t)b), p->capacity[b], 1);
        for (size_t o = 0; o < p->n_classes; o++)
            for (size_t u = 0; u < p->classes[o].n_uses; u++)
                if (p->classes[o].uses[u].resource == b && p->classes[o].count > 0)
                    assert_true(maxmin_rate(m, (int)o) / p->classes[o].weight <= level * (1 + 1e-9) + 1e-9);
    }
}

static void test_random(void **unused)
{
    (void)unused;
    state = test_seed();
    for (int round = 0; round < 400; round++) {
        struct problem p;
        struct maxmin *m;

        make_problem(&p, &m);
        for (int step = 0; step < 40; step++) {
            assert_int_equal(maxmin_solve(m), 0);
            compare(&p, m);
            check_properties(&p, m);
            for (uint64_t changes = draw(3) + 1; changes > 0; changes--)
                change(&p, m);
        }
        maxmin_free(m);
    }
}

/* What maxmin_changed() says is exactly what changed. */
static void test_changed(void **unused)
{
    (void)unused;
    state = test_seed() + 1;
    for (int round = 0; round < 100; round++) {
        struct problem p;
        struct maxmin *m;
        double before[MAX_CLASSES] = {0};

        make_problem(&p, &m);
        for (int step = 0; step < 20; step++) {
            bool said[MAX_CLASSES] = {false};
            size_t n;
            const int *changed;

            assert_int_equal(maxmin_solve(m), 0);
            changed = maxmin_changed(m, &n);
            for (size_t i = 0; i < n; i++) {
                assert_false(said[changed[i]]);
                said[changed[i]] = true;
            }
            for (size_t c = 0; c < p.n_classes; c++) {
                double now = maxmin_rate(m, (int)c);

                assert_true(said[c] || now == before[c]);
                before[c] = now;
            }
            change(&p, m);
        }
        maxmin_free(m);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random),
        cmocka_unit_test(test_changed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
