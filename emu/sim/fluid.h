/* The run without trains: max-min fair rates between the starts and ends of jobs. Internal to emu/sim. */
#ifndef EMU_SIM_FLUID_H
#define EMU_SIM_FLUID_H

#include <stddef.h>

struct result;
struct sim_options;
struct topo;

/* As sim_run(). */
struct result *fluid_run(struct topo *t, const struct sim_options *o, char *problem, size_t size);

#endif
