/* Runs with a load that is raised until a response time is reached. Internal to emu/sim. */
#ifndef EMU_SIM_RAISE_H
#define EMU_SIM_RAISE_H

#include <stddef.h>

struct result;
struct sim_options;
struct topo;

typedef struct result *sim_engine(struct topo *t, const struct sim_options *o, char *problem, size_t size);

/* As sim_run(), for t->raise_until > 0: the run with the highest load, to 1 %, whose longer mean response (of reads, of
 * writes) is not above it. */
struct result *raise_run(struct topo *t, const struct sim_options *o, sim_engine *engine, char *problem, size_t size);

#endif
