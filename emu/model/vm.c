/* Times between operations are the draws of a distribution.h, of mean 1, in steps of picoseconds; nothing depends on how the
 * driver interleaves machines. A closed phase waits for its whole burst before it thinks, so that a machine with one
 * operation at a time and a burst of three needs 3 R + Z for a round. */
#include "emu/model/vm.h"

#include <string.h>

#include "emu/model/distribution.h"
#include "emu/model/random.h"
#include "emu/model/topology.h"

void vm_init(struct vm *v, const struct topo_vm_group *group, uint32_t number, uint64_t seed)
{
    memset(v, 0, sizeof(*v));
    v->group = group;
    v->number = number;
    v->seed = seed;
}

bool vm_takes_phase(const struct topo_vm_group *group, unsigned phase, uint32_t number)
{
    double share = group->phases[phase].share;
    return (uint64_t)((double)(number + 1) * share + 1e-9) > (uint64_t)((double)number * share + 1e-9);
}

static uint64_t draw(struct vm *v) { return random_at(v->seed, v->drawn++); }

/* A time of this mean. */
static ps_t draw_time(struct vm *v, double mean, bool even)
{
    const struct distribution d = {.kind = even ? DISTRIBUTION_CONSTANT : DISTRIBUTION_EXPONENTIAL, .mean = mean};
    struct random r = {random_at(v->seed, v->drawn++)};
    return (ps_t)(distribution_draw(&d, &r) + 0.5);
}

static ps_t between(struct vm *v, const struct topo_vm_phase *p)
{
    if (p->iops > 0)
        return draw_time(v, (double)PS_PER_S / p->iops, p->even);
    return p->think ? draw_time(v, (double)p->think, p->even) : 0;
}

static void enter(struct vm *v, ps_t now)
{
    const struct topo_vm_phase *p = &v->group->phases[v->phase];
    v->inside = true;
    v->entered = now;
    v->issued = v->ended = 0;
    v->in_phase = v->in_burst = 0;
    v->due = now;
    if (p->iops > 0 || p->think) /* machines that start together don't stay together */
        v->due += (ps_t)random_scale(draw(v), UINT32_MAX) *
                  (ps_t)((p->iops > 0 ? (double)PS_PER_S / p->iops : (double)p->think) / 4294967296.0);
}

/* To the next phase that this machine goes through; false behind the last. */
static bool go_on(struct vm *v, ps_t now)
{
    v->phase += v->leaving;
    v->leaving = false;
    while (v->phase < v->group->n_phases && !vm_takes_phase(v->group, v->phase, v->number))
        v->phase++;
    if (v->phase == v->group->n_phases)
        return false;
    enter(v, now);
    return true;
}

static bool is_closed(const struct topo_vm_phase *p) { return p->iops <= 0 && (p->operations || p->outstanding); }

static enum vm_next operation_of(struct vm *v, const struct topo_vm_phase *p, struct vm_operation *o)
{
    o->write = (double)(draw(v) >> 11) * 0x1p-53 >= p->read_share;
    o->bytes = o->write ? p->write_block : p->read_block;
    o->phase = v->phase;
    v->out++;
    v->in_phase++;
    v->issued++;
    return VM_OPERATION;
}

static enum vm_next open_phase(struct vm *v, const struct topo_vm_phase *p, ps_t now, struct vm_operation *o,
                               ps_t *until)
{
    if (p->operations && v->issued == p->operations)
        return VM_BUSY;
    if (v->due > now) {
        *until = p->length && v->entered + p->length < v->due ? v->entered + p->length : v->due;
        return VM_WAIT;
    }
    if (p->outstanding && v->in_phase >= p->outstanding)
        return VM_BUSY;
    v->due += between(v, p);
    return operation_of(v, p, o);
}

static enum vm_next closed_phase(struct vm *v, const struct topo_vm_phase *p, ps_t now, struct vm_operation *o,
                                 ps_t *until)
{
    ps_t end = p->length ? v->entered + p->length : PS_NEVER;
    if ((p->operations && v->issued == p->operations) || v->in_phase >= p->outstanding)
        return VM_BUSY;
    if (v->in_burst == p->burst) {
        if (v->in_phase)
            return VM_BUSY; /* the whole burst has to end first: vm_done() sets the pause */
        v->in_burst = 0;
    }
    if (v->due > now) {
        *until = end < v->due ? end : v->due;
        return VM_WAIT;
    }
    v->in_burst++;
    return operation_of(v, p, o);
}

enum vm_next vm_next(struct vm *v, ps_t now, struct vm_operation *operation, ps_t *until)
{
    if (v->over || (!v->inside && !go_on(v, now))) {
        v->over = true;
        return VM_OVER;
    }
    const struct topo_vm_phase *p = &v->group->phases[v->phase];
    bool counted = p->operations && v->ended == p->operations, timed = p->length && now >= v->entered + p->length;
    if (counted || timed) {
        v->inside = false;
        v->leaving = true;
        return VM_PHASE;
    }
    if (p->iops > 0)
        return open_phase(v, p, now, operation, until);
    if (is_closed(p))
        return closed_phase(v, p, now, operation, until);
    *until = v->entered + p->length;
    return VM_WAIT;
}

void vm_done(struct vm *v, unsigned phase, ps_t now)
{
    v->out--;
    if (!v->inside || phase != v->phase)
        return; /* of a phase that time has ended */
    const struct topo_vm_phase *p = &v->group->phases[phase];
    v->in_phase--;
    v->ended++;
    if (p->iops <= 0 && v->in_burst == p->burst && v->in_phase == 0)
        v->due = now + between(v, p);
}
