/* The parts of a fluid run. Internal to emu/sim/fluid*.c.
 *
 *   fluid.c          time: starts, ends, faults; bytes by rates; counters
 *   fluid_problem.c  the max-min problem: what a job takes of links and storages
 *   fluid_store.c    what has been written and waits for the disks
 *   fluid_cost.c     what an operation takes of the links
 */
#ifndef EMU_SIM_FLUID_INTERNAL_H
#define EMU_SIM_FLUID_INTERNAL_H

#include "emu/fabric/eventq.h"
#include "emu/model/maxmin.h"
#include "emu/model/path.h"
#include "emu/model/result.h"
#include "emu/model/topology.h"
#include "emu/sim/fluid_cost.h"
#include "emu/sim/fluid_store.h"
#include "emu/sim/run.h"

struct fluid;

struct fluid_job {
    struct event start, stop, done;
    struct fluid *fluid;
    struct fluid_cost cost;
    const struct flow *flows;
    size_t n_flows;
    double weight;
    bool runs, busy;
    struct fluid_job *target; /* of a clone: its other half */
    struct fluid_destage destage;
    int class_;
    ps_t since;     /* when `moved` was last brought up to date */
    double rate;    /* bytes/s */
    double moved;   /* since the last flush */
    double left;    /* bytes to go, or INFINITY */
    double counted; /* in the window */
};

struct fluid_fault {
    struct event event;
    struct fluid *fluid;
    const struct topo_event *what;
};

/* What a link direction carried in one phase. */
struct fluid_count {
    double frames, bytes, bulk_bytes;
};

struct fluid {
    struct topo *topo;
    const struct sim_options *options;
    struct result *result;
    struct eventq *queue;
    struct maxmin *maxmin;
    struct flow *flows;
    struct fluid_job *jobs;
    size_t n_jobs, jobs_left;
    struct fluid_fault *faults;
    bool *linkdir_down;
    int *vip_box;
    double *slice_bytes;        /* per link direction */
    struct fluid_count *counts; /* per phase, then per link direction */
    size_t slices;
    struct fluid_store *storages; /* by node */
    size_t n_resources;
    double *link_sums; /* per link direction, zero between uses */
    bool any_storage;  /* of the long form */
    bool failed, changed;
};

enum {
    STORAGE_PARTS = 3,
    LONGEST_SECONDS = 1000000, /* of a job that ends by bytes; picoseconds hold nine times that */
    MEAN_FRAME = 9038,         /* bytes on the wire of what a back end sends, for the count of frames */
};

/* Resources beyond the link directions. Then those of the long forms of storages. */
static inline size_t fluid_limit_resource(const struct fluid *f, int node, int part)
{
    return 2 * f->topo->n_links + STORAGE_PARTS * (size_t)node + (size_t)part;
}

/* fluid_problem.c */
double fluid_read_share(const struct fluid *f, const struct fluid_job *j); /* how much of its payload a job reads */
/* The stores and resources. Jobs must be there. False on lack of memory or where a back end has no way. */
bool fluid_problem_init(struct fluid *f, char *problem, size_t size);
/* costs: also what the network takes, where paths may have changed. */
bool fluid_problem_make(struct fluid *f, bool costs);

#endif
