/* The work of a live run: a `nfsbal load` in the namespace of each host that has jobs, all begun at one moment.
 *
 * The jobs go in as JSON ("nfsbal-jobs/1"), counts come out every second and a summary at the end (nfsbal-load(1)). The seeds
 * are those of a run in virtual time, so operation number n of a job is the same in both.
 */
#ifndef EMU_LIVE_LOAD_H
#define EMU_LIVE_LOAD_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "emu/model/tcp_counts.h"
#include "emu/model/units.h"

struct load;
struct result;
struct topo_workload;

struct load_config {
    const struct result *result; /* its jobs, as far as schedule_runs() */
    double scale;                /* rates, and bytes of jobs that end by bytes, are times this */
    uint64_t seed;
    bool storage;                                  /* that of the file is played */
    bool sink;                                     /* the controllers' sink rather than the export */
    const char *(*netns)(void *context, int host); /* path of the namespace of a host's box */
    void *context;
};

/* What a job has done by a time after the begin. */
typedef void load_progress(void *context, size_t job, ps_t at, uint64_t read, uint64_t written);

/* What a job says at its end. */
struct load_end {
    ps_t seconds; /* from its first operation to the end of its last */
    uint64_t errors;
    struct tcp_counts tcp; /* of the client's end of its connections, */
    const uint16_t *ports; /* which come from these ports */
    size_t n_ports;
    const char *problem; /* or NULL */
};
typedef void load_ended(void *context, size_t job, const struct load_end *end);
/* `n` operations took so long. */
typedef void load_latency(void *context, size_t job, bool write, ps_t latency, uint32_t n);

/* What the machine of a job did in a phase; times of the run. entered < 0: it never came there; left < 0: it is there still. */
struct load_phase {
    unsigned phase;
    ps_t entered, left;
    uint64_t operations[2], bytes[2];
    double latency_sum; /* seconds */
};
typedef void load_phase_over(void *context, size_t job, const struct load_phase *p);

struct load_events {
    load_phase_over *phase;
    load_progress *progress;
    load_latency *latency;
    load_ended *ended;
    void *context;
};

/* The file on which a job works, a name without folders, and its size in bytes; small: a few operations' worth. */
void load_file(const struct result *r, size_t job, char *name, size_t size);
uint64_t load_file_size(const struct result *r, bool small);

/* Whether a job is played: it can run, and where it stands for machines, one of them is there. */
bool load_plays(const struct result *r, size_t job);

/* What a job moves in a network so many times as fast; 0: it ends by time. */
uint64_t load_bytes(const struct topo_workload *w, double scale);

/* Starts the programs and waits until every job is mounted and ready. 0, or a negative errno with a sentence; -EINTR when
 * *interrupted became non-zero. Nothing runs then. */
int load_new(struct load **out, const struct load_config *c, const volatile sig_atomic_t *interrupted, char *problem,
             size_t size);
/* All begin, now. */
void load_begin(struct load *l);
/* Waits for news, at most so long, and passes them on. 1: some still work; 0: all have ended; a negative errno with a
 * sentence when one failed as a program (a job that fails is an end with a problem). */
int load_wait(struct load *l, int milliseconds, const struct load_events *e, char *problem, size_t size);
/* Asks all to end early; their ends still come by load_wait(). */
void load_stop(struct load *l);
void load_free(struct load *l); /* kills what still runs; accepts NULL */

#endif
