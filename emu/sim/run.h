/* A run in virtual time: the end points (hosts with TCP and NFS, NAS controllers) on top of the fabric.
 *
 * sim_run() is the engine behind `emu run`: it plays all workloads and events of one topology and returns the result.
 * What is modelled, with every parameter and its source, is in docs/sim.md.
 */
#ifndef EMU_SIM_RUN_H
#define EMU_SIM_RUN_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "emu/model/units.h"

struct result;
struct topo;
struct train;

enum sim_detail { SIM_FLUID, SIM_TRAIN, SIM_FRAME, SIM_CALL };
const char *sim_detail_name(enum sim_detail detail); /* "fluid", "train", "frame", "call" */
bool sim_detail_find(const char *name, enum sim_detail *detail);
/* What a topology wants moved where nobody says otherwise: its `detail:`, else calls where it has virtual machines, trains
 * where it has none. */
enum sim_detail sim_detail_of(const struct topo *t);

struct sim_options {
    enum sim_detail detail;
    uint64_t seed;
    const char *host; /* only this host works (its node name); NULL: all */
    /* Called some hundred to thousand times a run, with the virtual time reached and the share of the run done, 0..1. */
    void (*progress)(void *context, ps_t now, double share);
    /* Polled; once non-zero the run ends early and the result says so (complete == false). NULL: never. */
    const volatile sig_atomic_t *interrupted;
    /* A train starts on a link direction, for captures; NULL: none. Not called with SIM_FLUID. */
    void (*tap)(void *context, int linkdir, const struct train *t, ps_t start);
    void *context;
};

/* Plays t and returns the result, which owns t from then on. NULL on failure (no memory, nothing to run, conservation
 * violated): t is freed and `problem` says why in words. A run without workloads in the file gets the synthetic ones of
 * the reader. Deterministic: same topology and options, same result. */
struct result *sim_run(struct topo *t, const struct sim_options *o, char *problem, size_t size);

#endif
