/* Between the files of `nfsbal load`. */
#ifndef NFSBAL_NFS_LOAD_H
#define NFSBAL_NFS_LOAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "nfsbal/client/jobs.h"

struct topo_arena;

/* What holds for all jobs, by options. */
struct load_common {
    const char *congestion;
    int64_t bound_ms, failback_ms, quarantine_ms, timeo_ms; /* 0: the default */
    bool soft;
};

struct load_document {
    struct job_config *jobs;
    size_t n;
    bool hold;
};

/* Reads a document of jobs ("-": standard input); everything is in arena memory. False with a sentence in `problem`. */
bool load_document_read(struct topo_arena *a, const char *path, const struct load_common *common,
                        struct load_document *out, char *problem, size_t size);

/* Puts the common options into a job. */
void load_set_common(const struct load_common *common, struct job_config *job);
/* Source ports that spread the job's connections over the members of this machine's bond. False with a sentence: there is no
 * bond below the source address, or its hash does not read ports. */
bool load_plan_ports(struct topo_arena *a, struct job_config *job, char *problem, size_t size);
/* What can be wrong with a job whoever wrote it; NULL: nothing. */
const char *load_check(const struct job_config *job);

/* JSON lines on standard output, flushed. */
void load_print_second(const struct jobs *jobs, double t);
void load_print_end(const struct jobs *jobs);

#endif
