#include "nfsbal/client/machine.h"

#include <stdlib.h>
#include <string.h>

#include "emu/model/random.h"
#include "emu/model/topology.h"

bool machine_init(struct machine *m, const struct topo_vm_group *group, uint64_t seed, uint64_t size)
{
    memset(m, 0, sizeof *m);
    m->phases = calloc(group->n_phases + 1, sizeof *m->phases);
    if (!m->phases)
        return false;
    for (size_t k = 0; k < group->n_phases; k++)
        m->phases[k] = (struct machine_phase){.entered = -1, .left = -1};
    m->seed = seed;
    m->size = size;
    vm_init(&m->vm, group, 0, seed);
    return true;
}

void machine_free(struct machine *m)
{
    free(m->phases);
    m->phases = NULL;
}

static void place(struct machine *m, const struct vm_operation *o, struct workload_operation *operation)
{
    uint64_t places = m->size / o->bytes;

    *operation = (struct workload_operation){.write = o->write, .number = m->drawn, .bytes = o->bytes};
    operation->offset = places ? random_at(~m->seed, m->drawn) % places * o->bytes : 0;
    m->drawn++;
}

enum workload_next machine_next(struct machine *m, ps_t now, struct workload_operation *operation, unsigned *phase,
                                ps_t *until)
{
    struct vm_operation o;

    for (;;) {
        switch (vm_next(&m->vm, now, &o, until)) {
        case VM_OPERATION:
            place(m, &o, operation);
            *phase = o.phase;
            return WORKLOAD_OPERATION;
        case VM_WAIT:
            return WORKLOAD_WAIT;
        case VM_BUSY:
            return WORKLOAD_BUSY;
        case VM_PHASE:
            m->phases[m->vm.phase].entered = (double)m->vm.entered / (double)PS_PER_S;
            m->phases[m->vm.phase].left = (double)now / (double)PS_PER_S;
            break;
        case VM_OVER:
            return WORKLOAD_OVER;
        }
    }
}

void machine_done(struct machine *m, unsigned phase, const struct workload_operation *operation, double latency,
                  ps_t now)
{
    struct machine_phase *p = &m->phases[phase];

    p->operations[operation->write]++;
    p->bytes[operation->write] += operation->bytes;
    p->latency_sum += latency;
    vm_done(&m->vm, phase, now);
}
