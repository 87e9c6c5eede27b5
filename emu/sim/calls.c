/* Whole calls and replies as messages (calls_wire.h) between jobs or virtual machines and the storage: for hours of small
 * operations by thousands of machines, where what the links and the storage make of them counts and what TCP makes of full
 * links does not. Calls are cut to rsize and wsize and cost the bytes that they have in a train run; a COMMIT follows writes as
 * there. There are no acknowledgements, no windows, no losses, no faults.
 *
 * Two events per call: it is in at the server, its reply is in at the client. Between them it is the storage's. */
#include "emu/sim/calls.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "emu/model/iscsi.h"
#include "emu/model/random.h"
#include "emu/model/result.h"
#include "emu/model/schedule.h"
#include "emu/model/storage_load.h"
#include "emu/model/topology.h"
#include "emu/model/topology_file.h"
#include "emu/model/vm.h"
#include "emu/sim/calls_wire.h"
#include "emu/sim/host_cache.h"
#include "emu/sim/run.h"
#include "emu/sim/san.h"
#include "emu/sim/sim.h"
#include "emu/sim/storage.h"
#include "emu/sim/storage_count.h"

#define STALLED (600 * PS_PER_S)
enum { SLAB = 1024 };

struct calls;

struct calls_conn {
    struct calls_line line;
    int vip, box;
    bool iscsi;
};

struct calls_mount {
    uint32_t first_conn, n_conns, owner, turn;
};

/* What asked for an operation. */
struct calls_source {
    struct calls *calls;
    uint32_t job;  /* of the result */
    int32_t group; /* of machines, WORKLOAD or DESTAGER */
};

enum { WORKLOAD = -1, DESTAGER = -2 };

struct calls_job {
    struct calls_source source;
    struct workload_job work;
    struct event event;
    struct calls_job *target, *driver; /* of a clone: the half that writes; of that, the other, which drives it */
    int stream[2];                     /* of the storage, by direction; -1: none yet */
};

struct calls_vm {
    struct calls_source source;
    struct vm vm;
    struct event event;
    ps_t started; /* -1: not yet */
    bool counted; /* as through with `until` */
    bool absent;  /* its host does not work in this run, or its mount leads nowhere */
};

/* The machines of a group and who starts them. */
struct calls_group {
    struct calls *calls;
    const struct topo_vm_group *group;
    struct calls_vm *vms;
    struct event launch;
    uint32_t next, in_progress;
};

struct calls_operation {
    struct calls_operation *next; /* while free */
    struct calls_source *source;
    ps_t issued;
    uint64_t bytes;
    uint32_t left;  /* calls not answered yet */
    uint32_t phase; /* of a machine */
    bool write, commit;
};

struct call {
    struct call *next; /* while free */
    struct calls_operation *operation;
    struct calls_conn *conn;
    struct event event;
    uint32_t bytes;
    uint8_t kind; /* enum nfs_call */
    bool answered;
    union {
        struct storage_op op;   /* while it is in the stations of a storage */
        struct host_op at_host; /* while it is in the cards of hosts */
    };
};

/* The short form of `storage:`, as in server.c. */
struct calls_limit {
    uint64_t iops, rate[2];
    ps_t iops_free, free[2];
    struct storage *storage; /* the long form, or NULL */
    struct san *san;         /* its back end, where the file draws it */
    struct host_cache *cards;
    struct calls_source *destager; /* of what the hosts' cards write to it */
};

struct calls {
    struct topo *topo;
    const struct sim_options *options;
    struct result *result;
    struct eventq *queue;
    struct calls_link *links;
    struct calls_conn *conns;
    struct calls_mount *mounts;
    struct calls_limit *limits; /* by node */
    struct calls_job *jobs;
    struct calls_group *groups;
    size_t n_conns;
    size_t busy; /* jobs that end by bytes and machines that are not over yet */
    struct call *free_calls;
    struct calls_operation *free_operations;
    void **slabs;
    size_t n_slabs;
    struct link_count *counts; /* per phase, then per link direction */
    size_t slices;
    ps_t ended; /* last operation's end */
};

/* ---- memory ---- */

static void *slab(struct calls *c, size_t size)
{
    void *memory = calloc(SLAB, size), **slabs = realloc(c->slabs, (c->n_slabs + 1) * sizeof(*slabs));
    if (!memory || !slabs) {
        fputs("out of memory\n", stderr);
        abort();
    }
    c->slabs = slabs;
    c->slabs[c->n_slabs++] = memory;
    return memory;
}

static struct call *call_new(struct calls *c)
{
    if (!c->free_calls) {
        struct call *all = slab(c, sizeof(*all));
        for (size_t i = 0; i < SLAB; i++) {
            all[i].next = c->free_calls;
            c->free_calls = &all[i];
        }
    }
    struct call *k = c->free_calls;
    c->free_calls = k->next;
    return k;
}

static struct calls_operation *operation_new(struct calls *c)
{
    if (!c->free_operations) {
        struct calls_operation *all = slab(c, sizeof(*all));
        for (size_t i = 0; i < SLAB; i++) {
            all[i].next = c->free_operations;
            c->free_operations = &all[i];
        }
    }
    struct calls_operation *o = c->free_operations;
    c->free_operations = o->next;
    return o;
}

/* ---- a call ---- */

static void pump_job(struct calls_job *j, ps_t now);
static void pump_vm(struct calls_vm *v, ps_t now);

static void operation_ended(struct calls *c, struct calls_operation *o, const struct calls_conn *conn, ps_t now)
{
    struct calls_source *s = o->source;
    if (s->group == DESTAGER) {
        host_cache_destaged(c->limits[s->job].cards, o->phase, o->bytes, now);
        o->next = c->free_operations;
        c->free_operations = o;
        return;
    }
    const struct result_phase *p = &c->result->phases[c->result->jobs[s->job].phase];
    c->ended = now;
    if (now >= p->start && now < p->end)
        result_operation(c->result, s->job, conn->vip, conn->box, o->write, o->bytes, now - o->issued);
    if (s->group >= 0)
        result_vm_operation(c->result, (size_t)s->group, o->phase, o->write, o->bytes, now - o->issued, now);
    uint32_t phase = o->phase;
    o->next = c->free_operations;
    c->free_operations = o;
    if (s->group < 0) {
        struct calls_job *j = SIM_CONTAINER(s, struct calls_job, source), *driver = j->driver ? j->driver : j;
        if (j->target)
            workload_have_read(&j->work);
        else
            workload_done(&driver->work);
        pump_job(driver, now);
    } else {
        struct calls_vm *v = SIM_CONTAINER(s, struct calls_vm, source);
        vm_done(&v->vm, phase, now);
        pump_vm(v, now);
    }
}

static void send_call(struct calls *c, struct call *k, ps_t now)
{
    bool write = k->kind == NFS_WRITE;
    uint64_t bytes = k->conn->iscsi ? iscsi_there(write, k->bytes) : nfs_call_bytes(k->kind, k->bytes);
    k->answered = false;
    eventq_set(c->queue, &k->event, calls_send(c->links, &k->conn->line, 0, bytes, write, now));
}

static void reply_is_in(struct calls *c, struct call *k, ps_t now)
{
    struct calls_operation *o = k->operation;
    const struct calls_conn *conn = k->conn;
    if (--o->left == 0 && o->commit) {
        o->commit = false;
        o->left = 1;
        k->kind = NFS_COMMIT;
        k->bytes = 0;
        send_call(c, k, now);
        return;
    }
    k->next = c->free_calls;
    c->free_calls = k;
    if (o->left == 0)
        operation_ended(c, o, conn, now);
}

static void send_reply(struct calls *c, struct call *k, ps_t now)
{
    bool read = k->kind == NFS_READ;
    uint64_t bytes = k->conn->iscsi ? iscsi_back(!read, k->bytes) : nfs_reply_bytes(k->kind, k->bytes);
    k->answered = true;
    eventq_set(c->queue, &k->event, calls_send(c->links, &k->conn->line, 1, bytes, read, now));
}

static ps_t later(ps_t a, ps_t b) { return a > b ? a : b; }

/* When the storage has done it; replies of one direction leave in order, so nothing is gained by an event of its own. */
static ps_t served(struct calls_limit *l, const struct call *k, ps_t now)
{
    bool write = k->kind != NFS_READ, data = k->kind != NFS_COMMIT;
    if (data && l->iops)
        now = l->iops_free = later(l->iops_free, now) + PS_PER_S / (ps_t)l->iops;
    if (!l->rate[write] && !l->iops)
        return now;
    now = later(now, l->free[write]);
    if (data && l->rate[write])
        now += (ps_t)((unsigned __int128)k->bytes * PS_PER_S / l->rate[write]);
    return l->free[write] = now;
}

static void stored(struct storage_op *o, ps_t now)
{
    struct call *k = SIM_CONTAINER(o, struct call, op);
    send_reply(k->operation->source->calls, k, now);
}

/* Sequential workloads read and write streams, machines do not. */
static int stream_of(struct storage *storage, struct calls_source *s, bool write)
{
    if (s->group != WORKLOAD)
        return STORAGE_RANDOM;
    struct calls_job *j = SIM_CONTAINER(s, struct calls_job, source);
    const struct topo_workload *w = j->work.workload;
    if (!w->sequential)
        return STORAGE_RANDOM;
    if (j->stream[write] < 0)
        j->stream[write] = storage_stream(storage, w->window, w->bytes, write);
    return j->stream[write];
}

static void store(struct calls *c, struct call *k, struct storage *storage, ps_t now)
{
    k->op.done = stored;
    k->op.bytes = k->bytes;
    k->op.write = k->kind == NFS_WRITE;
    k->op.controller = k->conn->box - c->topo->nodes[c->topo->vips[k->conn->vip].node].first_box;
    k->op.stream = stream_of(storage, k->operation->source, k->op.write);
    storage_submit(storage, &k->op, now);
}

static void call_event(struct event *e, ps_t now)
{
    struct call *k = SIM_CONTAINER(e, struct call, event);
    struct calls *c = k->operation->source->calls;
    struct calls_limit *l = &c->limits[c->topo->vips[k->conn->vip].node];
    if (k->answered)
        reply_is_in(c, k, now);
    else if (l->storage && k->kind != NFS_COMMIT)
        store(c, k, l->storage, now);
    else
        send_reply(c, k, served(l, k, now));
}

/* ---- cards in hosts ---- */

static void answered_by_card(struct host_op *h, ps_t now)
{
    struct call *k = SIM_CONTAINER(h, struct call, at_host);
    reply_is_in(k->operation->source->calls, k, now);
}

static void missed_by_cards(struct host_op *h, ps_t now)
{
    struct call *k = SIM_CONTAINER(h, struct call, at_host);
    send_call(k->operation->source->calls, k, now);
}

/* A host writes to the array what its card has gathered, over the connection of whoever wrote last. */
static void destage(void *context, unsigned host, uint64_t bytes, void *conn, ps_t now)
{
    struct calls_source *s = context;
    struct calls *c = s->calls;
    struct calls_operation *o = operation_new(c);
    struct call *k = call_new(c);
    *o = (struct calls_operation){.source = s, .bytes = bytes, .left = 1, .phase = host, .write = true};
    *k = (struct call){
        .operation = o, .conn = conn, .event.run = call_event, .bytes = (uint32_t)bytes, .kind = NFS_WRITE};
    send_call(c, k, now);
}

/* Whether the cards of hosts take the call. */
static bool into_cards(struct calls *c, struct call *k, int host, ps_t now)
{
    struct host_cache *cards = c->limits[c->topo->vips[k->conn->vip].node].cards;
    int place = cards ? host_cache_place(cards, host) : -1;
    if (place < 0)
        return false;
    k->at_host = (struct host_op){.bytes = k->bytes,
                                  .host = (uint16_t)place,
                                  .write = k->kind == NFS_WRITE,
                                  .conn = k->conn,
                                  .done = answered_by_card,
                                  .missed = missed_by_cards};
    host_cache_submit(cards, &k->at_host, now);
    return true;
}

/* An operation of a source on its mount. */
static void start(struct calls_source *s, bool write, uint64_t bytes, bool stable, uint32_t phase, ps_t now)
{
    struct calls *c = s->calls;
    uint32_t mount = (uint32_t)c->result->jobs[s->job].mount;
    struct calls_mount *m = &c->mounts[mount];
    const struct topo_stack *stack = &c->topo->stacks[c->topo->mounts[mount].host];
    bool iscsi = c->conns[m->first_conn].iscsi;
    uint64_t size = iscsi ? UINT32_MAX : write ? stack->wsize : stack->rsize, left = bytes;
    struct calls_operation *o = operation_new(c);
    *o = (struct calls_operation){.source = s,
                                  .issued = now,
                                  .bytes = bytes,
                                  .left = (uint32_t)((bytes + size - 1) / size),
                                  .phase = phase,
                                  .write = write};
    o->commit = write && o->left > 1 && !stable && !iscsi;
    for (uint32_t i = 0, n = o->left; i < n; i++) {
        struct call *k = call_new(c);
        uint64_t part = left < size ? left : size;
        *k = (struct call){.operation = o,
                           .conn = &c->conns[m->first_conn + c->mounts[m->owner].turn++ % m->n_conns],
                           .event.run = call_event,
                           .bytes = (uint32_t)part,
                           .kind = write ? NFS_WRITE : NFS_READ};
        left -= part;
        if (!into_cards(c, k, c->topo->mounts[mount].host, now))
            send_call(c, k, now);
    }
}

/* ---- workloads ---- */

static void streams_over(const struct calls_job *j)
{
    const struct calls *c = j->source.calls;
    for (const struct calls_job *half = j; half; half = half == j ? j->target : NULL) {
        const struct topo_mount *m = &c->topo->mounts[c->result->jobs[half->source.job].mount];
        struct storage *storage = c->limits[c->topo->vips[m->vip].node].storage;
        for (int k = 0; k < 2 && storage; k++)
            if (half->stream[k] >= 0)
                storage_stream_end(storage, half->stream[k]);
    }
}

static void pump_job(struct calls_job *j, ps_t now)
{
    struct calls *c = j->source.calls;
    struct workload_operation o;
    ps_t until;
    for (;;) {
        switch (workload_next(&j->work, now, &o, &until)) {
        case WORKLOAD_OPERATION:
            start(o.write && j->target ? &j->target->source : &j->source, o.write, o.bytes,
                  topo_stable(c->topo, j->work.workload, c->topo->mounts[c->result->jobs[j->source.job].mount].host), 0,
                  now);
            continue;
        case WORKLOAD_WAIT:
            eventq_set(c->queue, &j->event, until);
            return;
        case WORKLOAD_BUSY:
            return;
        case WORKLOAD_OVER:
            if (j->work.out == 0)
                streams_over(j);
            if (j->work.out == 0 && j->work.stop == PS_NEVER) {
                c->result->jobs[j->source.job].finished = now;
                if (j->target)
                    c->result->jobs[j->target->source.job].finished = now;
                c->busy--;
            }
            return;
        }
    }
}

static void job_event(struct event *e, ps_t now) { pump_job(SIM_CONTAINER(e, struct calls_job, event), now); }

/* ---- machines ---- */

static ps_t stop_of(const struct topo_vm_group *g) { return g->length ? g->start + g->length : PS_NEVER; }

static void vm_over(struct calls_vm *v, ps_t now)
{
    struct calls *c = v->source.calls;
    if (v->started < 0 || v->vm.out)
        return;
    result_vm_through(c->result, (size_t)v->source.group, v->started, now);
    c->busy -= !v->vm.group->length;
    v->started = -1; /* once */
}

/* A machine that is through with `until` makes room for the next one. */
static void make_room(struct calls_vm *v, bool through, ps_t now)
{
    struct calls_group *g = &v->source.calls->groups[v->source.group];
    if (v->counted || !through)
        return;
    v->counted = true;
    g->in_progress--;
    if (g->next < g->group->n_vms && g->group->at_most && !event_pending(&g->launch))
        eventq_set(v->source.calls->queue, &g->launch, now);
}

static void pump_vm(struct calls_vm *v, ps_t now)
{
    struct calls *c = v->source.calls;
    struct vm_operation o;
    ps_t until;
    while (now < stop_of(v->vm.group)) {
        enum vm_next next = vm_next(&v->vm, now, &o, &until);
        unsigned phase = v->vm.phase;
        make_room(v, next == VM_OVER || phase > v->vm.group->until || (next == VM_PHASE && phase == v->vm.group->until),
                  now);
        switch (next) {
        case VM_OPERATION:
            start(&v->source, o.write, o.bytes, true, o.phase, now);
            continue;
        case VM_WAIT:
            eventq_set(c->queue, &v->event, until);
            return;
        case VM_BUSY:
            /* Nothing to wait for but operations, or the end of the phase. */
            if (v->vm.group->phases[v->vm.phase].length)
                eventq_set(c->queue, &v->event, v->vm.entered + v->vm.group->phases[v->vm.phase].length);
            return;
        case VM_PHASE:
            result_vm_phase_left(c->result, (size_t)v->source.group, phase, v->vm.entered, now);
            continue;
        case VM_OVER:
            vm_over(v, now);
            return;
        }
    }
}

static void vm_event(struct event *e, ps_t now) { pump_vm(SIM_CONTAINER(e, struct calls_vm, event), now); }

/* Starts the machines whose turn it is. */
static void launch(struct event *e, ps_t now)
{
    struct calls_group *g = SIM_CONTAINER(e, struct calls_group, launch);
    const struct topo_vm_group *t = g->group;
    while (g->next < t->n_vms && (!t->at_most || g->in_progress < t->at_most)) {
        if (g->vms[g->next].absent) {
            g->next++;
            continue;
        }
        ps_t due = t->rate > 0 ? t->start + (ps_t)((double)g->next / t->rate * (double)PS_PER_S) : t->start;
        if (due > now) {
            eventq_set(g->calls->queue, e, due);
            return;
        }
        struct calls_vm *v = &g->vms[g->next++];
        v->started = now;
        g->in_progress++;
        pump_vm(v, now);
    }
}

/* ---- set up ---- */

static uint64_t whole(double x) { return x > 0 && x < 1 ? 1 : (uint64_t)(x + 0.5); }

static bool limits_init(struct calls *c, char *problem, size_t size)
{
    const struct topo *t = c->topo;
    c->limits = calloc(t->n_nodes + 1, sizeof(*c->limits));
    for (size_t i = 0; c->limits && i < t->n_nodes; i++) {
        if (t->nodes[i].kind != TOPO_NAS || !t->nodes[i].n_boxes)
            continue;
        const struct topo_box *b = &t->boxes[t->nodes[i].first_box];
        c->limits[i] =
            (struct calls_limit){.iops = whole(b->limit_iops), .rate = {whole(b->limit_read), whole(b->limit_write)}};
        const struct storage_model *model = t->nodes[i].storage;
        if (!model)
            continue;
        c->limits[i].storage = storage_new(model, (unsigned)t->nodes[i].n_boxes, storage_placed(t, (int)i), c->queue,
                                           storage_seed(t, (int)i, c->options->seed));
        if (!c->limits[i].storage)
            return false;
        if (t->nodes[i].host_cache) {
            struct calls_limit *l = &c->limits[i];
            l->destager = calloc(1, sizeof(*l->destager));
            if (!l->destager)
                return false;
            *l->destager = (struct calls_source){c, (uint32_t)i, DESTAGER};
            const struct host_cache_config config = {t,       (int)i,     c->links, c->queue, c->options->seed,
                                                     destage, l->destager};
            if (!(l->cards = host_cache_new(&config, problem, size)))
                return false;
        }
        if (!t->nodes[i].san)
            continue;
        c->limits[i].san = san_new(t, (int)i, c->options->seed, c->links, problem, size);
        if (!c->limits[i].san)
            return false;
        san_connect(c->limits[i].san, c->limits[i].storage, c->queue);
    }
    return c->limits != NULL;
}

/* What can't be renamed of a flow, so that its draws stay. */
static uint64_t flow_seed(const struct calls *c, const struct flow *f)
{
    char client[64];
    topo_addr_print(client, sizeof(client), &c->topo->ifaces[f->iface].addr, false);
    return workload_seed(c->options->seed + (uint64_t)f->connection, client, c->topo->vips[f->vip].text, "path");
}

static bool conns_init(struct calls *c, char *problem, size_t size)
{
    const struct topo *t = c->topo;
    struct flow *flows = NULL;
    long n = flow_list(t, &flows);
    bool *needed = calloc(t->n_mounts + 1, sizeof(*needed));
    c->mounts = calloc(t->n_mounts + 1, sizeof(*c->mounts));
    c->conns = calloc((n > 0 ? (size_t)n : 0) + 1, sizeof(*c->conns));
    bool ok = n >= 0 && needed && c->mounts && c->conns;
    for (size_t i = 0; ok && i < c->result->n_jobs; i++)
        if (schedule_runs(c->result, &c->result->jobs[i]))
            needed[schedule_owner(t, c->result->jobs[i].mount)] = true;
    for (long i = 0; ok && i < n; i++) {
        struct calls_mount *m = &c->mounts[flows[i].mount];
        struct calls_conn *conn = &c->conns[c->n_conns];
        if (!needed[flows[i].mount])
            continue;
        if (m->n_conns++ == 0)
            m->first_conn = (uint32_t)c->n_conns;
        c->n_conns++;
        conn->vip = flows[i].vip;
        conn->box = t->vips[flows[i].vip].home;
        conn->iscsi = t->datastores[t->mounts[flows[i].mount].datastore].iscsi;
        ok = calls_line_init(&conn->line, t, &flows[i], flow_seed(c, &flows[i]), problem, size);
    }
    for (size_t i = 0; ok && i < t->n_mounts; i++) {
        uint32_t owner = (uint32_t)schedule_owner(t, (int)i);
        c->mounts[i].owner = owner;
        c->mounts[i].first_conn = c->mounts[owner].first_conn;
        c->mounts[i].n_conns = c->mounts[owner].n_conns;
    }
    free(flows);
    free(needed);
    return ok;
}

static uint64_t seed_of(const struct calls *c, size_t job, const char *what)
{
    const struct topo *t = c->topo;
    const struct topo_mount *m = &t->mounts[c->result->jobs[job].mount];
    char client[64];
    topo_addr_print(client, sizeof(client), &t->ifaces[m->iface].addr, false);
    return workload_seed(c->options->seed, client, t->datastores[m->datastore].name, what);
}

static bool jobs_init(struct calls *c)
{
    const struct topo *t = c->topo;
    c->jobs = calloc(c->result->n_jobs + 1, sizeof(*c->jobs));
    for (size_t i = 0; c->jobs && i < c->result->n_jobs; i++) {
        const struct topo_workload *w = &t->workloads[c->result->jobs[i].workload];
        struct calls_job *j = &c->jobs[i];
        int partner = c->result->jobs[i].partner;
        if (w->vm_group >= 0 || !schedule_runs(c->result, &c->result->jobs[i]) ||
            (partner >= 0 && !schedule_runs(c->result, &c->result->jobs[partner])))
            continue;
        *j = (struct calls_job){.source = {c, (uint32_t)i, -1}, .event.run = job_event, .stream = {-1, -1}};
        j->work.workload = w;
        if (partner >= 0 && c->result->jobs[i].writes) {
            j->driver = &c->jobs[partner];
            continue;
        }
        j->target = partner >= 0 ? &c->jobs[partner] : NULL;
        workload_init(&j->work, w, seed_of(c, i, w->name), WORKLOAD_SPAN);
        c->busy += j->work.stop == PS_NEVER;
        eventq_set(c->queue, &j->event, j->work.start);
    }
    return c->jobs != NULL;
}

static bool group_init(struct calls *c, size_t i)
{
    const struct topo *t = c->topo;
    const struct topo_vm_group *from = &t->vm_groups[i];
    struct calls_group *g = &c->groups[i];
    size_t first = 0;
    while (first < c->result->n_jobs && c->result->jobs[first].workload != from->workload)
        first++;
    *g = (struct calls_group){.calls = c, .group = from, .launch.run = launch};
    g->vms = calloc(from->n_vms + (size_t)1, sizeof(*g->vms));
    if (!g->vms)
        return false;
    for (uint32_t v = 0; v < from->n_vms; v++) {
        uint32_t job = (uint32_t)first + (uint32_t)from->mounts[v];
        g->vms[v] = (struct calls_vm){.source = {c, job, (int32_t)i}, .event.run = vm_event, .started = -1};
        g->vms[v].absent = !schedule_runs(c->result, &c->result->jobs[job]);
        if (g->vms[v].absent)
            continue;
        vm_init(&g->vms[v].vm, from, v, random_at(seed_of(c, job, from->name), v));
        c->busy += !from->length;
    }
    eventq_set(c->queue, &g->launch, from->start);
    return true;
}

static bool groups_init(struct calls *c)
{
    c->groups = calloc(c->topo->n_vm_groups + 1, sizeof(*c->groups));
    for (size_t i = 0; c->groups && i < c->topo->n_vm_groups; i++)
        if (!group_init(c, i))
            return false;
    return c->groups != NULL;
}

/* ---- the run ---- */

static void end_slice(struct calls *c, ps_t now)
{
    struct result *r = c->result;
    if (c->slices == r->n_slices) {
        schedule_join_slices(r, c->slices);
        c->slices /= 2;
    }
    if (now < (ps_t)(c->slices + 1) * r->slice)
        return;
    for (size_t d = 0; d < r->n_links; d++) {
        double most = (double)c->topo->links[d / 2].rate / 8 * (double)r->slice / 1e12;
        r->links[d].over_time[c->slices] = (float)((double)c->links[d].slice_bytes / most);
        c->links[d].slice_bytes = 0;
    }
    c->slices++;
}

/* Gives what the links carried since the last time to a phase. */
static void count_links(struct calls *c, ps_t now)
{
    int phase = schedule_phase(c->result, now - 1, 0);
    for (size_t d = 0; d < c->result->n_links; d++) {
        struct link_count *from = &c->links[d].count;
        if (phase >= 0) {
            struct link_count *to = &c->counts[(size_t)phase * c->result->n_links + d];
            to->frames += from->frames;
            to->bytes += from->bytes;
            to->bulk_bytes += from->bulk_bytes;
        }
        *from = (struct link_count){0};
    }
}

static ps_t next_boundary(const struct calls *c, ps_t now, ps_t end)
{
    const struct result *r = c->result;
    ps_t at = (ps_t)(c->slices + 1) * r->slice;
    at = at > now ? at : now + r->slice;
    for (unsigned p = 0; p < r->n_phases; p++) {
        if (r->phases[p].start > now && r->phases[p].start < at)
            at = r->phases[p].start;
        if (r->phases[p].end > now && r->phases[p].end < at)
            at = r->phases[p].end;
    }
    return at < end ? at : end;
}

/* False when interrupted. */
static bool drive(struct calls *c, const struct schedule *plan, ps_t *now)
{
    struct result *r = c->result;
    const struct sim_options *o = c->options;
    size_t busy = c->busy;
    bool open_end = plan->end == PS_NEVER;
    *now = 0;
    while (open_end ? c->busy > 0 : *now < plan->end) {
        *now = next_boundary(c, *now, plan->end);
        r->events += eventq_run(c->queue, *now);
        count_links(c, *now);
        end_slice(c, *now);
        if (o->progress)
            o->progress(o->context, *now,
                        open_end ? 1 - (double)c->busy / (double)busy : (double)*now / (double)plan->end);
        if (o->interrupted && *o->interrupted)
            return false;
        if (open_end && eventq_next(c->queue) == PS_NEVER && c->busy)
            break;
    }
    if (open_end)
        *now = c->ended > plan->first ? c->ended : *now;
    return true;
}

static void calls_free(struct calls *c)
{
    for (size_t i = 0; c->groups && i < c->topo->n_vm_groups; i++)
        free(c->groups[i].vms);
    for (size_t i = 0; c->limits && i < c->topo->n_nodes; i++) {
        storage_free(c->limits[i].storage);
        san_free(c->limits[i].san);
        host_cache_free(c->limits[i].cards);
        free(c->limits[i].destager);
    }
    for (size_t i = 0; i < c->n_slabs; i++)
        free(c->slabs[i]);
    eventq_free(c->queue);
    free(c->slabs);
    free(c->groups);
    free(c->jobs);
    free(c->limits);
    free(c->conns);
    free(c->mounts);
    free(c->links);
    free(c->counts);
}

static bool set_up(struct calls *c, char *problem, size_t size)
{
    const struct result *r = c->result;
    c->queue = eventq_new();
    c->links = calls_links_new(c->topo);
    c->counts = calloc(r->n_phases * r->n_links + 1, sizeof(*c->counts));
    return c->queue && c->links && c->counts && limits_init(c, problem, size) && conns_init(c, problem, size) &&
           jobs_init(c) && groups_init(c);
}

struct result *calls_run(struct topo *t, const struct sim_options *o, char *problem, size_t size)
{
    struct calls c = {.topo = t, .options = o};
    struct schedule plan;
    ps_t now;
    bool ok = false;
    snprintf(problem, size, "out of memory");
    c.result = result_new(t, sim_detail_name(SIM_CALL), o->seed, PS_PER_S, SCHEDULE_SLICES);
    if (!c.result)
        return NULL;
    c.result->only_host = o->host;
    if (!schedule_make(c.result, &plan)) {
        snprintf(problem, size, "%s", SIM_NOTHING_TO_RUN);
    } else if (set_up(&c, problem, size)) {
        c.result->complete = drive(&c, &plan, &now);
        schedule_close(c.result, now, c.slices);
        for (size_t i = 0; i < t->n_nodes; i++)
            storage_count_into(c.result, (int)i, c.limits[i].storage);
        schedule_count_links(c.result, c.counts);
        ok = result_trace_paths(c.result) == 0;
        result_finish(c.result);
    }
    calls_free(&c);
    if (ok)
        return c.result;
    result_free(c.result);
    return NULL;
}
