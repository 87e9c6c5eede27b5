/* Counters of the client: bytes, operations, and latencies from which any percentile can be told within 3 %. */
#ifndef NFSBAL_CLIENT_STATS_H
#define NFSBAL_CLIENT_STATS_H

#include <stdint.h>

/* Microseconds in 32 steps an octave, up to a day and more. */
enum { STATS_STEPS = 32, STATS_OCTAVES = 34, STATS_BUCKETS = STATS_STEPS * STATS_OCTAVES };

struct stats_latency {
    uint64_t n;
    int64_t max; /* ns */
    uint32_t bucket[STATS_BUCKETS];
};

void stats_latency_add(struct stats_latency *l, int64_t ns);
void stats_latency_merge(struct stats_latency *into, const struct stats_latency *from);
/* The latency (ns) that `percent` of the operations did not exceed; 0 without operations; 100: the longest, exact. */
int64_t stats_latency_at(const struct stats_latency *l, double percent);

int64_t stats_bucket_edge(unsigned bucket); /* the longest latency (ns) that falls into it */

struct stats_path {
    uint64_t read, written; /* bytes of data, answered */
    uint64_t operations, errors;
    uint64_t retries; /* jukebox */
    struct stats_latency latency;
};

#endif
