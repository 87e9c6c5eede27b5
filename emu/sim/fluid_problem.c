/* What each job takes of links and storages, as classes of a max-min problem: class i is job i, behind them the stores. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "emu/model/storage.h"
#include "emu/model/storage_load.h"
#include "emu/sim/fluid_internal.h"
#include "emu/sim/san.h"

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

double fluid_read_share(const struct fluid *f, const struct fluid_job *j)
{
    const struct result_job *r = &f->result->jobs[j - f->jobs];
    return !r->writes ? 1 : !r->reads ? 0 : f->topo->workloads[r->workload].read_share;
}

static unsigned controller_of(const struct fluid *f, const struct fluid_job *j)
{
    int vip = j->flows[0].vip, box = f->vip_box[vip] >= 0 ? f->vip_box[vip] : f->topo->vips[vip].home;
    return (unsigned)(box - f->topo->nodes[f->topo->vips[vip].node].first_box);
}

static void add_link(void *context, int linkdir, double wire, double frames)
{
    double *sums = context;
    (void)frames;
    sums[linkdir] += wire;
}

/* What a back end that is drawn takes of the links, for `share` of the payload. */
static void add_back_end(struct fluid *f, const struct fluid_store *st, unsigned controller, bool write, double unit,
                         double share, struct fluid_destage *out)
{
    const struct path_state state = {.linkdir_down = f->linkdir_down, .vip_box = f->vip_box};
    san_uses(st->san, &state, controller, write, unit, add_link, f->link_sums);
    for (size_t d = 0; d < 2 * f->topo->n_links; d++) {
        if (f->link_sums[d] > 0)
            out->uses[out->n++] = (struct maxmin_use){(int)d, share * f->link_sums[d]};
        f->link_sums[d] = 0;
    }
}

/* A read's part of it, which is one with the job's other uses of links. */
static bool add_reads_of_disks(struct fluid *f, struct fluid_job *j, const struct topo_workload *w)
{
    const struct fluid_store *st = &f->storages[f->topo->vips[j->flows[0].vip].node];
    double share = fluid_read_share(f, j);
    if (!st->san || share <= 0 || j->cost.broken)
        return true;
    const struct storage_group *g = &st->model->groups[0];
    double unit =
        w->sequential ? fmin((double)w->window, (double)g->visit) : fluid_call_bytes(f->topo, w, &j->flows[0], false);
    if (!w->sequential)
        share *= 1 - st->model->cache.read_hit;
    struct fluid_destage *part = &j->destage; /* not in use yet */
    part->n = 0;
    add_back_end(f, st, controller_of(f, j), false, unit, share, part);
    struct fluid_cost more = {.uses = calloc(part->n + 1, sizeof(struct fluid_use)), .n_uses = part->n};
    more.window_rate = (double)INFINITY;
    for (size_t i = 0; more.uses && i < part->n; i++)
        more.uses[i] = (struct fluid_use){
            .linkdir = part->uses[i].resource, .wire = part->uses[i].share, .frames = part->uses[i].share / MEAN_FRAME};
    bool ok = more.uses && fluid_cost_add(&j->cost, &more) == 0;
    free(more.uses);
    part->n = 0;
    return ok;
}

static bool find_cost(struct fluid *f, struct fluid_job *j, const struct topo_workload *w,
                      const struct path_state *state)
{
    free(j->cost.uses);
    memset(&j->cost, 0, sizeof(j->cost));
    if (!j->runs)
        return true;
    if (fluid_cost(f->topo, state, w, fluid_read_share(f, j), j->flows, j->n_flows, &j->cost) < 0 ||
        !add_reads_of_disks(f, j, w))
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
        struct fluid_store *st = &f->storages[f->topo->vips[j->flows[0].vip].node];
        struct storage_load *l = &st->load;
        double reads = fluid_read_share(f, j);
        if (w->sequential) {
            l->reading += reads > 0;
            l->writing += reads < 1;
            l->window = (double)w->window;
        } else {
            l->random_reads += reads * w->outstanding;
            l->random_writes |= reads < 1;
        }
        if (reads < 1)
            st->streams = w->sequential;
    }
    for (size_t i = 0; i < f->topo->n_nodes; i++) {
        /* What waits is destaged also when nobody writes any more. */
        struct fluid_store *st = &f->storages[i];
        struct storage_load *l = &st->load;
        if (!st->model || st->dirty <= 0 || l->writing || l->random_writes)
            continue;
        l->writing = st->streams;
        l->random_writes = !st->streams;
    }
}

/* Adds what `share` of a job's payload uses of the long form, half by half; its latency to *latency. Of what a cache takes in,
 * the use of back end and disks goes to j->destage. */
static size_t storage_part(struct fluid *f, struct fluid_job *j, const struct fluid_job *half,
                           const struct topo_workload *w, bool write, double share, struct maxmin_use *uses,
                           double *latency)
{
    int node = f->topo->vips[half->flows[0].vip].node;
    const struct fluid_store *st = &f->storages[node];
    double part[STORAGE_RESOURCES_MAX];
    size_t n = 0, resources = st->model ? storage_resources(st->model, st->controllers) : 0;
    if (!st->model || share <= 0)
        return 0;
    struct storage_demand d = demand_of(f, half, w, write);
    bool cached = write && st->model->cache.write_back;
    unsigned controller = controller_of(f, half);
    storage_uses(st->model, st->controllers, &st->load, &d, part);
    if (write && st->san)
        add_back_end(f, st, controller, true, d.sequential ? (double)st->model->groups[0].destage : d.block, share,
                     &j->destage);
    for (size_t i = 0; i < resources; i++) {
        bool front = i < 2 * st->controllers; /* the first of each kind stands for the one that serves */
        struct maxmin_use use = {(int)(st->first + (front ? i + controller : i)), share * part[i]};
        if (part[i] > 0 && write && !front)
            j->destage.uses[j->destage.n++] = use;
        else if (part[i] > 0)
            uses[n++] = use;
    }
    if (write) {
        j->destage.bytes = share;
        j->destage.node = node;
    }
    if (!cached || !st->apart)
        for (size_t i = 0; write && i < j->destage.n; i++)
            uses[n++] = j->destage.uses[i];
    *latency += share * storage_idle_latency(st->model, &st->load, &d);
    return n;
}

/* Bytes that a job has asked of the disks at a time. */
static double asked(const struct fluid_store *st, const struct topo_workload *w)
{
    return w->sequential ? (double)st->model->groups[0].read_ahead : (double)w->outstanding * (double)w->block;
}

/* The flow that destages what waits. A disk serves what it has in the order in which it came, so flows share it by what they have there:
 * destaging two requests for each that the disks serve at a time. */
static bool add_store(struct fluid *f, struct fluid_store *st)
{
    const struct fluid_destage *writer = NULL;
    const struct storage_group *g = &st->model->groups[0];
    double weight = 0, reading = 0, in_flight = 2.0 * g->disks * g->disk.parallel * (double)g->destage;
    for (size_t i = 0; i < f->n_jobs; i++) {
        const struct fluid_job *j = &f->jobs[i];
        const struct topo_workload *w = &f->topo->workloads[f->result->jobs[i].workload];
        if (!j->busy)
            continue;
        if (j->destage.bytes > 0 && st == &f->storages[j->destage.node]) {
            writer = &j->destage;
            if (!w->sequential)
                in_flight = 2.0 * g->disks * g->disk.parallel * (double)w->block * g->merge;
        }
        if (st == &f->storages[f->topo->vips[j->flows[0].vip].node] && fluid_read_share(f, j) > 0) {
            weight += j->weight;
            reading += asked(st, w);
        }
    }
    weight = reading > 0 ? weight * in_flight / reading : 1;
    struct maxmin_use *uses = malloc((f->n_resources + 1) * sizeof(*uses));
    if (!uses)
        return false;
    size_t n = fluid_store_mixture(st, f->n_resources, writer, uses);
    st->class_ = maxmin_add_class(f->maxmin, uses, n, weight, MAXMIN_NO_CAP, st->apart && n > 0);
    free(uses);
    return st->class_ >= 0;
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
                uses[n++] = (struct maxmin_use){(int)fluid_limit_resource(f, node, k), j->cost.storage[k]};
        double reads = fluid_read_share(f, j);
        j->destage.n = 0;
        j->destage.bytes = 0;
        n += storage_part(f, j, j, w, false, reads, &uses[n], &latency);
        n += storage_part(f, j, j->target ? j->target : j, w, true, j->target ? 1 : 1 - reads, &uses[n], &latency);
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
        const struct fluid_store *st = &f->storages[i];
        if (!st->model)
            continue;
        storage_capacities(st->model, st->controllers, &st->load, capacity);
        for (size_t k = 0; k < storage_resources(st->model, st->controllers); k++)
            maxmin_set_capacity(f->maxmin, st->first + k, capacity[k]);
    }
}

bool fluid_problem_make(struct fluid *f, bool costs)
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
        maxmin_set_capacity(f->maxmin, fluid_limit_resource(f, (int)i, 0), b->limit_iops);
        maxmin_set_capacity(f->maxmin, fluid_limit_resource(f, (int)i, 1), b->limit_read);
        maxmin_set_capacity(f->maxmin, fluid_limit_resource(f, (int)i, 2), b->limit_write);
    }
    find_loads(f);
    set_storage_capacities(f);
    for (size_t i = 0; i < f->n_jobs; i++) {
        const struct topo_workload *w = &t->workloads[f->result->jobs[i].workload];
        if ((costs && !find_cost(f, &f->jobs[i], w, &state)) || !add_job(f, &f->jobs[i], w))
            return false;
    }
    for (size_t i = 0; i < t->n_nodes; i++)
        if (f->storages[i].model && !add_store(f, &f->storages[i]))
            return false;
    return true;
}

bool fluid_problem_init(struct fluid *f, char *problem, size_t size)
{
    const struct topo *t = f->topo;
    f->n_resources = 2 * t->n_links + STORAGE_PARTS * t->n_nodes;
    f->storages = calloc(t->n_nodes + 1, sizeof(*f->storages));
    for (size_t i = 0; f->storages && i < t->n_nodes; i++) {
        if (!t->nodes[i].storage)
            continue;
        struct fluid_store *st = &f->storages[i];
        *st = (struct fluid_store){.model = t->nodes[i].storage,
                                   .fluid = f,
                                   .controllers = (unsigned)t->nodes[i].n_boxes,
                                   .first = f->n_resources,
                                   .load = {.placed = storage_placed(t, (int)i)}};
        f->n_resources += storage_resources(st->model, st->controllers);
        f->any_storage = true;
        if (t->nodes[i].san && !(st->san = san_new(t, (int)i, f->options->seed, NULL, problem, size)))
            return false;
    }
    bool ok = f->storages != NULL;
    for (size_t i = 0; ok && i < t->n_nodes; i++)
        ok = !f->storages[i].model || fluid_store_init(&f->storages[i], f->n_resources);
    for (size_t i = 0; ok && f->any_storage && i < f->n_jobs; i++)
        ok = (f->jobs[i].destage.uses = calloc(f->n_resources + 1, sizeof(struct maxmin_use))) != NULL;
    f->link_sums = calloc(2 * t->n_links + 1, sizeof(*f->link_sums));
    return ok && f->link_sums;
}
