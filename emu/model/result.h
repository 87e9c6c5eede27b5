/* Results of one run: the same structure whatever engine made it (plan arithmetic, fluid, train, frame, live).
 *
 * Rates are bytes/s of NFS payload (goodput) for datastores, hosts, VIPs and controllers, and wire bytes for link
 * directions; times are ps. Names of link directions are those of the topology ("esx1:vmnic2>pc7048:ge1"): plan, run,
 * live, compare and report join on them. Schema: docs/emu-result.schema.json, "emu-result/1".
 */
#ifndef EMU_MODEL_RESULT_H
#define EMU_MODEL_RESULT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "emu/model/units.h"

struct topo;

/* Latency in logarithmic buckets: deterministic percentiles without storing samples. */
#define RESULT_BUCKETS 512
struct result_latency {
    uint64_t count;
    ps_t min, max;
    uint64_t bucket[RESULT_BUCKETS]; /* 16 buckets per octave from 1 us */
};
void result_latency_add(struct result_latency *l, ps_t latency);
ps_t result_latency_percentile(const struct result_latency *l, double p); /* p in 0..1; 0 when empty */

struct result_io {
    uint64_t operations, bytes; /* in the measuring window */
    double rate;                /* bytes/s over the window */
};

struct result_entity { /* a datastore, host, VIP or controller */
    const char *name;
    struct result_io read, write;
};

struct result_job { /* one mount under one workload */
    const char *workload, *datastore, *host;
    int mount;
    struct result_io read, write;
    struct result_latency *latency;
    uint64_t retransmissions, timeouts; /* TCP, of its connections */
    ps_t finished;                      /* when its bytes were done, or -1 */
};

struct result_link {
    const char *name; /* of the direction */
    int linkdir;
    bps_t rate;
    uint64_t frames, bytes; /* on the wire in the window */
    double utilisation;     /* of the rate, mean over the window */
    uint64_t dropped_frames, lost_frames;
    uint64_t queue_peak;
    unsigned flows_write, flows_read; /* bulk flows whose path uses it (path function) */
    bool carries_part;                /* a flow counts here only with a probability (drawn or unknown hop) */
    bool idle;                        /* carried no bulk data in the window */
    float *over_time;                 /* utilisation per slice, n_slices of the result; NULL for plan arithmetic */
};

struct result_path { /* the path of one flow and direction, as text */
    const char *datastore, *host, *vip;
    unsigned connection;
    bool write;
    char *links; /* names joined by ", " */
    const char *label;
};

struct result {
    const char *file, *name, *title, *case_name;
    const char *engine; /* "plan", "fluid", "train", "frame", "live" */
    uint64_t seed;
    bool network_only, complete;   /* complete false: interrupted, what is known so far */
    ps_t window_start, window_end; /* measuring window: steady state, after the ramp */
    ps_t duration;
    ps_t slice;
    size_t n_slices;
    struct result_io read, write; /* whole run */
    // clang-format off
    struct result_entity *datastores; size_t n_datastores;
    struct result_entity *hosts;      size_t n_hosts;
    struct result_entity *vips;       size_t n_vips;
    struct result_entity *controllers; size_t n_controllers;
    struct result_job *jobs;          size_t n_jobs;
    struct result_link *links;        size_t n_links; /* one per link direction, in topology order */
    struct result_path *paths;        size_t n_paths;
    // clang-format on
    uint64_t retransmissions, timeouts, flooded_unicast, mac_flaps;
    uint64_t events;   /* of the engine */
    char *notes;       /* lines a reader must know: default workload, drawn inputs */
    struct topo *topo; /* the case's topology; names above point into it. Owned by the result */
};

/* Makes a result with all entities named from t and everything zero; takes t. NULL on lack of memory. */
struct result *result_new(struct topo *t, const char *engine, uint64_t seed);
void result_free(struct result *r);
/* Sums jobs into datastores, hosts, VIPs, controllers and the whole; computes rates over the window and idle marks. */
void result_finish(struct result *r);

#endif
