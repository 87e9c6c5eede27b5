/* The measuring window is the steady state: from the first start plus a ramp to the last stop. The ramp is a tenth of that
 * time, but a second where the run is long enough for it (a fifth at most). Jobs that end by bytes have no steady state to
 * wait for: as soon as one is there, the window is the whole time from the first start to the last end.
 *
 * Workloads that follow one another, as the default ones do, are measured each in its own phase, by the same rule. What
 * overlaps is one phase.
 *
 * A run whose length is not known beforehand begins with short slices and joins pairs of them whenever all are used. */
#include "emu/model/schedule.h"

#include <stdlib.h>

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
    return m->vip >= 0 && m->iface >= 0 && !m->refused && result_works(r, m->host);
}

struct span {
    ps_t from, to;
};

static int by_start(const void *a, const void *b)
{
    const struct span *x = a, *y = b;
    return (x->from > y->from) - (x->from < y->from);
}

/* Times of the workloads that run, overlaps joined; the count in *n. NULL on lack of memory. */
static struct span *spans_of(const struct result *r, size_t *n, bool *by_bytes)
{
    const struct topo *t = r->topo;
    struct span *s = calloc(t->n_workloads + 1, sizeof(*s));
    bool *runs = calloc(t->n_workloads + 1, sizeof(*runs));
    size_t count = 0, joined = 0;
    for (size_t i = 0; s && runs && i < r->n_jobs; i++)
        runs[r->jobs[i].workload] |= schedule_runs(r, &r->jobs[i]);
    for (size_t i = 0; s && runs && i < t->n_workloads; i++) {
        const struct topo_workload *w = &t->workloads[i];
        if (!runs[i])
            continue;
        s[count++] = (struct span){w->start, w->duration ? w->start + w->duration : PS_NEVER};
        *by_bytes |= w->duration == 0;
    }
    free(runs);
    if (!s)
        return NULL;
    qsort(s, count, sizeof(*s), by_start);
    for (size_t i = 0; i < count; i++) {
        struct span *last = joined ? &s[joined - 1] : NULL;
        if (!last || s[i].from >= last->to)
            s[joined++] = s[i];
        else if (s[i].to > last->to)
            last->to = s[i].to;
    }
    *n = joined;
    return s;
}

static ps_t ramp_of(ps_t length)
{
    ps_t ramp = length / 10;
    if (ramp < PS_PER_S)
        ramp = length / 5 < PS_PER_S ? length / 5 : PS_PER_S;
    return ramp;
}

/* Says what the hosts that work do not mount, and who shares. */
static void note_refused(struct result *r)
{
    const struct topo *t = r->topo;
    size_t n[3] = {0}, of = 0, shared = 0;
    for (size_t i = 0; i < t->n_mounts; i++) {
        const struct topo_mount *m = &t->mounts[i];
        if (!result_works(r, m->host) || t->nodes[t->boxes[m->host].node].kind != TOPO_ESXI)
            continue;
        of++;
        n[m->refused]++;
        shared += m->shares_with >= 0;
    }
    if (n[TOPO_OVER_VOLUMES])
        result_note(r, "%zu of %zu mounts are refused: NFS.MaxVolumes", n[TOPO_OVER_VOLUMES], of);
    if (n[TOPO_OVER_HEAP])
        result_note(r, "%zu of %zu mounts are refused: no room in Net.TcpipHeapMax", n[TOPO_OVER_HEAP], of);
    if (shared)
        result_note(r, "%zu of %zu mounts share the connections of others (SunRPC.MaxConnPerIP, Net.TcpipHeapMax)",
                    shared, of);
}

bool schedule_make(struct result *r, struct schedule *out)
{
    size_t n = 0;
    bool by_bytes = false;
    struct span *s = spans_of(r, &n, &by_bytes);
    if (!s || n == 0) {
        free(s);
        return false;
    }
    note_refused(r);
    out->first = s[0].from;
    out->end = by_bytes ? PS_NEVER : s[n - 1].to;
    if (by_bytes || n > RESULT_PHASES_MAX) {
        s[0].to = out->end;
        n = 1;
    }
    for (size_t p = 0; p < n; p++)
        r->phases[p] = (struct result_phase){s[p].from + (by_bytes ? 0 : ramp_of(s[p].to - s[p].from)), s[p].to};
    r->n_phases = (unsigned)n;
    r->window_start = r->phases[0].start;
    r->window_end = r->phases[n - 1].end;
    for (size_t i = 0; i < r->n_jobs; i++) {
        unsigned p = 0;
        while (p + 1 < n && r->topo->workloads[r->jobs[i].workload].start >= s[p + 1].from)
            p++;
        r->jobs[i].phase = p;
    }
    r->slice = by_bytes ? FIRST_SLICE : (out->end + SCHEDULE_SLICES - 1) / SCHEDULE_SLICES;
    free(s);
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
    for (unsigned p = 0; p < r->n_phases; p++) {
        if (r->phases[p].end > now)
            r->phases[p].end = now;
        if (r->phases[p].start > r->phases[p].end)
            r->phases[p].start = r->phases[p].end;
    }
    r->window_start = r->phases[0].start;
    r->window_end = r->phases[r->n_phases - 1].end;
    r->duration = now;
    r->n_slices = slices;
}

void schedule_count_links(struct result *r, const struct link_count *counts)
{
    for (size_t d = 0; d < r->n_links; d++) {
        struct result_link *l = &r->links[d];
        for (unsigned p = 0; p < r->n_phases; p++) {
            const struct link_count *c = &counts[p * r->n_links + d];
            bool more = c->bulk_bytes != l->bulk_bytes ? c->bulk_bytes > l->bulk_bytes : c->bytes > l->bytes;
            if (!more)
                continue;
            l->phase = p;
            l->frames = c->frames;
            l->bytes = c->bytes;
            l->bulk_bytes = c->bulk_bytes;
        }
    }
}
