/* NFS calls over the connections of a mount.
 *
 * A call lives in exactly one list: of messages on their way to the server, of a storage station, of messages on their way
 * back, or of calls that wait for a connection. When the client loses its connection all of them go, oldest first, to the
 * last of these and are sent again on the next connection, as every NFS client does. When only the server has forgotten
 * the connection (its address moved away), the client does not know: calls that were in service then stay in the list of
 * answers with an end that never comes, until a reset or a heartbeat's timeout tells it. */
#include "emu/sim/sim.h"

#include <stdlib.h>
#include <string.h>

#define HEARTBEAT_ESXI  (12 * PS_PER_S) /* NFS.HeartbeatFrequency; a GETATTR */
#define HEARTBEAT_LINUX (60 * PS_PER_S) /* TCP keepalive of the RPC client, after timeo */
#define RECONNECT_FIRST (3 * PS_PER_S)  /* Linux XS_TCP_INIT_REEST_TO, doubled per failure */
enum { RECONNECT_DOUBLINGS = 6, SLAB = 512 };

struct rpc_slab {
    struct rpc_slab *next;
    struct rpc items[SLAB];
};
struct operation_slab {
    struct operation_slab *next;
    struct operation items[SLAB];
};

static struct rpc *rpc_new(struct sim *s)
{
    if (!s->free_rpcs) {
        struct rpc_slab *slab = malloc(sizeof(*slab));
        if (!slab)
            abort();
        slab->next = s->slabs;
        s->slabs = slab;
        for (int i = SLAB - 1; i >= 0; i--) {
            slab->items[i].next = s->free_rpcs;
            s->free_rpcs = &slab->items[i];
        }
    }
    struct rpc *r = s->free_rpcs;
    s->free_rpcs = r->next;
    return r;
}

static void rpc_release(struct sim *s, struct rpc *r)
{
    r->next = s->free_rpcs;
    s->free_rpcs = r;
}

static struct operation *operation_new(struct sim *s)
{
    if (!s->free_operations) {
        struct operation_slab *slab = malloc(sizeof(*slab));
        if (!slab)
            abort();
        slab->next = s->operation_slabs;
        s->operation_slabs = slab;
        for (int i = SLAB - 1; i >= 0; i--) {
            slab->items[i].next = s->free_operations;
            s->free_operations = &slab->items[i];
        }
    }
    struct operation *o = s->free_operations;
    s->free_operations = o->next;
    return o;
}

static void operation_release(struct sim *s, struct operation *o)
{
    o->next = s->free_operations;
    s->free_operations = o;
}

void rpc_free(struct sim *s)
{
    for (struct rpc_slab *a = s->slabs, *next; a; a = next) {
        next = a->next;
        free(a);
    }
    for (struct operation_slab *a = s->operation_slabs, *next; a; a = next) {
        next = a->next;
        free(a);
    }
}

/* ---- messages ---- */

/* Puts a message into the stream of one direction; the other end is to call when it is in. */
static void put(struct sim_conn *c, int direction, struct rpc *r, uint64_t bytes, ps_t now)
{
    struct tcp *from = &c->end[direction], *to = &c->end[!direction];
    bool first = !c->message[direction].first;
    rpc_append(&c->message[direction], r);
    r->end = from->end + bytes;
    if (first && to->state != TCP_CLOSED && to->state != TCP_LISTEN)
        to->want = r->end;
    tcp_write(from, bytes, now);
}

/* The first message of a direction is in. */
static struct rpc *get(struct sim_conn *c, int direction)
{
    struct rpc *r = rpc_take(&c->message[direction]), *next = c->message[direction].first;
    c->end[!direction].want = next ? next->end : UINT64_MAX;
    return r;
}

static void put_call(struct sim_conn *c, struct rpc *r, ps_t now)
{
    put(c, SIM_TO_SERVER, r, nfs_call_bytes(r->call, r->bytes), now);
}

static void connect_now(struct sim_conn *c, ps_t now)
{
    c->incarnation++;
    uint64_t iss = random_at(c->sim->options->seed, (uint64_t)(c - c->sim->conns) << 16 | c->incarnation) >> 32;
    tcp_connect(&c->end[SIM_CLIENT], (uint64_t)c->incarnation << 40 | iss, now);
    for (struct rpc *r; (r = rpc_take(&c->waiting));)
        put_call(c, r, now);
}

static void again(struct event *e, ps_t now) { connect_now(SIM_CONTAINER(e, struct sim_conn, again), now); }

void rpc_init(struct sim_conn *c) { c->again.run = again; }

static void send_call(struct sim *s, struct rpc *r, ps_t now)
{
    struct sim_conn *c = r->conn;
    (void)s;
    if (c->out++ == 0)
        c->progress = now;
    if (c->end[SIM_CLIENT].state != TCP_CLOSED) {
        put_call(c, r, now);
        return;
    }
    rpc_append(&c->waiting, r);
    if (!event_pending(&c->again))
        connect_now(c, now);
}

void rpc_operation(struct sim *s, struct sim_job *j, const struct workload_operation *o, ps_t now)
{
    const struct sim_mount *m = &s->mounts[j->mount];
    const struct topo_stack *stack = &s->topo->stacks[s->topo->mounts[j->mount].host];
    uint64_t size = o->write ? stack->wsize : stack->rsize;
    uint32_t calls = (uint32_t)((o->bytes + size - 1) / size);
    struct operation *operation = NULL;
    if (calls > 1) {
        operation = operation_new(s);
        *operation = (struct operation){.bytes = o->bytes, .calls = calls, .write = o->write};
        /* A write that fits into one call is sent file-sync in any case (Linux: FLUSH_COND_STABLE). */
        operation->commit = o->write && !topo_stable(s->topo, j->work.workload, s->topo->mounts[j->mount].host);
    }
    uint64_t left = o->bytes;
    for (uint32_t i = 0; i < calls; i++) {
        uint64_t part = left < size ? left : size;
        struct rpc *r = rpc_new(s);
        *r = (struct rpc){
            .conn = &s->conns[m->first_conn + s->mounts[m->owner].turn++ % m->n_conns],
            .operation = operation,
            .issued = now,
            .job = (uint32_t)(j - s->jobs),
            .bytes = (uint32_t)part,
            .call = o->write ? NFS_WRITE : NFS_READ,
        };
        left -= part;
        send_call(s, r, now);
    }
}

static void answered(struct sim *s, struct rpc *r, ps_t now)
{
    struct sim_conn *c = r->conn;
    struct operation *o = r->operation;
    c->out--;
    c->progress = now;
    if (r->call == NFS_GETATTR) {
        c->beating = false;
    } else if (!o) {
        job_done(s, r, r->call == NFS_WRITE, r->bytes, now);
    } else if (--o->calls == 0) {
        if (o->commit) {
            o->commit = false;
            o->calls = 1;
            r->call = NFS_COMMIT;
            r->bytes = 0;
            send_call(s, r, now);
            return;
        }
        job_done(s, r, o->write, o->bytes, now);
        operation_release(s, o);
    }
    rpc_release(s, r);
}

void rpc_serve_done(struct sim *s, struct rpc *r, ps_t now)
{
    (void)s;
    put(r->conn, SIM_TO_CLIENT, r, nfs_reply_bytes(r->call, r->bytes), now);
}

void rpc_tcp_receive(void *context, struct tcp *t, ps_t now)
{
    struct sim *s = context;
    if (t->side == SIM_SERVER) {
        struct sim_conn *c = SIM_CONTAINER(t, struct sim_conn, end[SIM_SERVER]);
        server_take(s, get(c, SIM_TO_SERVER), now);
    } else {
        struct sim_conn *c = SIM_CONTAINER(t, struct sim_conn, end[SIM_CLIENT]);
        answered(s, get(c, SIM_TO_CLIENT), now);
    }
}

/* ---- connections ---- */

static void move_all(struct rpc_list *from, struct rpc_list *to)
{
    for (struct rpc *r; (r = rpc_take(from));)
        rpc_append(to, r);
}

/* The client has no connection any more. */
static void lost(struct sim *s, struct sim_conn *c, ps_t now, ps_t delay)
{
    struct rpc_list all = {0};
    move_all(&c->message[SIM_TO_CLIENT], &all);
    server_withdraw(s, c, &all);
    move_all(&c->message[SIM_TO_SERVER], &all);
    move_all(&c->waiting, &all);
    c->waiting = all;
    tcp_close(&c->end[SIM_SERVER]);
    c->server_iface = -1;
    if (c->waiting.first)
        eventq_set(s->queue, &c->again, now + delay);
}

void rpc_server_gone(struct sim *s, struct sim_conn *c)
{
    struct rpc_list served = {0};
    server_withdraw(s, c, &served);
    for (struct rpc *r = served.first; r; r = r->next)
        r->end = UINT64_MAX;
    move_all(&served, &c->message[SIM_TO_CLIENT]);
    tcp_close(&c->end[SIM_SERVER]);
    c->server_iface = -1;
}

void rpc_listen(struct sim *s, struct sim_conn *c, int iface)
{
    uint64_t iss = random_at(~s->options->seed, (uint64_t)(c - s->conns) << 16 | c->incarnation) >> 32;
    tcp_listen(&c->end[SIM_SERVER], (uint64_t)c->incarnation << 40 | iss);
    c->server_iface = iface;
    c->box = s->topo->ifaces[iface].box;
    if (c->message[SIM_TO_SERVER].first)
        c->end[SIM_SERVER].want = c->message[SIM_TO_SERVER].first->end;
}

void rpc_tcp_notice(void *context, struct tcp *t, enum tcp_notice what, ps_t now)
{
    struct sim *s = context;
    if (t->side == SIM_SERVER) {
        if (what != TCP_CONNECTED)
            rpc_server_gone(s, SIM_CONTAINER(t, struct sim_conn, end[SIM_SERVER]));
        return;
    }
    struct sim_conn *c = SIM_CONTAINER(t, struct sim_conn, end[SIM_CLIENT]);
    if (what == TCP_CONNECTED) {
        c->failures = 0;
        return;
    }
    /* A connection that worked is made again at once. */
    ps_t delay = c->failures ? RECONNECT_FIRST << (c->failures - 1) : 0;
    if (c->failures < RECONNECT_DOUBLINGS)
        c->failures++;
    lost(s, c, now, delay);
}

/* Asks on connections whose replies do not come, so that a peer that has forgotten them says so. */
void rpc_heartbeat(struct sim *s, ps_t now)
{
    for (size_t i = 0; i < s->n_conns; i++) {
        struct sim_conn *c = &s->conns[i];
        if (c->out == 0 || c->beating || c->end[SIM_CLIENT].state != TCP_ESTABLISHED)
            continue;
        const struct topo *t = s->topo;
        bool esxi = t->nodes[t->boxes[t->mounts[c->mount].host].node].kind == TOPO_ESXI;
        if (now - c->progress < (esxi ? HEARTBEAT_ESXI : HEARTBEAT_LINUX))
            continue;
        struct rpc *r = rpc_new(s);
        *r = (struct rpc){.conn = c, .issued = now, .call = NFS_GETATTR};
        c->beating = true;
        send_call(s, r, now);
    }
}
