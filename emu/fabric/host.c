/* Hosts: vSwitches, bonds and single NICs. Routers use the same way out.
 *
 * Out: the interface's teaming picks the uplink. Where the rule reads nothing but the interface (port-ID, source MAC, explicit
 * order, one NIC) the answer stands in fabric_iface.uplink; when it changes, the host tells the switches with a broadcast from
 * its new uplink (RARP on ESXi, "notify switches"), so that they don't go on sending to the old one.
 *
 * In: nothing is forwarded from uplink to uplink. A unicast frame for one of the interfaces is taken on any active uplink, a
 * broadcast once: on the uplink that the interface uses where there is one, otherwise the first copy. Own frames that come
 * back are dropped.
 */
#include "emu/fabric/fabric_internal.h"

#include <string.h>

#include "emu/fabric/hot.h"

static bool same_mac(const uint8_t a[6], const uint8_t b[6]) { return memcmp(a, b, 6) == 0; }

static struct fabric_box_counters *counters(struct fabric *f, int team)
{
    return &f->boxes[f->topo->teams[team].box].counters;
}

/* ---- out ---- */

/* The uplink of an interface with a fixed rule. */
static int fixed_uplink(struct fabric *f, int iface)
{
    struct fabric_iface *i = &f->ifaces[iface];
    const struct team_choice *c = &i->pick->choice;
    struct train t = {.kind = TRAIN_NOTIFY, .frames = 1};

    for (unsigned k = 0; i->moved >= 0 && k < c->n; k++)
        if (c->port[k] == i->moved && (c->in_use >> k & 1))
            return i->moved;
    memcpy(t.src, i->mac, 6);
    memcpy(t.dst, fabric_broadcast, 6);
    t.vlan = f->ifaces[iface].vlan;
    return fabric_pick(f, i->pick, &t, -1, iface);
}

void fabric_host_uplinks(struct fabric *f, int team, ps_t now)
{
    const struct fabric_team *t = &f->teams[team];

    for (int k = 0; k < t->n_ifaces; k++) {
        int iface = t->ifaces[k], uplink;
        struct fabric_iface *i = &f->ifaces[iface];

        if (!i->pick->fixed)
            continue;
        uplink = fixed_uplink(f, iface);
        if (uplink == i->uplink)
            continue;
        i->uplink = uplink;
        f->generation++;
        if (now >= 0 && uplink >= 0 && i->pick->choice.teaming->notify)
            fabric_port_send(f, uplink, fabric_control_new(f, TRAIN_NOTIFY, i->mac, fabric_broadcast, now),
                             f->ifaces[iface].vlan);
    }
}

/* The port for a train whose source address is set, from the cache where possible. */
static int uplink_of(struct fabric *f, int iface, const struct train *t)
{
    struct fabric_iface *i = &f->ifaces[iface];
    struct fabric_hop *h, *slot;
    int out;

    if (i->pick->fixed)
        return i->uplink;
    if (!t->flow)
        return fabric_pick(f, i->pick, t, -1, iface);
    h = fabric_hop_find(f, t, fabric_where_iface(f, iface), 0, &slot);
    if (h)
        return h->out;
    out = fabric_pick(f, i->pick, t, -1, iface);
    /* Buckets that are bound by load are bound anew. */
    if (out >= 0 && !i->pick->bound)
        fabric_hop_put(f, slot, t, fabric_where_iface(f, iface), 0, out);
    return out;
}

/* balance-tlb and balance-alb: each frame carries its NIC's address; in alb ARP replies tell each client one of them. Neighbour
 * discovery is left as it is: the driver balances what it receives for IPv4 only. */
static void own_addresses(struct fabric *f, int team, int port, struct train *t)
{
    if (t->kind == TRAIN_ARP && t->u.arp.reply && t->u.arp.version == 4) {
        int nic = fabric_balance_receive(f, team, t->u.arp.target_ip);

        if (nic >= 0)
            memcpy(t->u.arp.sender_mac, f->topo->ports[nic].mac, 6);
    }
    memcpy(t->src, f->topo->ports[port].mac, 6);
}

FABRIC_HOT void fabric_host_send(struct fabric *f, int iface, struct train *t, ps_t now)
{
    struct fabric_iface *i = &f->ifaces[iface];
    struct fabric_team *team = &f->teams[i->team];
    const struct team_choice *c = &i->pick->choice;
    int out;

    (void)now;
    t->vlan = f->ifaces[iface].vlan;
    out = uplink_of(f, iface, t);
    if (out < 0) {
        fabric_drop(f, t, &counters(f, i->team)->no_port_dropped);
        return;
    }
    i->bytes += train_wire_bytes(t);
    if (team->sends_nic_mac)
        own_addresses(f, i->team, out, t);
    for (unsigned k = 0; team->both && k < c->n; k++)
        if (c->port[k] != out && (c->in_use >> k & 1))
            fabric_port_send(f, c->port[k], train_copy(f->pool, t), i->vlan);
    fabric_port_send(f, out, t, f->ifaces[iface].vlan);
}

/* ---- in ---- */

/* Whether the teaming takes in what arrives on this port: any active uplink, or one that is in use. With LACP and in an
 * active-backup bond only the latter. */
static bool takes_in(const struct fabric *f, const struct fabric_iface *i, int port)
{
    const struct team_choice *c = &i->pick->choice;
    const struct topo_team *team = &f->topo->teams[i->team];
    bool strict = team->mode == TOPO_LAG_LACP || (team->kind == TOPO_TEAM_BOND && c->one);

    for (unsigned k = 0; k < c->n; k++)
        if (c->port[k] == port)
            return (k < c->n_active && !strict) || (c->in_use >> k & 1);
    return false;
}

/* Whether the interface takes a broadcast on this port. `first`: no copy of it has come in before. */
static bool takes_group(const struct fabric *f, const struct fabric_iface *i, int port, bool first)
{
    const struct team_choice *c = &i->pick->choice;

    if (i->pick->fixed && !f->teams[i->team].both)
        return port == i->uplink;
    if (f->teams[i->team].sends_nic_mac)
        return c->in_use && port == c->port[__builtin_ctzll(c->in_use)];
    return first && takes_in(f, i, port);
}

static bool is_mine(const struct fabric *f, const struct fabric_team *team, const uint8_t mac[6])
{
    for (int k = 0; k < team->n_ifaces; k++)
        if (same_mac(f->ifaces[team->ifaces[k]].mac, mac))
            return true;
    for (size_t k = 0; k < team->topo->n_ports; k++)
        if (same_mac(f->topo->ports[team->topo->ports[k]].mac, mac))
            return true;
    return false;
}

/* The interface for a unicast frame, or -1. */
static int addressed(const struct fabric *f, const struct fabric_team *team, int port, const struct train *t)
{
    bool nic = team->sends_nic_mac && same_mac(f->topo->ports[port].mac, t->dst);

    for (int k = 0; k < team->n_ifaces; k++) {
        int iface = team->ifaces[k];

        if (f->ifaces[iface].vlan == fabric_tag(t) && (nic || same_mac(f->ifaces[iface].mac, t->dst)) &&
            takes_in(f, &f->ifaces[iface], port))
            return iface;
    }
    return -1;
}

static void take(struct fabric *f, int iface, struct train *t, ps_t now)
{
    f->ifaces[iface].bytes += train_wire_bytes(t);
    if (f->ifaces[iface].neighbours)
        fabric_router_in(f, iface, t, now);
    else
        fabric_deliver(f, iface, t, now);
}

static void group_in(struct fabric *f, struct fabric_team *team, int port, struct train *t, ps_t now)
{
    bool first = fabric_first_copy(team, t);
    int last = -1;

    for (int k = 0; k < team->n_ifaces; k++) {
        int iface = team->ifaces[k];

        if (f->ifaces[iface].vlan != fabric_tag(t) || !takes_group(f, &f->ifaces[iface], port, first))
            continue;
        if (last >= 0)
            take(f, last, train_copy(f->pool, t), now);
        last = iface;
    }
    if (last >= 0)
        take(f, last, t, now);
    else
        fabric_drop(f, t, &f->boxes[team->topo->box].counters.stray_dropped);
}

FABRIC_HOT void fabric_host_in(struct wire *w, struct train *t, ps_t now)
{
    struct fabric *f = w->owner;
    int port = w->to;
    int index = f->topo->ports[port].team, iface;
    struct fabric_team *team = &f->teams[index];
    struct fabric_hop *slot = NULL, *h = NULL;

    if (!fabric_enter(f, port, t))
        return;
    if (t->kind == TRAIN_BEACON || t->kind == TRAIN_NOTIFY) {
        if (t->kind == TRAIN_BEACON)
            fabric_beacon_heard(f, port, t, now);
        train_release(f->pool, t);
        return;
    }
    if (t->flow && (h = fabric_hop_find(f, t, (uint32_t)port, fabric_tag(t), &slot))) {
        take(f, h->out, t, now);
        return;
    }
    if (team->n_ifaces == 0 || is_mine(f, team, t->src)) {
        fabric_drop(f, t, &counters(f, index)->stray_dropped);
        return;
    }
    if (train_group_mac(t->dst)) {
        group_in(f, team, port, t, now);
        return;
    }
    iface = addressed(f, team, port, t);
    if (iface < 0) {
        fabric_drop(f, t, &counters(f, index)->stray_dropped);
        return;
    }
    if (slot)
        fabric_hop_put(f, slot, t, (uint32_t)port, fabric_tag(t), iface);
    take(f, iface, t, now);
}
