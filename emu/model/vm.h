/* A virtual machine as a pure state machine: its phases, and what is the next operation, and when.
 *
 * Like workload.h: it knows no clock, no network and no storage. Its driver asks next() whenever something could start, starts
 * what it is told, and reports each end with done(). What is drawn depends on the seed and on the number of the
 * draw alone.
 *
 * A phase is one of three kinds:
 *   open     operations come at a rate (`iops`), whether earlier ones have ended or not
 *   closed   `outstanding` operations at a time; after every `burst` of them that have all ended, a pause of `think`
 *   idle     only time passes
 * and ends after `length`, or when `operations` have ended.
 */
#ifndef EMU_MODEL_VM_H
#define EMU_MODEL_VM_H

#include <stdbool.h>
#include <stdint.h>

#include "emu/model/units.h"

struct topo_vm_group;

struct vm_operation {
    bool write;
    uint32_t bytes;
    unsigned phase;
};

enum vm_next {
    VM_OPERATION, /* start *operation now, then ask again */
    VM_WAIT,      /* nothing before *until */
    VM_BUSY,      /* ask again after done() */
    VM_PHASE, /* the phase vm->phase has ended; ask again, which begins the next one that this machine goes through */
    VM_OVER,  /* no more phases; asked again, says so again */
};

/* The caller embeds it; all fields are private to vm.c but those marked. */
struct vm {
    const struct topo_vm_group *group;
    uint64_t seed, drawn;
    uint32_t number;        /* of the machine in its group */
    unsigned phase;         /* readable */
    uint32_t out;           /* readable: operations started and not done, of all phases */
    uint32_t in_phase;      /* ... of this one */
    ps_t entered, due;      /* entered is readable: when the phase began */
    uint64_t issued, ended; /* of this phase */
    uint32_t in_burst;
    bool inside, leaving, over;
};

/* Prepares machine `number` of a group. The group must outlive it. */
void vm_init(struct vm *v, const struct topo_vm_group *group, uint32_t number, uint64_t seed);

/* now never goes back between calls. The first call starts the machine. */
enum vm_next vm_next(struct vm *v, ps_t now, struct vm_operation *operation, ps_t *until);

/* An operation of phase `phase` has ended, now. */
void vm_done(struct vm *v, unsigned phase, ps_t now);

/* Whether a machine goes through a phase: a share of all, spread evenly over their numbers. */
bool vm_takes_phase(const struct topo_vm_group *group, unsigned phase, uint32_t number);

#endif
