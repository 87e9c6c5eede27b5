/* Grouping the units of a problem: private to nfsbal/plan. */
#ifndef NFSBAL_PLAN_CLASSES_H
#define NFSBAL_PLAN_CLASSES_H

#include <stdbool.h>
#include <stddef.h>

struct plan_problem;

/* Fills classes, options, clashes and what hosts have when spread evenly. False, with the reason, when some unit has no VIP. */
bool plan_classes(struct plan_problem *p, char *problem, size_t size);

/* False, with the reason, when a host is to mount more than it can. */
bool plan_limits_hold(const struct plan_problem *p, char *problem, size_t size);

#endif
