#include "nfsbal/client/stats.h"

/* Below 32 us a bucket is a microsecond; then each octave has 32. */
static unsigned bucket_of(int64_t ns)
{
    uint64_t us = ns > 0 ? (uint64_t)ns / 1000 : 0;
    unsigned octave, index;

    if (us < STATS_STEPS)
        return (unsigned)us;
    octave = 63 - (unsigned)__builtin_clzll(us); /* at least 5 */
    index = (octave - 4) * STATS_STEPS + (unsigned)(us >> (octave - 5)) - STATS_STEPS;
    return index < STATS_BUCKETS ? index : STATS_BUCKETS - 1;
}

int64_t stats_bucket_edge(unsigned bucket)
{
    unsigned octave = bucket / STATS_STEPS, step = bucket % STATS_STEPS;

    if (octave == 0)
        return ((int64_t)step + 1) * 1000;
    return ((int64_t)(STATS_STEPS + step + 1) << (octave - 1)) * 1000;
}

void stats_latency_add(struct stats_latency *l, int64_t ns)
{
    l->n++;
    l->bucket[bucket_of(ns)]++;
    if (ns > l->max)
        l->max = ns;
}

void stats_latency_merge(struct stats_latency *into, const struct stats_latency *from)
{
    into->n += from->n;
    if (from->max > into->max)
        into->max = from->max;
    for (unsigned i = 0; i < STATS_BUCKETS; i++)
        into->bucket[i] += from->bucket[i];
}

int64_t stats_latency_at(const struct stats_latency *l, double percent)
{
    uint64_t rank = (uint64_t)(percent / 100 * (double)l->n), seen = 0;

    if (l->n == 0 || percent >= 100)
        return l->max;
    for (unsigned i = 0; i < STATS_BUCKETS; i++) {
        seen += l->bucket[i];
        if (seen > rank)
            return stats_bucket_edge(i) < l->max ? stats_bucket_edge(i) : l->max;
    }
    return l->max;
}
