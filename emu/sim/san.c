#include "emu/sim/san.h"

#include <stdio.h>
#include <stdlib.h>

#include "emu/model/iscsi.h"
#include "emu/model/path.h"
#include "emu/model/random.h"
#include "emu/model/storage.h"
#include "emu/model/topology.h"
#include "emu/sim/calls_wire.h"
#include "emu/sim/framing.h"
#include "emu/sim/sim.h"
#include "emu/sim/storage.h"

enum { ISCSI_PORT = 3260, EPHEMERAL = 49152 };

/* Between one controller and one array. */
struct pair {
    uint32_t first, n, turn; /* sessions */
};

struct session {
    struct flow flow;
    struct calls_line line;
};

enum { SLAB = 256 };

struct message {
    struct calls_message on;
    struct event event, *in;
    struct san *san;
    struct message *next; /* while free */
};

struct slab {
    struct slab *next;
    struct message messages[SLAB];
};

struct san {
    const struct topo *topo;
    struct storage_network network;
    struct calls_link *links;
    struct eventq *queue;
    struct message *free_messages;
    struct slab *slabs;
    struct pair *pairs; /* per controller, then per array */
    struct session *sessions;
    size_t n_sessions;
    unsigned controllers;
};

/* The addresses of a box, or of a node; of one zone, or of all (-1). Returns how many; at most `most` are told. */
static size_t addresses(const struct topo *t, int node, int box, int svm, int *out, size_t most)
{
    size_t n = 0;
    for (size_t v = 0; v < t->n_vips; v++) {
        const struct topo_vip *a = &t->vips[v];
        if (a->node != node || (box >= 0 && a->home != box) || (svm >= 0 && a->svm != svm) || !a->up)
            continue;
        if (n < most)
            out[n] = (int)v;
        n++;
    }
    return n;
}

/* The k-th session between two lists of addresses: neighbours differ in both ends. */
static struct flow session_flow(const struct topo *t, const int *from, size_t n_from, const int *to, size_t n_to,
                                size_t k)
{
    int initiator = from[k % n_from], target = to[(k % n_from + k / n_from) % n_to];
    return (struct flow){.mount = -1,
                         .connection = (int)k,
                         .iface = t->vips[initiator].iface,
                         .vip = target,
                         .from_vip = initiator + 1,
                         .sport = (uint16_t)(EPHEMERAL + k % 8192),
                         .dport = ISCSI_PORT,
                         .sport_origin = TOPO_DRAWN};
}

static bool add_pair(struct san *n, const struct topo_san *san, int node, unsigned controller, unsigned member,
                     uint64_t seed, char *problem, size_t size)
{
    enum { MOST = 256 };
    const struct topo *t = n->topo;
    struct pair *p = &n->pairs[(size_t)controller * san->n_members + member];
    int from[MOST], to[MOST], box = t->nodes[node].first_box + (int)controller;
    size_t n_from = addresses(t, node, box, san->svm, from, MOST),
           n_to = addresses(t, san->members[member], -1, -1, to, MOST);
    if (!n_from || !n_to || n_from > MOST || n_to > MOST) {
        snprintf(problem, size, "%s: %zu addresses in the SAN and %zu of %s", t->boxes[box].name, n_from, n_to,
                 t->nodes[san->members[member]].name);
        return false;
    }
    struct session *sessions = realloc(n->sessions, (n->n_sessions + n_from * n_to) * sizeof(*sessions));
    if (!sessions)
        return false;
    n->sessions = sessions;
    *p = (struct pair){.first = (uint32_t)n->n_sessions, .n = (uint32_t)(n_from * n_to)};
    for (size_t k = 0; k < n_from * n_to; k++) {
        struct session *s = &sessions[n->n_sessions++];
        s->flow = session_flow(t, from, n_from, to, n_to, k);
        uint64_t own = random_seed(random_seed(seed, t->vips[s->flow.vip].text), t->vips[s->flow.from_vip - 1].text);
        if (!calls_line_init(&s->line, t, &s->flow, own, problem, size))
            return false;
    }
    return true;
}

struct san *san_new(const struct topo *t, int node, uint64_t seed, struct calls_link *links, char *problem, size_t size)
{
    const struct topo_san *san = t->nodes[node].san;
    struct san *n = calloc(1, sizeof(*n));
    snprintf(problem, size, "out of memory");
    if (!n)
        return NULL;
    n->topo = t;
    n->links = links;
    n->controllers = (unsigned)t->nodes[node].n_boxes;
    n->network.members = (unsigned)san->n_members;
    n->pairs = calloc(n->controllers * san->n_members + 1, sizeof(*n->pairs));
    bool ok = n->pairs != NULL;
    for (unsigned c = 0; ok && c < n->controllers; c++)
        for (unsigned m = 0; ok && m < san->n_members; m++)
            ok = add_pair(n, san, node, c, m, seed, problem, size);
    if (ok)
        return n;
    san_free(n);
    return NULL;
}

void san_free(struct san *n)
{
    if (!n)
        return;
    for (struct slab *s = n->slabs, *next; s; s = next) {
        next = s->next;
        free(s);
    }
    free(n->pairs);
    free(n->sessions);
    free(n);
}

static struct message *message_new(struct san *n)
{
    if (!n->free_messages) {
        struct slab *s = calloc(1, sizeof(*s));
        if (!s)
            abort();
        s->next = n->slabs;
        n->slabs = s;
        for (int i = SLAB - 1; i >= 0; i--) {
            s->messages[i].next = n->free_messages;
            n->free_messages = &s->messages[i];
        }
    }
    struct message *m = n->free_messages;
    n->free_messages = m->next;
    return m;
}

static void go_on(struct message *m)
{
    struct san *n = m->san;
    if (calls_hop(n->links, &m->on)) {
        eventq_set(n->queue, &m->event, m->on.head);
        return;
    }
    eventq_set(n->queue, m->in, m->on.tail);
    m->next = n->free_messages;
    n->free_messages = m;
}

static void arrived(struct event *e, ps_t now)
{
    (void)now;
    go_on(SIM_CONTAINER(e, struct message, event));
}

static void cross(void *context, unsigned controller, unsigned member, bool write, bool there, uint32_t bytes,
                  uint16_t *session, struct event *in, ps_t now)
{
    struct san *n = context;
    struct pair *p = &n->pairs[controller * n->network.members + member];
    if (there)
        *session = (uint16_t)(p->turn++ % p->n);
    struct message *m = message_new(n);
    *m = (struct message){.san = n, .in = in, .event.run = arrived};
    m->on = (struct calls_message){.line = &n->sessions[p->first + *session].line,
                                   .bytes = there ? iscsi_there(write, bytes) : iscsi_back(write, bytes),
                                   .head = now,
                                   .tail = now,
                                   .way = !there,
                                   .bulk = there == write};
    go_on(m);
}

void san_connect(struct san *n, struct storage *s, struct eventq *q)
{
    n->queue = q;
    n->network.context = n;
    n->network.cross = cross;
    storage_connect(s, &n->network);
}

/* ---- as rates ---- */

struct sum {
    san_use *use;
    void *context;
    double wire, frames; /* of a message, per byte */
};

static void add(void *context, int linkdir, double share)
{
    struct sum *s = context;
    s->use(s->context, linkdir, share * s->wire, share * s->frames);
}

void san_uses(const struct san *n, const struct path_state *state, unsigned controller, bool write, double unit,
              san_use *use, void *context)
{
    const struct pair *pairs = &n->pairs[controller * n->network.members];
    for (unsigned m = 0; m < n->network.members; m++)
        for (uint32_t k = 0; k < pairs[m].n; k++) {
            const struct session *s = &n->sessions[pairs[m].first + k];
            double share = 1.0 / pairs[m].n / n->network.members / unit;
            for (int back = 0; back < 2; back++) {
                uint64_t bytes = back ? iscsi_back(write, (uint64_t)unit) : iscsi_there(write, (uint64_t)unit);
                struct framing f = framing_cut(bytes, s->line.mss, s->line.headers);
                struct sum sum = {use, context, share * ((f.frames - 1) * f.first + f.last), share * f.frames};
                path_shares(n->topo, state, &s->flow, back ? FLOW_READ : FLOW_WRITE, add, &sum);
            }
        }
}

void san_mark(const struct san *n, bool *marks)
{
    for (size_t i = 0; i < n->n_sessions; i++)
        for (int w = 0; w < 2; w++)
            for (unsigned h = 0; h < n->sessions[i].line.way[w].n; h++)
                marks[n->sessions[i].line.way[w].hops[h].linkdir] = true;
}
