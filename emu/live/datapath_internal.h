/* Private to the datapath: datapath.c drives, port.c reads and writes TAP devices, endpoint.c makes trains of frames and
 * frames of trains. */
#ifndef EMU_LIVE_DATAPATH_INTERNAL_H
#define EMU_LIVE_DATAPATH_INTERNAL_H

#include <ev.h>
#include <sys/uio.h>

#include "emu/fabric/eventq.h"
#include "emu/live/datapath.h"
#include "emu/live/flows.h"
#include "emu/live/frame_pool.h"
#include "emu/live/neighbours.h"

struct live_port {
    ev_io io;
    struct event due; /* the first of `first` is in */
    struct datapath *datapath;
    struct train *first, *last; /* delivered by the fabric and coming in, in order of their tails */
    int iface, fd;              /* fd -1: none */
    bool nas;
};

struct datapath {
    struct ev_loop *loop;
    const struct topo *topo;
    struct eventq *queue;
    struct train_pool *trains;
    struct frame_pool *frames;
    struct flows *flows;
    struct fabric *fabric;
    struct live_port *ports;       /* by interface */
    struct neighbours *neighbours; /* by box; used for NAS controllers */
    struct datapath_watch *watches;
    struct frame *spare; /* to read into */
    struct datapath_counters counters;
    struct lateness lateness;
    ev_prepare prepare;
    ev_io timer;
    ev_idle busy;    /* active: the loop doesn't wait */
    ps_t armed;      /* when the timer fires; PS_NEVER: not */
    ps_t late_since; /* behind since then, or -1 */
    int64_t start_ns;
};

/* endpoint.c */

/* A frame from the TAP: d->spare with `length` bytes after its virtio header. */
void endpoint_in(struct datapath *d, struct live_port *p, size_t length, ps_t now);
/* A train as bytes to write: ARP or data. *n pieces of iov point into scratch and the train's buffer. */
struct endpoint_scratch {
    struct superframe_cut cut;
};
int endpoint_out(const struct datapath *d, const struct live_port *p, const struct train *t,
                 struct endpoint_scratch *scratch, struct iovec iov[2]);
/* Note where it came from. */
void endpoint_learn(struct datapath *d, const struct live_port *p, const struct train *t);

/* port.c */
void port_init(struct live_port *p, struct datapath *d, int iface);
int port_open(struct live_port *p, int fd);
void port_deliver(struct live_port *p, struct train *t); /* takes it over */
void port_write(struct live_port *p, const struct iovec *iov, int n);

#endif
