/* The fabric: wires, vSwitches, switches, LAGs and NAS teams of one topology, with time passed in.
 *
 * End points (virtual TCP hosts, or TAP devices) hand trains in at an interface and get trains out by one callback. The
 * fabric keeps one event queue; its driver is either the virtual loop (jump to eventq_next()) or libev's timer (sleep
 * until it). Nothing here reads a clock, allocates per frame or uses floating point. How it works: docs/fabric.md.
 *
 * What an end point has to know:
 *   - It sends and gets untagged frames. The fabric adds the tag of the interface's VLAN (and its 4 bytes) and takes it off.
 *   - Hosts do their own ARP: requests and replies go through the fabric as TRAIN_ARP and come out at `deliver`.
 *   - NAS controllers don't: the fabric answers for their VIPs, with the MAC of the receiving NIC. A controller sends to the
 *     MAC from which a client's frames came (t->src of what was delivered); t->src is rewritten to the NIC's.
 *   - Only what is addressed to the interface is delivered; t->dst is then the interface's own MAC.
 */
#ifndef EMU_FABRIC_FABRIC_H
#define EMU_FABRIC_FABRIC_H

#include "emu/fabric/train.h"
#include "emu/model/topology.h"

struct fabric;
struct eventq; /* emu/fabric/eventq.h: shared with the end points so that there is one order of events */

struct fabric_config {
    uint64_t seed;
    bool sharp_queues; /* a queue drops exactly at its limit, as simulators do and switches don't (wire.c) */
    /* Bytes that wait at most before a cable that a host or a NAS sends into, and no less than this time at its rate; 0: no
     * limit. End points that are held back by their NIC need none; a TAP device can't be held back. */
    uint64_t sender_buffer;
    ps_t sender_time;
    /* A train arrives at an end point's interface. Ownership passes. Called at t->head == now; its last frame is in at
     * t->tail. */
    void (*deliver)(void *context, int iface, struct train *t, ps_t now);
    /* A train that was sent on a wire, at its start (<= now) there: for captures. Called when its first frame arrives at the
     * other end or is lost on the way, in order of starts per wire. Not owned. May be NULL. */
    void (*tap)(void *context, int linkdir, const struct train *t, ps_t start);
    /* The tap is for captures: in order of starts. Otherwise broadcast ARP requests to end boxes that can't answer them
     * are counted (and tapped) as they enter the queue and go no further: a thousand hosts that ask for 64 addresses are 64
     * million copies. */
    bool every_copy;
    void *context;
};

/* Builds the fabric of a topology. The topology must outlive it. NULL on lack of memory. Learning frames, beacons and the
 * first notifications start at eventq_now(queue). */
struct fabric *fabric_new(const struct topo *t, struct eventq *queue, struct train_pool *pool,
                          const struct fabric_config *config);
void fabric_free(struct fabric *f); /* releases the trains in flight; accepts NULL */

/* An end point sends a train by its interface: the vSwitch, bond or NAS team of that interface picks the NIC. For a NAS
 * controller, `vip` says which VIP it answers for (-1 on hosts). Ownership passes. head == body == tail, set by the caller
 * (>= now), is when the frames are ready to go; trains of one interface are sent in the order of the calls. t->dst and, on
 * hosts, t->src must be set (the interface's MAC, or what the end point pretends). */
void fabric_send(struct fabric *f, int iface, int vip, struct train *t, ps_t now);

/* Faults and changes (events of the file, commands of the live emulator). */
void fabric_link_state(struct fabric *f, int link, int from_end, enum topo_link_state state, ps_t now);
void fabric_link_rate(struct fabric *f, int link, bps_t rate, ps_t now);
void fabric_link_delay(struct fabric *f, int link, ps_t delay, ps_t now);
void fabric_link_loss(struct fabric *f, int link, double loss, ps_t now);
/* The queue of a switch or router on it; hosts and controllers hold their senders back instead. */
void fabric_link_buffer(struct fabric *f, int link, uint64_t buffer, ps_t now);
/* The VIP goes to another controller of its NAS (or, with box -1, nowhere): with gratuitous ARP, or quietly. */
void fabric_vip_move(struct fabric *f, int vip, int box, bool garp, ps_t now);
/* Down: it answers nothing and takes nothing in. Up: where it was, with gratuitous ARP. */
void fabric_vip_state(struct fabric *f, int vip, bool up, ps_t now);
/* A box loses power (all its links go down) or gets it back. The VIPs of a controller stay on it unless moved. */
void fabric_box_state(struct fabric *f, int box, bool up, ps_t now);
/* One event of the file: the function above that it names. */
void fabric_apply(struct fabric *f, const struct topo_event *event, ps_t now);

int fabric_vip_box(const struct fabric *f, int vip); /* where it lives now, -1 = nowhere or down */
/* The interface of that controller that serves it, and the address that ARP gives for it, now. False: nowhere. */
bool fabric_vip_place(const struct fabric *f, int vip, int *iface, uint8_t mac[6]);
/* A struct train_flow, with its id, is about to stand for another flow: what was remembered of the old one is forgotten. */
void fabric_forget_flows(struct fabric *f);

/* A link direction as it is now. */
struct fabric_link {
    enum topo_link_state state; /* of the cable; ONE_WAY: frames of end `from_end` get lost */
    int from_end;
    bool carrier; /* the cable isn't down and both boxes have power */
    bps_t rate;
    ps_t delay;
    double loss;     /* to 2^-32 */
    uint64_t buffer; /* UINT64_MAX: holds the sender back instead of dropping */
    uint64_t queued; /* bytes that wait or are being sent at `now` */
};
void fabric_link(const struct fabric *f, int linkdir, ps_t now, struct fabric_link *out);

/* Why a flow is on a link direction: the rule of the team that sends there, as it stands now. */
struct fabric_reason {
    const struct hash_selector *policy; /* NULL: nothing to choose by a rule, `why` says what then */
    enum hash_status status;            /* of the policy for this flow */
    enum topo_origin inputs; /* the weakest of what it reads, and of the policy itself; ports are the flow's own */
    int n, index;            /* ports that the rule chooses among, and this one's place, -1: not among them */
    bool agrees;             /* the rule gives this port; else it has changed, is history or was drawn */
    char why[256];           /* the arithmetic: "0x0A0A050B xor 0x0A0A0565 = 0x0000006E, mod 4 = 2"; "one port" */
};
/* `key` as the frame is on this wire, with its present MACs; `tag` the VLAN tag that it carries there, 0 = none. */
void fabric_reason(const struct fabric *f, int linkdir, const struct hash_key *key, uint16_t tag,
                   struct fabric_reason *out);

/* Counters per link direction. Conservation: in == out + tail_dropped + lost + in_flight, in bytes and frames. */
struct fabric_counters {
    uint64_t frames_in, bytes_in;                     /* offered to the queue, wire bytes */
    uint64_t frames_out, bytes_out;                   /* arrived at the far end */
    uint64_t frames_tail_dropped, bytes_tail_dropped; /* queue full */
    uint64_t frames_lost, bytes_lost;                 /* random loss, blackhole, one-way, link down with a queue */
    uint64_t frames_in_flight, bytes_in_flight;
    uint64_t queue_peak; /* bytes */
    ps_t busy;           /* time spent sending, without background traffic */
};
void fabric_counters(const struct fabric *f, int linkdir, struct fabric_counters *out);

/* Counters per box: what a switch does, and what end boxes refuse. Frames. */
struct fabric_box_counters {
    uint64_t flooded_unicast; /* copies sent because the destination was not known */
    uint64_t mac_moves;       /* an address showed up on another port */
    uint64_t mac_flaps;       /* ... and that port was the one it had left within FABRIC_FLAP_WINDOW */
    uint64_t learned;
    uint64_t giants_dropped, vlan_dropped;
    uint64_t no_port_dropped;  /* no usable member of the team */
    uint64_t stray_dropped;    /* not for any address here, own frames coming back, second copies of a broadcast */
    uint64_t no_route_dropped; /* routers: no subnet, or no answer to ARP */
    uint64_t loop_dropped;     /* passed FABRIC_MAX_BOXES boxes */
    uint64_t arp_answered;     /* for VIPs and router interfaces */
};
#define FABRIC_FLAP_WINDOW (10 * PS_PER_S)
#define FABRIC_MAX_BOXES   16
void fabric_box_counters(const struct fabric *f, int box, struct fabric_box_counters *out);

/* True when every wire conserves bytes and frames; else says in `problem` which does not. */
bool fabric_conserves(const struct fabric *f, char *problem, size_t size);

#endif
