/* VLANs: does every port on the way take the frames of those who send there. */
#include "emu/model/check_rules.h"

#include <stdlib.h>
#include <string.h>

/* The VLAN that an interface with this tag is in at `port`; 0: the one untagged network, -1: none, its frames are
 * dropped or the answers come back with another tag. */
static int vlan_at(const struct topo *t, int port, uint16_t tag)
{
    uint16_t vlan, back;
    return path_vlan_in(t, port, tag, &vlan) && path_vlan_out(t, port, vlan, &back) && back == tag ? vlan : -1;
}

static const struct topo_vlan *setting(const struct topo *t, int port)
{
    const struct topo_port *p = &t->ports[port];
    return p->team >= 0 && t->teams[p->team].kind == TOPO_TEAM_SWITCH_LAG ? &t->teams[p->team].vlan : &p->vlan;
}

/* Where a frame of this interface may leave: active and standby ports of the teaming in force. */
static size_t ports_of(struct check *c, int iface, int **ports)
{
    const struct topo *t = c->t;
    const struct topo_iface *f = &t->ifaces[iface];
    const struct topo_teaming *teaming;
    size_t n = 0;

    if (f->team < 0)
        return 0;
    teaming = f->teaming ? f->teaming : &t->teams[f->team].teaming;
    *ports = check_alloc(c, teaming->n_active + teaming->n_standby + t->teams[f->team].n_ports, sizeof **ports);
    for (size_t i = 0; i < teaming->n_active; i++)
        (*ports)[n++] = teaming->active[i];
    for (size_t i = 0; i < teaming->n_standby; i++)
        (*ports)[n++] = teaming->standby[i];
    for (size_t i = 0; n == 0 && i < t->teams[f->team].n_ports; i++)
        (*ports)[n++] = t->teams[f->team].ports[i];
    return n;
}

/* Reports the switch ports beneath the interface that don't take its frames: because of the tag as such, or
 * because a trunk lacks this VLAN. */
static void ports_refuse(struct check *c, int iface, bool for_the_tag)
{
    const struct topo *t = c->t;
    const struct topo_iface *f = &t->ifaces[iface];
    struct check_names at = {0};
    const char *hint, *sends;
    char what[128] = "";
    int *ports;
    size_t n = ports_of(c, iface, &ports);

    for (size_t i = 0; i < n; i++) {
        int peer = check_peer_port(t, ports[i]);
        if (peer < 0 || !check_is_switch(t, t->ports[peer].box) || vlan_at(t, peer, f->vlan) >= 0 ||
            (setting(t, peer)->mode == TOPO_VLAN_ACCESS || f->vlan == 0) != for_the_tag)
            continue;
        path_vlan_words(t, peer, what, sizeof what);
        check_names_add(c, &at, t->ports[peer].full);
    }
    if (!at.n)
        return;
    if (!for_the_tag)
        hint = check_text(c, "add VLAN %u to the trunk", f->vlan);
    else if (f->vlan)
        hint = check_text(c, "make the port a trunk that carries VLAN %u, or send untagged", f->vlan);
    else
        hint = "give the interface its VLAN, or the trunk a native one";
    sends = f->vlan ? check_text(c, "sends with the tag of VLAN %u", f->vlan) : "sends untagged frames";
    check_add(c, f->mark, check_iface_name(c, iface), hint, "%s, but %s %s set to %s", sends, check_names_text(c, &at),
              at.n == 1 ? "is" : "are", what);
}

static void vlan_tag(struct check *c)
{
    for (size_t i = 0; i < c->t->n_ifaces; i++)
        if (c->iface_used[i])
            ports_refuse(c, (int)i, true);
}

/* ---- between switches ---- */

/* Whether a frame of the VLAN gets over the cable from `port` to `peer` and stays in the VLAN. */
static bool passes(const struct topo *t, int port, int peer, uint16_t vlan)
{
    uint16_t tag, there;
    return path_vlan_out(t, port, vlan, &tag) && path_vlan_in(t, peer, tag, &there) && there == vlan;
}

/* Switches reached from `box`: in the VLAN, or (vlan -1) over any cable. */
static void flood(struct check *c, int box, int vlan, int *reached, int *queue)
{
    const struct topo *t = c->t;
    size_t head = 0, tail = 0;

    memset(reached, 0, t->n_boxes * sizeof *reached);
    reached[box] = 1;
    queue[tail++] = box;
    while (head < tail) {
        const struct topo_box *b = &t->boxes[queue[head++]];
        for (int p = b->first_port; p < b->first_port + b->n_ports; p++) {
            int peer = check_peer_port(t, p);
            if (peer < 0 || t->links[t->ports[p].link].down || reached[t->ports[peer].box] ||
                !check_is_switch(t, t->ports[peer].box) || (vlan >= 0 && !passes(t, p, peer, (uint16_t)vlan)))
                continue;
            reached[t->ports[peer].box] = 1;
            queue[tail++] = t->ports[peer].box;
        }
    }
}

/* The switches that an interface hangs on, each with the VLAN it is in there; returns how many. */
static size_t switches_of(struct check *c, int iface, int *box, int *vlan)
{
    const struct topo *t = c->t;
    int *ports;
    size_t n = ports_of(c, iface, &ports), found = 0;

    for (size_t i = 0; i < n; i++) {
        int peer = check_peer_port(t, ports[i]), v;
        if (peer < 0 || !check_is_switch(t, t->ports[peer].box))
            continue;
        v = vlan_at(t, peer, t->ifaces[iface].vlan);
        if (v < 0 || (found && box[found - 1] == t->ports[peer].box && vlan[found - 1] == v))
            continue;
        box[found] = t->ports[peer].box;
        vlan[found++] = v;
    }
    return found;
}

/* Cables from a switch that the VLAN reaches to one that it doesn't, on which it is not let through. */
static void report_gaps(struct check *c, const int *in_vlan, const int *any, int vlan)
{
    const struct topo *t = c->t;

    for (size_t i = 0; i < t->n_links; i++) {
        const struct topo_link *l = &t->links[i];
        int a = t->ports[l->port[0]].box, b = t->ports[l->port[1]].box, gap;
        uint16_t tag;
        if (l->down || !check_is_switch(t, a) || !check_is_switch(t, b) || !any[a] || !any[b] ||
            !in_vlan[a] == !in_vlan[b])
            continue;
        gap = path_vlan_out(t, l->port[0], (uint16_t)vlan, &tag) ? l->port[1] : l->port[0];
        check_add(c, t->ports[gap].team >= 0 ? t->teams[t->ports[gap].team].mark : l->mark,
                  t->ports[gap].team >= 0 ? check_team_name(c, t->ports[gap].team) : t->ports[gap].full,
                  check_text(c, "add VLAN %d to the trunk", vlan), "does not pass VLAN %d on the way from %s to %s",
                  vlan, t->boxes[in_vlan[a] ? a : b].name, t->boxes[in_vlan[a] ? b : a].name);
    }
}

/* One pair's switches: every one of the host's must reach one of the NAS's in the VLAN. Starts that were looked at
 * before with the same goal are remembered in `done`. */
struct gap_search {
    int *in_vlan, *any, *queue;
    struct {
        int from, to, vlan;
    } * done;
    size_t n_done, done_capacity;
};

static bool done_before(struct check *c, struct gap_search *s, int from, int to, int vlan)
{
    for (size_t i = 0; i < s->n_done; i++)
        if (s->done[i].from == from && s->done[i].to == to && s->done[i].vlan == vlan)
            return true;
    s->done = arena_grow(c->arena, s->done, s->n_done, &s->done_capacity, sizeof *s->done);
    s->done[s->n_done].from = from;
    s->done[s->n_done].to = to;
    s->done[s->n_done++].vlan = vlan;
    return false;
}

static void pair_gaps(struct check *c, struct gap_search *s, int iface, int nas_iface)
{
    int from[HASH_MEMBERS_MAX], from_vlan[HASH_MEMBERS_MAX], to[HASH_MEMBERS_MAX], to_vlan[HASH_MEMBERS_MAX];
    size_t n = switches_of(c, iface, from, from_vlan), m = switches_of(c, nas_iface, to, to_vlan);

    for (size_t i = 0; i < n && m; i++) {
        bool reached = false, could = false;
        if (done_before(c, s, from[i], to[0], from_vlan[i]))
            continue;
        flood(c, from[i], from_vlan[i], s->in_vlan, s->queue);
        flood(c, from[i], -1, s->any, s->queue);
        for (size_t k = 0; k < m; k++) {
            reached = reached || s->in_vlan[to[k]];
            could = could || s->any[to[k]];
        }
        if (!reached && could)
            report_gaps(c, s->in_vlan, s->any, from_vlan[i]);
    }
}

static void vlan_missing(struct check *c)
{
    const struct topo *t = c->t;
    struct gap_search s = {.in_vlan = check_alloc(c, t->n_boxes, sizeof(int)),
                           .any = check_alloc(c, t->n_boxes, sizeof(int)),
                           .queue = check_alloc(c, t->n_boxes, sizeof(int))};

    for (size_t i = 0; i < t->n_ifaces; i++)
        if (c->iface_used[i])
            ports_refuse(c, (int)i, false);
    for (size_t i = 0; i < c->n_pairs; i++) {
        const struct check_pair *p = &c->pairs[i];
        if (t->mounts[p->mount].gateway_iface < 0 && t->vips[p->vip].iface >= 0)
            pair_gaps(c, &s, p->iface, t->vips[p->vip].iface);
    }
}

static void vlan_differs(struct check *c)
{
    const struct topo *t = c->t;
    int box[HASH_MEMBERS_MAX], mine[HASH_MEMBERS_MAX], theirs[HASH_MEMBERS_MAX];

    for (size_t i = 0; i < c->n_pairs; i++) {
        const struct check_pair *p = &c->pairs[i];
        int nas = t->vips[p->vip].iface;
        if (t->mounts[p->mount].gateway_iface >= 0 || nas < 0 || !switches_of(c, p->iface, box, mine) ||
            !switches_of(c, nas, box, theirs) || mine[0] == theirs[0] || mine[0] == 0 || theirs[0] == 0)
            continue;
        check_add(c, t->ifaces[p->iface].mark, check_iface_name(c, p->iface), "put both ends into one VLAN, or route",
                  "is in VLAN %d at the switch, %s in VLAN %d, though they share a subnet", mine[0],
                  check_iface_name(c, nas), theirs[0]);
    }
}

static void takeover_vlan(struct check *c)
{
    const struct topo *t = c->t;
    int home_box[HASH_MEMBERS_MAX], home[HASH_MEMBERS_MAX], box[HASH_MEMBERS_MAX], there[HASH_MEMBERS_MAX];

    for (size_t v = 0; v < t->n_vips; v++) {
        const struct topo_vip *vip = &t->vips[v];
        int partner = t->boxes[vip->home].takeover, iface;
        size_t n;
        if (!c->vip_mounts[v] || partner < 0 || vip->iface < 0 || !switches_of(c, vip->iface, home_box, home))
            continue;
        iface = path_vip_iface(t, (int)v, partner);
        if (iface < 0) {
            check_add(c, vip->mark, vip->text, "give the partner an interface in that VLAN",
                      "its home is %s; %s, which takes it over, has no interface", t->boxes[vip->home].name,
                      t->boxes[partner].name);
            continue;
        }
        n = switches_of(c, iface, box, there);
        if (n && there[0] == home[0])
            continue;
        if (n)
            check_add(c, vip->mark, vip->text, "give the partner the same VLAN at the switch",
                      "lives in VLAN %d on %s, but %s, which takes it over, is in VLAN %d there", home[0],
                      t->boxes[vip->home].name, t->boxes[partner].name, there[0]);
        else
            check_add(c, vip->mark, vip->text, "give the partner's switch ports the same VLAN",
                      "its home is %s; the switch ports of %s, which takes it over, do not take frames of VLAN %u",
                      t->boxes[vip->home].name, t->boxes[partner].name, t->ifaces[iface].vlan);
    }
}

#define PROVE_VLAN                                                                                     \
    "\n"                                                                                               \
    "Prove it:\n"                                                                                      \
    "\n"                                                                                               \
    "    show interfaces trunk ; show vlan brief      # which VLANs each port carries\n"               \
    "    esxcli network vswitch standard portgroup list\n"                                             \
    "    esxcli network vswitch dvs vmware vlan list  # ESXi's health check of a distributed switch\n" \
    "    vmkping -I vmk1 10.50.0.101                  # from each host, with each uplink alone\n"

// clang-format off
const struct check_rule check_vlan_rules[] = {
    {"vlan-missing", DIAG_ERROR, "a trunk on the way does not carry the VLAN",
     "A host or NAS sends with a VLAN tag, or a switch should pass the VLAN on, and the trunk's list does\n"
     "not have it: the frames are dropped. Where only some of a team's ports lack the VLAN the mount works\n"
     "until the team moves.\n" PROVE_VLAN,
     vlan_missing},
    {"vlan-tag", DIAG_ERROR, "one end sends tagged, the other takes untagged frames only, or the reverse",
     "On a host or NAS `vlan: N` means that frames carry the tag N. An access port of a switch takes\n"
     "untagged frames and adds the tag itself; a trunk without native VLAN takes nothing untagged.\n" PROVE_VLAN,
     vlan_tag},
    {"vlan-differs", DIAG_ERROR, "host and VIP share a subnet but not a VLAN",
     "Their addresses say that they are on one wire; the switch puts them into different VLANs, so ARP is\n"
     "never answered.\n" PROVE_VLAN,
     vlan_differs},
    {"takeover-vlan", DIAG_ERROR, "the controller that takes a VIP over is not in its VLAN",
     "Everything works until the first takeover: the VIP then lives on a port whose switch does not carry\n"
     "its VLAN, and every datastore behind it is gone although the takeover succeeded.\n"
     "\n"
     "Prove it:\n"
     "\n"
     "    show interfaces trunk                        # the ports of both controllers side by side\n"
     "    network interface failover-groups show       # ONTAP: the targets of each LIF\n"
     "    network interface migrate ...                # in a maintenance window: move one unused VIP and ping it\n",
     takeover_vlan},
    {NULL, DIAG_NOTE, NULL, NULL, NULL}};
// clang-format on
