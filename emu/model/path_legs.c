#include "emu/model/path_internal.h"

#include <string.h>

int path_vip_iface(const struct topo *t, int vip, int box)
{
    const struct topo_vip *v = &t->vips[vip];
    int any = -1;

    if (box == v->home)
        return v->iface;
    for (size_t i = 0; i < t->n_ifaces; i++) {
        if (t->ifaces[i].box != box)
            continue;
        if (v->iface >= 0 && t->ifaces[i].vlan == t->ifaces[v->iface].vlan &&
            strcmp(t->ifaces[i].name, t->ifaces[v->iface].name) == 0)
            return (int)i;
        if (any < 0 || (v->iface >= 0 && t->ifaces[any].vlan != t->ifaces[v->iface].vlan))
            any = (int)i;
    }
    return any;
}

/* The interface of `box` whose subnet holds `addr`, or -1. */
static int iface_towards(const struct topo *t, int box, const struct topo_addr *addr)
{
    for (size_t i = 0; i < t->n_ifaces; i++) {
        const struct topo_iface *f = &t->ifaces[i];

        if (f->box == box && f->addr.version == addr->version && topo_addr_same_subnet(&f->addr, addr, f->addr.prefix))
            return (int)i;
    }
    return -1;
}

/* Who receives on the leg: its MAC, and the NIC where frames for a VIP of a switch-independent team arrive. */
static bool receiver(struct path_walk *w, struct path_leg *leg)
{
    const struct topo *t = w->t;
    const struct topo_iface *to = &t->ifaces[leg->to];
    struct team_choice choice;

    leg->to_nic = -1;
    team_mac(t, leg->to, leg->to_vip, leg->mac, &leg->mac_origin);
    if (leg->to_vip < 0 || t->teams[to->team].kind != TOPO_TEAM_NAS_TEAM)
        return true;
    team_choice_init(&choice, t, to->team, to->teaming, 0);
    for (unsigned i = 0; i < choice.n; i++)
        if (!path_port_up(w, choice.port[i], false))
            team_choice_link(&choice, choice.port[i], false);
    leg->to_nic = team_receive(&choice, (unsigned)t->vips[leg->to_vip].ordinal);
    if (leg->to_nic < 0)
        return path_fail(w, PATH_NO_LINK, "no NIC of %s has a link", t->boxes[to->box].name);
    memcpy(leg->mac, t->ports[leg->to_nic].mac, sizeof leg->mac);
    leg->mac_origin = t->ports[leg->to_nic].mac_origin;
    return true;
}

/* Host to VIP, with a router between when the VIP is in another subnet. */
static bool ends(struct path_walk *w, int vip_iface)
{
    const struct topo *t = w->t;
    const struct topo_vip *v = &t->vips[w->flow->vip];
    int near = w->flow->mount < 0 ? -1 : t->mounts[w->flow->mount].gateway_iface, far;

    if (near < 0) {
        w->n_legs = 1;
        w->legs[0] = (struct path_leg){.from = w->flow->iface,
                                       .from_vip = w->flow->from_vip - 1,
                                       .to = vip_iface,
                                       .to_vip = w->flow->to_iface ? -1 : w->flow->vip};
        return true;
    }
    far = iface_towards(t, t->ifaces[near].box, &v->addr);
    if (far < 0)
        return path_fail(w, PATH_NO_ROUTE, "router %s has no interface in the subnet of %s",
                         t->boxes[t->ifaces[near].box].name, v->text);
    w->n_legs = 2;
    w->legs[0] = (struct path_leg){.from = w->flow->iface, .from_vip = -1, .to = near, .to_vip = -1};
    w->legs[1] = (struct path_leg){.from = far, .from_vip = -1, .to = vip_iface, .to_vip = w->flow->vip};
    return true;
}

/* Turns the legs round for the direction NAS to host. */
static void reverse(struct path_walk *w)
{
    struct path_leg first = w->legs[0];

    if (w->n_legs == 2) {
        w->legs[0] = w->legs[1];
        w->legs[1] = first;
    }
    for (int i = 0; i < w->n_legs; i++) {
        struct path_leg leg = w->legs[i];

        w->legs[i].from = leg.to;
        w->legs[i].from_vip = leg.to_vip;
        w->legs[i].to = leg.from;
        w->legs[i].to_vip = leg.from_vip;
    }
}

static void address_packet(struct path_walk *w)
{
    const struct topo_addr *client = flow_client(w->t, w->flow), *server = flow_server(w->t, w->flow);
    bool read = w->direction == FLOW_READ;

    memset(&w->packet, 0, sizeof w->packet);
    w->packet.ip_version = server->version;
    memcpy(w->packet.src, read ? server->bytes : client->bytes, HASH_IP_BYTES);
    memcpy(w->packet.dst, read ? client->bytes : server->bytes, HASH_IP_BYTES);
    w->packet.proto = 6;
    w->packet.sport = read ? w->flow->dport : w->flow->sport;
    w->packet.dport = read ? w->flow->sport : w->flow->dport;
    w->drawn_field = 0;
    if (w->flow->sport_origin == TOPO_DRAWN)
        w->drawn_field = read ? HASH_READS_DST_PORT : HASH_READS_SRC_PORT;
    w->client = w->flow->mount < 0 ? TOPO_GIVEN : w->t->mounts[w->flow->mount].iface_origin;
}

/* The interface that serves, or -1 with the reason. */
static int server(struct path_walk *w)
{
    const struct topo_vip *v = &w->t->vips[w->flow->vip];

    if (w->flow->to_iface)
        return w->flow->to_iface - 1;
    int box = w->state && w->state->vip_box ? w->state->vip_box[w->flow->vip] : v->up ? v->home : -1;
    int iface = box < 0 ? -1 : path_vip_iface(w->t, w->flow->vip, box);
    if (box < 0)
        path_fail(w, PATH_VIP_DOWN, "VIP %s is down", v->text);
    else if (iface < 0)
        path_fail(w, PATH_NO_ROUTE, "%s has no interface for VIP %s", w->t->boxes[box].name, v->text);
    return iface;
}

bool path_legs(struct path_walk *w)
{
    int iface = server(w);

    if (iface < 0 || !ends(w, iface))
        return false;
    if (w->direction == FLOW_READ)
        reverse(w);
    for (int i = 0; i < w->n_legs; i++)
        if (!receiver(w, &w->legs[i]))
            return false;
    address_packet(w);
    return true;
}

void path_start(const struct path_walk *w, int leg, struct path_cursor *c)
{
    const struct topo_iface *from = &w->t->ifaces[w->legs[leg].from];

    *c = (struct path_cursor){.leg = leg, .box = from->box, .port_in = -1, .vlan = from->vlan};
    team_mac(w->t, w->legs[leg].from, w->legs[leg].from_vip, c->smac, &c->smac_origin);
}

/* True when the teaming takes in what arrives on the port: one in use, and a vSwitch any active one. */
static bool takes_in(const struct path_walk *w, const struct topo_iface *to, int port)
{
    struct team_choice choice;
    bool bond = w->t->teams[to->team].kind == TOPO_TEAM_BOND;

    team_choice_init(&choice, w->t, to->team, to->teaming, 0);
    for (unsigned i = 0; i < choice.n; i++)
        if (!path_port_up(w, choice.port[i], false))
            team_choice_link(&choice, choice.port[i], false);
    for (unsigned i = 0; i < choice.n; i++) {
        if (choice.port[i] != port)
            continue;
        return (i < choice.n_active && !(bond && choice.one)) || (choice.in_use >> i & 1);
    }
    return false;
}

bool path_accepts(struct path_walk *w, const struct path_leg *leg, int port, uint16_t tag)
{
    const struct topo *t = w->t;
    const struct topo_iface *to = &t->ifaces[leg->to];

    if (leg->to_nic >= 0 ? port != leg->to_nic : !takes_in(w, to, port))
        return path_fail(w, PATH_BLACKHOLE, "%s doesn't take in frames for %s on %s", t->boxes[to->box].name, to->name,
                         t->ports[port].name);
    if (tag != to->vlan && (tag == 0 || to->vlan == 0))
        return path_fail(w, PATH_NO_ROUTE, "frames arrive at %s %s and %s of %s expects %s", t->ports[port].full,
                         tag ? "tagged" : "untagged", to->name, t->boxes[to->box].name, tag ? "none" : "a tag");
    if (tag != to->vlan)
        return path_fail(w, PATH_NO_ROUTE, "frames arrive at %s in VLAN %u and %s of %s is in VLAN %u",
                         t->ports[port].full, (unsigned)tag, to->name, t->boxes[to->box].name, (unsigned)to->vlan);
    return true;
}
