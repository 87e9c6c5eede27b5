/* The way through a switch.
 *
 * A switch sends a frame to where it has learned the receiver's MAC. That follows from the cables: if all ports of the receiver
 * hang on one LAG, it is that LAG; an MLAG pair's two LAGs towards one receiver count as one, and each of the pair prefers its
 * own. Otherwise it is where the receiver's own team sends (one uplink under port-id or mac-hash), or the one NIC that answers
 * for the MAC. A switch that the place isn't on passes the frame on to the nearest one that it is on, over the LAG or cable that
 * the shortest way begins with. Where several begin a shortest way there is a loop, and which of them spanning tree leaves open
 * is not known: the first by port order is taken, as an assumption.
 */
#include "emu/model/path_internal.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

enum { PLACES = 64, SWITCHES = 256 };

/* A way out of a switch: a LAG, or a port of its own. */
struct way {
    int box;
    int team; /* -1: the port */
    int port; /* one of its ports */
};

struct places {
    struct way way[PLACES];
    int n;
    int groups; /* ways that don't belong to one MLAG pair count as different */
    int group[PLACES];
};

static const struct topo_vlan *vlan_of(const struct topo *t, int port)
{
    int team = t->ports[port].team;

    return team >= 0 && t->teams[team].kind == TOPO_TEAM_SWITCH_LAG ? &t->teams[team].vlan : &t->ports[port].vlan;
}

static bool allowed(const struct topo_vlan *v, uint16_t vlan)
{
    for (size_t i = 0; i < v->n_allowed; i++)
        if (v->allowed[i] == vlan)
            return true;
    return vlan != 0 && vlan == v->native;
}

bool path_vlan_in(const struct topo *t, int port, uint16_t tag, uint16_t *vlan)
{
    const struct topo_vlan *v = vlan_of(t, port);

    switch (v->mode) {
    case TOPO_VLAN_NONE:
        *vlan = tag;
        return true;
    case TOPO_VLAN_ACCESS:
        *vlan = v->access;
        return tag == 0 || tag == v->access;
    case TOPO_VLAN_TRUNK:
        *vlan = tag ? tag : v->native;
        return allowed(v, *vlan);
    }
    return false;
}

bool path_vlan_out(const struct topo *t, int port, uint16_t vlan, uint16_t *tag)
{
    const struct topo_vlan *v = vlan_of(t, port);

    switch (v->mode) {
    case TOPO_VLAN_NONE:
        *tag = vlan;
        return true;
    case TOPO_VLAN_ACCESS:
        *tag = 0;
        return vlan == v->access;
    case TOPO_VLAN_TRUNK:
        *tag = vlan == v->native ? 0 : vlan;
        return allowed(v, vlan);
    }
    return false;
}

void path_vlan_words(const struct topo *t, int port, char *out, size_t size)
{
    const struct topo_vlan *v = vlan_of(t, port);
    size_t at;

    if (v->mode != TOPO_VLAN_TRUNK) {
        snprintf(out, size, v->mode == TOPO_VLAN_ACCESS ? "access VLAN %u" : "no VLAN", (unsigned)v->access);
        return;
    }
    at = (size_t)snprintf(out, size, "trunk of");
    for (size_t i = 0; i < v->n_allowed && at + 1 < size; i++)
        at += (size_t)snprintf(out + at, size - at, "%s%u", i ? "," : " ", (unsigned)v->allowed[i]);
    if (v->native && at + 1 < size)
        snprintf(out + at, size - at, ", native %u", (unsigned)v->native);
}

static bool is_switch(const struct topo *t, int box) { return t->nodes[t->boxes[box].node].kind == TOPO_SWITCH; }

/* The LAG that a switch port belongs to, or -1. */
static int lag_of(const struct topo *t, int port)
{
    int team = t->ports[port].team;

    return team >= 0 && t->teams[team].kind == TOPO_TEAM_SWITCH_LAG ? team : -1;
}

static int far_port(const struct topo *t, int port)
{
    const struct topo_port *p = &t->ports[port];

    return p->link < 0 ? -1 : t->links[p->link].port[!p->end];
}

/* Two boxes of one MLAG pair. */
static bool paired(const struct topo *t, int a, int b)
{
    return t->nodes[t->boxes[a].node].mlag_peer >= 0 && t->nodes[t->boxes[a].node].mlag_peer == t->boxes[b].node;
}

/* Adds the switch's side of the cable at `port` of the receiver. */
static void add_place(const struct path_walk *w, struct places *p, int port)
{
    const struct topo *t = w->t;
    int q = far_port(t, port), group = -1;
    struct way way;

    if (q < 0 || !is_switch(t, t->ports[q].box) || p->n == PLACES)
        return;
    way = (struct way){t->ports[q].box, lag_of(t, q), q};
    if (way.team < 0 && !path_port_up(w, port, false))
        return;
    for (int i = 0; i < p->n; i++) {
        if (way.team >= 0 && p->way[i].team == way.team)
            return;
        if (way.team >= 0 && p->way[i].team >= 0 && paired(t, way.box, p->way[i].box))
            group = p->group[i];
    }
    p->group[p->n] = group >= 0 ? group : p->groups++;
    p->way[p->n++] = way;
}

/* Where the switches know the receiver of this leg to be: all ways that lead to it. */
static void find_places(const struct path_walk *w, const struct path_leg *leg, struct places *p)
{
    const struct topo *t = w->t;
    const struct topo_iface *to = &t->ifaces[leg->to];
    struct team_choice choice;

    p->n = p->groups = 0;
    if (leg->to_nic >= 0) {
        add_place(w, p, leg->to_nic);
        return;
    }
    team_choice_init(&choice, t, to->team, to->teaming, 0);
    for (unsigned i = 0; i < choice.n; i++)
        add_place(w, p, choice.port[i]);
}

/* Keeps only the group that `port` of the receiver hangs on. */
static void keep_group_of(const struct topo *t, struct places *p, int port)
{
    int q = far_port(t, port), keep = -1, n = 0;

    for (int i = 0; i < p->n; i++)
        if (q >= 0 && (p->way[i].team >= 0 ? p->way[i].team == lag_of(t, q) : p->way[i].port == q))
            keep = p->group[i];
    for (int i = 0; i < p->n; i++)
        if (p->group[i] == keep) {
            p->group[n] = 0;
            p->way[n++] = p->way[i];
        }
    p->n = n;
}

static bool any_up(const struct path_walk *w, const struct way *way)
{
    if (way->team < 0)
        return path_port_up(w, way->port, false);
    for (size_t i = 0; i < w->t->teams[way->team].n_ports; i++)
        if (path_port_up(w, w->t->teams[way->team].ports[i], w->t->teams[way->team].mode == TOPO_LAG_LACP))
            return true;
    return false;
}

/* The place on this switch, or NULL. */
static const struct way *place_on(const struct path_walk *w, const struct places *p, int box)
{
    for (int i = 0; i < p->n; i++)
        if (p->way[i].box == box && any_up(w, &p->way[i]))
            return &p->way[i];
    return NULL;
}

static bool same_way(const struct way *a, const struct way *b)
{
    return a->team >= 0 || b->team >= 0 ? a->team == b->team : a->port == b->port;
}

/* A switch that the search has reached, and how the way to it begins. */
struct reached {
    int box, depth;
    struct way first;
};

/* The cable at `port` leads to another switch and passes the VLAN both ways in. */
static bool leads_on(const struct path_walk *w, int port, uint16_t vlan)
{
    int far = far_port(w->t, port);
    uint16_t tag, there;

    return far >= 0 && is_switch(w->t, w->t->ports[far].box) && w->t->ports[far].box != w->t->ports[port].box &&
           path_port_up(w, port, false) && path_vlan_out(w->t, port, vlan, &tag) &&
           path_vlan_in(w->t, far, tag, &there);
}

/* Breadth first from the cursor's switch to the nearest one with a place. False when there is none. */
static bool towards(const struct path_walk *w, const struct path_cursor *c, const struct places *p, struct way *first,
                    bool *ambiguous)
{
    const struct topo *t = w->t;
    struct reached seen[SWITCHES];
    struct way in = {c->box, lag_of(t, c->port_in), c->port_in};
    int n = 1, found = -1;

    seen[0] = (struct reached){.box = c->box};
    *ambiguous = false;
    for (int i = 0; i < n && (found < 0 || seen[i].depth < found); i++) {
        const struct topo_box *b = &t->boxes[seen[i].box];

        for (int port = b->first_port; port < b->first_port + b->n_ports; port++) {
            struct way way = {seen[i].box, lag_of(t, port), port};
            int far, k = 0;

            if (!leads_on(w, port, c->vlan) || (i == 0 && same_way(&way, &in)))
                continue;
            far = t->ports[far_port(t, port)].box;
            if (i > 0)
                way = seen[i].first;
            while (k < n && seen[k].box != far)
                k++;
            if (k < n && k > 0 && seen[k].depth == seen[i].depth + 1 && place_on(w, p, far) &&
                !same_way(&seen[k].first, &way))
                *ambiguous = true;
            if (k < n || n == SWITCHES)
                continue;
            seen[n++] = (struct reached){far, seen[i].depth + 1, way};
            if (!place_on(w, p, far))
                continue;
            if (found >= 0 && !same_way(first, &way))
                *ambiguous = true;
            if (found < 0)
                *first = way;
            found = seen[i].depth + 1;
        }
    }
    return found >= 0;
}

/* The hop over a way of this switch: a LAG's rule, or the port. */
static bool take_way(struct path_walk *w, const struct path_cursor *c, const struct way *way, enum path_via via,
                     struct path_hop *hop)
{
    const struct topo_node *node = &w->t->nodes[w->t->boxes[c->box].node];
    int chassis = node->local_bias && node->members > 1 ? w->t->ports[c->port_in].chassis : 0;

    if (way->team < 0) {
        if (!path_port_up(w, way->port, false))
            return path_fail(w, PATH_NO_LINK, "%s has no link", w->t->ports[way->port].full);
        path_only(w->t, hop, way->port, via);
        return true;
    }
    if (!path_choose(w, c, way->team, NULL, chassis, hop))
        return false;
    if (via == PATH_VIA_MLAG_LOCAL || via == PATH_VIA_PEER_LINK)
        hop->via = via;
    return true;
}

/* The MAC is on one of several ports of this switch, and which one isn't known: no index. */
static bool one_of(struct path_walk *w, const struct path_cursor *c, const struct places *p,
                   const struct path_hop *learned, struct path_hop *hop)
{
    path_hop_begin(hop, c->box, -1, PATH_VIA_MAC);
    hop->status = learned->status;
    hop->inputs = learned->inputs;
    memcpy(hop->why, learned->why, sizeof hop->why);
    for (int i = 0; i < p->n && hop->n < HASH_MEMBERS_MAX; i++)
        if (p->way[i].box == c->box && p->way[i].team < 0)
            hop->candidates[hop->n++] = p->way[i].port;
    for (int i = 0; i < hop->n; i++)
        hop->share[i] = 1.0 / hop->n;
    return hop->n > 0 ||
           path_fail(w, PATH_NO_ROUTE, "where %s has learned the receiver isn't known", w->t->boxes[c->box].name);
}

bool path_forward(struct path_walk *w, const struct path_cursor *c, struct path_hop *hop)
{
    const struct topo *t = w->t;
    const struct path_leg *leg = &w->legs[c->leg];
    struct places places;
    struct path_hop learned;
    const struct way *here;
    struct way first;
    bool several, ambiguous = false, ok;

    path_hop_begin(&learned, c->box, -1, PATH_VIA_MAC);
    find_places(w, leg, &places);
    several = places.groups > 1;
    if (several) {
        int port = path_learned(w, c, &learned);

        if (port == TEAM_NO_PORT)
            return false;
        if (port != TEAM_NO_INDEX)
            keep_group_of(t, &places, port);
        else if (place_on(w, &places, c->box) && place_on(w, &places, c->box)->team < 0)
            return one_of(w, c, &places, &learned, hop);
    }
    here = place_on(w, &places, c->box);
    if (here) {
        bool mlag = places.n > 1 && here->team >= 0 && t->nodes[t->boxes[c->box].node].mlag_peer >= 0;

        ok = take_way(w, c, here, mlag ? PATH_VIA_MLAG_LOCAL : several ? PATH_VIA_MAC : PATH_VIA_ONLY, hop);
    } else if (towards(w, c, &places, &first, &ambiguous)) {
        bool peer = paired(t, c->box, t->ports[far_port(t, first.port)].box);

        ok = take_way(w, c, &first, peer ? PATH_VIA_PEER_LINK : several ? PATH_VIA_MAC : PATH_VIA_ONLY, hop);
    } else {
        return path_fail(w, places.n ? PATH_NO_ROUTE : PATH_NO_LINK, "%s has no way to %s in VLAN %u",
                         t->boxes[c->box].name, t->boxes[t->ifaces[leg->to].box].name, (unsigned)c->vlan);
    }
    if (!ok)
        return false;
    if (several) {
        hop->status = learned.status > hop->status ? learned.status : hop->status;
        hop->inputs = learned.inputs > hop->inputs ? learned.inputs : hop->inputs;
        if (!hop->why[0])
            memcpy(hop->why, learned.why, sizeof hop->why);
    }
    if (ambiguous) {
        hop->inputs = hop->inputs > TOPO_ASSUMED ? hop->inputs : TOPO_ASSUMED;
        if (w->explain && !hop->why[0])
            snprintf(hop->why, sizeof hop->why, "several ways are equally short, spanning tree decides");
    }
    return true;
}
