#include "nfsbal/plan/conflict.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "nfsbal/plan/exact.h"

enum { NODES = 20000 };

static const char *name_of(const struct plan_problem *p, int class_)
{
    return p->t->datastores[p->units[p->classes[class_].units[0]].datastore].name;
}

/* Leaves out one demand after the other as long as the rest still can't be met: what stays is needed, each. */
static void shrink(const struct plan_problem *p, bool *dropped)
{
    const struct plan_exact how = {.max_changes = SIZE_MAX, .nodes = NODES, .dropped = dropped};
    for (size_t i = 0; i < p->n_clashes; i++) {
        bool found;
        double bound;
        dropped[i] = true;
        if (plan_exact(p, &how, NULL, &found, &bound) != PLAN_EXACT_INFEASIBLE)
            dropped[i] = false;
    }
}

void plan_conflict(const struct plan_problem *p, char *problem, size_t size)
{
    bool *dropped = calloc(p->n_clashes + 1, sizeof *dropped);
    if (!dropped) {
        snprintf(problem, size, "out of memory");
        return;
    }
    shrink(p, dropped);
    size_t at = (size_t)snprintf(problem, size,
                                 "these can't all be kept from sharing a link, with the VIPs that they may have:");
    for (size_t i = 0; i < p->n_clashes && at < size; i++) {
        const struct plan_clash *x = &p->clashes[i];
        if (dropped[i])
            continue;
        bool apart = strcmp(x->what, "exclusive") != 0;
        at += (size_t)snprintf(problem + at, size - at, "\n  %s and %s (%s%s)", name_of(p, x->i), name_of(p, x->j),
                               apart ? "apart: " : "", x->what);
    }
    free(dropped);
}
