/* The path function: which link directions does a flow take, and why.
 *
 * One function answers `emu path`, `emu check`, `nfsbal plan`, the fluid solver and the report, and it makes the same
 * calls into `hashes` as the datapath does (team_choice.h), so that explanation and behaviour can't drift apart.
 *
 * A flow is one TCP connection of one mount. Each of its two directions starts at the sender's team (host uplinks or NAS
 * team), crosses switches (and a router, for a VIP in another subnet) and ends at the receiver. At each box one port out
 * of n candidates is chosen; a hop records the choice, the rule, its inputs and how sure the answer is.
 *
 * Labels: the weaker of the policy's status (exact, approximate, reverse-engineered, unknown) and the inputs' origin
 * (given, derived, assumed, drawn). Where an input is drawn (a source port nobody gave, under a layer-4 policy), the policy
 * is unknown or its choice is history (Open vSwitch's buckets), the hop has no index: `index` is -1 and the candidates are
 * likely by their shares.
 */
#ifndef EMU_MODEL_PATH_H
#define EMU_MODEL_PATH_H

#include "emu/model/topology.h"

enum flow_direction { FLOW_WRITE, FLOW_READ }; /* bulk data host to NAS, or NAS to host */

struct flow {
    int mount, connection;         /* connection: 0 .. nconnect * addresses - 1 */
    int iface, vip;                /* client interface, server VIP */
    uint16_t sport, dport;         /* client's and server's port (2049) */
    enum topo_origin sport_origin; /* GIVEN by --sport, else DRAWN (sport then holds a stable stand-in) */
    /* Flows of a storage are no mount's (mount -1) and stay in one subnet. 0: as of a mount. */
    int from_vip; /* 1 + the VIP whose address the client has on `iface`, a controller's */
    int to_iface; /* 1 + the interface that is the server, instead of `vip` */
};

/* The address and the interface (of the VIP's home) of the server. */
static inline const struct topo_addr *flow_server(const struct topo *t, const struct flow *f)
{
    return f->to_iface ? &t->ifaces[f->to_iface - 1].addr : &t->vips[f->vip].addr;
}
static inline const struct topo_iface *flow_server_iface(const struct topo *t, const struct flow *f)
{
    return &t->ifaces[f->to_iface ? f->to_iface - 1 : t->vips[f->vip].iface];
}
static inline const struct topo_addr *flow_client(const struct topo *t, const struct flow *f)
{
    return f->from_vip ? &t->vips[f->from_vip - 1].addr : &t->ifaces[f->iface].addr;
}

/* All flows of the topology in mount order; mounts that share another's connections have none of their own.
 * *flows is allocated (free()). Returns the count, or -ENOMEM. Mounts without VIP or route are left out. */
long flow_list(const struct topo *t, struct flow **flows);

/* What differs from the file at some moment; NULL: as in the file. Where an array is given it is the whole truth. */
struct path_state {
    /* Per link direction. Both directions of a cable down: no carrier, nobody sends there. One alone: a one-way failure
     * that only LACP notices; others go on sending into it. */
    const bool *linkdir_down;
    const int *vip_box; /* per VIP the controller that it lives on now, -1 = down */
};

enum { PATH_MAX_HOPS = 16 };

enum path_via {
    PATH_VIA_ONLY,       /* there is one port */
    PATH_VIA_POLICY,     /* the team's rule */
    PATH_VIA_MAC,        /* where the switch has learned the receiver's MAC */
    PATH_VIA_MLAG_LOCAL, /* own members of a LAG that an MLAG pair shares */
    PATH_VIA_PEER_LINK,  /* no own member is up */
    PATH_VIA_ROUTE       /* a router's way out */
};

struct path_hop {
    int linkdir;                        /* taken; -1 when the hop has no index */
    int box, team;                      /* who chose; team -1: a single port, no choice */
    const struct hash_selector *policy; /* NULL: no choice by rule */
    enum hash_status status;            /* of the policy for these inputs and this n */
    enum topo_origin inputs;            /* weakest input it reads */
    bool observed;                      /* from `observed:`, beats the policy */
    bool conditional;                   /* an earlier hop has no index and decides what is met here: one of several */
    enum path_via via;
    int n, index;  /* usable members and the place of the choice among them, or -1 */
    uint64_t draw; /* flows with the same value at this team must share a member, whichever it is */
    /* Only the first n of each: */
    int candidates[HASH_MEMBERS_MAX]; /* ports, in the rule's order */
    double share[HASH_MEMBERS_MAX];   /* part of this flow, on average, that each candidate gets */
    char why
        [256]; /* the arithmetic in words: "0x0A0A050B xor 0x0A0A0565 = 0x0000006E, mod 4 = 2"; "" unless explained */
};

enum path_end {
    PATH_OK,
    PATH_NO_LINK /* every candidate is down */,
    PATH_BLACKHOLE,
    PATH_NO_ROUTE,
    PATH_LOOP,
    PATH_VIP_DOWN
};

struct path {
    struct path_hop hops[PATH_MAX_HOPS];
    size_t n_hops;
    enum path_end end;
    char problem[192]; /* in words where end is not PATH_OK */
};

/* Walks one direction of a flow. `explain` false leaves `why` empty (faster). Returns out->end. After a hop without index
 * the walk goes on by its first candidate; hops that another candidate would not have met are conditional. */
enum path_end path_walk(const struct topo *t, const struct path_state *state, const struct flow *flow,
                        enum flow_direction direction, bool explain, struct path *out);

/* "exact", "assumed", "drawn", "unknown" ...: the weaker of the two. Derived inputs count as given. */
const char *path_label(enum hash_status status, enum topo_origin inputs);

/* Share of the flow that each link direction carries on average: 1 on known hops, the candidate's share on a hop without
 * index (and conditional shares after it). Calls `add` for each, more than once where ways meet again: shares add up. The
 * solver, the planner and the counts use this. */
void path_shares(const struct topo *t, const struct path_state *state, const struct flow *flow,
                 enum flow_direction direction, void (*add)(void *context, int linkdir, double share), void *context);

/* The interface of controller `box` that would carry the VIP (its home's, or the partner's like it); -1 if none. */
int path_vip_iface(const struct topo *t, int vip, int box);

/* A switch port and a tag (0: none): the VLAN into which a frame comes (0: the one untagged network), the tag with which a
 * frame of that VLAN leaves. False when the port drops it. */
bool path_vlan_in(const struct topo *t, int port, uint16_t tag, uint16_t *vlan);
bool path_vlan_out(const struct topo *t, int port, uint16_t vlan, uint16_t *tag);
void path_vlan_words(const struct topo *t, int port, char *out, size_t size); /* "trunk of 50,60, native 1" */

/* Largest NFS payload rate of a flow on an idle link of `rate`: bytes/s after Ethernet (preamble, gap, FCS, VLAN tag), IP,
 * TCP (timestamps or not) and, for operations of `block` bytes, RPC and NFS headers; block 0: TCP payload.
 * rate/8 * (mtu-40-12ts)/(mtu+38+4vlan) * block/(block+headers); docs/model.md. */
double path_goodput(bps_t rate, uint32_t mtu, bool vlan, bool ipv6, bool timestamps, uint64_t block, bool write);

#endif
