/* Flash cards in hosts as a cache before an array: writes end in the host's own card and, over the network between the hosts, in
 * that of another; reads find their data in some host's card, or miss. What has been written is destaged to the array in the
 * background, some bytes at a time. Messages between hosts are RoCE's, as whole messages on the links of the file (calls_wire.h).
 * Internal to emu/sim.
 */
#ifndef EMU_SIM_HOST_CACHE_H
#define EMU_SIM_HOST_CACHE_H

#include "emu/fabric/eventq.h"

struct calls_link;
struct host_cache;
struct topo;

/* One read or write. The caller sets the first part. */
struct host_op {
    void (*done)(struct host_op *o, ps_t now);
    void (*missed)(struct host_op *o, ps_t now); /* a read that the array must answer; o is the caller's again */
    void *conn; /* by which its host reaches the array, for host_cache_config.destage */
    uint32_t bytes;
    uint16_t host; /* its place, host_cache_place() */
    bool write;
    /* private */
    uint8_t step;
    uint16_t peer;
    ps_t local; /* a write is in the host's own card */
    struct host_cache *cache;
    struct host_op *next; /* waits for room */
    struct event event;
};

struct host_cache_config {
    const struct topo *topo;
    int node; /* the array */
    struct calls_link *links;
    struct eventq *queue;
    uint64_t seed;
    /* A host writes `bytes` to the array; host_cache_destaged() when that is done. */
    void (*destage)(void *context, unsigned host, uint64_t bytes, void *conn, ps_t now);
    void *context;
};

/* NULL, with a sentence, on lack of memory or where two hosts have no way to each other. */
struct host_cache *host_cache_new(const struct host_cache_config *config, char *problem, size_t size);
void host_cache_free(struct host_cache *c);                /* accepts NULL */
int host_cache_place(const struct host_cache *c, int box); /* of a host among those with cards, or -1 */
void host_cache_submit(struct host_cache *c, struct host_op *o, ps_t now);
void host_cache_destaged(struct host_cache *c, unsigned host, uint64_t bytes, ps_t now);

#endif
