/* Private to path*.c: one walk, its legs, and the cursor that moves along it.
 *
 *   path_legs.c    who sends to whom at layer 2: the legs of a walk (two where a router is between), MACs, receiving NICs
 *   path_choose.c  one team's choice of a port, with label, shares and words
 *   path_switch.c  the way through a switch: VLANs, where the receiver is, the next switch towards it
 *   path.c         the walk itself, over all branches that hops without index open
 */
#ifndef EMU_MODEL_PATH_INTERNAL_H
#define EMU_MODEL_PATH_INTERNAL_H

#include "emu/model/path.h"
#include "emu/model/team_choice.h"
#include "hashes/key.h"

/* One layer-2 leg: from an interface to the MAC of another. */
struct path_leg {
    int from, from_vip; /* interface, and VIP or -1 */
    int to, to_vip;
    int to_nic; /* the only port where that MAC is, or -1: any port that `to` uses */
    uint8_t mac[6];
    enum topo_origin mac_origin;
};

struct path_walk {
    const struct topo *t;
    const struct path_state *state;
    const struct flow *flow;
    enum flow_direction direction;
    bool explain;
    struct path_leg legs[2];
    int n_legs;
    struct hash_flow packet; /* addresses and ports in this direction; MACs and VLAN are the cursor's */
    uint32_t drawn_field;    /* HASH_READS_ of the client's port in this direction, if it is drawn; else 0 */
    enum topo_origin client; /* of the client's address: assumed where several interfaces fit */
    enum path_end end;
    char *problem; /* of 192 bytes */
};

/* Where a frame is: at its sender (port_in -1), or in a switch. */
struct path_cursor {
    int leg, box, port_in;
    bool arrived;
    uint16_t vlan; /* of the frame: the tag at the sender, the VLAN in a switch */
    uint8_t smac[6];
    enum topo_origin smac_origin;
};

/* Notes why the walk can't go on, unless a reason stands there already; returns false. */
bool path_fail(struct path_walk *w, enum path_end end, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* True when `port` has a cable with carrier; a team with LACP also leaves a cable that fails in one direction. */
bool path_port_up(const struct path_walk *w, int port, bool lacp);

/* path_legs.c */
bool path_legs(struct path_walk *w);
void path_start(const struct path_walk *w, int leg, struct path_cursor *c);
/* A frame of this leg arrives on `port` of the receiver with this tag. False, with the reason, when it isn't accepted. */
bool path_accepts(struct path_walk *w, const struct path_leg *leg, int port, uint16_t tag);

/* path_choose.c: fills the hop with the team's usable ports and its choice. `chassis` as in team_choice_init(). */
bool path_choose(struct path_walk *w, const struct path_cursor *c, int team, const struct topo_teaming *teaming,
                 int chassis, struct path_hop *hop);
/* A hop with nothing in it yet: exact, given, no index. */
void path_hop_begin(struct path_hop *hop, int box, int team, enum path_via via);
/* A hop over one port without choice. */
void path_only(const struct topo *t, struct path_hop *hop, int port, enum path_via via);
/* The port by which the receiver of the cursor's leg sends to the other side: where switches learn its MAC. Fills the label
 * of the hop. TEAM_NO_PORT, or TEAM_NO_INDEX when it isn't known. */
int path_learned(struct path_walk *w, const struct path_cursor *c, struct path_hop *hop);

/* path_switch.c: the hop of a switch. */
bool path_forward(struct path_walk *w, const struct path_cursor *c, struct path_hop *hop);

#endif
