/* Other addresses for the hosts' interfaces: a repair that is rolling, where other VIPs for datastores would be an outage. */
#ifndef NFSBAL_PLAN_SUGGEST_VMK_H
#define NFSBAL_PLAN_SUGGEST_VMK_H

#include "nfsbal/plan/plan.h"

struct plan_readdressed { /* one host more */
    int iface;
    struct topo_addr addr;
    double max_load; /* as in struct plan_row, over all links, with this and all before */
    double max_host; /* likewise */
    double gain;     /* plan_potential() after this step, over that before it */
};

/* What a change is judged by: falls when a link, or a host's uplinks over an even split, become less full. `loads` holds seconds per
 * byte by link direction, writes and reads in turn; `scale` makes the fullest of them 1. */
double plan_potential(const struct plan_problem *p, const double *loads, double scale);

/* The least even host of such loads: its fullest uplink over an even split, writes. */
double plan_worst_host(const struct plan_problem *p, const double *loads);

/* Whether an interface could have an address: in its subnet, of no one else in the file, not reserved, not the network's own. */
bool plan_address_fits(const struct topo *t, int iface, const struct topo_addr *a, const struct topo_addr *reserved,
                       size_t n);

/* Changes of addresses, best first, as long as each makes the layout of `row` better by the planner's order: the loads of all links
 * that are known, then the hosts' uplinks. Addresses are taken from `from`, each once, but those of the file, `reserved` and those
 * outside the interface's subnet. *before receives what it is without any. *all is allocated: free(). The count, or -ENOMEM. */
long plan_suggest_vmk(const struct plan *p, const struct plan_row *row, const struct topo_addr *from, size_t n_from,
                      const struct topo_addr *reserved, size_t n_reserved, struct plan_readdressed *before,
                      struct plan_readdressed **all);

#endif
