/* NAS controllers: VIPs on a LAG, a single NIC, or a switch-independent team.
 *
 * The controller answers ARP for its VIPs (neighbour discovery for those of IPv6, here and below). On a LAG or a NIC the answer is the interface's address (or the VIP's own). Under a
 * switch-independent team each VIP receives on one NIC, ordinal mod NICs, and the answer is that NIC's address; what the
 * controller sends leaves by the NIC that its transmit rule picks, with *that* NIC's address as source. So each NIC's address
 * is seen at one switch port only. But a NIC that only receives is never seen as a source, the switch forgets it after its
 * ageing time and floods what is sent to it: therefore each NIC sends a frame to itself every second (`learning`), as Linux'
 * balance-alb does.
 *
 * When a VIP changes its place (another controller, or another NIC because its own has failed) gratuitous ARP tells everybody,
 * unless the event says that it doesn't.
 */
#include "emu/fabric/fabric_internal.h"

#include <string.h>

#include "emu/fabric/hot.h"

static struct fabric_box_counters *counters(struct fabric *f, int iface)
{
    return &f->boxes[f->ifaces[iface].box].counters;
}

static bool switch_independent(const struct fabric *f, int team)
{
    return f->topo->teams[team].kind == TOPO_TEAM_NAS_TEAM;
}

void fabric_nas_vip_mac(const struct fabric *f, int vip, uint8_t mac[6])
{
    const struct fabric_vip *v = &f->vips[vip];
    enum topo_origin origin;

    if (v->nic >= 0)
        memcpy(mac, f->topo->ports[v->nic].mac, 6);
    else
        team_mac(f->topo, v->iface, vip, mac, &origin);
}

/* ---- out ---- */

static int pick(struct fabric *f, int iface, const struct train *t)
{
    struct fabric_pick *p = f->ifaces[iface].pick;
    struct fabric_hop *h, *slot;
    int out;

    if (!t->flow)
        return fabric_pick(f, p, t, -1, iface);
    h = fabric_hop_find(f, t, fabric_where_iface(f, iface), 0, &slot);
    if (h)
        return h->out;
    out = fabric_pick(f, p, t, -1, iface);
    if (out >= 0 && !p->bound)
        fabric_hop_put(f, slot, t, fabric_where_iface(f, iface), 0, out);
    return out;
}

FABRIC_HOT void fabric_nas_send(struct fabric *f, int iface, int vip, struct train *t, ps_t now)
{
    enum topo_origin origin;
    int out;

    (void)now;
    t->vlan = f->ifaces[iface].vlan;
    team_mac(f->topo, iface, vip, t->src, &origin);
    out = pick(f, iface, t);
    if (out < 0) {
        fabric_drop(f, t, &counters(f, iface)->no_port_dropped);
        return;
    }
    if (f->teams[f->ifaces[iface].team].sends_nic_mac)
        memcpy(t->src, f->topo->ports[out].mac, 6);
    fabric_port_send(f, out, t, f->ifaces[iface].vlan);
}

/* ---- ARP ---- */

static bool asks_for(const struct train_arp *ask, const struct topo_addr *a)
{
    return a->version == ask->version && memcmp(a->bytes, ask->target_ip, train_ip_bytes(a->version)) == 0;
}

/* An ARP frame about a VIP leaves by the NIC where the VIP receives, with that NIC's address as source (as Linux' balance-alb
 * sends its replies): so every switch on the way learns that address there, not only the first one. */
static void send_arp(struct fabric *f, int vip, struct train *t, ps_t now)
{
    const struct fabric_vip *v = &f->vips[vip];

    if (v->nic >= 0)
        fabric_port_send(f, v->nic, t, f->ifaces[v->iface].vlan);
    else
        fabric_nas_send(f, v->iface, vip, t, now);
}

/* Who has one of our VIPs? */
static void answer(struct fabric *f, int port, const struct train *t, ps_t now)
{
    const struct train_arp *ask = &t->u.arp;
    int team = f->topo->ports[port].team;

    for (size_t v = 0; v < f->topo->n_vips; v++) {
        const struct fabric_vip *vip = &f->vips[v];
        uint8_t mac[6];

        if (!vip->up || vip->iface < 0 || f->ifaces[vip->iface].team != team ||
            f->ifaces[vip->iface].vlan != fabric_tag(t) || !asks_for(ask, &f->topo->vips[v].addr))
            continue;
        fabric_nas_vip_mac(f, (int)v, mac);
        counters(f, vip->iface)->arp_answered++;
        send_arp(f, (int)v,
                 fabric_arp_new(f, ask->version, true, mac, ask->target_ip, ask->sender_mac, ask->sender_ip, now), now);
    }
}

static void announce(struct fabric *f, int vip, ps_t now)
{
    const struct fabric_vip *v = &f->vips[vip];
    const struct topo_vip *topo = &f->topo->vips[vip];
    struct train *t;
    uint8_t mac[6];

    if (!v->up || v->iface < 0)
        return;
    fabric_nas_vip_mac(f, vip, mac);
    t = fabric_arp_new(f, topo->addr.version, false, mac, topo->addr.bytes, NULL, topo->addr.bytes, now);
    send_arp(f, vip, t, now);
}

/* ---- in ---- */

/* The VIP with that destination address on the port's team, in the frame's VLAN, or -1. */
static int vip_of(const struct fabric *f, int port, const struct train *t)
{
    const struct hash_key *key = &t->flow->key;
    int team = f->topo->ports[port].team;

    for (size_t v = 0; v < f->topo->n_vips; v++) {
        const struct fabric_vip *vip = &f->vips[v];
        const struct topo_addr *a = &f->topo->vips[v].addr;

        if (vip->up && vip->iface >= 0 && f->ifaces[vip->iface].team == team && a->version == key->ip_version &&
            memcmp(a->bytes, key->dst, a->version == 4 ? 4 : 16) == 0 && f->ifaces[vip->iface].vlan == fabric_tag(t))
            return (int)v;
    }
    return -1;
}

/* Whether the frame's destination address is ours: the NIC's under a switch-independent team, else that of interface or VIP. */
static bool is_ours(const struct fabric *f, int port, int vip, const struct train *t)
{
    uint8_t mac[6];
    enum topo_origin origin;

    if (switch_independent(f, f->topo->ports[port].team) && memcmp(t->dst, f->topo->ports[port].mac, 6) == 0)
        return true;
    team_mac(f->topo, f->vips[vip].iface, vip, mac, &origin);
    return memcmp(t->dst, mac, 6) == 0;
}

/* ARP of others: requests for VIPs are answered here, replies are for the end point that asked. */
static void arp_in(struct fabric *f, int port, struct train *t, ps_t now)
{
    struct fabric_team *team = &f->teams[f->topo->ports[port].team];

    if (!t->u.arp.reply && fabric_first_copy(team, t))
        answer(f, port, t, now);
    for (int i = 0; t->u.arp.reply && i < team->n_ifaces; i++)
        if (f->ifaces[team->ifaces[i]].vlan == fabric_tag(t)) {
            fabric_deliver(f, team->ifaces[i], t, now);
            return;
        }
    train_release(f->pool, t);
}

FABRIC_HOT void fabric_nas_in(struct wire *w, struct train *t, ps_t now)
{
    struct fabric *f = w->owner;
    int port = w->to;
    struct fabric_box *b = fabric_box_of_port(f, port);
    struct fabric_hop *h, *slot;
    int vip;

    if (t->kind == TRAIN_ARP) {
        arp_in(f, port, t, now);
        return;
    }
    if (t->kind != TRAIN_DATA || !t->flow) {
        train_release(f->pool, t);
        return;
    }
    h = fabric_hop_find(f, t, (uint32_t)port, fabric_tag(t), &slot);
    if (h) {
        fabric_deliver(f, h->out, t, now);
        return;
    }
    vip = vip_of(f, port, t);
    if (vip < 0 || !is_ours(f, port, vip, t)) {
        fabric_drop(f, t, &b->counters.stray_dropped);
        return;
    }
    fabric_hop_put(f, slot, t, (uint32_t)port, fabric_tag(t), f->vips[vip].iface);
    fabric_deliver(f, f->vips[vip].iface, t, now);
}

/* ---- places ---- */

/* The NIC where a VIP receives under a switch-independent team, else -1. */
static int nic_of(const struct fabric *f, int vip)
{
    const struct fabric_vip *v = &f->vips[vip];
    int nic;

    if (v->iface < 0 || !switch_independent(f, f->ifaces[v->iface].team))
        return -1;
    nic = team_receive(&f->ifaces[v->iface].pick->choice, (unsigned)f->topo->vips[vip].ordinal);
    return nic < 0 ? v->nic : nic;
}

void fabric_nas_place(struct fabric *f, int vip, int box, bool garp, ps_t now)
{
    struct fabric_vip *v = &f->vips[vip];

    v->box = box;
    v->iface = box < 0 ? -1 : path_vip_iface(f->topo, vip, box);
    if (v->iface >= 0 && f->ifaces[v->iface].team < 0)
        v->iface = -1;
    v->nic = -1;
    v->nic = nic_of(f, vip);
    f->generation++;
    if (garp)
        announce(f, vip, now);
}

void fabric_nas_team_changed(struct fabric *f, int team, ps_t now)
{
    for (size_t v = 0; v < f->topo->n_vips; v++) {
        int nic;

        if (f->vips[v].iface < 0 || f->ifaces[f->vips[v].iface].team != team)
            continue;
        nic = nic_of(f, (int)v);
        if (nic == f->vips[v].nic)
            continue;
        f->vips[v].nic = nic;
        f->generation++;
        announce(f, (int)v, now);
    }
}

/* Each NIC shows its address to the switch, in each VLAN that the team serves. */
static void learning(struct event *e, ps_t now)
{
    struct fabric_team *team = FABRIC_OF(e, struct fabric_team, learning);
    struct fabric *f = team->fabric;

    for (int i = 0; i < team->n_ifaces; i++) {
        uint16_t vlan = f->ifaces[team->ifaces[i]].vlan;
        bool again = false;

        for (int k = 0; k < i; k++)
            again |= f->ifaces[team->ifaces[k]].vlan == vlan;
        for (size_t p = 0; !again && p < team->topo->n_ports; p++) {
            int port = team->topo->ports[p];
            const uint8_t *mac = f->topo->ports[port].mac;

            if (f->ports[port].usable)
                fabric_port_send(f, port, fabric_control_new(f, TRAIN_NOTIFY, mac, mac, now), vlan);
        }
    }
    eventq_set(f->queue, e, now + team->topo->learning);
}

void fabric_nas_init(struct fabric *f)
{
    const struct topo *t = f->topo;

    for (size_t v = 0; v < t->n_vips; v++) {
        f->vips[v].up = t->vips[v].up;
        fabric_nas_place(f, (int)v, t->vips[v].home, false, 0);
    }
    for (size_t i = 0; i < t->n_teams; i++) {
        struct fabric_team *team = &f->teams[i];

        team->learning.run = learning;
        if (team->topo->kind == TOPO_TEAM_NAS_TEAM && team->topo->learning > 0)
            eventq_set(f->queue, &team->learning, eventq_now(f->queue));
    }
}
