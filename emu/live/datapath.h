/* The datapath of a live lab: the fabric of `emu run` against the clock on the wall, with TAP devices as end points.
 *
 *     TAP -> port -> train -> fabric (wires, switches, teams) -> train -> port -> TAP
 *
 * One thread, one loop of libev. A frame read from a TAP enters the fabric at the time of its reading; from there on all
 * times are computed, and what leaves is written as soon as the clock has reached its computed time, never counted from
 * then: being late does not add up. How late frames leave is measured (struct lateness).
 */
#ifndef EMU_LIVE_DATAPATH_H
#define EMU_LIVE_DATAPATH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "emu/fabric/fabric.h"
#include "emu/live/lateness.h"

struct datapath;
struct ev_loop;
struct eventq;

struct datapath_config {
    const struct topo *topo; /* outlives the datapath */
    struct ev_loop *loop;
    uint64_t seed;
};
/* NULL on lack of memory or descriptors. */
struct datapath *datapath_new(const struct datapath_config *c);
/* Time 0 is now, and the lateness counts from here. Before, no time passes. */
void datapath_start(struct datapath *d);
void datapath_free(struct datapath *d); /* closes the TAPs, side by side; accepts NULL */

/* Frames of the interface come from and go to this TAP device, opened by tap_open(). Takes the descriptor over. */
int datapath_port(struct datapath *d, int iface, int fd);

/* The present: everything that is due has happened. Changes of the fabric are made at the time it returns. */
ps_t datapath_now(struct datapath *d);
ps_t datapath_clock(const struct datapath *d); /* the time alone; nothing happens */
struct fabric *datapath_fabric(struct datapath *d);
struct eventq *datapath_queue(struct datapath *d);
struct train_pool *datapath_trains(struct datapath *d);

/* Whoever wants to see what is on the wires (struct fabric_config, `tap`): several may watch at a time. */
struct datapath_watch {
    struct datapath_watch *next; /* private */
    void (*train)(void *context, int linkdir, const struct train *t, ps_t start);
    void *context;
};
void datapath_watch(struct datapath *d, struct datapath_watch *w);
void datapath_unwatch(struct datapath *d, struct datapath_watch *w);

/* Bytes of the real frame `i` of a train of kind TRAIN_DATA with its present addresses and without tag; complete with IP length, TCP sequence
 * number and checksums. Returns its length (without FCS, at least 60); at most `size` of its bytes are in `out`, checksums
 * are right where all of it was asked for or not. */
size_t datapath_frame(const struct train *t, uint32_t i, uint8_t *out, size_t size);

/* What end points refuse. Frames. */
struct datapath_counters {
    uint64_t received, sent; /* super-frames from and to TAP devices */
    uint64_t malformed;      /* no frame that a network card would send */
    uint64_t foreign;        /* a tag where none belongs, a source address that is no VIP of the controller */
    uint64_t write_errors;
};
void datapath_counters(const struct datapath *d, struct datapath_counters *out);
const struct lateness *datapath_lateness(const struct datapath *d);

#endif
