/* What a run's workloads mean to a storage: bytes placed, and costs as rates for engines without operations.
 *
 * A storage is a row of resources, each with a capacity; a byte of payload uses so much of each: seconds of cores, of mirror
 * links and of disks, bytes of back-end links. The stations of emu/sim/storage.h give the same at full load; a test holds the two
 * together.
 */
#ifndef EMU_MODEL_STORAGE_LOAD_H
#define EMU_MODEL_STORAGE_LOAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct storage_model;
struct topo;
struct topo_workload;

/* Bytes that the workloads which end by bytes have on this node: what each mount reads or writes; of clones each target, and a
 * source once, however many copy it. */
double storage_placed(const struct topo *t, int node);

/* The seed of a node's storage: by its first VIP, not by its name. */
uint64_t storage_seed(const struct topo *t, int node, uint64_t seed);

/* All that is under way. The caller counts; what does not read or write this storage does not count. */
struct storage_load {
    double placed;
    unsigned reading, writing; /* streams: sequential jobs */
    double window;             /* of the streams that are read */
    double random_reads;       /* operations outstanding of random reads */
    bool random_writes;
};

enum { STORAGE_RESOURCES_MAX = 256 }; /* of 64 controllers and as many groups */
/* Resources, in this order: cores of each controller, mirror of each controller, back end to the disks, from them, groups. */
size_t storage_resources(const struct storage_model *m, unsigned controllers);
/* Capacities of them under this load. */
void storage_capacities(const struct storage_model *m, unsigned controllers, const struct storage_load *l, double *out);

struct storage_demand {
    bool write, sequential;
    double block;  /* bytes of a call */
    double window; /* of a stream */
};
/* Uses of one byte: out[] per resource as above, controller 0 standing for the one that serves. */
void storage_uses(const struct storage_model *m, unsigned controllers, const struct storage_load *l,
                  const struct storage_demand *d, double *out);
/* Bytes/s of many sequential streams of `block`, deep enough to keep everything busy: what a plan takes as the limit. */
double storage_stream_rate(const struct storage_model *m, unsigned controllers, bool write, double block);
/* Seconds of one call when nothing else is there. */
double storage_idle_latency(const struct storage_model *m, const struct storage_load *l,
                            const struct storage_demand *d);

#endif
