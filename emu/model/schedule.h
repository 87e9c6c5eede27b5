/* How long a run is, which part of it is measured, and in which slices: the same rule at every detail and for both clocks. */
#ifndef EMU_MODEL_SCHEDULE_H
#define EMU_MODEL_SCHEDULE_H

#include <stdbool.h>
#include <stddef.h>

#include "emu/model/result.h"
#include "emu/model/topology.h"

enum { SCHEDULE_SLICES = 100 };

struct schedule {
    ps_t first, end; /* first start of a job; end of the run, PS_NEVER where bytes decide */
};

/* Sets r's window, phases, the jobs' phases, and the slice. False when no job can run. */
bool schedule_make(struct result *r, struct schedule *out);

/* What a link direction carried in one phase. */
struct link_count {
    uint64_t frames, bytes, bulk_bytes;
};

/* Fills the links' counters from `counts` (per phase, then per link direction): of the phase with the most bulk data, then
 * bytes. */
void schedule_count_links(struct result *r, const struct link_count *counts);

/* The phase that a moment belongs to, or -1. `hint`: the answer before. */
static inline int schedule_phase(const struct result *r, ps_t at, int hint)
{
    if (hint >= 0 && at >= r->phases[hint].start && at < r->phases[hint].end)
        return hint;
    for (unsigned p = 0; p < r->n_phases; p++)
        if (at >= r->phases[p].start && at < r->phases[p].end)
            return (int)p;
    return -1;
}

/* Whether a job has somewhere to go and its host works in this run. */
bool schedule_runs(const struct result *r, const struct result_job *j);

/* The mount whose connections this one uses: itself, as a rule. */
int schedule_owner(const struct topo *t, int mount);

/* All `n` slices of a run of unknown length have been used: joins pairs of them; n / 2 are used then. */
void schedule_join_slices(struct result *r, size_t n);

/* After the run has ended at `now`: closes window, duration and slices. */
void schedule_close(struct result *r, ps_t now, size_t slices);

#endif
