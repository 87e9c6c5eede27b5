/* Which interface each datastore should be bound to on each host: private to nfsbal/plan. */
#ifndef NFSBAL_PLAN_SUGGEST_BIND_H
#define NFSBAL_PLAN_SUGGEST_BIND_H

#include "nfsbal/plan/plan.h"

struct plan_binding {
    int datastore, host, iface; /* host: box */
    double gain;                /* potential after it over before */
    double max_load, max_host;  /* of all links, with it and those before */
};

/* The interface by which a mount goes: what it is bound to, else what routing picks; or -1. */
int plan_iface_of(const struct plan_problem *p, int datastore, int host, int vip);

/* Interfaces that a datastore could be bound to on a host (box) by a VIP, but for the one by which it goes, into `out`; their count. */
size_t plan_bindable(const struct plan_problem *p, int datastore, int host, int vip, int *out, size_t most);

/* One binding after the other with these VIPs, each time the one that lowers plan_potential() most, as long as one does. The problem
 * was made with `bindings`. *all: free(). The count, or -ENOMEM. */
long plan_suggest_bindings(const struct plan *plan, const int *vips, struct plan_binding **all);

#endif
