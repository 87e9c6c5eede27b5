/* The measuring window is the steady state: from the first start plus a ramp to the last stop. The ramp is a tenth of that
 * time, but a second where the run is long enough for it (a fifth at most). Jobs that end by bytes have no steady state to
 * wait for: as soon as one is there, the window is the whole time from the first start to the last end.
 *
 * A run whose length is not known beforehand begins with short slices and joins pairs of them whenever all are used. */
#include "emu/sim/schedule.h"

#define FIRST_SLICE (10 * PS_PER_MS)

int schedule_owner(const struct topo *t, int mount)
{
    while (t->mounts[mount].nconnect == 0 && t->mounts[mount].shares_with >= 0)
        mount = t->mounts[mount].shares_with;
    return mount;
}

bool schedule_runs(const struct result *r, const struct result_job *j)
{
    const struct topo_mount *m = &r->topo->mounts[j->mount];
    return m->vip >= 0 && m->iface >= 0 && result_works(r, m->host);
}

bool schedule_make(struct result *r, struct schedule *out)
{
    ps_t first = PS_NEVER, last = 0;
    bool by_bytes = false;
    for (size_t i = 0; i < r->n_jobs; i++) {
        const struct topo_workload *w = &r->topo->workloads[r->jobs[i].workload];
        if (!schedule_runs(r, &r->jobs[i]))
            continue;
        if (w->start < first)
            first = w->start;
        if (w->start + w->duration > last)
            last = w->start + w->duration;
        by_bytes |= w->duration == 0;
    }
    if (first == PS_NEVER)
        return false;
    ps_t length = last - first, ramp = length / 10;
    if (ramp < PS_PER_S)
        ramp = length / 5 < PS_PER_S ? length / 5 : PS_PER_S;
    r->window_start = by_bytes ? first : first + ramp;
    r->window_end = by_bytes ? PS_NEVER : last;
    r->slice = by_bytes ? FIRST_SLICE : (last + SCHEDULE_SLICES - 1) / SCHEDULE_SLICES;
    *out = (struct schedule){.first = first, .end = by_bytes ? PS_NEVER : last};
    return true;
}

void schedule_join_slices(struct result *r, size_t n)
{
    for (size_t d = 0; d < r->n_links; d++) {
        float *u = r->links[d].over_time;
        for (size_t i = 0; i < n / 2; i++)
            u[i] = (u[2 * i] + u[2 * i + 1]) / 2;
    }
    r->slice *= 2;
}

void schedule_close(struct result *r, ps_t now, size_t slices)
{
    if (r->window_end > now)
        r->window_end = now;
    if (r->window_start > r->window_end)
        r->window_start = r->window_end;
    r->duration = now;
    r->n_slices = slices;
}
