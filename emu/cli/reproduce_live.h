/* The part of `emu reproduce` with real frames. */
#ifndef EMU_CLI_REPRODUCE_LIVE_H
#define EMU_CLI_REPRODUCE_LIVE_H

#include <signal.h>
#include <stdbool.h>

#include "emu/model/units.h"

struct result;
struct topo;
struct topo_file;

/* Whether a topology can be run live: traffic only, no machines, no storage that a real server has not. */
bool reproduce_live_suits(const struct topo *t);

struct reproduce_live {
    const char *command, *file;
    double scale;
    ps_t longest; /* workloads run no longer than this; 0: as the file says */
    const volatile sig_atomic_t *interrupted;
};

/* Runs one case; *out is its result, with its topology. A code of the command line. */
int reproduce_live_case(const struct reproduce_live *l, const struct topo_file *f, const char *name,
                        struct result **out);

#endif
