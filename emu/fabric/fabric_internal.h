/* Private to emu/fabric: what the boxes are made of. docs/fabric.md tells how it hangs together.
 *
 *   build.c      makes all this of a topology
 *   fabric.c     the public functions
 *   port.c       does a port have a link, and since when does its team know: carrier, detection delay, LACP
 *   pick.c       which member of a team takes a frame; a cache of such answers
 *   switch.c     learning, forwarding, flooding; mlag.c: pairs
 *   host.c       vSwitches and bonds; beacon.c, balance.c (load-based teaming, balance-alb)
 *   nas.c        controllers: VIPs, ARP, learning frames, takeover
 *   router.c     layer 3 between subnets
 *   control.c    the frames that boxes make themselves: ARP, notifications, beacons
 *   reason.c     why a flow is on a link
 */
#ifndef EMU_FABRIC_FABRIC_INTERNAL_H
#define EMU_FABRIC_FABRIC_INTERNAL_H

#include <string.h>

#include "emu/fabric/eventq.h"
#include "emu/fabric/fabric.h"
#include "emu/fabric/mac_table.h"
#include "emu/fabric/wire.h"
#include "emu/model/path.h"
#include "emu/model/team_choice.h"

#define FABRIC_OF(pointer, type, member) ((type *)(void *)((char *)(pointer)-offsetof(type, member)))

struct fabric_port {
    struct event change; /* `wanted` becomes `usable` */
    struct fabric *fabric;
    struct wire *out; /* NULL: no cable */
    int index, box;
    int lport; /* of a switch: what it learns and floods by, a LAG or this port */
    bool carrier;
    bool usable; /* as its team (or switch) knows */
    bool wanted;
    bool beacon_lost;
};

/* A teaming that is in force somewhere, with the state of its links. */
struct fabric_pick {
    struct team_choice choice;
    int team;
    bool fixed; /* the rule reads nothing that differs between frames of one interface */
    bool bound; /* buckets are bound by load */
};

struct fabric_beacons; /* beacon.c */
struct fabric_balance; /* balance.c */

struct fabric_team {
    struct fabric *fabric;
    const struct topo_team *topo;
    struct fabric_pick *picks; /* the team's own first; then those of its port groups, or one per chassis of a stack */
    int n_picks;
    int *ifaces; /* that ride on it */
    int n_ifaces;
    uint32_t taken[8]; /* serials of floods that came in lately */
    unsigned next_taken;
    bool both; /* beacons can't tell which of two uplinks fails: everything goes out on both */
    bool sends_nic_mac;
    struct event learning;
    struct fabric_beacons *beacons;
    struct fabric_balance *balance;
    int mlag_partner; /* switch LAG: the LAG of the MLAG peer towards the same team, or -1 */
};

struct fabric_iface {
    int team, box;
    uint16_t vlan;
    struct fabric_pick *pick;
    uint8_t mac[6];
    int uplink;                           /* fixed rules: the port it sends by, -1 = none usable */
    int moved;                            /* load-based teaming: the port that it was moved to, or -1 */
    uint64_t bytes;                       /* sent and received, for load-based teaming */
    struct fabric_neighbours *neighbours; /* router.c */
};

struct fabric_vip {
    int box;   /* -1: nowhere */
    int iface; /* there */
    int nic;   /* port where it receives under a switch-independent team, else -1 */
    bool up;
};

struct fabric_box {
    enum topo_kind kind;
    uint32_t mtu; /* switch: largest frame; 0 = any */
    struct mac_table macs;
    int *lports; /* switch: LAGs and single ports with a cable */
    int n_lports;
    int mlag_peer;      /* box, or -1 */
    int mlag_peer_link; /* lport, or -1 */
    bool off;
    bool local_bias;
    struct fabric_box_counters counters;
};

/* An answer that stays true until the generation changes: a flow at a port (arriving) or interface (sending). */
struct fabric_hop {
    const struct train_flow *flow;
    struct mac_entry *from, *to; /* switches: entries of source and destination */
    uint32_t where;
    uint32_t generation;
    uint8_t src[6], dst[6];
    int32_t out; /* port, or what the box remembers */
    uint16_t tag, tag_out;
};

enum { FABRIC_HOP_BITS = 15 };

struct fabric {
    const struct topo *topo;
    struct eventq *queue;
    struct train_pool *pool;
    struct fabric_config config;
    struct wire *wires; /* by link direction */
    struct fabric_port *ports;
    struct fabric_team *teams;
    struct fabric_pick *picks;
    struct fabric_iface *ifaces;
    struct fabric_vip *vips;
    struct fabric_box *boxes;
    struct fabric_hop *hops; /* 2^FABRIC_HOP_BITS */
    uint32_t generation;
    uint32_t serial;
    enum topo_link_state *link_state;
    int *link_from; /* TOPO_LINK_ONE_WAY: the end whose frames get lost */
    int *lists;     /* memory of teams' ifaces and boxes' lports */
};

static inline int fabric_lport_of_team(const struct fabric *f, int team) { return (int)f->topo->n_ports + team; }
static inline bool fabric_lport_is_team(const struct fabric *f, int lport) { return lport >= (int)f->topo->n_ports; }
static inline int fabric_team_of_lport(const struct fabric *f, int lport) { return lport - (int)f->topo->n_ports; }
static inline struct fabric_box *fabric_box_of_port(const struct fabric *f, int port)
{
    return &f->boxes[f->ports[port].box];
}
/* The VLAN id in the tag that the train carries, 0 = untagged. */
static inline uint16_t fabric_tag(const struct train *t) { return t->tagged ? t->vlan : 0; }
static inline void fabric_retag(struct train *t, uint16_t tag) /* 0: takes it off */
{
    if (t->tagged != (tag != 0)) {
        uint32_t more = tag ? TRAIN_TAG_BYTES : -(uint32_t)TRAIN_TAG_BYTES;

        t->tagged = tag != 0;
        t->frame_bytes += more;
        t->last_bytes += more;
    }
    t->vlan = tag;
}

void fabric_drop(struct fabric *f, struct train *t, uint64_t *counter); /* counts its frames */
/* Counts the boxes that a train has come to, so that a loop ends. False: it is gone. */
static inline bool fabric_enter(struct fabric *f, int port, struct train *t)
{
    if (++t->boxes <= FABRIC_MAX_BOXES)
        return true;
    fabric_drop(f, t, &fabric_box_of_port(f, port)->counters.loop_dropped);
    return false;
}
/* Sends by a port with this tag. */
static inline void fabric_port_send(struct fabric *f, int port, struct train *t, uint16_t tag)
{
    fabric_retag(t, tag);
    wire_send(f->ports[port].out, t);
}
/* Hands the train to the end point: untagged, addressed to the interface. */
void fabric_deliver(struct fabric *f, int iface, struct train *t, ps_t now);
/* Serial number for the copies of a flood. */
static inline void fabric_mark_flood(struct fabric *f, struct train *t)
{
    if (!t->serial)
        t->serial = ++f->serial ? f->serial : ++f->serial;
}

/* build.c: whether the sender of this direction drops what its queue has no room for, and how sharp that limit is. */
bool fabric_drops(const struct fabric *f, int linkdir);
uint64_t fabric_vague(const struct fabric *f);

/* port.c */
void fabric_port_init(struct fabric *f, int port);
/* The link's state has changed: sets wires and carriers. */
void fabric_link_update(struct fabric *f, int link, ps_t now);
void fabric_port_beacon(struct fabric *f, int port, bool lost, ps_t now);
bool fabric_lport_usable(const struct fabric *f, int lport);

/* pick.c */
void fabric_pick_init(struct fabric *f, struct fabric_pick *p, int team, const struct topo_teaming *teaming,
                      int chassis);
/* The port that sends t, or -1. `port_in`: where it came into a switch, or -1; `iface`: that sends it, or -1. */
int fabric_pick(struct fabric *f, struct fabric_pick *p, const struct train *t, int port_in, int iface);
struct fabric_pick *fabric_pick_of_lag(const struct fabric *f, int team, int port_in);
/* A member of the team has become usable or unusable. */
void fabric_team_changed(struct fabric *f, int team, int port, bool usable, ps_t now);
/* Whether a copy of this flood has not come in on the team yet; notes that it has. */
bool fabric_first_copy(struct fabric_team *team, const struct train *t);
/* The cached answer for this train at `where`, or NULL; *slot is where to put a new one. */
static inline struct fabric_hop *fabric_hop_find(struct fabric *f, const struct train *t, uint32_t where, uint16_t tag,
                                                 struct fabric_hop **slot)
{
    uint64_t mixed = ((uint64_t)t->flow->id << 32 | where) * UINT64_C(0x9E3779B97F4A7C15);
    struct fabric_hop *h = &f->hops[mixed >> (64 - FABRIC_HOP_BITS)];

    *slot = h;
    if (h->flow == t->flow && h->where == where && h->generation == f->generation && h->tag == tag &&
        memcmp(h->src, t->src, 6) == 0 && memcmp(h->dst, t->dst, 6) == 0)
        return h;
    return NULL;
}
struct fabric_hop *fabric_hop_put(struct fabric *f, struct fabric_hop *slot, const struct train *t, uint32_t where,
                                  uint16_t tag, int out);
static inline uint32_t fabric_where_iface(const struct fabric *f, int iface)
{
    return (uint32_t)f->topo->n_ports + (uint32_t)iface;
}

/* switch.c, mlag.c */
wire_arrive fabric_switch_in;
void fabric_switch_lport_down(struct fabric *f, int lport);
void fabric_mlag_init(struct fabric *f);
void fabric_mlag_learned(struct fabric *f, int box, uint64_t key, int lport, ps_t now);
/* Whether the peer has seen the address lately; e is then fresh here as well. */
bool fabric_mlag_knows(const struct fabric *f, int box, struct mac_entry *e, ps_t now);
/* Where a frame for lport really goes: lport, the peer link, or -1: nowhere. */
int fabric_mlag_way(const struct fabric *f, int box, int in, int lport);
void fabric_switch_learn(struct fabric *f, int box, uint64_t key, int lport, ps_t now, struct mac_entry **entry);

/* host.c */
void fabric_host_send(struct fabric *f, int iface, struct train *t, ps_t now);
wire_arrive fabric_host_in;
/* Recomputes by which uplink interfaces with a fixed rule send; notifies where one moves, unless now is negative. */
void fabric_host_uplinks(struct fabric *f, int team, ps_t now);

/* beacon.c */
bool fabric_beacons_init(struct fabric *f, int team); /* nothing where no teaming asks for beacons */
void fabric_beacons_free(struct fabric *f, int team);
void fabric_beacon_heard(struct fabric *f, int port, const struct train *t, ps_t now);

/* balance.c */
bool fabric_balance_init(struct fabric *f, int team); /* nothing where no teaming looks at loads */
void fabric_balance_free(struct fabric *f, int team);
void fabric_balance_bind(struct fabric *f, struct fabric_pick *p, const struct hash_key *key);
/* Under balance-alb: the port whose MAC this ARP reply of the team tells its client; else -1. */
int fabric_balance_receive(struct fabric *f, int team, const uint8_t client_ip[4]);

/* nas.c */
void fabric_nas_send(struct fabric *f, int iface, int vip, struct train *t, ps_t now);
wire_arrive fabric_nas_in;
/* The address that ARP gives for a VIP where it is now. */
void fabric_nas_vip_mac(const struct fabric *f, int vip, uint8_t mac[6]);
void fabric_nas_init(struct fabric *f);
void fabric_nas_team_changed(struct fabric *f, int team, ps_t now);
void fabric_nas_place(struct fabric *f, int vip, int box, bool garp, ps_t now);

/* router.c */
bool fabric_router_init(struct fabric *f, int iface);
void fabric_router_free(struct fabric *f, int iface);
void fabric_router_in(struct fabric *f, int iface, struct train *t, ps_t now);

/* control.c: frames of their own, 60 bytes, ready at `now`. */
enum { FABRIC_MIN_FRAME = 60 };
struct train *fabric_control_new(struct fabric *f, enum train_kind kind, const uint8_t src[6], const uint8_t dst[6],
                                 ps_t now);
/* An ARP packet, or one of neighbour discovery, by the version of the addresses; `to` NULL: to all. src is left to the sender of
 * the frame. */
struct train *fabric_arp_new(struct fabric *f, uint8_t version, bool reply, const uint8_t sender_mac[6],
                             const uint8_t *sender_ip, const uint8_t to[6], const uint8_t *target_ip, ps_t now);
/* The key of a frame as hashes read it, for frames with and without a flow. */
void fabric_key(const struct train *t, struct hash_key *key);

extern const uint8_t fabric_broadcast[6];

#endif
