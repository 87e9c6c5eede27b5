/* A virtual machine as a job of the load (jobs.h): emu/model/vm.h in the words of a workload, and what comes of each phase. */
#ifndef NFSBAL_CLIENT_MACHINE_H
#define NFSBAL_CLIENT_MACHINE_H

#include <stdbool.h>
#include <stdint.h>

#include "emu/model/vm.h"
#include "emu/model/workload.h"

struct machine_phase {
    double entered, left;             /* seconds after the start; -1: not (yet) */
    uint64_t operations[2], bytes[2]; /* reads, writes */
    double latency_sum;               /* seconds */
};

/* The caller embeds it. */
struct machine {
    struct vm vm;
    uint64_t seed, size, drawn;
    struct machine_phase *phases; /* readable, one per phase of the group */
};

/* Machine 0 of the group, which must outlive it. Its operations lie in a file of `size` bytes, where is drawn. False: no memory. */
bool machine_init(struct machine *m, const struct topo_vm_group *group, uint64_t seed, uint64_t size);
void machine_free(struct machine *m); /* also one that is zero */

/* As workload_next(); *phase is to be given back with machine_done(). */
enum workload_next machine_next(struct machine *m, ps_t now, struct workload_operation *operation, unsigned *phase,
                                ps_t *until);
void machine_done(struct machine *m, unsigned phase, const struct workload_operation *operation, double latency,
                  ps_t now);

#endif
