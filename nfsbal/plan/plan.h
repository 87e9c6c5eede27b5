/* A mount layout for a site: which VIP each datastore is mounted from, what each further change buys, and how good that is.
 *
 * What moves as a whole is a unit: a datastore for the whole cluster, or one host's mount of it where `identity: per-host`.
 * A layout gives each unit a VIP. plan_make() computes the frontier (for 0, 1, 2 ... changed units the best layout) and
 * chooses a row of it; docs/planning.md has the objective and the method in words.
 *
 * The planner reads struct topo and nothing else; how a plan is applied to a file is topo_load_assigned()'s.
 */
#ifndef NFSBAL_PLAN_PLAN_H
#define NFSBAL_PLAN_PLAN_H

#include <stdbool.h>
#include <stddef.h>

#include "emu/model/topology.h"
#include "emu/model/topology_file.h"

struct plan_problem;

/* What a change stops. */
enum plan_cost {
    PLAN_NOTHING_STOPS, /* 0: adding a VIP or a datastore */
    PLAN_ROLLING,       /* 1: one host at a time in maintenance mode: re-pointing a name that is the datastore's own */
    PLAN_COPY,          /* 2: a new export and Storage vMotion */
    PLAN_OUTAGE         /* 3: virtual machines off, unmounted on all hosts, mounted again */
};
const char *plan_cost_name(enum plan_cost cost); /* "nothing stops", "rolling", "copy", "outage" */

struct plan_unit {
    int datastore;
    int host;            /* box, or -1: all that mount the datastore */
    int today;           /* its VIP, or -1 */
    bool mounted;        /* somewhere today; false: a datastore of a new site */
    bool mixed;          /* hosts mount it by different VIPs today */
    enum plan_cost cost; /* of giving it another VIP */
    unsigned vms;        /* to be stopped for that */
};

#define PLAN_AS_TODAY (-1) /* instead of a VIP: every host keeps what it has */

struct plan_layout;

struct plan_row {
    size_t changes;      /* units whose VIP differs from today's */
    enum plan_cost cost; /* the worst of the changes */
    unsigned vms;        /* to be stopped, all changes together */
    bool uneven;         /* slower for the slowest with every host busy, more even for each host alone */
    /* Seconds per byte of the fullest link that some layout could relieve: its inverse is the rate that each datastore of weight 1
     * has there with all of them busy. Only what is known of the links counts. */
    double max_load;
    double bound;    /* no layout of as many changes has less */
    double max_host; /* the least even host: its fullest uplink over an even split; 1 is even */
    long wrong; /* datastores without a working VIP, and pairs together that must be apart: only ever in today's row */
    int *vips;  /* per unit: a VIP or PLAN_AS_TODAY */
    struct plan_layout *layout; /* private */
};

struct plan {
    const struct topo *t; /* not owned */
    struct plan_problem *problem;
    const struct plan_unit *units;
    size_t n_units;
    struct plan_row
        *rows; /* the first is today's (none on a new site); then by changes, an uneven one after its even sister */
    size_t n_rows;
    size_t best;    /* the row that no number of changes betters */
    double optimum; /* no layout at all has a smaller max_load */
    size_t chosen;  /* the row that is proposed: today's unless more was asked for */
    /* Every layout was looked at: of equally good ones each row has the first by failures, VMs and addresses, whatever things are
     * called. Of a larger site it has one of the equally good ones, and names may decide which. */
    bool looked_at_all;
};

struct plan_options {
    size_t max_changes; /* the best row of no more changes is chosen; 0: see worth */
    double
        worth; /* fraction: a row is chosen while each further change lowers max_load by as much; 0: see max_changes */
    bool best; /* the best row, whatever it changes */
    bool allow_indirect; /* VIPs whose controller isn't the export's owner too */
    bool copies;         /* what would be an outage of ESXi hosts is done as a copy: a new export and Storage vMotion */
    const struct topo *
        before; /* a VIP of today may stay though its controller isn't the owner only if that was so here; NULL: it may */
    bool bindings;         /* looks at each interface that a mount could be bound to */
    enum plan_cost frozen; /* mounts whose change would be of this class or worse stay as they are; 0: all may change */
};

/* NULL with a text in `problem`: what contradicts what, a smallest set of such demands, or "out of memory". The topology must
 * outlive the plan. */
struct plan *plan_make(const struct topo *t, const struct plan_options *options, char *problem, size_t size);
void plan_free(struct plan *p); /* accepts NULL */

/* The VIP of a unit on a host under a row's layout. */
int plan_vip(const struct plan *p, const struct plan_row *row, size_t unit, int host);

/* A row as assignments, one per datastore and host, in the order of datastores and hosts. A datastore that keeps its VIP keeps its
 * server string to the letter; one that moves is mounted by the VIP's name where it was mounted by a name and there is one, else by
 * address, or by its own name (`server:`). Texts are the topology's. *all is allocated: free(). The count, or -ENOMEM. */
long plan_assignments(const struct plan *p, const struct plan_row *row, struct topo_assignment **all);

#endif
