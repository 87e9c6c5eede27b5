/* Our side of the max-min benchmark, also used by the SimGrid side to compare every single completion. C and C++. */
#ifndef TESTS_PERF_MAXMIN_RUN_H
#define TESTS_PERF_MAXMIN_RUN_H

#include <stdbool.h>
#include <stdlib.h>

#ifdef __cplusplus
extern "C" {
#endif
#include "emu/model/maxmin.h"
#ifdef __cplusplus
}
#endif
#include "tests/perf/maxmin_work.h"

enum { WORK_CLASSES = WORK_HOSTS * WORK_VIPS };

struct work_class {
    int first, n; /* flows of the class, by size, in `order` */
    int done;
};

static const struct work_flow *work_sorting;

static inline int work_class_of(const struct work_flow *f) { return f->host * WORK_VIPS + f->vip; }

static inline int work_by_class_and_size(const void *a, const void *b)
{
    const struct work_flow *x = &work_sorting[*(const int *)a], *y = &work_sorting[*(const int *)b];

    if (work_class_of(x) != work_class_of(y))
        return work_class_of(x) < work_class_of(y) ? -1 : 1;
    return (x->bytes > y->bytes) - (x->bytes < y->bytes);
}

/* The problem, one class per pair, all flows running. */
static inline struct maxmin *work_problem(const struct work_class *classes)
{
    struct maxmin *m = maxmin_new(WORK_LINKS);

    if (!m)
        return NULL;
    for (int i = 0; i < WORK_LINKS; i++)
        maxmin_set_capacity(m, (size_t)i, i < WORK_HOSTS ? work_host_rate : work_vip_rate);
    for (int c = 0; c < WORK_CLASSES; c++) {
        struct maxmin_use uses[2] = {{c / WORK_VIPS, 1}, {WORK_HOSTS + c % WORK_VIPS, 1}};

        if (maxmin_add_class(m, uses, 2, 1, MAXMIN_NO_CAP, (size_t)classes[c].n) < 0) {
            maxmin_free(m);
            return NULL;
        }
    }
    return m;
}

/* Seconds at which each flow is done; false on lack of memory. All flows of a class have had the same service, so the smallest
 * is done first: a class has one next completion. */
static inline bool work_run(const struct work_flow *flows, double *done)
{
    static struct work_class classes[WORK_CLASSES];
    static int order[WORK_FLOWS];
    static double service[WORK_CLASSES], since[WORK_CLASSES], rate[WORK_CLASSES], target[WORK_CLASSES];
    static double finish[WORK_CLASSES];
    struct maxmin *m;
    double now = 0;

    for (int c = 0; c < WORK_CLASSES; c++)
        classes[c].n = classes[c].done = 0;
    for (int i = 0; i < WORK_FLOWS; i++) {
        order[i] = i;
        classes[work_class_of(&flows[i])].n++;
    }
    work_sorting = flows;
    qsort(order, WORK_FLOWS, sizeof *order, work_by_class_and_size);
    for (int c = 0, at = 0; c < WORK_CLASSES; at += classes[c++].n)
        classes[c].first = at;
    m = work_problem(classes);
    if (!m || maxmin_solve(m) < 0) {
        maxmin_free(m);
        return false;
    }
    for (int c = 0; c < WORK_CLASSES; c++) {
        service[c] = since[c] = rate[c] = 0;
        finish[c] = 1e300;
        target[c] = classes[c].n ? (double)flows[order[classes[c].first]].bytes : 0;
    }
    for (int left = WORK_FLOWS; left > 0; left--) {
        size_t n;
        const int *changed = maxmin_changed(m, &n);
        int next = 0;

        for (size_t i = 0; i < n; i++) {
            int c = changed[i];

            service[c] += rate[c] * (now - since[c]);
            since[c] = now;
            rate[c] = maxmin_rate(m, c);
            finish[c] = rate[c] > 0 ? now + (target[c] - service[c]) / rate[c] : 1e300;
        }
        for (int c = 1; c < WORK_CLASSES; c++)
            if (finish[c] < finish[next])
                next = c;
        now = finish[next];
        service[next] = target[next];
        since[next] = now;
        done[order[classes[next].first + classes[next].done]] = now;
        classes[next].done++;
        finish[next] = 1e300;
        if (classes[next].done < classes[next].n) {
            target[next] = (double)flows[order[classes[next].first + classes[next].done]].bytes;
            finish[next] = now + (target[next] - service[next]) / rate[next];
        }
        maxmin_set_count(m, next, (size_t)(classes[next].n - classes[next].done));
        maxmin_solve(m);
    }
    maxmin_free(m);
    return true;
}

#endif
