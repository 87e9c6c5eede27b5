/* The part of `emu reproduce` with real frames. */
#ifndef EMU_CLI_REPRODUCE_LIVE_H
#define EMU_CLI_REPRODUCE_LIVE_H

#include <signal.h>
#include <stdbool.h>

#include "emu/model/units.h"

struct result;
struct topo;
struct topo_file;

/* Whether a topology can be run live: traffic by time without storage, or with it what ends when all is
 * done: copies, and machines that are alone on their mounts. */
bool reproduce_live_suits(const struct topo *t);

struct reproduce_live {
    const char *command, *file;
    double scale, images; /* images: of what is copied, see topology_images.h */
    ps_t longest;         /* workloads run no longer than this; 0: as the file says */
    const volatile sig_atomic_t *interrupted;
};

/* Runs one case; *out is its result, with its topology. A code of the command line. */
int reproduce_live_case(const struct reproduce_live *l, const struct topo_file *f, const char *name,
                        struct result **out);

/* The same in virtual time with the same part of the amounts, by trains rather than by rates: what the live run is to be held
 * against. NULL: virtual time has run just that already, or can't. */
struct result *reproduce_live_alike(const struct reproduce_live *l, const struct topo_file *f, const char *name);

#endif
