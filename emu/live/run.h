/* A run with real frames and real NFS: the engine behind `emu live`.
 *
 * A lab is brought up, the file's workloads are run by `nfsbal load` in the namespaces of their hosts against the controllers' NFS
 * servers, and the lab is taken down. The result has the shape of a run in virtual time (emu/sim/run.h), with the same windows.
 */
#ifndef EMU_LIVE_RUN_H
#define EMU_LIVE_RUN_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "emu/model/units.h"

struct result;
struct topo;

struct live_options {
    const char *file; /* the topology's, for `emu list` */
    double scale;     /* rates times this, delays divided by it */
    uint64_t seed;
    bool frames;         /* --detail frame: no offloads */
    bool sink;           /* the controllers' sinks in memory rather than the exports */
    bool storage;        /* the file's is played (store.h); not with `sink` */
    const char *exports; /* folder with the exports, or NULL: in memory, for this run */
    const char *host;    /* only this host works; NULL: all */
    void (*progress)(void *context, ps_t now, double share);
    const volatile sig_atomic_t *interrupted; /* once non-zero the run ends early, in order; NULL: never */
    void *context;
};

/* How well the machine kept up. */
struct live_report {
    bool kept_up;
    double behind;             /* share of the time in which frames left late */
    double late_p50, late_p99; /* seconds */
    double shortage;           /* share of the time in which processor time was short (struct shortage) */
    uint64_t unfetched;        /* super-frames that a device dropped because the datapath did not fetch them in time */
};

/* Why !kept_up, a sentence. */
enum { LIVE_SENTENCE = 300 };
const char *live_shortfall(const struct live_report *r, char *out, size_t size);

/* Runs t and returns the result, which owns t from then on. NULL with a sentence: t is freed, no lab is left. Needs root. */
struct result *live_run(struct topo *t, const struct live_options *o, struct live_report *report, char *problem,
                        size_t size);

#endif
