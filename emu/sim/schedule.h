/* How long a run is, which part of it is measured, and in which slices: the same rule at every detail. Internal to emu/sim. */
#ifndef EMU_SIM_SCHEDULE_H
#define EMU_SIM_SCHEDULE_H

#include <stdbool.h>
#include <stddef.h>

#include "emu/model/result.h"
#include "emu/model/topology.h"

enum { SCHEDULE_SLICES = 100 };

struct schedule {
    ps_t first, end; /* first start of a job; end of the run, PS_NEVER where bytes decide */
};

/* Sets r's window and slice. False when no job can run. */
bool schedule_make(struct result *r, struct schedule *out);

/* Whether a job has somewhere to go and its host works in this run. */
bool schedule_runs(const struct result *r, const struct result_job *j);

/* The mount whose connections this one uses: itself, as a rule. */
int schedule_owner(const struct topo *t, int mount);

/* All `n` slices of a run of unknown length have been used: joins pairs of them; n / 2 are used then. */
void schedule_join_slices(struct result *r, size_t n);

/* After the run has ended at `now`: closes window, duration and slices. */
void schedule_close(struct result *r, ps_t now, size_t slices);

#endif
