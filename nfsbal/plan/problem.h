/* The planner's view of a site, private to nfsbal/plan: who may be mounted by which VIP, and what load that puts where.
 *
 * Resources are the link directions that some layout loads, once for writes and once for reads. A vector is what one datastore of
 * weight 1 on a set of hosts puts on them when it is mounted by one VIP: bytes of the wire per byte of data, over the capacity. So
 * the sum of vectors is a load whose inverse is the rate at which every datastore could go, were that the only resource.
 *
 * A hop that the path function knows (policy exact or approximate, inputs given or derived, or observed) counts with its link; any
 * other with an equal part on each candidate, so that what is not known ranks no layout.
 *
 * Units with the same vectors, weight and VIP of today form a class; a layout is a number of units per class and option.
 */
#ifndef NFSBAL_PLAN_PROBLEM_H
#define NFSBAL_PLAN_PROBLEM_H

#include "emu/model/path.h"
#include "nfsbal/plan/plan.h"

struct plan_use {
    int resource;
    double load;
    double flows; /* on average, whatever they weigh */
};

struct plan_vector {
    struct plan_use *uses; /* by resource */
    size_t n;
};

struct plan_resource {
    int linkdir;
    enum flow_direction direction;
    int host;     /* place in hosts[] whose own uplink it is, or -1 */
    bool movable; /* some unit's choice changes its load */
};

struct plan_option {
    int vip;     /* or PLAN_AS_TODAY: hosts differ */
    bool usable; /* false: only today's, and it works no longer or a pin forbids it */
    const struct plan_vector *vector;
};

struct plan_class {
    const int *units; /* in the order in which they leave today's VIP: fewest VMs first */
    size_t n;
    double weight[2];                  /* by enum flow_direction */
    const struct plan_option *options; /* by address, one that is only today's last */
    size_t n_options;
    size_t first; /* of its options among all */
    int today;    /* option, or -1 */
};

/* Where hosts of two classes meet on a known member: options a of class i and b of class j exclude each other. */
struct plan_clash {
    int i, j;          /* i == j never */
    const bool *table; /* [a * classes[j].n_options + b] */
    const char *what;  /* "exclusive", or the name of the `apart` group */
};

struct plan_host {
    int box;
    int *resources; /* its uplinks, writes then reads */
    size_t n[2];
    double even[2]; /* what each had, were its units' load spread evenly; 0: no load */
};

/* A host, a VIP and the interface: the way there. Slot 0 is what routing picks; the others are interfaces that a mount may be bound
 * to, where the file binds one or the lever is asked for. */
struct plan_pair {
    struct topo_mount *mount; /* as it would be */
    bool works;
    struct plan_use *uses; /* by resource */
    size_t n_uses;
    int *choices; /* link directions of known hops with several candidates, ascending */
    size_t n_choices;
};

struct plan_problem {
    const struct topo *t;
    struct topo site; /* *t with a mount per pair */
    struct plan_options wanted;
    struct plan_host *hosts;
    size_t n_hosts;
    int *host_of;            /* per box: place in hosts[], or -1 */
    struct plan_pair *pairs; /* [(slot * n_hosts + host) * n_vips + vip] */
    size_t n_slots;
    int *slot_iface; /* [slot * n_hosts + host]: interface, or -1 */
    struct plan_resource *resources;
    size_t n_resources;
    struct plan_unit *units;
    size_t n_units;
    int *class_of; /* per unit */
    struct plan_class *classes;
    size_t n_classes, n_options;
    struct plan_clash *clashes;
    size_t n_clashes;
    bool new_site; /* nothing is mounted */
    struct topo_arena *arena;
};

/* NULL with a text in `problem`. */
struct plan_problem *plan_problem_new(const struct topo *t, const struct plan_options *wanted, char *problem,
                                      size_t size);
void plan_problem_free(struct plan_problem *p);

/* The pair of a datastore on a host (box) by a VIP, with what the datastore is bound to there. */
size_t plan_pair_of(const struct plan_problem *p, int datastore, int host, int vip);
static inline size_t plan_pairs(const struct plan_problem *p) { return p->n_slots * p->n_hosts * p->t->n_vips; }

/* The slot of a host's (place in hosts[]) interface, or -1. */
int plan_slot(const struct plan_problem *p, int host, int iface);

/* The flow of a pair, over connection 0. */
struct flow plan_flow(const struct plan_problem *p, size_t pair);

/* The part of a flow on each link direction, with what is not known spread evenly: share[linkdir], zero before; touched[] are those
 * that are not zero, their count is returned. `path` is the flow's. */
size_t plan_shares(const struct topo *t, const struct flow *flow, enum flow_direction direction,
                   const struct path *path, double *share, int *touched);

/* The hosts of a unit as boxes. */
const int *plan_unit_hosts(const struct plan_problem *p, const struct plan_unit *u, size_t *n);

/* Today's VIP of a unit on a host (box), or -1. */
int plan_vip_today(const struct topo *t, const struct plan_unit *u, int host);

#endif
