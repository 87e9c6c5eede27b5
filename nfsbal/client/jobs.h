/* Load over the client library: jobs that read and write files as emu/model/workload.h says, in real time.
 *
 * A clone is two jobs: one that reads and drives, and its target, which counts what is written. Each block is written to where
 * it was read, when its read is done.
 *
 * All jobs are mounted and their files prepared first; then one clock starts for all of them.
 */
#ifndef NFSBAL_CLIENT_JOBS_H
#define NFSBAL_CLIENT_JOBS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "emu/model/topology.h"
#include "nfsbal/client/path.h"
#include "nfsbal/client/stats.h"

struct jobs;
struct loop;

/* What is pointed to must live as long as the load. */
struct job_config {
    const char *name, *file;   /* file: below the export, made when missing */
    uint64_t size;             /* of the file, at least */
    struct paths_config paths; /* servers, export and so on; `report` is set by load */
    struct topo_workload workload;
    uint64_t seed;
    bool fill, verify;
    size_t to; /* of a clone (workload.op): which job is its target, from 1 on; 0: none */
    /* It goes through these phases, none of which is open, and `workload` says the largest block and the most that is out. NULL:
     * the workload it is. */
    const struct topo_vm_group *machine;
    bool target; /* it does nothing but hold a file to which another job writes what it has read */
};

struct jobs_result {
    const char *problem; /* NULL: it did what it was asked */
    uint64_t read, written, operations, errors;
    double seconds;                         /* first operation to the end of the last, COMMIT included; 0: none */
    const struct stats_latency *latency[2]; /* of reads, of writes */
    struct tcp_counts tcp;                  /* of all connections */
    const struct machine_phase *phases;     /* of a machine, as many as its group has; else NULL */
    uint64_t reconnects, reissued;
    const struct paths *paths; /* NULL: never mounted */
};

struct jobs_events {
    void (*second)(void *context, double t); /* each second of the common clock */
    void (*ready)(void *context);            /* all are prepared: jobs_go() starts the clock; NULL: it starts at once */
    void (*over)(void *context);             /* all jobs have ended */
    void (*report)(void *context, const char *job, const char *line); /* for people */
    void *context;
};

/* Copies the configurations, starts to mount. NULL: no memory. */
struct jobs *jobs_new(struct loop *l, const struct job_config *jobs, size_t n, const struct jobs_events *events);
void jobs_free(struct jobs *load); /* accepts NULL; not within its callbacks */
/* Starts the clock after `ready`. */
void jobs_go(struct jobs *load);
/* Ends all jobs early; what is out is waited for. A second call does not wait. */
void jobs_stop(struct jobs *load);

size_t jobs_count(const struct jobs *load);
const struct job_config *jobs_job(const struct jobs *load, size_t i);
void jobs_result(const struct jobs *load, size_t i, struct jobs_result *out);

#endif
