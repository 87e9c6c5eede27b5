/* Addresses for more VIPs, such that every host's uplinks and every LAG with a known rule carry equal numbers of flows at once when
 * each VIP serves as many datastores as any other.
 */
#ifndef NFSBAL_PLAN_SUGGEST_H
#define NFSBAL_PLAN_SUGGEST_H

#include <stdbool.h>
#include <stddef.h>

#include "emu/model/topology.h"

struct plan_suggested {
    struct topo_addr addr;
    int home; /* controller: box */
};

struct plan_uneven { /* a team that stays uneven */
    int team;
    bool reads;
    double most, even; /* flows on its fullest member, and what even would be, rounded up */
};

struct plan_suggestion {
    struct plan_suggested *added; /* by address */
    size_t n_added, n_existing;
    struct plan_uneven *uneven; /* none: every team is even */
    size_t n_uneven;
    size_t n_candidates; /* addresses that were free to choose from */
};

/* `total` VIPs, those that are up among them, the others out of `from`. Never chosen: addresses of the file, the network and the
 * broadcast address, what is in `reserved`. Free out with plan_suggestion_free(). False with a text in `problem`. */
bool plan_suggest(const struct topo *t, size_t total, const struct topo_addr *from, size_t n_from,
                  const struct topo_addr *reserved, size_t n_reserved, struct plan_suggestion *out, char *problem,
                  size_t size);
void plan_suggestion_free(struct plan_suggestion *s);

#endif
