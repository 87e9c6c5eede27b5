/* Storages in a fluid run: resources of the max-min problem, and what has been written and waits for the disks.
 *
 * Writes that end in a cache go at the rate of the network until `dirty` bytes wait. Meanwhile destaging is a flow of its own,
 * which shares the disks with the reads: the store is `apart`. When the cache is full, or when the disks keep up with an empty one,
 * each byte that is written takes of the disks what its destaging takes. Which it is follows from the rates: solved apart first,
 * then together where the cache can neither fill nor empty. What waits has no order; it is destaged as a mixture.
 * Internal to emu/sim/fluid*.c.
 */
#ifndef EMU_SIM_FLUID_STORE_H
#define EMU_SIM_FLUID_STORE_H

#include "emu/fabric/eventq.h"
#include "emu/model/maxmin.h"
#include "emu/model/storage_load.h"

struct fluid;
struct san;
struct storage_model;

struct fluid_store {
    const struct storage_model *model; /* NULL: the node has no long form */
    struct fluid *fluid;
    struct san *san; /* its back end, where the file draws it */
    unsigned controllers;
    size_t first; /* resource */
    struct storage_load load;
    struct event event; /* the cache is full or empty */
    double dirty;       /* bytes that wait, as of the last time that they were counted */
    double *owed;       /* per resource: what their destaging takes */
    double rate;        /* of destaging, bytes/s, where apart */
    ps_t since;
    int class_;
    bool apart, streams; /* streams: some of what waits was written sequentially */
};

/* What destaging takes of a resource for each byte of a job's payload. */
struct fluid_destage {
    struct maxmin_use *uses;
    size_t n;
    double bytes; /* written per byte of payload; 0: the job destages nothing */
    int node;     /* whose disks */
};

bool fluid_store_init(struct fluid_store *st, size_t n_resources);
void fluid_store_free(struct fluid_store *st);

/* The job has moved so many bytes of payload into the cache. */
void fluid_store_fill(struct fluid_store *st, const struct fluid_destage *d, double moved);
/* What has been destaged until now: tells `use` how much of each resource it took. */
void fluid_store_empty(struct fluid_store *st, size_t n_resources, ps_t now,
                       void (*use)(void *context, size_t resource, double amount), void *context);
/* What a byte of what waits takes; of an empty cache that of the writer given. Returns how many uses, at most n_resources. */
size_t fluid_store_mixture(const struct fluid_store *st, size_t n_resources, const struct fluid_destage *writer,
                           struct maxmin_use *uses);
/* Written at `in`, destaged at `out` if it is apart: whether the cache neither fills nor empties. */
bool fluid_store_steady(const struct fluid_store *st, double in, double out);
/* Seconds until the cache is full or empty. */
double fluid_store_time(const struct fluid_store *st, double in, double out);

#endif
