/* Theory of operation
 *
 * A walk moves a set of branches, one box further in each step. As long as every hop has an index there is one branch. A hop
 * without index opens one branch for each candidate, with that candidate's share; branches that stand at the same place in
 * the same state are one again (the members of a LAG lead to one switch). So the set stays small, and path_walk() and
 * path_shares() see the same hops: the former tells the first branch's, marked conditional while there are others, the latter
 * adds up all of them.
 *
 * What distinguishes branches is what a later hop can read: the box, the frame's VLAN and source MAC, the leg, and the chassis
 * of entry where a stack prefers local members.
 */
#include "emu/model/path.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "emu/model/nfs.h"
#include "emu/model/path_internal.h"

enum { BRANCHES = 64 };

struct branch {
    struct path_cursor at;
    double share;
};

struct branches {
    struct branch b[BRANCHES];
    int n;
};

bool path_fail(struct path_walk *w, enum path_end end, const char *format, ...)
{
    va_list args;

    if (w->end != PATH_OK)
        return false;
    w->end = end;
    va_start(args, format);
    vsnprintf(w->problem, sizeof(((struct path *)0)->problem), format, args);
    va_end(args);
    return false;
}

static bool dir_down(const struct path_walk *w, int linkdir)
{
    return w->state && w->state->linkdir_down ? w->state->linkdir_down[linkdir] : w->t->links[linkdir / 2].down;
}

bool path_port_up(const struct path_walk *w, int port, bool lacp)
{
    int out = topo_port_out(w->t, port);
    bool there, back;

    if (out < 0)
        return false;
    there = dir_down(w, out);
    back = dir_down(w, out ^ 1);
    return lacp ? !there && !back : !there || !back;
}

static bool same_place(const struct path_walk *w, const struct path_cursor *a, const struct path_cursor *b)
{
    const struct topo *t = w->t;

    if (a->arrived != b->arrived)
        return false;
    if (a->arrived)
        return true;
    return a->leg == b->leg && a->box == b->box && a->vlan == b->vlan && (a->port_in < 0) == (b->port_in < 0) &&
           memcmp(a->smac, b->smac, sizeof a->smac) == 0 &&
           (a->port_in < 0 || !t->nodes[t->boxes[a->box].node].local_bias ||
            t->ports[a->port_in].chassis == t->ports[b->port_in].chassis);
}

/* Joins the branch with one that stands at the same place. Past BRANCHES places the last one takes all. */
static void join(const struct path_walk *w, struct branches *all, const struct path_cursor *at, double share)
{
    int i = 0;

    while (i < all->n && !same_place(w, &all->b[i].at, at))
        i++;
    if (i == BRANCHES)
        i--;
    if (i == all->n)
        all->b[all->n++] = (struct branch){*at, 0};
    all->b[i].share += share;
}

static bool decide(struct path_walk *w, const struct path_cursor *c, struct path_hop *hop)
{
    const struct topo_iface *from = &w->t->ifaces[w->legs[c->leg].from];

    if (c->port_in >= 0)
        return path_forward(w, c, hop);
    if (!path_choose(w, c, from->team, from->teaming, 0, hop))
        return false;
    if (c->leg > 0 && hop->n == 1)
        hop->via = PATH_VIA_ROUTE;
    return true;
}

/* The frame leaves by `port`: over the cable and into the next box. */
static bool cross(struct path_walk *w, const struct path_cursor *c, int port, struct path_cursor *next)
{
    const struct topo *t = w->t;
    const struct path_leg *leg = &w->legs[c->leg];
    int out = topo_port_out(t, port), far = topo_linkdir_to(t, out), box = t->ports[far].box;
    uint16_t tag = c->vlan, vlan;
    char words[96];

    if (dir_down(w, out))
        return path_fail(w, PATH_BLACKHOLE, "%s sends into a cable that fails in this direction", t->ports[port].full);
    if (c->port_in >= 0 && !path_vlan_out(t, port, c->vlan, &tag)) {
        path_vlan_words(t, port, words, sizeof words);
        return path_fail(w, PATH_NO_ROUTE, "%s doesn't pass VLAN %u out (%s)", t->ports[port].full, (unsigned)c->vlan,
                         words);
    }
    *next = *c;
    if (c->port_in < 0 && team_sends_nic_mac(t, t->ifaces[leg->from].team)) {
        memcpy(next->smac, t->ports[port].mac, sizeof next->smac);
        next->smac_origin = t->ports[port].mac_origin;
    }
    if (box == t->ifaces[leg->to].box) {
        if (!path_accepts(w, leg, far, tag))
            return false;
        next->arrived = c->leg + 1 == w->n_legs;
        if (!next->arrived)
            path_start(w, c->leg + 1, next);
        return true;
    }
    if (t->nodes[t->boxes[box].node].kind != TOPO_SWITCH)
        return path_fail(w, PATH_NO_ROUTE, "%s leads to %s, which isn't %s and doesn't forward", t->ports[port].full,
                         t->boxes[box].name, t->boxes[t->ifaces[leg->to].box].name);
    if (!path_vlan_in(t, far, tag, &vlan)) {
        path_vlan_words(t, far, words, sizeof words);
        if (tag)
            return path_fail(w, PATH_NO_ROUTE, "%s doesn't pass VLAN %u (%s)", t->ports[far].full, (unsigned)tag,
                             words);
        return path_fail(w, PATH_NO_ROUTE, "%s doesn't pass untagged frames (%s)", t->ports[far].full, words);
    }
    next->box = box;
    next->port_in = far;
    next->vlan = vlan;
    return true;
}

/* One step of all branches. `hop` receives the first one's and has n 0 when none decides; `add` all shares, unless NULL. */
static void step(struct path_walk *w, const struct branches *now, struct branches *next, struct path_hop *hop,
                 void (*add)(void *context, int linkdir, double share), void *context)
{
    struct path_hop another;

    next->n = 0;
    hop->n = 0;
    for (int i = 0; i < now->n; i++) {
        struct path_hop *its = hop->n == 0 ? hop : &another;

        if (!decide(w, &now->b[i].at, its)) {
            its->n = 0;
            continue;
        }
        for (int k = 0; k < its->n; k++) {
            double share = now->b[i].share * its->share[k];
            struct path_cursor to = {0};

            if (share <= 0)
                continue;
            if (add)
                add(context, topo_port_out(w->t, its->candidates[k]), share);
            if (cross(w, &now->b[i].at, its->candidates[k], &to) && !to.arrived)
                join(w, next, &to, share);
        }
    }
    if (now->n > 1) {
        hop->conditional = true;
        hop->index = hop->linkdir = -1;
    }
}

static bool begin(struct path_walk *w, struct branches *b)
{
    b->n = 0;
    if (!path_legs(w))
        return false;
    b->n = 1;
    b->b[0].share = 1;
    path_start(w, 0, &b->b[0].at);
    return true;
}

enum path_end path_walk(const struct topo *t, const struct path_state *state, const struct flow *flow,
                        enum flow_direction direction, bool explain, struct path *out)
{
    struct path_walk w = {
        .t = t, .state = state, .flow = flow, .direction = direction, .explain = explain, .problem = out->problem};
    struct branches sets[2];
    int now = 0;

    out->n_hops = 0;
    out->problem[0] = '\0';
    begin(&w, &sets[0]);
    while (sets[now].n > 0) {
        struct path_hop *hop = &out->hops[out->n_hops];

        if (out->n_hops == PATH_MAX_HOPS) {
            path_fail(&w, PATH_LOOP, "more than %d hops: the frame goes in circles", PATH_MAX_HOPS);
            break;
        }
        step(&w, &sets[now], &sets[!now], hop, NULL, NULL);
        out->n_hops += hop->n > 0;
        now = !now;
    }
    out->end = w.end;
    return out->end;
}

void path_shares(const struct topo *t, const struct path_state *state, const struct flow *flow,
                 enum flow_direction direction, void (*add)(void *context, int linkdir, double share), void *context)
{
    char problem[sizeof(((struct path *)0)->problem)];
    struct path_walk w = {.t = t, .state = state, .flow = flow, .direction = direction, .problem = problem};
    struct branches sets[2];
    struct path_hop hop;
    int now = 0;

    begin(&w, &sets[0]);
    for (int hops = 0; sets[now].n > 0 && hops < PATH_MAX_HOPS; hops++, now = !now)
        step(&w, &sets[now], &sets[!now], &hop, add, context);
}

const char *path_label(enum hash_status status, enum topo_origin inputs)
{
    /* Weakest first. */
    if (status == HASH_STATUS_UNKNOWN)
        return "unknown";
    if (inputs == TOPO_DRAWN)
        return "drawn";
    if (inputs == TOPO_ASSUMED)
        return "assumed";
    return hash_status_name(status); /* what is derived from given things is as good as given */
}

double path_goodput(bps_t rate, uint32_t mtu, bool vlan, bool ipv6, bool timestamps, uint64_t block, bool write)
{
    double payload = (double)mtu - (ipv6 ? 60 : 40) - (timestamps ? 12 : 0), frame = (double)mtu + 38 + (vlan ? 4 : 0),
           all = 0;

    if (payload <= 0)
        return 0;
    if (block > 0)
        all = (double)(write ? nfs_call_bytes(NFS_WRITE, block) : nfs_reply_bytes(NFS_READ, block));
    return (double)rate / 8 * payload / frame * (block > 0 ? (double)block / all : 1);
}
