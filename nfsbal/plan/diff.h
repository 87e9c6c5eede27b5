/* From today's mounts to a plan's, datastore by datastore: what each step stops and what it leaves of the fullest NAS link.
 *
 * A step is a datastore whose mounts change, on all hosts that change, or on one host where `identity: per-host`. Steps are in
 * the order in which they should be done: fewest VMs and least weight first, what holds vCenter or DNS last. They depend on
 * nothing but the order, so that one can stop after any of them.
 */
#ifndef NFSBAL_PLAN_DIFF_H
#define NFSBAL_PLAN_DIFF_H

#include "emu/model/topology.h"
#include "nfsbal/plan/lever.h"
#include "nfsbal/plan/plan.h"

struct topo_file;

struct diff_mount {
    const struct topo_mount *today; /* NULL: not mounted */
    const struct topo_mount *goal;
};

struct diff_step {
    int datastore;
    int host; /* box, or -1: an identity for all hosts */
    enum plan_cost cost;
    bool can_copy;             /* of an outage: a new export and Storage vMotion get the same */
    unsigned vms;              /* to be stopped */
    struct diff_mount *mounts; /* those that change, in order of hosts */
    size_t n_mounts;
    const char *drift; /* the string that most hosts have today, where others have another; NULL: no drift */
    double busiest;    /* flows on the fullest NAS link direction once this step is done, as the planner counts them */
    int linkdir;       /* that link direction, or -1 */
};

/* A change of the site besides VIPs, made before any datastore moves. */
struct diff_change {
    struct plan_change change;
    size_t place; /* among the plan's */
    bool
        follows; /* part of another step: of a datastore's (a name, a binding), or of an earlier change of the same host */
    double busiest; /* flows on the fullest NAS link direction once it is made */
    int linkdir;
};

struct diff {
    const struct topo *today, *goal; /* not owned */
    struct topo *changed;            /* today's mounts after all changes; NULL where there are none */
    struct diff_change *changes;     /* those of class 0 first; names among them come with the datastores' steps */
    size_t n_changes;
    struct diff_step *steps;
    size_t n_steps;
    double busiest; /* before the first step */
    int linkdir;
};

/* `goal` is the topology of the same file and case under a plan, `changes` what the plan changes besides mounts. All must outlive
 * the diff. NULL with errors in d. */
struct diff *diff_new(const struct topo_file *f, const struct topo *today, const struct topo *goal,
                      const struct plan_change *changes, size_t n_changes, struct diag *d);
void diff_free(struct diff *x); /* accepts NULL */

/* Steps that are outages which a copy can do instead. */
size_t diff_copies(const struct diff *x);

/* The steps of a class, and their VMs. */
size_t diff_count(const struct diff *x, enum plan_cost cost, unsigned *vms);

#endif
