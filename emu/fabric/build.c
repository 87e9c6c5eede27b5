/* The fabric of a topology: wires and ports first, then teams with the interfaces that ride on them, then boxes. */
#include "emu/fabric/fabric_internal.h"

#include <stdlib.h>
#include <string.h>

#include "emu/model/identity.h"

/* ---- wires ---- */

/* A NIC without team carries nothing. */
static void at_nobody(struct wire *w, struct train *t, ps_t now)
{
    struct fabric *f = w->owner;

    (void)now;
    fabric_drop(f, t, &fabric_box_of_port(f, w->to)->counters.stray_dropped);
}

static void tapped(struct wire *w, const struct train *t, ps_t start)
{
    struct fabric *f = w->owner;

    f->config.tap(f->config.context, w->id, t, start);
}

static wire_arrive *who_is_at(const struct fabric *f, int port)
{
    const struct topo_port *p = &f->topo->ports[port];

    switch (f->boxes[p->box].kind) {
    case TOPO_SWITCH:
        return fabric_switch_in;
    case TOPO_NAS:
        return p->team < 0 ? at_nobody : fabric_nas_in;
    case TOPO_ESXI:
    case TOPO_LINUX:
    case TOPO_ROUTER:
        return p->team < 0 ? at_nobody : fabric_host_in;
    }
    return at_nobody;
}

/* The longest frame. */
enum { QUEUE_VAGUE = 9216 };

/* The queue before a wire. Switches and routers drop what does not fit; a host or a NAS does not drop its own frames but
 * holds the sender back: what waits there is in the sockets' buffers, which bound it. End points that can't be held back have
 * a limit (fabric_config.sender_buffer). */
bool fabric_drops(const struct fabric *f, int linkdir)
{
    switch (f->boxes[f->topo->ports[topo_linkdir_from(f->topo, linkdir)].box].kind) {
    case TOPO_SWITCH:
    case TOPO_ROUTER:
        return true;
    case TOPO_ESXI:
    case TOPO_LINUX:
    case TOPO_NAS:
        break;
    }
    return false;
}

static uint64_t queue_of(const struct fabric *f, int linkdir)
{
    const struct topo_link *l = &f->topo->links[linkdir / 2];
    uint64_t in_time = l->rate / 8 * (uint64_t)(f->config.sender_time / PS_PER_US) / 1000000;

    if (fabric_drops(f, linkdir))
        return l->buffer;
    if (f->config.sender_buffer == 0)
        return UINT64_MAX;
    return f->config.sender_buffer > in_time ? f->config.sender_buffer : in_time;
}

uint64_t fabric_vague(const struct fabric *f) { return f->config.sharp_queues ? 0 : QUEUE_VAGUE; }

static bool make_wires(struct fabric *f)
{
    const struct topo *t = f->topo;
    uint64_t *boxes = identity_of_boxes(t);

    if (!boxes)
        return false;
    for (int d = 0; d < 2 * (int)t->n_links; d++) {
        const struct topo_link *l = &t->links[d / 2];
        const struct wire_config c = {
            .rate = l->rate,
            .delay = l->delay,
            .buffer = queue_of(f, d),
            .vague = fabric_vague(f),
            .seed = random_mix(f->config.seed ^ identity_of_linkdir(t, boxes, d)),
            .arrive = who_is_at(f, topo_linkdir_to(t, d)),
            .tap = f->config.tap ? tapped : NULL,
            .owner = f,
            .id = d,
            .to = topo_linkdir_to(t, d),
        };

        wire_init(&f->wires[d], &c, f->queue, f->pool);
        wire_set_loss(&f->wires[d], l->loss);
        f->link_state[d / 2] = l->down ? TOPO_LINK_DOWN : TOPO_LINK_UP;
        wire_set_down(&f->wires[d], l->down, eventq_now(f->queue));
    }
    for (size_t i = 0; i < t->n_background; i++)
        wire_set_background(&f->wires[t->background[i].linkdir], t->background[i].share);
    free(boxes);
    return true;
}

/* ---- teams and interfaces ---- */

/* How many picks a team needs at most. */
static int picks_of(const struct fabric *f, int team)
{
    const struct topo_team *t = &f->topo->teams[team];
    const struct topo_node *node = &f->topo->nodes[f->topo->boxes[t->box].node];

    if (t->kind == TOPO_TEAM_SWITCH_LAG)
        return node->local_bias && node->members > 1 ? 1 + node->members : 1;
    return 1 + f->teams[team].n_ifaces;
}

static struct fabric_pick *pick_for(struct fabric *f, int team, const struct topo_teaming *teaming)
{
    struct fabric_team *t = &f->teams[team];

    for (int i = 0; i < t->n_picks; i++)
        if (t->picks[i].choice.teaming == teaming)
            return &t->picks[i];
    fabric_pick_init(f, &t->picks[t->n_picks], team, teaming, 0);
    return &t->picks[t->n_picks++];
}

static void make_team(struct fabric *f, int team)
{
    struct fabric_team *t = &f->teams[team];
    int most = picks_of(f, team);

    fabric_pick_init(f, &t->picks[t->n_picks++], team, NULL, 0);
    if (t->topo->kind == TOPO_TEAM_SWITCH_LAG) {
        while (t->n_picks < most) {
            fabric_pick_init(f, &t->picks[t->n_picks], team, NULL, t->n_picks);
            t->n_picks++;
        }
        return;
    }
    for (int i = 0; i < t->n_ifaces; i++) {
        const struct topo_iface *iface = &f->topo->ifaces[t->ifaces[i]];

        f->ifaces[t->ifaces[i]].pick = pick_for(f, team, iface->teaming ? iface->teaming : &t->topo->teaming);
    }
}

static bool make_teams(struct fabric *f)
{
    const struct topo *t = f->topo;
    size_t all = 0;
    int *list = f->lists;
    struct fabric_pick *pick;

    for (size_t i = 0; i < t->n_ifaces; i++) {
        enum topo_origin origin;

        f->ifaces[i].team = t->ifaces[i].team;
        f->ifaces[i].box = t->ifaces[i].box;
        f->ifaces[i].vlan = t->ifaces[i].vlan;
        f->ifaces[i].uplink = f->ifaces[i].moved = -1;
        if (t->ifaces[i].team < 0)
            continue;
        team_mac(t, (int)i, -1, f->ifaces[i].mac, &origin);
        f->teams[t->ifaces[i].team].n_ifaces++;
    }
    for (size_t i = 0; i < t->n_teams; i++) {
        f->teams[i].fabric = f;
        f->teams[i].topo = &t->teams[i];
        f->teams[i].sends_nic_mac = team_sends_nic_mac(t, (int)i);
        f->teams[i].ifaces = list;
        list += f->teams[i].n_ifaces;
        all += (size_t)picks_of(f, (int)i);
        f->teams[i].n_ifaces = 0;
    }
    for (int i = 0; i < (int)t->n_ifaces; i++)
        if (t->ifaces[i].team >= 0) {
            struct fabric_team *team = &f->teams[t->ifaces[i].team];

            team->ifaces[team->n_ifaces++] = i;
        }
    f->picks = pick = calloc(all + 1, sizeof *f->picks);
    if (!f->picks)
        return false;
    for (size_t i = 0; i < t->n_teams; i++) {
        f->teams[i].picks = pick;
        pick += picks_of(f, (int)i);
        make_team(f, (int)i);
    }
    return true;
}

/* ---- boxes ---- */

static bool make_switch(struct fabric *f, int box, int **list)
{
    const struct topo *t = f->topo;
    const struct topo_node *node = &t->nodes[t->boxes[box].node];
    struct fabric_box *b = &f->boxes[box];

    b->mtu = node->mtu;
    b->lports = *list;
    for (int port = t->boxes[box].first_port; port < t->boxes[box].first_port + t->boxes[box].n_ports; port++) {
        int team = t->ports[port].team;
        bool first = true;

        f->ports[port].lport = team >= 0 ? fabric_lport_of_team(f, team) : port;
        for (int i = 0; i < b->n_lports; i++)
            first &= b->lports[i] != f->ports[port].lport;
        if (first && (team >= 0 || f->ports[port].out))
            b->lports[b->n_lports++] = f->ports[port].lport;
    }
    *list += b->n_lports;
    if (node->mlag_peer >= 0 && node->mlag_peer_link >= 0) {
        b->mlag_peer = t->nodes[node->mlag_peer].first_box;
        b->mlag_peer_link = fabric_lport_of_team(f, node->mlag_peer_link);
    }
    return mac_table_init(&b->macs, node->mac_ageing);
}

static bool make_boxes(struct fabric *f)
{
    const struct topo *t = f->topo;
    int *list = f->lists + t->n_ifaces;

    for (size_t i = 0; i < t->n_boxes; i++) {
        f->boxes[i].mlag_peer = f->boxes[i].mlag_peer_link = -1;
        if (f->boxes[i].kind == TOPO_SWITCH && !make_switch(f, (int)i, &list))
            return false;
    }
    fabric_mlag_init(f);
    return true;
}

/* ---- all of it ---- */

static bool allocate(struct fabric *f)
{
    const struct topo *t = f->topo;

    f->wires = calloc(2 * t->n_links + 1, sizeof *f->wires);
    f->ports = calloc(t->n_ports + 1, sizeof *f->ports);
    f->teams = calloc(t->n_teams + 1, sizeof *f->teams);
    f->ifaces = calloc(t->n_ifaces + 1, sizeof *f->ifaces);
    f->vips = calloc(t->n_vips + 1, sizeof *f->vips);
    f->boxes = calloc(t->n_boxes + 1, sizeof *f->boxes);
    f->hops = calloc((size_t)1 << FABRIC_HOP_BITS, sizeof *f->hops);
    f->link_state = calloc(t->n_links + 1, sizeof *f->link_state);
    f->link_from = calloc(t->n_links + 1, sizeof *f->link_from);
    f->lists = calloc(t->n_ifaces + t->n_ports + 1, sizeof *f->lists);
    f->generation = 1;
    return f->wires && f->ports && f->teams && f->ifaces && f->vips && f->boxes && f->hops && f->link_state &&
           f->link_from && f->lists;
}

static bool start(struct fabric *f)
{
    const struct topo *t = f->topo;

    for (size_t i = 0; i < t->n_ports; i++)
        fabric_port_init(f, (int)i);
    for (size_t i = 0; i < t->n_ifaces; i++)
        if (f->ifaces[i].team >= 0 && f->boxes[t->ifaces[i].box].kind == TOPO_ROUTER && !fabric_router_init(f, (int)i))
            return false;
    for (size_t i = 0; i < t->n_teams; i++) {
        if (t->teams[i].kind == TOPO_TEAM_SWITCH_LAG)
            continue;
        if (f->boxes[t->teams[i].box].kind != TOPO_NAS)
            fabric_host_uplinks(f, (int)i, -1);
        if (!fabric_beacons_init(f, (int)i) || !fabric_balance_init(f, (int)i))
            return false;
    }
    fabric_nas_init(f);
    return true;
}

struct fabric *fabric_new(const struct topo *t, struct eventq *queue, struct train_pool *pool,
                          const struct fabric_config *config)
{
    struct fabric *f = calloc(1, sizeof *f);

    if (!f)
        return NULL;
    f->topo = t;
    f->queue = queue;
    f->pool = pool;
    f->config = *config;
    if (!allocate(f))
        goto fail;
    for (size_t i = 0; i < t->n_boxes; i++)
        f->boxes[i].kind = t->nodes[t->boxes[i].node].kind;
    if (!make_wires(f))
        goto fail;
    for (int i = 0; i < (int)t->n_ports; i++) {
        int out = topo_port_out(t, i);

        f->ports[i].fabric = f;
        f->ports[i].index = f->ports[i].lport = i;
        f->ports[i].box = t->ports[i].box;
        f->ports[i].out = out < 0 ? NULL : &f->wires[out];
    }
    if (make_teams(f) && make_boxes(f) && start(f))
        return f;
fail:
    fabric_free(f);
    return NULL;
}

void fabric_free(struct fabric *f)
{
    if (!f)
        return;
    for (size_t i = 0; f->wires && i < 2 * f->topo->n_links; i++)
        wire_close(&f->wires[i]);
    for (size_t i = 0; f->ports && i < f->topo->n_ports; i++)
        eventq_cancel(f->queue, &f->ports[i].change);
    for (size_t i = 0; f->ifaces && i < f->topo->n_ifaces; i++)
        fabric_router_free(f, (int)i);
    for (size_t i = 0; f->teams && i < f->topo->n_teams; i++) {
        eventq_cancel(f->queue, &f->teams[i].learning);
        fabric_beacons_free(f, (int)i);
        fabric_balance_free(f, (int)i);
    }
    for (size_t i = 0; f->boxes && i < f->topo->n_boxes; i++)
        mac_table_free(&f->boxes[i].macs);
    free(f->wires);
    free(f->ports);
    free(f->teams);
    free(f->picks);
    free(f->ifaces);
    free(f->vips);
    free(f->boxes);
    free(f->hops);
    free(f->link_state);
    free(f->link_from);
    free(f->lists);
    free(f);
}
