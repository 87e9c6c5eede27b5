/* The links of a run of whole calls: each link direction is one server, a message waits for what was sent before it.
 * Internal to emu/sim. */
#ifndef EMU_SIM_CALLS_WIRE_H
#define EMU_SIM_CALLS_WIRE_H

#include "emu/model/path.h"
#include "emu/model/schedule.h"
#include "emu/model/topology.h"

struct calls_link {
    double ps_per_byte; /* at what background traffic leaves of its rate */
    ps_t delay, busy;   /* busy: until when it sends what it has */
    struct link_count count;
    uint64_t slice_bytes;
};

/* One way of a connection: the link directions in order. */
struct calls_way {
    uint16_t n;
    struct {
        int linkdir;
        uint16_t tag; /* bytes of a VLAN tag */
    } hops[PATH_MAX_HOPS];
};

struct calls_line {
    struct calls_way way[2]; /* to the server, to the client */
    uint32_t mss, headers;   /* payload of a full frame; what it has beside, Ethernet to TCP */
    uint32_t rdma;           /* data of a frame by RoCE; 0: TCP */
};

/* NULL on lack of memory. */
struct calls_link *calls_links_new(const struct topo *t);

/* Finds both ways of a flow; where nobody can know a hop, one of the candidates by the flow's own draw. False, with a
 * sentence, when there is none. */
bool calls_line_init(struct calls_line *l, const struct topo *t, const struct flow *f, uint64_t seed, char *problem,
                     size_t size);

/* A message on its way: over the hops before `hop`. */
struct calls_message {
    const struct calls_line *line;
    uint64_t bytes;
    ps_t head, tail; /* when its first and last frame are in where it is now */
    uint16_t way, hop;
    bool bulk;
};

/* Puts it on its next link; false when that was the last. To be called not before `head`: then messages pass each link in the order in
 * which they come there. */
bool calls_hop(struct calls_link *links, struct calls_message *m);

/* Sends a message of `bytes` of the stream one way, now; returns when its last frame is in. `bulk`: counts as data. */
ps_t calls_send(struct calls_link *links, const struct calls_line *l, int way, uint64_t bytes, bool bulk, ps_t now);

#endif
