/* The path function: which link directions does a flow take, and why.
 *
 * One function answers `emu path`, `emu check`, `nfsbal plan`, the fluid solver and the report, and it makes the same
 * calls into `hashes` as the datapath does, so that explanation and behaviour can't drift apart (a test holds a run's
 * counters against it).
 *
 * A flow is one TCP connection of one mount. Each of its two directions starts at the sender's team (host uplinks or NAS
 * team), crosses switches (and a router, for a VIP in another subnet) and ends at the receiver. At each box one port out
 * of n candidates is chosen; a hop records the choice, the rule, its inputs and how sure the answer is.
 *
 * Labels: the weaker of the policy's status (exact, approximate, reverse-engineered, unknown) and the inputs' origin
 * (given, derived, assumed, drawn). Where an input is drawn (a source port nobody gave, under a layer-4 policy) or the
 * policy is unknown, the hop has no index: `index` is -1 and every candidate is equally likely.
 */
#ifndef EMU_MODEL_PATH_H
#define EMU_MODEL_PATH_H

#include "emu/model/topology.h"

enum flow_direction { FLOW_WRITE, FLOW_READ }; /* bulk data host to NAS, or NAS to host */

struct flow {
    int mount, connection;         /* connection: 0 .. nconnect-1 */
    int iface, vip;                /* client interface, server VIP */
    uint16_t sport, dport;         /* client's and server's port (2049) */
    enum topo_origin sport_origin; /* GIVEN by --sport, else DRAWN (sport then holds a stable stand-in) */
};

/* All flows of the topology in mount order; mounts that share another's connections have none of their own.
 * *flows is allocated (free()). Returns the count, or -ENOMEM. Mounts without VIP or route are left out. */
long flow_list(const struct topo *t, struct flow **flows);

/* What differs from the file at some moment: links down, VIPs moved. NULL everywhere means: as in the file. */
struct path_state {
    const bool *linkdir_down; /* per link direction, or NULL */
    const int *vip_box;       /* per VIP the controller it lives on now, -1 = down; or NULL */
};

#define PATH_MAX_HOPS 16

struct path_hop {
    int linkdir;                        /* taken; -1 when the hop has no index (then see candidates) */
    int box, team;                      /* who chose; team -1: a single port, no choice */
    const struct hash_selector *policy; /* NULL: no choice */
    enum hash_status status;            /* of the policy for these inputs and this n */
    enum topo_origin inputs;            /* weakest input it reads */
    bool observed;                      /* from `observed:`, beats the policy */
    int n, index;                       /* candidates (usable members) and the choice, or -1 */
    const int *members;                 /* in topo memory: candidate ports in order (before failures) */
    enum { PATH_VIA_ONLY, PATH_VIA_POLICY, PATH_VIA_MAC, PATH_VIA_MLAG_LOCAL, PATH_VIA_PEER_LINK, PATH_VIA_ROUTE } via;
    char why[192]; /* arithmetic in words: "0x0A0A050B xor 0x0A0A0565 = 0x0000006E, mod 4 = 2" */
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
    char problem[160]; /* in words where end is not PATH_OK */
};

/* Walks one direction of a flow. `explain` false leaves `why` empty (faster). Returns out->end. */
enum path_end path_walk(const struct topo *t, const struct path_state *state, const struct flow *flow,
                        enum flow_direction direction, bool explain, struct path *out);

const char *path_label(enum hash_status status,
                       enum topo_origin inputs); /* "exact", "assumed", "drawn", "unknown" ... */

/* Share of the flow that each link direction carries on average: 1 on known hops, 1/n on each candidate of a hop without
 * index (and conditional shares after it). Calls `add` for each. The solver, the planner and the counts use this. */
void path_shares(const struct topo *t, const struct path_state *state, const struct flow *flow,
                 enum flow_direction direction, void (*add)(void *context, int linkdir, double share), void *context);

/* Largest NFS payload rate of a flow on an idle link of `rate`: bytes/s after Ethernet (preamble, gap, FCS, VLAN tag), IP, TCP
 * (timestamps or not) and RPC overhead. Formula: rate/8 * (mtu-40-12ts)/(mtu+38+4vlan) * block/(block+rpc). docs/model.md. */
double path_goodput(bps_t rate, uint32_t mtu, bool vlan, bool timestamps, uint64_t block, bool write);

#endif
