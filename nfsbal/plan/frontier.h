/* The frontier over all levers: for 0, 1, 2 ... changes of each class the best that can be reached, where a change is a datastore
 * with another VIP, a host's interface with another address, a VIP or a volume on another controller, a switch with another hash.
 *
 * Within one set of changes besides VIPs the VIPs are plan_make()'s, with its proofs. Which sets are looked at is a heuristic:
 * docs/planning.md.
 */
#ifndef NFSBAL_PLAN_FRONTIER_H
#define NFSBAL_PLAN_FRONTIER_H

#include "nfsbal/plan/lever.h"
#include "nfsbal/plan/plan.h"

struct plan_lever_options {
    unsigned levers;               /* bits by enum plan_lever */
    enum plan_cost most;           /* no change of a worse class */
    const struct topo_addr *from;  /* addresses for interfaces; none: free ones near those in use */
    const struct topo_addr *taken; /* never these */
    size_t n_from, n_taken;
    const char *domain; /* of names; NULL: that of the VIPs' names */
};

/* Another way to the same balance. */
struct plan_other {
    enum plan_cost cost;
    size_t total;
    unsigned vms;
};

struct plan_frontier_row {
    const struct plan *plan; /* of the site with the changes made; its VIPs are those of `row` */
    const struct plan_row *row;
    struct plan_change *changes; /* besides VIPs */
    size_t n_changes, n_names;   /* the last n_names are names, which count as no change: they come with a VIP's */
    size_t total;                /* with those of VIPs */
    enum plan_cost cost;         /* the worst of all */
    unsigned vms;
    double max_load; /* of the links that some lever moves: seconds per byte for each datastore of weight 1 */
    double max_host;
    bool uneven;
    const struct plan_other *others; /* of worse classes, each its cheapest */
    size_t n_others;
    int fullest_linkdir; /* where max_load is, or -1 */
    int fullest_direction;
    double fullest_flows; /* on it */
};

struct plan_frontier {
    const struct topo *t;           /* as the file has it */
    const struct plan *plan;        /* of that */
    struct plan_frontier_row *rows; /* today's first (none on a new site), then by total and class */
    size_t n_rows;
    size_t best, chosen;
    size_t n_settings;    /* besides VIPs, all of which were looked at; 0: a search chose which */
    bool proven;          /* every row is the best of its class and number of changes: all was looked at */
    double bound;         /* no layout with any of these changes has less on its fullest link; 0: not known */
    bool levers_left_out; /* the site is too large to look at controllers, volumes and hashes */
    void *memory;         /* private */
};

struct topo_file;

/* NULL with a text in `problem`. File and topology must outlive it. */
struct plan_frontier *plan_frontier_make(const struct topo_file *f, const struct topo *t,
                                         const struct plan_options *options, const struct plan_lever_options *levers,
                                         char *problem, size_t size);
void plan_frontier_free(struct plan_frontier *f); /* accepts NULL */

/* plan_assignments() of a row, with the names that it gives. *all: free(). */
long plan_frontier_assignments(const struct plan_frontier *f, const struct plan_frontier_row *row,
                               struct topo_assignment **all);

/* The words of a row's changes for topo_load_changed(): free(). NULL on lack of memory. */
struct topo_change *plan_frontier_words(const struct plan_frontier_row *row);

#endif
