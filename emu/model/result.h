/* Results of one run: the same structure whatever engine made it (plan arithmetic, fluid, train, frame, live).
 *
 * Rates are bytes/s of NFS payload (goodput) for datastores, hosts, VIPs and controllers, and wire bytes for link
 * directions; times are ps. Names of link directions are those of the topology ("esx1:vmnic2>pc7048:ge1"): plan, run,
 * live, compare and report join on them. Schema: docs/emu-result.schema.json, "emu-result/1".
 *
 * An engine fills it so: result_new(), the window, then result_operation() (or result_bytes()) for what ends within the
 * window, the counters of links and jobs directly, and result_finish() once at the end, also after an interruption.
 * result_trace_paths(), once, adds what the path function says.
 */
#ifndef EMU_MODEL_RESULT_H
#define EMU_MODEL_RESULT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "emu/model/units.h"

struct topo;

/* Latencies counted in logarithmic buckets, 512 per octave (0.2 %) from 1.05 us (2^20 ps) to 2.6 h: percentiles without
 * storing samples, the same on every machine. An octave's buckets are allocated when its first sample comes. */
#define RESULT_OCTAVES 33
struct result_latency {
    uint64_t count;
    ps_t min, max; /* exact; 0 when empty */
    double sum;    /* seconds */
    uint32_t *octave[RESULT_OCTAVES];
};

/* Aborts when memory is gone (2 KiB at most). */
void result_latency_add(struct result_latency *l, ps_t latency);
/* Nearest rank, interpolated within its bucket; p in 0..1. 0 when empty. */
ps_t result_latency_percentile(const struct result_latency *l, double p);
/* The same over both together. */
ps_t result_latency_percentile_of(const struct result_latency *a, const struct result_latency *b, double p);

/* Workloads that follow one another (the default ones: writes, then reads) are measured each in its own phase; most runs
 * have one. A phase is named by its place. */
struct result_phase {
    ps_t start, end; /* of its part of the measuring window */
};
enum { RESULT_PHASES_MAX = 64 };

struct result_io {
    uint64_t operations, bytes;     /* that ended in the measuring window */
    double rate, operation_rate;    /* bytes/s, operations/s over the phases in which it had work; by result_finish() */
    uint64_t phases;                /* private: bit i: phase i */
    struct result_latency *latency; /* of datastores, hosts and the whole; NULL elsewhere */
};

struct result_entity { /* a datastore, host, VIP or controller */
    const char *name;
    struct result_io read, write;
    uint64_t retransmissions, timeouts; /* TCP; of datastores and hosts, by result_finish() */
};

struct result_job { /* one mount under one workload, in the order of workloads and their mounts */
    int workload, mount;
    bool reads, writes; /* what it does on this mount */
    int partner;        /* the other half of a clone, or -1. The half that reads comes first, the other is next */
    unsigned phase;
    struct result_io read, write;
    uint64_t retransmissions, timeouts; /* TCP, of its connections, in the whole run; the engine counts them */
    ps_t finished;                      /* when its bytes were done, or -1 */
};

/* A link direction. Counters are of the measuring window (of several phases: of the one where it carried the most) unless
 * said otherwise. */
struct result_link {
    const char *name;
    int linkdir;
    bps_t rate;
    uint64_t frames, bytes; /* that began to leave; bytes on the wire, with preamble, FCS and gap */
    uint64_t bulk_bytes;    /* TCP payload in the direction of the data: towards the NAS on mounts whose jobs write,
                             * towards the host on mounts whose jobs read */
    unsigned phase;         /* the one that was counted */
    double utilisation;     /* bytes of the rate; by result_finish() */
    uint64_t dropped_frames, lost_frames; /* queue full; random loss and faults. Whole run */
    uint64_t queue_peak;                  /* bytes, whole run */
    unsigned flows_write, flows_read;     /* flows with bulk data whose path uses it: result_trace_paths() */
    bool carries_part;                    /* one of them only with a probability (drawn or unknown hop) */
    bool idle;                            /* no bulk data in the window; by result_finish() */
    float *over_time; /* utilisation per slice of the whole run, n_slices; NULL when the engine has none */
};

/* The path of one flow (mount and connection) in the direction of bulk data. */
struct result_path {
    int mount;
    unsigned connection;
    bool write;
    size_t first_hop;
    unsigned n_hops;     /* linkdirs r->hops[first_hop ...]; -1: one of several, nobody can know which */
    const char *label;   /* path_label(): the weakest of all hops */
    const char *problem; /* why the path ends early, or NULL */
};

/* One phase of a group of virtual machines. Whole run. */
struct result_vm_phase {
    const char *name;
    uint64_t machines;                /* that went through it to its end */
    ps_t first, last;                 /* when the first one entered it (-1: none did), and the last one left it */
    ps_t longest;                     /* stay of a machine */
    double time;                      /* seconds, the stays of all machines added up */
    uint64_t operations[2], bytes[2]; /* that ended: reads, writes */
    double latency_sum;               /* seconds, of all operations */
    struct result_latency latency[2];
};

/* A group of virtual machines. */
struct result_vm_group {
    const char *name;
    uint32_t machines, through; /* through with all their phases */
    double job_time;            /* seconds from start to end of those, added up */
    struct result_vm_phase *phases;
    size_t n_phases;
    uint32_t *bins; /* operations that ended in each stretch of RESULT_BIN from the start of the run */
    size_t n_bins, bins_size;
};
#define RESULT_BIN (10 * PS_PER_S) /* peaks are of stretches of this length */

/* The disks of one group of a storage. Whole run. */
struct result_disks {
    int node;
    unsigned group;                   /* of the node's storage */
    char *name;                       /* "ps1:ssd" */
    unsigned disks;                   /* that work */
    uint64_t reads, writes;           /* operations of disks, with those for parity and mirror */
    uint64_t read_bytes, write_bytes; /* the same */
    ps_t busy;                        /* of all disks together */
    bool counted;                     /* the engine has moved operations; fluid moves none */
};

struct result {
    const char *file, *name, *title, *case_name; /* case_name NULL: the file without a case */
    const char *engine;                          /* "plan", "fluid", "train", "frame", "live"; a literal */
    const char *only_host;                       /* only this host worked, or NULL: all */
    uint64_t seed;
    double scale; /* live: of the rates that it ran at; what stands here is as at full rate. 0: all others */
    bool network_only, complete;   /* complete false: interrupted, what is known so far */
    ps_t window_start, window_end; /* measuring window: steady state, after the ramp */
    struct result_phase phases[RESULT_PHASES_MAX];
    unsigned n_phases; /* 0: one, the window */
    ps_t duration;
    ps_t slice; /* of over_time */
    size_t n_slices;
    struct result_io read, write; /* all together; by result_finish() */
    // clang-format off
    struct result_entity *datastores;  size_t n_datastores;  /* as in the topology */
    struct result_entity *hosts;       size_t n_hosts;       /* boxes of hosts, in topology order */
    struct result_entity *vips;        size_t n_vips;        /* as in the topology */
    struct result_entity *controllers; size_t n_controllers; /* boxes of NAS, in topology order */
    struct result_job *jobs;           size_t n_jobs;
    struct result_link *links;         size_t n_links;       /* by linkdir */
    struct result_path *paths;         size_t n_paths;
    struct result_disks *disks;        size_t n_disks;       /* of the long forms of `storage:`, in order of nodes and groups */
    struct result_vm_group *vm_groups; size_t n_vm_groups;   /* as in the topology */
    int *hops;                         size_t n_hops;
    // clang-format on
    double load;                         /* what the file's load was raised to (`raise:`), as a multiple; else 1 */
    uint64_t retransmissions, timeouts;  /* of all jobs; by result_finish() */
    uint64_t flooded_unicast, mac_flaps; /* of all switches, whole run */
    uint64_t events;                     /* of the engine */
    char *notes;                         /* lines a reader must know: default workload, drawn inputs; or NULL */
    struct topo *topo;                   /* the case's topology; names above point into it. Owned */
    int *entity_of_box;                  /* private: position of a box in hosts or controllers */
};

/* Makes a result with everything named from t and zero, `complete` false; takes t, also when it fails. NULL on lack of
 * memory. slice > 0 asks for over_time with that many slices of that length, for each link direction. */
struct result *result_new(struct topo *t, const char *engine, uint64_t seed, ps_t slice, size_t n_slices);
void result_free(struct result *r);

/* An operation of a job has ended within the window, over this VIP, served by this NAS box: counted for the job, its
 * datastore, its host, the VIP and the controller. Latency from issue to completion. Allocates at most as
 * result_latency_add() does. */
void result_operation(struct result *r, size_t job, int vip, int box, bool write, uint64_t bytes, ps_t latency);
/* The same for engines that know rates only: no latency. */
void result_bytes(struct result *r, size_t job, int vip, int box, bool write, uint64_t operations, uint64_t bytes);

/* `n` operations of a job took so long each, for the same engines as far as they know: of the whole run. Allocates as above. */
void result_latencies(struct result *r, size_t job, bool write, ps_t latency, uint32_t n);

/* A machine of a group: an operation ended `now`; it left a phase that it had entered; it is through. Abort without memory. */
void result_vm_operation(struct result *r, size_t group, unsigned phase, bool write, uint64_t bytes, ps_t latency,
                         ps_t now);
void result_vm_phase_left(struct result *r, size_t group, unsigned phase, ps_t entered, ps_t now);
void result_vm_through(struct result *r, size_t group, ps_t started, ps_t now);
/* Operations a second in the busiest stretch of RESULT_BIN; of all groups with group -1. The last stretch counts only if whole. */
double result_vm_peak(const struct result *r, int group);

/* Whether a host (box) works in this run: all do unless only_host names one. */
bool result_works(const struct result *r, int host);

/* Adds a line to the notes; once, if it is there already. */
void result_note(struct result *r, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Sums up, computes rates and utilisation over the window, marks idle links. */
void result_finish(struct result *r);

/* Walks every flow with bulk data through the path function: fills paths and hops, and per link direction the number of
 * flows and `carries_part`. 0 or -ENOMEM. */
int result_trace_paths(struct result *r);

/* Mean latency of operations in seconds; NaN without any. */
double result_latency_mean(const struct result_latency *a, const struct result_latency *b);

/* Position of the named entity, or -1. */
int result_find_entity(const struct result_entity *entities, size_t n, const char *name);

#endif
