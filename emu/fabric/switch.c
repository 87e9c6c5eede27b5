/* A switch: learns where addresses are, per VLAN, and forwards. A stack is one switch.
 *
 * It learns and floods by logical port: a LAG as a whole, or a port. A frame never leaves by the logical port where it came in,
 * and a flood takes one member of each LAG. Within the switch frames are untagged and train.vlan says where they belong; without
 * any VLAN on a port tags pass unchanged (path_vlan_in() and path_vlan_out() are the rules).
 *
 * A train of a flow that was here before costs one look into the cache: the entries of its source (to note that it lives) and
 * destination (is it still known?), the port and the tag.
 */
#include <string.h>

#include "emu/fabric/fabric_internal.h"

#include "emu/fabric/hot.h"

static struct fabric_box_counters *counters(struct fabric *f, int port)
{
    return &fabric_box_of_port(f, port)->counters;
}

static uint64_t key_of(const uint8_t mac[6], uint16_t vlan) { return mac_key(train_mac(mac), vlan); }

/* Drops the frames that are larger than the switch passes; false when nothing is left. */
static bool fits(struct fabric *f, const struct fabric_box *b, struct train **t, uint64_t *giants)
{
    struct train *rest;

    if (b->mtu == 0 || (train_first_bytes(*t) <= b->mtu && (*t)->last_bytes <= b->mtu))
        return true;
    if ((*t)->frames == 1 || (*t)->last_bytes > b->mtu) {
        fabric_drop(f, *t, giants);
        return false;
    }
    rest = train_split(f->pool, *t, (*t)->frames - 1);
    fabric_drop(f, *t, giants);
    *t = rest;
    return true;
}

void fabric_switch_learn(struct fabric *f, int box, uint64_t key, int lport, ps_t now, struct mac_entry **entry)
{
    struct fabric_box *b = &f->boxes[box];
    struct mac_entry *e = mac_table_get(&b->macs, key);
    bool known = mac_known(&b->macs, e, now);

    if (entry)
        *entry = e;
    e->seen = now;
    if (known && e->lport == lport)
        return;
    if (known) {
        b->counters.mac_moves++;
        if (e->former == lport && now - e->moved <= FABRIC_FLAP_WINDOW)
            b->counters.mac_flaps++;
        e->former = e->lport;
        e->moved = now;
    } else {
        b->counters.learned++;
    }
    e->lport = lport;
    f->generation++;
}

void fabric_switch_lport_down(struct fabric *f, int lport)
{
    const struct topo *t = f->topo;
    int box = fabric_lport_is_team(f, lport) ? t->teams[fabric_team_of_lport(f, lport)].box : t->ports[lport].box;

    /* With an MLAG partner the addresses are still there, over the peer link. */
    if (fabric_mlag_way(f, box, -1, lport) == lport)
        mac_table_forget(&f->boxes[box].macs, lport);
    f->generation++;
}

/* The port by which a frame leaves lport, or -1. */
static int port_of(struct fabric *f, int lport, const struct train *t, int in)
{
    int team;

    if (!fabric_lport_is_team(f, lport))
        return f->ports[lport].usable ? lport : -1;
    team = fabric_team_of_lport(f, lport);
    return fabric_pick(f, fabric_pick_of_lag(f, team, in), t, in, -1);
}

static bool is_at(const struct train_arp *ask, const struct topo_addr *a)
{
    return a->version == ask->version && memcmp(a->bytes, ask->target_ip, train_ip_bytes(a->version)) == 0;
}

/* Whether an end box at the other end of a port's cable can have no use for this frame: an ARP request for others. */
static bool bystander(const struct fabric *f, int port, const struct train *t)
{
    const struct topo *topo = f->topo;
    int linkdir = topo_port_out(topo, port), to = topo_linkdir_to(topo, linkdir), box = topo->ports[to].box;
    const struct train_arp *ask = &t->u.arp;

    if (t->kind != TRAIN_ARP || ask->reply ||
        memcmp(ask->target_ip, ask->sender_ip, train_ip_bytes(ask->version)) == 0 || t->frames != 1)
        return false;
    switch (f->boxes[box].kind) {
    case TOPO_ESXI:
    case TOPO_LINUX:
        for (int i = 0; topo->ports[to].team >= 0 && i < f->teams[topo->ports[to].team].n_ifaces; i++)
            if (is_at(ask, &topo->ifaces[f->teams[topo->ports[to].team].ifaces[i]].addr))
                return false;
        return true;
    case TOPO_NAS:
        for (size_t v = 0; v < topo->n_vips; v++)
            if (f->vips[v].box == box && is_at(ask, &topo->vips[v].addr))
                return false;
        return true;
    case TOPO_SWITCH:
    case TOPO_ROUTER:
        break;
    }
    return false;
}

static void pass(struct fabric *f, int port, struct train *t, uint16_t tag)
{
    uint16_t vlan = t->vlan;

    fabric_retag(t, tag);
    wire_pass(f->ports[port].out, t);
    fabric_retag(t, 0);
    t->vlan = vlan;
}

static void flood(struct fabric *f, int in, struct train *t)
{
    struct fabric_box *b = fabric_box_of_port(f, in);
    int from = f->ports[in].lport, box = f->ports[in].box;
    bool unicast = !train_group_mac(t->dst);

    fabric_mark_flood(f, t);
    for (int i = 0; i < b->n_lports; i++) {
        int lport = b->lports[i], out;
        uint16_t tag;

        /* Over the peer link at most once: by itself, not instead of a LAG. */
        if (lport == from || fabric_mlag_way(f, box, from, lport) != lport)
            continue;
        out = port_of(f, lport, t, in);
        if (out < 0 || !path_vlan_out(f->topo, out, t->vlan, &tag))
            continue;
        if (unicast)
            b->counters.flooded_unicast += t->frames;
        if (!f->config.every_copy && bystander(f, out, t))
            pass(f, out, t, tag);
        else
            fabric_port_send(f, out, train_copy(f->pool, t), tag);
    }
    train_release(f->pool, t);
}

/* Sends t to a known destination and notes the way. */
static void forward(struct fabric *f, int in, struct train *t, uint16_t tag_in, struct fabric_hop *slot,
                    struct mac_entry *source, struct mac_entry *to)
{
    struct fabric_box_counters *c = counters(f, in);
    int from = f->ports[in].lport, out;
    int lport = fabric_mlag_way(f, f->ports[in].box, from, to->lport);
    uint16_t tag;

    if (lport < 0 || lport == from) {
        train_release(f->pool, t); /* it is where it came from */
        return;
    }
    out = port_of(f, lport, t, in);
    if (out < 0) {
        fabric_drop(f, t, &c->no_port_dropped);
        return;
    }
    if (!path_vlan_out(f->topo, out, t->vlan, &tag)) {
        fabric_drop(f, t, &c->vlan_dropped);
        return;
    }
    if (slot && source) {
        struct fabric_hop *h = fabric_hop_put(f, slot, t, (uint32_t)in, tag_in, out);

        h->from = source;
        h->to = to;
        h->tag_out = tag;
    }
    fabric_port_send(f, out, t, tag);
}

/* A member of a LAG that isn't up with LACP takes nothing in; a static one has nothing to go by but the link. */
static bool takes_in(const struct fabric *f, int port)
{
    int team = f->topo->ports[port].team;

    return team < 0 || f->topo->teams[team].mode != TOPO_LAG_LACP || f->ports[port].usable;
}

FABRIC_HOT void fabric_switch_in(struct wire *w, struct train *t, ps_t now)
{
    struct fabric *f = w->owner;
    int port = w->to;
    struct fabric_box *b = fabric_box_of_port(f, port);
    struct fabric_hop *h, *slot = NULL;
    struct mac_entry *from = NULL, *to;
    uint16_t tag = fabric_tag(t);

    if (!fabric_enter(f, port, t) || !fits(f, b, &t, &b->counters.giants_dropped))
        return;
    if (t->flow && (h = fabric_hop_find(f, t, (uint32_t)port, tag, &slot)) && mac_known(&b->macs, h->to, now)) {
        h->from->seen = now;
        fabric_port_send(f, h->out, t, h->tag_out);
        return;
    }
    if (!takes_in(f, port)) {
        fabric_drop(f, t, &b->counters.no_port_dropped);
        return;
    }
    if (!path_vlan_in(f->topo, port, tag, &t->vlan)) {
        fabric_drop(f, t, &b->counters.vlan_dropped);
        return;
    }
    if (!train_group_mac(t->src) && f->ports[port].lport != b->mlag_peer_link) {
        uint64_t key = key_of(t->src, t->vlan);

        fabric_switch_learn(f, f->ports[port].box, key, f->ports[port].lport, now, &from);
        fabric_mlag_learned(f, f->ports[port].box, key, f->ports[port].lport, now);
    }
    to = train_group_mac(t->dst) ? NULL : mac_table_find(&b->macs, key_of(t->dst, t->vlan));
    if (to && (mac_known(&b->macs, to, now) || fabric_mlag_knows(f, f->ports[port].box, to, now)))
        forward(f, port, t, tag, slot, from, to);
    else
        flood(f, port, t);
}
