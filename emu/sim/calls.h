/* `--detail call`: whole calls and replies instead of trains. Internal to emu/sim. */
#ifndef EMU_SIM_CALLS_H
#define EMU_SIM_CALLS_H

#include <stddef.h>

struct result;
struct sim_options;
struct topo;

/* As sim_run(). */
struct result *calls_run(struct topo *t, const struct sim_options *o, char *problem, size_t size);

#endif
