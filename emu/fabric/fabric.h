/* The fabric: wires, vSwitches, switches, LAGs and NAS teams of one topology, with time passed in.
 *
 * End points (virtual TCP hosts, or TAP devices) hand trains in at an interface and get trains out by one callback. The
 * fabric keeps one event queue; its driver is either the virtual loop (jump to fabric_next()) or libev's timer (sleep
 * until it). Nothing here reads a clock, allocates per frame or uses floating point.
 */
#ifndef EMU_FABRIC_FABRIC_H
#define EMU_FABRIC_FABRIC_H

#include "emu/fabric/train.h"
#include "emu/model/topology.h"

struct fabric;
struct eventq; /* emu/fabric/eventq.h: shared with the end points so that there is one order of events */

struct fabric_config {
    uint64_t seed;
    bool frames; /* --detail frame: senders make trains of one frame */
    /* A train arrives at an end point's interface. Ownership passes. now >= train->head, called at train->head. */
    void (*deliver)(void *context, int iface, struct train *t, ps_t now);
    /* A train starts on a wire (for captures and per-flow counters); may be NULL. Not owned. */
    void (*tap)(void *context, int linkdir, const struct train *t, ps_t start);
    void *context;
};

/* Builds the fabric of a topology. The topology must outlive it. NULL on lack of memory. */
struct fabric *fabric_new(const struct topo *t, struct eventq *queue, struct train_pool *pool,
                          const struct fabric_config *config);
void fabric_free(struct fabric *f);

/* An end point sends a train by its interface: the vSwitch or NAS team of that interface picks the NIC. For a NAS
 * controller, `vip` says which VIP it answers for (-1 on hosts). Ownership passes. t->head, t->tail are set by the caller
 * (>= now): when the frames are ready to go. */
void fabric_send(struct fabric *f, int iface, int vip, struct train *t, ps_t now);

/* Faults and changes (events of the file, commands of the live emulator). */
void fabric_link_state(struct fabric *f, int link, int from_end, enum topo_link_state state, ps_t now);
void fabric_link_rate(struct fabric *f, int link, bps_t rate, ps_t now);
void fabric_link_delay(struct fabric *f, int link, ps_t delay, ps_t now);
void fabric_link_loss(struct fabric *f, int link, double loss, ps_t now);
void fabric_vip_move(struct fabric *f, int vip, int box, bool garp, ps_t now);
void fabric_vip_state(struct fabric *f, int vip, bool up, ps_t now);
int fabric_vip_box(const struct fabric *f, int vip); /* where it lives now, -1 = nowhere */

/* Counters per link direction. Conservation: entered == delivered + dropped_* + in_flight, in bytes and frames. */
struct fabric_counters {
    uint64_t frames_in, bytes_in;                     /* offered to the queue, wire bytes */
    uint64_t frames_out, bytes_out;                   /* arrived at the far end */
    uint64_t frames_tail_dropped, bytes_tail_dropped; /* queue full */
    uint64_t frames_lost, bytes_lost;                 /* random loss, blackhole, one-way, link down with a queue */
    uint64_t frames_in_flight, bytes_in_flight;
    uint64_t queue_peak; /* bytes */
    ps_t busy;           /* time spent sending */
};
void fabric_counters(const struct fabric *f, int linkdir, struct fabric_counters *out);

/* Counters per switch box. */
struct fabric_switch_counters {
    uint64_t flooded_unicast, mac_flaps, giants_dropped, vlan_dropped, learned;
};
void fabric_switch_counters(const struct fabric *f, int box, struct fabric_switch_counters *out);

/* True when every wire conserves bytes and frames; else says in `problem` which does not. */
bool fabric_conserves(const struct fabric *f, char *problem, size_t size);

#endif
