/* Finding good layouts: all of them where they are few, else by local search. Private to nfsbal/plan. */
#ifndef NFSBAL_PLAN_SEARCH_H
#define NFSBAL_PLAN_SEARCH_H

#include "nfsbal/plan/layout.h"

/* The best layouts of exactly so many changes. */
struct plan_found {
    struct plan_layout *layout[2]; /* by the two orders of plan_key_compare(): even, uneven; NULL: there is none */
    struct plan_key *key[2];
};

/* How many layouts there are, or `most` when there are as many or more. */
double plan_search_count(const struct plan_problem *p, double most);

/* All layouts: found[m] for m = 0 .. max_changes, to be freed one by one. False on lack of memory. */
bool plan_search_all(const struct plan_problem *p, size_t max_changes, struct plan_found *found);
void plan_found_free(struct plan_found *f);

/* Improves a layout by moves of one unit and pairs of moves as long as that helps, within max_changes (which it must keep
 * already). `uneven`: for the hosts first. `pairs`: tries pairs of moves too. */
void plan_search_improve(struct plan_layout *l, size_t max_changes, bool uneven, bool pairs);

#endif
