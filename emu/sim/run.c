/* Builds a run and drives it. */
#include "emu/sim/run.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "emu/fabric/fabric.h"
#include "emu/model/path.h"
#include "emu/model/topology_file.h"
#include "emu/sim/calls.h"
#include "emu/sim/fluid.h"
#include "emu/model/schedule.h"
#include "emu/model/storage.h"
#include "emu/sim/raise.h"
#include "emu/sim/sim.h"

enum { STEPS = 1000 }; /* looks at the interrupt flag per run */
#define STALLED (600 * PS_PER_S)

static const char *const detail_names[] = {"fluid", "train", "frame", "call"};
_Static_assert(sizeof(detail_names) / sizeof(detail_names[0]) == SIM_CALL + 1, "a name per detail");

const char *sim_detail_name(enum sim_detail detail) { return detail_names[detail]; }

bool sim_detail_find(const char *name, enum sim_detail *detail)
{
    for (int i = 0; i <= SIM_CALL; i++)
        if (strcmp(name, detail_names[i]) == 0) {
            *detail = (enum sim_detail)i;
            return true;
        }
    return false;
}

enum sim_detail sim_detail_of(const struct topo *t)
{
    enum sim_detail detail = t->n_vm_groups ? SIM_CALL : SIM_TRAIN;
    if (t->detail)
        sim_detail_find(t->detail, &detail);
    return detail;
}

struct sim_fault {
    struct event event;
    struct sim *sim;
    const struct topo_event *what;
};

/* ---- faults ---- */

static void fault(struct event *e, ps_t now)
{
    struct sim_fault *f = SIM_CONTAINER(e, struct sim_fault, event);
    struct sim *s = f->sim;
    const struct topo_event *w = f->what;
    fabric_apply(s->fabric, w, now);
    if (w->what == TOPO_EV_LINK_STATE || w->what == TOPO_EV_BOX_STATE)
        for (size_t i = 0; i < s->n_conns; i++)
            for (int k = 0; k < 2; k++)
                tcp_nic_lost(&s->conns[i].end[k], now);
    if (w->what == TOPO_EV_BOX_STATE)
        server_controller(s, w->box, w->up, now);
    if (w->what != TOPO_EV_VIP_MOVE && w->what != TOPO_EV_BOX_STATE)
        return;
    /* A controller that has lost an address or its power has lost the connections as well. */
    for (size_t i = 0; i < s->n_conns; i++) {
        struct sim_conn *c = &s->conns[i];
        if (c->server_iface < 0)
            continue;
        int box = s->topo->ifaces[c->server_iface].box;
        bool moved = w->what == TOPO_EV_VIP_MOVE && c->vip == w->vip && fabric_vip_box(s->fabric, c->vip) != box;
        bool off = w->what == TOPO_EV_BOX_STATE && !w->up && box == w->box;
        if (moved || off)
            rpc_server_gone(s, c);
    }
}

static bool faults_init(struct sim *s)
{
    const struct topo *t = s->topo;
    s->faults = calloc(t->n_events + 1, sizeof(*s->faults));
    for (size_t i = 0; s->faults && i < t->n_events; i++) {
        s->faults[i] = (struct sim_fault){.event.run = fault, .sim = s, .what = &t->events[i]};
        eventq_set(s->queue, &s->faults[i].event, t->events[i].at);
    }
    return s->faults != NULL;
}

static void heartbeat(struct event *e, ps_t now)
{
    struct sim *s = SIM_CONTAINER(e, struct sim, heartbeat);
    rpc_heartbeat(s, now);
    eventq_set(s->queue, e, now + PS_PER_S);
}

/* ---- connections ---- */

static void flow_key(const struct topo *t, const struct flow *f, bool to_server, struct train_flow *out)
{
    const struct topo_iface *i = &t->ifaces[f->iface];
    const struct topo_addr *client = &i->addr, *server = &t->vips[f->vip].addr;
    struct hash_flow h = {.ip_version = client->version, .proto = 6};
    memcpy(h.src, to_server ? client->bytes : server->bytes, sizeof(h.src));
    memcpy(h.dst, to_server ? server->bytes : client->bytes, sizeof(h.dst));
    h.sport = to_server ? f->sport : f->dport;
    h.dport = to_server ? f->dport : f->sport;
    if (to_server) {
        memcpy(h.smac, i->mac, sizeof(h.smac));
        h.port_id = i->port_id;
    }
    hash_key_flow(&out->key, &h);
}

static bool connection_init(struct sim *s, struct sim_conn *c, const struct flow *f)
{
    const struct topo *t = s->topo;
    const struct topo_mount *m = &t->mounts[f->mount];
    c->sim = s;
    c->mount = (uint32_t)f->mount;
    c->job = UINT32_MAX;
    c->iface = f->iface;
    c->vip = f->vip;
    c->server_iface = -1;
    c->box = t->vips[f->vip].home;
    rpc_init(c);
    for (int k = 0; k < 2; k++) {
        int iface = k == SIM_CLIENT ? f->iface : t->vips[f->vip].iface;
        tcp_init(&c->end[k], &s->tcp, &s->ifaces[iface].tcp);
        c->end[k].side = (unsigned)k;
        c->end[k].ipv6 = t->vips[f->vip].addr.version == 6;
        c->flow[k].id = (uint32_t)(2 * (c - s->conns) + k);
        c->flow[k].owner = c;
        flow_key(t, f, k == SIM_TO_SERVER, &c->flow[k]);
    }
    const struct topo_addr *hop = m->gateway_iface >= 0 ? &t->ifaces[m->gateway_iface].addr : &t->vips[f->vip].addr;
    c->arp = host_arp(s, f->iface, hop->bytes);
    return c->arp != NULL;
}

/* Marks the mounts whose connections are needed: those with jobs that run, and those that they share with. */
static void mark_needed(const struct sim *s, bool *needed)
{
    const struct topo *t = s->topo;
    for (size_t i = 0; i < s->result->n_jobs; i++) {
        if (schedule_runs(s->result, &s->result->jobs[i]))
            needed[schedule_owner(t, s->result->jobs[i].mount)] = true;
    }
}

static void assign_jobs(struct sim *s)
{
    for (size_t i = s->result->n_jobs; i-- > 0;) {
        const struct result_job *j = &s->result->jobs[i];
        const struct sim_mount *m = &s->mounts[j->mount];
        for (uint32_t k = 0; k < m->n_conns; k++) {
            struct sim_conn *c = &s->conns[m->first_conn + k];
            c->job = (uint32_t)i;
            c->bulk[SIM_TO_SERVER] |= j->writes;
            c->bulk[SIM_TO_CLIENT] |= j->reads;
        }
    }
}

static bool connections_init(struct sim *s)
{
    const struct topo *t = s->topo;
    struct flow *flows = NULL;
    bool ok = false, *needed = calloc(t->n_mounts + 1, sizeof(*needed));
    s->mounts = calloc(t->n_mounts + 1, sizeof(*s->mounts));
    long n = flow_list(t, &flows);
    if (!needed || !s->mounts || n < 0)
        goto out;
    mark_needed(s, needed);
    for (long i = 0; i < n; i++)
        s->n_conns += needed[flows[i].mount];
    s->conns = calloc(s->n_conns + 1, sizeof(*s->conns));
    if (!s->conns)
        goto out;
    size_t at = 0;
    for (long i = 0; i < n; i++) {
        if (!needed[flows[i].mount])
            continue;
        struct sim_mount *m = &s->mounts[flows[i].mount];
        if (m->n_conns++ == 0)
            m->first_conn = (uint32_t)at;
        if (!connection_init(s, &s->conns[at++], &flows[i]))
            goto out;
    }
    for (size_t i = 0; i < t->n_mounts; i++) {
        int m = schedule_owner(t, (int)i);
        s->mounts[i].owner = (uint32_t)m;
        s->mounts[i].first_conn = s->mounts[m].first_conn;
        s->mounts[i].n_conns = s->mounts[m].n_conns;
    }
    assign_jobs(s);
    ok = true;
out:
    free(needed);
    free(flows);
    return ok;
}

/* ---- the run ---- */

static void send_tcp(void *context, struct tcp *t, struct train *n, ps_t now)
{
    struct sim_conn *c = t->side == SIM_CLIENT ? SIM_CONTAINER(t, struct sim_conn, end[SIM_CLIENT])
                                               : SIM_CONTAINER(t, struct sim_conn, end[SIM_SERVER]);
    host_send(context, c, (int)t->side, n, now);
}

static struct sim *sim_new(struct topo *t, const struct sim_options *o, char *problem, size_t size)
{
    struct sim *s = calloc(1, sizeof(*s));
    snprintf(problem, size, "out of memory");
    if (!s) {
        topo_free(t);
        return NULL;
    }
    s->options = o;
    s->result = result_new(t, sim_detail_name(o->detail), o->seed, PS_PER_S, SCHEDULE_SLICES);
    if (!s->result) {
        free(s);
        return NULL;
    }
    s->topo = t;
    s->result->only_host = o->host;
    s->queue = eventq_new();
    s->trains = train_pool_new();
    s->tcp = (struct tcp_world){
        .queue = s->queue,
        .trains = s->trains,
        .frames = o->detail == SIM_FRAME,
        .send = send_tcp,
        .receive = rpc_tcp_receive,
        .notice = rpc_tcp_notice,
        .context = s,
        .pool = tcp_pool_new(),
    };
    s->heartbeat.run = heartbeat;
    return s;
}

static void sim_free(struct sim *s)
{
    if (!s)
        return;
    fabric_free(s->fabric);
    host_free(s);
    job_free(s);
    rpc_free(s);
    server_free(s);
    measure_free(s);
    free(s->conns);
    free(s->mounts);
    free(s->faults);
    tcp_pool_free(s->tcp.pool);
    train_pool_free(s->trains);
    eventq_free(s->queue);
    free(s);
}

/* Everything but the schedule. */
static bool build(struct sim *s, char *problem, size_t size)
{
    const struct fabric_config config = {
        .seed = s->options->seed,
        .deliver = host_deliver,
        .tap = measure_tap,
        .every_copy = s->options->tap != NULL,
        .context = s,
    };
    if (!s->queue || !s->trains || !s->tcp.pool)
        return false;
    s->fabric = fabric_new(s->topo, s->queue, s->trains, &config);
    return s->fabric && host_init(s) && server_init(s, problem, size) && measure_init(s) && connections_init(s) &&
           job_init(s) && faults_init(s);
}

static bool interrupted(const struct sim_options *o) { return o->interrupted && *o->interrupted; }

/* Runs to the end, to an interruption (false), or until nothing has moved for a long time. Returns when in *now. */
static bool drive(struct sim *s, const struct schedule *plan, ps_t *now)
{
    ps_t first = plan->first, end = plan->end;
    struct result *r = s->result;
    const struct sim_options *o = s->options;
    size_t jobs = s->jobs_left;
    ps_t step = end == PS_NEVER ? r->slice : end / STEPS + 1;
    *now = 0;
    while (*now < end && (end != PS_NEVER || s->jobs_left)) {
        ps_t next = *now + step, slice = (ps_t)(s->slices + 1) * r->slice;
        if (end == PS_NEVER)
            step = r->slice;
        if (next > slice)
            next = slice;
        if (next > end)
            next = end;
        r->events += eventq_run(s->queue, next);
        *now = next;
        measure_slice(s, next);
        if (o->progress)
            o->progress(o->context, next,
                        end == PS_NEVER ? 1 - (double)s->jobs_left / (double)jobs : (double)next / (double)end);
        if (interrupted(o))
            return false;
        if (end == PS_NEVER && next - (s->ended > first ? s->ended : first) > STALLED) {
            result_note(r, "stopped after 10 minutes in which no operation ended; %zu jobs are not done", s->jobs_left);
            break;
        }
    }
    if (end == PS_NEVER && s->jobs_left == 0)
        *now = s->ended;
    return true;
}

static struct result *run_trains(struct topo *t, const struct sim_options *o, char *problem, size_t size)
{
    struct sim *s = sim_new(t, o, problem, size);
    struct result *r = NULL;
    struct schedule plan;
    ps_t now;
    if (!s)
        return NULL;
    if (!schedule_make(s->result, &plan)) {
        snprintf(problem, size, "%s", SIM_NOTHING_TO_RUN);
        goto out;
    }
    if (!build(s, problem, size))
        goto out;
    eventq_set(s->queue, &s->heartbeat, PS_PER_S);
    s->result->complete = drive(s, &plan, &now);
    if (!fabric_conserves(s->fabric, problem, size))
        goto out;
    measure_finish(s, now);
    if (result_trace_paths(s->result) < 0)
        goto out;
    r = s->result;
    s->result = NULL;
out:
    result_free(s->result);
    sim_free(s);
    return r;
}

static bool host_exists(const struct topo *t, const char *host)
{
    for (size_t b = 0; b < t->n_boxes; b++) {
        enum topo_kind kind = t->nodes[t->boxes[b].node].kind;
        if ((kind == TOPO_ESXI || kind == TOPO_LINUX) && strcmp(t->boxes[b].name, host) == 0)
            return true;
    }
    return false;
}

static bool has_host_cache(const struct topo *t)
{
    for (size_t n = 0; n < t->n_nodes; n++)
        if (t->nodes[n].host_cache)
            return true;
    return false;
}

static bool has_iscsi(const struct topo *t)
{
    for (size_t d = 0; d < t->n_datastores; d++)
        if (t->datastores[d].iscsi)
            return true;
    return false;
}

/* A controller of a storage that mirrors writes fails. */
static bool loses_copies(const struct topo *t)
{
    for (size_t i = 0; i < t->n_events; i++) {
        const struct topo_node *n =
            t->events[i].what == TOPO_EV_BOX_STATE ? &t->nodes[t->boxes[t->events[i].box].node] : NULL;
        if (n && n->storage && n->n_boxes > 1 && n->storage->cache.write_back &&
            (n->storage->cache.mirror > 0 || n->storage->cache.mirror_rate > 0) &&
            (n->storage->cache.alone != STORAGE_CACHE || n->storage->cache.failover > 0))
            return true;
    }
    return false;
}

/* Each detail knows some things only. */
static bool suits(const struct topo *t, enum sim_detail detail, char *problem, size_t size)
{
    if (t->n_vm_groups && detail != SIM_CALL)
        snprintf(problem, size, "virtual machines (`vm-groups`) run with --detail call only");
    else if (detail != SIM_CALL && has_iscsi(t))
        snprintf(problem, size, "volumes over iSCSI run with --detail call only");
    else if (detail != SIM_CALL && has_host_cache(t))
        snprintf(problem, size, "caches in hosts (`host-cache`) run with --detail call only");
    else if (t->raise_until && detail == SIM_FLUID)
        snprintf(problem, size, "`raise` needs response times, which fluid has not: take call, train or frame");
    else if (detail == SIM_FLUID && loses_copies(t))
        snprintf(problem, size,
                 "a controller that fails leaves its partner without copies of writes, which fluid has not: take "
                 "train");
    else if (t->n_events && detail == SIM_CALL)
        snprintf(problem, size, "--detail call knows no `events`: take train");
    else
        return true;
    return false;
}

struct result *sim_run(struct topo *t, const struct sim_options *o, char *problem, size_t size)
{
    if (o->host && !host_exists(t, o->host)) {
        snprintf(problem, size, "%s: no host of this name", o->host);
        topo_free(t);
        return NULL;
    }
    if (!suits(t, o->detail, problem, size)) {
        topo_free(t);
        return NULL;
    }
    sim_engine *engine = o->detail == SIM_FLUID ? fluid_run : o->detail == SIM_CALL ? calls_run : run_trains;
    return t->raise_until ? raise_run(t, o, engine, problem, size) : engine(t, o, problem, size);
}
