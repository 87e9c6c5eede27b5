/* The least load of the fullest resource as a mixed-integer program, by CBC: bounds, proofs, and whether the demands of a site can
 * be met at all. Private to nfsbal/plan. Limited by nodes, never by time, so that the same problem has the same answer.
 */
#ifndef NFSBAL_PLAN_EXACT_H
#define NFSBAL_PLAN_EXACT_H

#include "nfsbal/plan/layout.h"

struct plan_exact {
    size_t max_changes;  /* SIZE_MAX: any */
    long nodes;          /* 0: only the bound of the continuous problem */
    const bool *dropped; /* per clash: it doesn't count; NULL: all do */
};

enum plan_exact_end {
    PLAN_EXACT_OPTIMAL,
    PLAN_EXACT_BOUND,     /* out of nodes: *bound holds; the layout too, if *found */
    PLAN_EXACT_INFEASIBLE /* no layout has wrong = 0 */
};

/* *bound: no layout with wrong = 0 has a smaller plan_layout_max(). Where one was found, *found is true and `out` (may be NULL) is
 * set to it. */
enum plan_exact_end plan_exact(const struct plan_problem *p, const struct plan_exact *how, struct plan_layout *out,
                               bool *found, double *bound);

#endif
