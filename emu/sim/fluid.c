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
 * Bytes are settled per job whenever its rate changes and at the ends of slices and of the window; link counters are those
 * bytes times the job's uses. What a fault costs until connections have recovered is not here: flows change paths at once. */
#include "emu/sim/fluid.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "emu/fabric/eventq.h"
#include "emu/model/maxmin.h"
#include "emu/model/storage.h"
#include "emu/model/storage_load.h"
#include "emu/model/result.h"
#include "emu/model/topology_file.h"
#include "emu/sim/fluid_cost.h"
#include "emu/sim/run.h"
#include "emu/model/schedule.h"
#include "emu/sim/sim.h"

struct fluid;

struct fluid_job {
    struct event start, stop, done;
    struct fluid *fluid;
    struct fluid_cost cost;
    const struct flow *flows;
    size_t n_flows;
    double weight;
    bool runs, busy;
    struct fluid_job *target; /* of a clone: its other half */
    int class_;
    ps_t since;     /* when `moved` was last brought up to date */
    double rate;    /* bytes/s */
    double moved;   /* since the last flush */
    double left;    /* bytes to go, or INFINITY */
    double counted; /* in the window */
};

struct fluid_fault {
    struct event event;
    struct fluid *fluid;
    const struct topo_event *what;
};

/* What a link direction carried in one phase. */
struct fluid_count {
    double frames, bytes, bulk_bytes;
};

struct fluid {
    struct topo *topo;
    const struct sim_options *options;
    struct result *result;
    struct eventq *queue;
    struct maxmin *maxmin;
    struct flow *flows;
    struct fluid_job *jobs;
    size_t n_jobs, jobs_left;
    struct fluid_fault *faults;
    bool *linkdir_down;
    int *vip_box;
    double *slice_bytes;        /* per link direction */
    struct fluid_count *counts; /* per phase, then per link direction */
    size_t slices;
    struct fluid_storage *storages; /* by node */
    size_t n_resources;
    bool any_storage; /* of the long form */
    bool failed, changed;
};

/* The long form of a node's storage. */
struct fluid_storage {
    const struct storage_model *model; /* or NULL */
    unsigned controllers;
    size_t first; /* resource */
    struct storage_load load;
};

enum {
    STORAGE_PARTS = 3,
    LONGEST_SECONDS = 1000000, /* of a job that ends by bytes; picoseconds hold nine times that */
};

static size_t storage_resource(const struct fluid *f, int node, int part)
{
    return 2 * f->topo->n_links + STORAGE_PARTS * (size_t)node + (size_t)part;
}

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

/* Gives what was moved since the last time to links and phases. No boundary of slice or phase lies in between. */
static void flush(struct fluid *f, ps_t now)
{
    struct result *r = f->result;
    int phase = schedule_phase(r, now - 1, 0);
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
        j->moved = 0;
    }
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

static bool make_problem(struct fluid *f, bool costs);

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

static void solve(struct fluid *f, ps_t now)
{
    size_t n;
    f->changed = false;
    if (f->any_storage) {
        flush(f, now);
        if (!make_problem(f, false)) {
            f->failed = true;
            return;
        }
    }
    if (maxmin_solve(f->maxmin) < 0) {
        f->failed = true;
        return;
    }
    const int *changed = maxmin_changed(f->maxmin, &n);
    for (size_t i = 0; i < n; i++)
        new_rate(&f->jobs[changed[i]], now);
}

/* ---- the problem ---- */

/* `latency`: of the storage. */
static double cap_of(const struct fluid_job *j, const struct topo_workload *w, double latency)
{
    double cap = (double)w->outstanding * (double)w->block / (j->cost.latency + latency);
    cap = fmin(cap, j->cost.window_rate);
    if (w->rate > 0)
        cap = fmin(cap, w->rate);
    if (w->iops > 0)
        cap = fmin(cap, w->iops * (double)w->block);
    return cap;
}

/* How much of its payload a job reads. */
static double read_share_of(const struct fluid *f, const struct fluid_job *j)
{
    const struct result_job *r = &f->result->jobs[j - f->jobs];
    return !r->writes ? 1 : !r->reads ? 0 : f->topo->workloads[r->workload].read_share;
}

static bool find_cost(struct fluid *f, struct fluid_job *j, const struct topo_workload *w,
                      const struct path_state *state)
{
    free(j->cost.uses);
    memset(&j->cost, 0, sizeof(j->cost));
    if (!j->runs)
        return true;
    if (fluid_cost(f->topo, state, w, read_share_of(f, j), j->flows, j->n_flows, &j->cost) < 0)
        return false;
    if (!j->target)
        return true;
    struct fluid_cost other;
    bool ok = fluid_cost(f->topo, state, w, 0, j->target->flows, j->target->n_flows, &other) == 0 &&
              fluid_cost_add(&j->cost, &other) == 0;
    free(other.uses);
    return ok;
}

static struct storage_demand demand_of(const struct fluid *f, const struct fluid_job *j, const struct topo_workload *w,
                                       bool write)
{
    return (struct storage_demand){write, w->sequential, fluid_call_bytes(f->topo, w, &j->flows[0], write),
                                   (double)w->window};
}

/* What is under way at each storage. */
static void find_loads(struct fluid *f)
{
    for (size_t i = 0; i < f->topo->n_nodes; i++)
        if (f->storages[i].model)
            f->storages[i].load = (struct storage_load){.placed = f->storages[i].load.placed};
    for (size_t i = 0; i < f->n_jobs; i++) {
        const struct fluid_job *j = &f->jobs[i], *driver = j;
        const struct result_job *r = &f->result->jobs[i];
        const struct topo_workload *w = &f->topo->workloads[r->workload];
        if (r->partner >= 0 && r->writes)
            driver = &f->jobs[r->partner];
        if (!driver->busy || !j->n_flows)
            continue;
        struct storage_load *l = &f->storages[f->topo->vips[j->flows[0].vip].node].load;
        double reads = read_share_of(f, j);
        if (w->sequential) {
            l->reading += reads > 0;
            l->writing += reads < 1;
            l->window = (double)w->window;
        } else {
            l->random_reads += reads * w->outstanding;
            l->random_writes |= reads < 1;
        }
    }
}

/* Adds what `share` of a job's payload uses of the long form, half by half; its latency to *latency. */
static size_t storage_part(struct fluid *f, const struct fluid_job *j, const struct topo_workload *w, bool write,
                           double share, struct maxmin_use *uses, double *latency)
{
    int vip = j->flows[0].vip, node = f->topo->vips[vip].node;
    const struct fluid_storage *st = &f->storages[node];
    double part[STORAGE_RESOURCES_MAX];
    size_t n = 0, resources = st->model ? storage_resources(st->model, st->controllers) : 0;
    if (!st->model || share <= 0)
        return 0;
    struct storage_demand d = demand_of(f, j, w, write);
    int box = f->vip_box[vip] >= 0 ? f->vip_box[vip] : f->topo->vips[vip].home;
    size_t controller = (size_t)(box - f->topo->nodes[node].first_box);
    storage_uses(st->model, st->controllers, &st->load, &d, part);
    for (size_t i = 0; i < resources; i++) {
        size_t at =
            i < 2 * st->controllers ? i + controller : i; /* the first of each kind stands for the one that serves */
        if (part[i] > 0)
            uses[n++] = (struct maxmin_use){(int)(st->first + at), share * part[i]};
    }
    *latency += share * storage_idle_latency(st->model, &st->load, &d);
    return n;
}

/* Class i of the problem is job i, also where it never runs. */
static bool add_job(struct fluid *f, struct fluid_job *j, const struct topo_workload *w)
{
    size_t n = 0;
    bool moves = j->runs && !j->cost.broken;
    struct maxmin_use *uses = malloc((j->cost.n_uses + STORAGE_PARTS + 2 * f->n_resources + 1) * sizeof(*uses));
    if (!uses)
        return false;
    double latency = 0;
    for (size_t i = 0; i < j->cost.n_uses; i++)
        uses[n++] = (struct maxmin_use){j->cost.uses[i].linkdir, j->cost.uses[i].wire};
    if (moves) {
        int node = f->topo->vips[j->flows[0].vip].node;
        const struct topo_box *b = &f->topo->boxes[f->topo->nodes[node].first_box];
        const double limit[STORAGE_PARTS] = {b->limit_iops, b->limit_read, b->limit_write};
        for (int k = 0; k < STORAGE_PARTS; k++)
            if (limit[k] > 0 && j->cost.storage[k] > 0)
                uses[n++] = (struct maxmin_use){(int)storage_resource(f, node, k), j->cost.storage[k]};
        double reads = read_share_of(f, j);
        n += storage_part(f, j, w, false, reads, &uses[n], &latency);
        n += storage_part(f, j->target ? j->target : j, w, true, j->target ? 1 : 1 - reads, &uses[n], &latency);
    }
    double cap = moves ? cap_of(j, w, latency) : 1e-9; /* broken: nothing moves */
    j->class_ = maxmin_add_class(f->maxmin, uses, n, j->weight, cap, j->busy);
    free(uses);
    return j->class_ >= 0;
}

static void set_storage_capacities(struct fluid *f)
{
    double capacity[STORAGE_RESOURCES_MAX];
    for (size_t i = 0; i < f->topo->n_nodes; i++) {
        const struct fluid_storage *st = &f->storages[i];
        if (!st->model)
            continue;
        storage_capacities(st->model, st->controllers, &st->load, capacity);
        for (size_t k = 0; k < storage_resources(st->model, st->controllers); k++)
            maxmin_set_capacity(f->maxmin, st->first + k, capacity[k]);
    }
}

/* costs: also what the network takes, where paths may have changed. */
static bool make_problem(struct fluid *f, bool costs)
{
    const struct topo *t = f->topo;
    const struct path_state state = {.linkdir_down = f->linkdir_down, .vip_box = f->vip_box};
    maxmin_free(f->maxmin);
    f->maxmin = maxmin_new(f->n_resources);
    if (!f->maxmin)
        return false;
    for (size_t d = 0; d < 2 * t->n_links; d++) {
        double share = 1;
        for (size_t b = 0; b < t->n_background; b++)
            if (t->background[b].linkdir == (int)d)
                share -= t->background[b].share;
        maxmin_set_capacity(f->maxmin, d, (double)t->links[d / 2].rate / 8 * fmax(share, 0));
    }
    for (size_t i = 0; i < t->n_nodes; i++) {
        if (t->nodes[i].kind != TOPO_NAS || t->nodes[i].n_boxes == 0)
            continue;
        const struct topo_box *b = &t->boxes[t->nodes[i].first_box];
        maxmin_set_capacity(f->maxmin, storage_resource(f, (int)i, 0), b->limit_iops);
        maxmin_set_capacity(f->maxmin, storage_resource(f, (int)i, 1), b->limit_read);
        maxmin_set_capacity(f->maxmin, storage_resource(f, (int)i, 2), b->limit_write);
    }
    find_loads(f);
    set_storage_capacities(f);
    for (size_t i = 0; i < f->n_jobs; i++) {
        const struct topo_workload *w = &t->workloads[f->result->jobs[i].workload];
        if ((costs && !find_cost(f, &f->jobs[i], w, &state)) || !add_job(f, &f->jobs[i], w))
            return false;
    }
    return true;
}

static bool find_storages(struct fluid *f)
{
    const struct topo *t = f->topo;
    f->n_resources = 2 * t->n_links + STORAGE_PARTS * t->n_nodes;
    f->storages = calloc(t->n_nodes + 1, sizeof(*f->storages));
    for (size_t i = 0; f->storages && i < t->n_nodes; i++) {
        if (!t->nodes[i].storage)
            continue;
        struct fluid_storage *st = &f->storages[i];
        *st = (struct fluid_storage){
            t->nodes[i].storage, (unsigned)t->nodes[i].n_boxes, f->n_resources, {.placed = storage_placed(t, (int)i)}};
        f->n_resources += storage_resources(st->model, st->controllers);
        f->any_storage = true;
    }
    return f->storages != NULL;
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
    if (!make_problem(f, true))
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
        j->weight = (double)j->n_flows / sharers[owner];
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

static bool set_up(struct fluid *f)
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
        !find_flows(f) || !find_storages(f))
        return false;
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
    return make_problem(f, true);
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
            const double part[2] = {read_share_of(f, j), 1 - read_share_of(f, j)};
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
    for (size_t i = 0; f->jobs && i < f->n_jobs; i++)
        free(f->jobs[i].cost.uses);
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
    } else if (set_up(&f)) {
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
