/* Which demands of a site contradict each other: private to nfsbal/plan. */
#ifndef NFSBAL_PLAN_CONFLICT_H
#define NFSBAL_PLAN_CONFLICT_H

#include "nfsbal/plan/problem.h"

/* The demands (exclusive, apart) can't all be met: names a smallest set that can't, in words. */
void plan_conflict(const struct plan_problem *p, char *problem, size_t size);

#endif
