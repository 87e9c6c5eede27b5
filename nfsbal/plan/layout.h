/* A layout as counts per class and option, its loads, and which of two is better: private to nfsbal/plan. */
#ifndef NFSBAL_PLAN_LAYOUT_H
#define NFSBAL_PLAN_LAYOUT_H

#include "nfsbal/plan/problem.h"

struct plan_layout {
    const struct plan_problem *p;
    int *counts;    /* [class.first + option] */
    double *loads;  /* per resource */
    size_t changes; /* units that leave today's VIP */
    long wrong;     /* units on what works no longer, and pairs of units that must not meet */
};

/* Everything on its first usable option. NULL on lack of memory. */
struct plan_layout *plan_layout_new(const struct plan_problem *p);
struct plan_layout *plan_layout_copy(const struct plan_layout *l);
void plan_layout_set(struct plan_layout *to, const struct plan_layout *from); /* of the same problem */
void plan_layout_free(struct plan_layout *l);                                 /* accepts NULL */

/* n units of a class from one option to another. */
void plan_layout_move(struct plan_layout *l, size_t class_, size_t from, size_t to, int n);
void plan_layout_today(struct plan_layout *l);      /* what isn't mounted stays where it is */
void plan_layout_all_on_one(struct plan_layout *l); /* the worst: every class on its first option */

/* How much plan_layout_move() of one unit would change `wrong`. */
long plan_layout_clash(const struct plan_layout *l, size_t class_, size_t from, size_t to);

double
plan_layout_max(const struct plan_layout *l); /* fullest movable resource: seconds per byte for each unit of weight */

/* A host's fullest uplink in this direction over an even split; 0: no load. */
double plan_layout_host(const struct plan_layout *l, size_t host, enum flow_direction d);

double plan_layout_flows(const struct plan_layout *l, int resource); /* on it, on average, by count */

/* VMs to be stopped: of each class those that leave first. */
unsigned plan_layout_vms(const struct plan_layout *l);

/* What layouts are compared by, in this order: `wrong`, the loads of movable resources, fullest first, then the hosts' ratios, least
 * even first ("uneven" exchanges these two), then the same of what switches choose for the hosts. */
struct plan_key {
    long wrong;
    double *loads;
    double *hosts, *reads; /* n_hosts each; all descending */
    size_t n_loads, n_hosts;
};
struct plan_key *plan_key_new(const struct plan_problem *p);
void plan_key_free(struct plan_key *k);
void plan_key_fill(struct plan_key *k, const struct plan_layout *l);
void plan_key_set(struct plan_key *to, const struct plan_key *from);
int plan_key_compare(const struct plan_key *a, const struct plan_key *b, bool uneven); /* < 0: a is better */

/* Of layouts with equal keys: fewer VMs, then lower addresses. < 0: a is better. */
int plan_layout_tie(const struct plan_layout *a, const struct plan_layout *b);

#define PLAN_EQUAL 1e-9 /* relative difference that is none */
int plan_compare_real(double a, double b);

#endif
