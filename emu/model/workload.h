/* A workload as a pure state machine: what is the next operation, and when.
 *
 * One job is one mount under one workload of the file. The job knows no clock and no network: its driver asks next()
 * whenever it could start something, starts what it is told, and reports each end with done(). The virtual run and the
 * real load generator both drive it, so both issue the same operations for the same seed: operation number n of a job is
 * a function of (seed, n) only, whatever the order in which operations end.
 */
#ifndef EMU_MODEL_WORKLOAD_H
#define EMU_MODEL_WORKLOAD_H

#include <stdbool.h>
#include <stdint.h>

#include "emu/model/units.h"

struct topo_workload;

struct workload_operation {
    bool write;
    uint64_t number; /* 0, 1, ... within the job */
    uint64_t offset; /* in the job's file, below span */
    uint64_t bytes;
};

enum workload_next {
    WORKLOAD_OPERATION, /* start *operation now, then ask again */
    WORKLOAD_WAIT,      /* nothing before *until */
    WORKLOAD_BUSY,      /* as many operations are out as may be: ask again after done() */
    WORKLOAD_OVER,      /* no more operations will come; those out still end */
};

/* The caller embeds it; all fields are private to workload.c but those marked. */
struct workload_job {
    const struct topo_workload *workload; /* readable */
    uint64_t seed, span;
    uint64_t read_below; /* a draw below it is a read, of 2^32 */
    ps_t start, stop;    /* readable: no operation before start, none at or after stop (PS_NEVER: by bytes) */
    ps_t due;            /* when the rate allows the next one */
    uint64_t number;     /* readable: operations started so far */
    uint64_t issued;     /* readable: bytes of these */
    uint64_t have_read;  /* clone: blocks that can be written */
    uint64_t written;    /* ... and those started, */
    uint64_t written_bytes;
    uint64_t pace_part;  /* remainder of the interval division, so that a rate is exact in the long run */
    uint64_t rate, iops; /* whole bytes/s and operations/s, 0 = as fast as it goes */
    uint32_t out;        /* readable: operations started and not done */
};

/* Bytes that random offsets and sequential wrap-around cover where nothing else is said: 1 GiB. */
#define WORKLOAD_SPAN (UINT64_C(1) << 30)

/* A seed for one job: the run's seed, the client's address, and the names of datastore and workload. */
uint64_t workload_seed(uint64_t seed, const char *client, const char *datastore, const char *workload);

/* Prepares a job. `span`: size of the file it works on, at least one block (else one block). */
void workload_init(struct workload_job *j, const struct topo_workload *w, uint64_t seed, uint64_t span);

/* now never goes back between calls. *operation and *until are set only with the answer that names them. */
enum workload_next workload_next(struct workload_job *j, ps_t now, struct workload_operation *operation, ps_t *until);

/* An operation has ended (well or not). Of a clone: a write has; then its block has been copied. */
void workload_done(struct workload_job *j);
/* A read of a clone has ended: its block can be written. */
void workload_have_read(struct workload_job *j);

#endif
