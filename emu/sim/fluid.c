/* Event-driven max-min.
 *
 * Each job is one flow of a max-min problem over link directions and storage limits: it takes of each what one byte of its
 * payload costs there (fluid_cost.h), weighs as much as it has connections, and is capped by its rate, by its outstanding
 * operations over the latency of an idle path, and by its TCP windows. Rates change when a job starts, stops or has moved
 * its bytes, and when a fault changes the paths; in between everything is linear.
 *
 * The long form of a storage is more resources (model/storage_load.h), whose capacities and costs depend on what else is under
 * way there: with it, the problem is made anew whenever a job starts or ends. A clone is one flow, that of its reading
 * half; it uses what both halves use.
 *
 * Writes into a cache are not held up by the disks until it is full (fluid_store.h).
 *
 * Bytes are settled per job whenever its rate changes and at the ends of slices and of the window; link counters are those
 * bytes times the job's uses. What a fault costs until connections have recovered is not here: flows change paths at once. */
#include "emu/sim/fluid.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "emu/model/schedule.h"
#include "emu/model/storage.h"
#include "emu/model/topology_file.h"
#include "emu/sim/fluid_internal.h"
#include "emu/sim/sim.h"

/* ---- bytes ---- */

static void settle(struct fluid_job *j, ps_t now)
{
    double bytes = j->rate * (double)(now - j->since) / 1e12;
    if (bytes > j->left)
        bytes = j->left;
    j->moved += bytes;
    j->left -= bytes;
    j->since = now;
}

/* What a link carried for a back end; other resources are not counted. */
struct carried {
    struct fluid *fluid;
    int phase;
};

static void carry(void *context, size_t resource, double amount)
{
    const struct carried *c = context;
    struct fluid *f = c->fluid;
    if (resource >= 2 * f->topo->n_links)
        return;
    f->slice_bytes[resource] += amount;
    if (c->phase >= 0) {
        struct fluid_count *to = &f->counts[(size_t)c->phase * f->result->n_links + resource];
        to->bytes += amount;
        to->frames += amount / MEAN_FRAME;
    }
}

/* The job has written: into a cache, or through it to the disks. */
static void destage(struct fluid *f, const struct fluid_job *j, struct carried *c)
{
    const struct fluid_destage *d = &j->destage;
    if (d->bytes <= 0)
        return;
    if (f->storages[d->node].apart)
        fluid_store_fill(&f->storages[d->node], d, j->moved);
    else
        for (size_t i = 0; i < d->n; i++)
            carry(c, (size_t)d->uses[i].resource, j->moved * d->uses[i].share);
}

/* Gives what was moved since the last time to links and phases. No boundary of slice or phase lies in between. */
static void flush(struct fluid *f, ps_t now)
{
    struct result *r = f->result;
    int phase = schedule_phase(r, now - 1, 0);
    struct carried carried = {f, phase};
    for (size_t i = 0; i < f->n_jobs; i++) {
        struct fluid_job *j = &f->jobs[i];
        settle(j, now);
        if (j->moved <= 0)
            continue;
        for (size_t u = 0; u < j->cost.n_uses; u++) {
            const struct fluid_use *use = &j->cost.uses[u];
            f->slice_bytes[use->linkdir] += j->moved * use->wire;
            if (phase < 0)
                continue;
            struct fluid_count *c = &f->counts[(size_t)phase * r->n_links + (size_t)use->linkdir];
            c->frames += j->moved * use->frames;
            c->bytes += j->moved * use->wire;
            c->bulk_bytes += j->moved * use->bulk;
        }
        if (phase == (int)r->jobs[i].phase)
            j->counted += j->moved;
        destage(f, j, &carried);
        j->moved = 0;
    }
    for (size_t i = 0; i < f->topo->n_nodes; i++)
        if (f->storages[i].model)
            fluid_store_empty(&f->storages[i], f->n_resources, now, carry, &carried);
}

static bool count_links(struct fluid *f)
{
    size_t n = f->result->n_phases * f->result->n_links;
    struct link_count *counts = calloc(n + 1, sizeof(*counts));
    for (size_t i = 0; counts && i < n; i++) {
        const struct fluid_count *c = &f->counts[i];
        counts[i] = (struct link_count){(uint64_t)(c->frames + 0.5), (uint64_t)(c->bytes + 0.5),
                                        (uint64_t)(c->bulk_bytes + 0.5)};
    }
    if (!counts)
        return false;
    schedule_count_links(f->result, counts);
    free(counts);
    return true;
}

static void end_slice(struct fluid *f)
{
    struct result *r = f->result;
    if (f->slices == r->n_slices) {
        schedule_join_slices(r, f->slices);
        f->slices /= 2;
        return;
    }
    for (size_t d = 0; d < r->n_links; d++) {
        double most = (double)f->topo->links[d / 2].rate / 8 * (double)r->slice / 1e12;
        r->links[d].over_time[f->slices] = (float)(f->slice_bytes[d] / most);
        f->slice_bytes[d] = 0;
    }
    f->slices++;
}

/* ---- rates ---- */

static void job_done_event(struct event *e, ps_t now)
{
    struct fluid_job *j = SIM_CONTAINER(e, struct fluid_job, done);
    struct fluid *f = j->fluid;
    settle(j, now);
    j->left = 0;
    j->busy = false;
    j->rate = 0;
    f->result->jobs[j - f->jobs].finished = now;
    if (j->target)
        f->result->jobs[j->target - f->jobs].finished = now;
    f->jobs_left -= f->topo->workloads[f->result->jobs[j - f->jobs].workload].duration == 0;
    maxmin_set_count(f->maxmin, j->class_, 0);
    f->changed = true;
}

static void job_start(struct event *e, ps_t now)
{
    struct fluid_job *j = SIM_CONTAINER(e, struct fluid_job, start);
    j->since = now;
    j->busy = true;
    maxmin_set_count(j->fluid->maxmin, j->class_, 1);
    j->fluid->changed = true;
}

static void job_stop(struct event *e, ps_t now)
{
    struct fluid_job *j = SIM_CONTAINER(e, struct fluid_job, stop);
    if (!j->busy)
        return;
    settle(j, now);
    j->busy = false;
    j->rate = 0;
    maxmin_set_count(j->fluid->maxmin, j->class_, 0);
    j->fluid->changed = true;
}

static void new_rate(struct fluid_job *j, ps_t now)
{
    struct fluid *f = j->fluid;
    settle(j, now);
    j->rate = j->busy ? maxmin_rate(f->maxmin, j->class_) : 0;
    if (!j->busy || j->left == (double)INFINITY)
        return;
    double seconds = j->rate > 0 ? j->left / j->rate : (double)INFINITY;
    if (seconds < LONGEST_SECONDS)
        eventq_set(f->queue, &j->done, now + (ps_t)(seconds * 1e12) + 1);
    else
        eventq_cancel(f->queue, &j->done); /* as good as never; a fault may change that */
}

/* Bytes/s that go into a store's cache. */
static double inflow(const struct fluid *f, const struct fluid_store *st)
{
    double in = 0;
    for (size_t i = 0; i < f->n_jobs; i++) {
        const struct fluid_job *j = &f->jobs[i];
        if (j->busy && j->destage.bytes > 0 && st == &f->storages[j->destage.node])
            in += maxmin_rate(f->maxmin, j->class_) * j->destage.bytes;
    }
    return in;
}

/* Which stores are no longer apart, by the rates at hand; false when none has changed. */
static bool join_stores(struct fluid *f)
{
    bool any = false;
    for (size_t i = 0; i < f->topo->n_nodes; i++) {
        struct fluid_store *st = &f->storages[i];
        if (!st->model || !st->apart || !fluid_store_steady(st, inflow(f, st), maxmin_rate(f->maxmin, st->class_)))
            continue;
        st->apart = false;
        any = true;
    }
    return any;
}

static bool solve_stores(struct fluid *f)
{
    for (size_t i = 0; i < f->topo->n_nodes; i++)
        f->storages[i].apart = f->storages[i].model && f->storages[i].model->cache.write_back;
    do {
        if (!fluid_problem_make(f, false) || maxmin_solve(f->maxmin) < 0)
            return false;
    } while (join_stores(f));
    return true;
}

static void store_event(struct event *e, ps_t now)
{
    (void)now;
    SIM_CONTAINER(e, struct fluid_store, event)->fluid->changed = true;
}

/* Destaging goes on at its new rate until the cache is full or empty. */
static void new_store_rates(struct fluid *f, ps_t now)
{
    for (size_t i = 0; i < f->topo->n_nodes; i++) {
        struct fluid_store *st = &f->storages[i];
        if (!st->model)
            continue;
        st->since = now;
        st->rate = st->apart ? maxmin_rate(f->maxmin, st->class_) : 0;
        double seconds = st->apart ? fluid_store_time(st, inflow(f, st), st->rate) : (double)INFINITY;
        if (seconds < LONGEST_SECONDS)
            eventq_set(f->queue, &st->event, now + (ps_t)(seconds * 1e12) + 1);
        else
            eventq_cancel(f->queue, &st->event);
    }
}

static void solve(struct fluid *f, ps_t now)
{
    size_t n;
    f->changed = false;
    if (f->any_storage)
        flush(f, now);
    if (f->any_storage ? !solve_stores(f) : maxmin_solve(f->maxmin) < 0) {
        f->failed = true;
        return;
    }
    const int *changed = maxmin_changed(f->maxmin, &n);
    for (size_t i = 0; i < n; i++)
        if ((size_t)changed[i] < f->n_jobs)
            new_rate(&f->jobs[changed[i]], now);
    new_store_rates(f, now);
}

static void set_link(struct fluid *f, const struct topo_event *w)
{
    bool down = w->state == TOPO_LINK_DOWN;
    for (int k = 0; k < 2; k++)
        f->linkdir_down[2 * w->link + k] =
            down || w->state == TOPO_LINK_BLACKHOLE || (w->state == TOPO_LINK_ONE_WAY && w->from_end == k);
}

static void fault(struct event *e, ps_t now)
{
    struct fluid_fault *x = SIM_CONTAINER(e, struct fluid_fault, event);
    struct fluid *f = x->fluid;
    const struct topo_event *w = x->what;
    struct topo *t = f->topo;
    switch (w->what) {
    case TOPO_EV_LINK_STATE:
        set_link(f, w);
        break;
    case TOPO_EV_LINK_RATE:
        t->links[w->link].rate = w->rate;
        break;
    case TOPO_EV_LINK_DELAY:
        t->links[w->link].delay = w->delay;
        break;
    case TOPO_EV_LINK_LOSS:
        result_note(f->result, "random loss does not slow flows down at fluid detail");
        return;
    case TOPO_EV_VIP_MOVE:
        f->vip_box[w->vip] = w->box;
        break;
    case TOPO_EV_VIP_STATE:
        f->vip_box[w->vip] = w->up ? t->vips[w->vip].home : -1;
        break;
    case TOPO_EV_BOX_STATE:
        for (int p = 0; p < t->boxes[w->box].n_ports; p++) {
            int link = t->ports[t->boxes[w->box].first_port + p].link;
            if (link >= 0)
                f->linkdir_down[2 * link] = f->linkdir_down[2 * link + 1] = !w->up;
        }
        break;
    }
    for (size_t i = 0; i < f->n_jobs; i++)
        settle(&f->jobs[i], now);
    flush(f, now); /* what was moved so far took the old ways */
    if (!fluid_problem_make(f, true))
        f->failed = true;
    f->changed = true;
}

/* ---- set-up ---- */

static bool find_flows(struct fluid *f)
{
    const struct topo *t = f->topo;
    long n = flow_list(t, &f->flows);
    /* Per mount: its first flow, how many, and who shares them. */
    size_t *first = calloc(t->n_mounts + 1, sizeof(*first)), *count = calloc(t->n_mounts + 1, sizeof(*count));
    unsigned *sharers = calloc(t->n_mounts + 1, sizeof(*sharers));
    bool ok = n >= 0 && first && count && sharers;
    for (size_t i = 0; ok && i < (size_t)n; i++)
        if (count[f->flows[i].mount]++ == 0)
            first[f->flows[i].mount] = i;
    for (size_t i = 0; ok && i < t->n_mounts; i++)
        sharers[schedule_owner(t, (int)i)]++;
    for (size_t i = 0; ok && i < f->n_jobs; i++) {
        struct fluid_job *j = &f->jobs[i];
        int owner = schedule_owner(t, f->result->jobs[i].mount);
        j->flows = &f->flows[first[owner]];
        j->n_flows = count[owner];
        j->weight = j->n_flows ? (double)j->n_flows / sharers[owner] : 1;
        j->runs = j->n_flows > 0 && schedule_runs(f->result, &f->result->jobs[i]);
    }
    for (size_t i = 0; ok && i < f->n_jobs; i++) {
        const struct result_job *r = &f->result->jobs[i];
        if (r->partner < 0)
            continue;
        if (r->reads) {
            f->jobs[i].target = &f->jobs[r->partner];
            f->jobs[i].runs &= f->jobs[r->partner].runs;
        } else {
            f->jobs[i].runs = false; /* the other half does it all */
        }
    }
    free(first);
    free(count);
    free(sharers);
    return ok;
}

static bool set_up(struct fluid *f, char *problem, size_t size)
{
    const struct topo *t = f->topo;
    struct result *r = f->result;
    f->n_jobs = r->n_jobs;
    f->queue = eventq_new();
    f->jobs = calloc(f->n_jobs + 1, sizeof(*f->jobs));
    f->faults = calloc(t->n_events + 1, sizeof(*f->faults));
    f->linkdir_down = calloc(2 * t->n_links + 1, sizeof(*f->linkdir_down));
    f->vip_box = calloc(t->n_vips + 1, sizeof(*f->vip_box));
    f->slice_bytes = calloc(2 * t->n_links + 1, sizeof(*f->slice_bytes));
    f->counts = calloc(r->n_phases * r->n_links + 1, sizeof(*f->counts));
    if (!f->counts || !f->queue || !f->jobs || !f->faults || !f->linkdir_down || !f->vip_box || !f->slice_bytes ||
        !find_flows(f) || !fluid_problem_init(f, problem, size))
        return false;
    for (size_t i = 0; i < t->n_nodes; i++)
        f->storages[i].event.run = store_event;
    for (size_t l = 0; l < t->n_links; l++)
        f->linkdir_down[2 * l] = f->linkdir_down[2 * l + 1] = t->links[l].down;
    for (size_t v = 0; v < t->n_vips; v++)
        f->vip_box[v] = t->vips[v].up ? t->vips[v].home : -1;
    for (size_t i = 0; i < t->n_events; i++) {
        f->faults[i] = (struct fluid_fault){.event.run = fault, .fluid = f, .what = &t->events[i]};
        eventq_set(f->queue, &f->faults[i].event, t->events[i].at);
    }
    for (size_t i = 0; i < f->n_jobs; i++) {
        struct fluid_job *j = &f->jobs[i];
        const struct topo_workload *w = &t->workloads[r->jobs[i].workload];
        j->fluid = f;
        j->start.run = job_start;
        j->stop.run = job_stop;
        j->done.run = job_done_event;
        j->left = w->bytes ? (double)w->bytes : (double)INFINITY;
        if (!j->runs)
            continue;
        f->jobs_left += w->duration == 0;
        eventq_set(f->queue, &j->start, w->start);
        if (w->duration)
            eventq_set(f->queue, &j->stop, w->start + w->duration);
    }
    return fluid_problem_make(f, true);
}

/* ---- the run ---- */

static void count_jobs(struct fluid *f)
{
    for (size_t i = 0; i < f->n_jobs; i++) {
        struct fluid_job *j = &f->jobs[i];
        if (j->target)
            j->target->counted = j->counted;
        double block = (double)f->topo->workloads[f->result->jobs[i].workload].block;
        for (size_t k = 0; k < j->n_flows && j->counted > 0; k++) {
            int vip = j->flows[k].vip, box = f->vip_box[vip] >= 0 ? f->vip_box[vip] : f->topo->vips[vip].home;
            const double part[2] = {fluid_read_share(f, j), 1 - fluid_read_share(f, j)};
            for (int write = 0; write < 2; write++) {
                double bytes = j->counted * part[write] / (double)j->n_flows;
                if (bytes > 0)
                    result_bytes(f->result, i, vip, box, write, (uint64_t)(bytes / block + 0.5),
                                 (uint64_t)(bytes + 0.5));
            }
        }
    }
}

static ps_t next_boundary(const struct fluid *f, ps_t now)
{
    const struct result *r = f->result;
    ps_t at = (ps_t)(f->slices + 1) * r->slice;
    for (unsigned p = 0; p < r->n_phases; p++) {
        if (r->phases[p].start > now && r->phases[p].start < at)
            at = r->phases[p].start;
        if (r->phases[p].end > now && r->phases[p].end < at)
            at = r->phases[p].end;
    }
    return at;
}

/* False when interrupted. */
static bool advance(struct fluid *f, const struct schedule *plan, ps_t *now)
{
    struct result *r = f->result;
    const struct sim_options *o = f->options;
    size_t jobs = f->jobs_left;
    bool by_bytes = plan->end == PS_NEVER;
    *now = 0;
    while (by_bytes ? f->jobs_left > 0 : *now < plan->end) {
        ps_t boundary = next_boundary(f, *now), next;
        while ((next = eventq_next(f->queue)) <= boundary && !f->failed && (!by_bytes || f->jobs_left)) {
            r->events += eventq_run(f->queue, next);
            if (f->changed)
                solve(f, next);
            *now = next;
        }
        if (f->failed)
            return false;
        if (by_bytes && f->jobs_left == 0)
            break;
        if (by_bytes && next == PS_NEVER) {
            result_note(r, "stopped: %zu jobs can't go on", f->jobs_left);
            break;
        }
        *now = boundary;
        flush(f, boundary);
        if (boundary == (ps_t)(f->slices + 1) * r->slice)
            end_slice(f);
        if (o->progress)
            o->progress(o->context, boundary,
                        by_bytes ? 1 - (double)f->jobs_left / (double)jobs : (double)boundary / (double)plan->end);
        if (o->interrupted && *o->interrupted)
            return false;
    }
    flush(f, *now);
    return true;
}

static void fluid_free(struct fluid *f)
{
    for (size_t i = 0; f->jobs && i < f->n_jobs; i++) {
        free(f->jobs[i].cost.uses);
        free(f->jobs[i].destage.uses);
    }
    for (size_t i = 0; f->storages && i < f->topo->n_nodes; i++)
        fluid_store_free(&f->storages[i]);
    free(f->link_sums);
    maxmin_free(f->maxmin);
    eventq_free(f->queue);
    free(f->jobs);
    free(f->faults);
    free(f->flows);
    free(f->linkdir_down);
    free(f->vip_box);
    free(f->slice_bytes);
    free(f->counts);
    free(f->storages);
}

struct result *fluid_run(struct topo *t, const struct sim_options *o, char *problem, size_t size)
{
    struct fluid f = {.topo = t, .options = o};
    struct schedule plan;
    ps_t now;
    bool ok = false;
    snprintf(problem, size, "out of memory");
    f.result = result_new(t, sim_detail_name(SIM_FLUID), o->seed, PS_PER_S, SCHEDULE_SLICES);
    if (!f.result)
        return NULL;
    f.result->only_host = o->host;
    if (!schedule_make(f.result, &plan)) {
        snprintf(problem, size, "%s", SIM_NOTHING_TO_RUN);
    } else if (set_up(&f, problem, size)) {
        f.result->complete = advance(&f, &plan, &now);
        if (!f.failed) {
            schedule_close(f.result, now, f.slices);
            count_jobs(&f);
            ok = count_links(&f) && result_trace_paths(f.result) == 0;
            result_finish(f.result);
        }
    }
    fluid_free(&f);
    if (ok)
        return f.result;
    result_free(f.result);
    return NULL;
}
