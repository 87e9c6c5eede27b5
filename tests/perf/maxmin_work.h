/* The work of the max-min benchmark, the same for our solver and for SimGrid's: 64 hosts with one 1 Gbit/s uplink each, 16
 * VIPs with 4 Gbit/s each (so that neither side alone is the bottleneck), 20,000 flows between random pairs that start at
 * once, sizes uniform between 1 MB and 1 GB. Every completion changes the rates of others. */
#ifndef TESTS_PERF_MAXMIN_WORK_H
#define TESTS_PERF_MAXMIN_WORK_H

#include <stdint.h>

enum { WORK_HOSTS = 64, WORK_VIPS = 16, WORK_FLOWS = 20000, WORK_LINKS = WORK_HOSTS + WORK_VIPS };

static const double work_host_rate = 125e6, work_vip_rate = 500e6; /* bytes/s */

struct work_flow {
    int host, vip;
    uint64_t bytes;
};

/* A 64-bit linear congruential generator (Knuth's MMIX constants), upper bits. */
static inline uint64_t work_random(uint64_t *state)
{
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return *state >> 33;
}

static inline void work_fill(struct work_flow *flows)
{
    uint64_t state = 20000;

    for (int i = 0; i < WORK_FLOWS; i++) {
        flows[i].host = (int)(work_random(&state) % WORK_HOSTS);
        flows[i].vip = (int)(work_random(&state) % WORK_VIPS);
        flows[i].bytes = 1000000 + work_random(&state) % 999000001;
    }
}

#endif
