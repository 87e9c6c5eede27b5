/* TAP devices: one read and one write per super-frame, in batches. */
#include "emu/live/datapath_internal.h"

#include <errno.h>
#include <unistd.h>

enum { BATCH = 32 }; /* frames of one device before the next device has its turn */

static struct live_port *port_of_event(struct event *e)
{
    return (struct live_port *)(void *)((char *)e - offsetof(struct live_port, due));
}

static void readable(struct ev_loop *loop, ev_io *w, int events)
{
    struct live_port *p = w->data;
    struct datapath *d = p->datapath;
    ps_t now = datapath_now(d);

    (void)loop;
    (void)events;
    for (int i = 0; i < BATCH; i++) {
        ssize_t n;

        if (!d->spare)
            d->spare = frame_take(d->frames);
        if (!d->spare)
            return;
        n = read(p->fd, d->spare->bytes, d->spare->capacity);
        if (n < 0)
            return;
        d->counters.received++;
        if (n < SUPERFRAME_VNET)
            d->counters.malformed++;
        else
            endpoint_in(d, p, (size_t)n - SUPERFRAME_VNET, now);
    }
}

void port_write(struct live_port *p, const struct iovec *iov, int n)
{
    struct datapath *d = p->datapath;

    if (p->fd >= 0 && writev(p->fd, iov, n) < 0)
        d->counters.write_errors++;
    else
        d->counters.sent++;
}

/* Writes what is in by now. */
static void due(struct event *e, ps_t now)
{
    struct live_port *p = port_of_event(e);
    struct datapath *d = p->datapath;

    while (p->first && p->first->tail <= now) {
        struct train *t = p->first;
        struct endpoint_scratch scratch;
        struct iovec iov[2];

        p->first = t->next;
        if (!p->first)
            p->last = NULL;
        endpoint_learn(d, p, t);
        lateness_add(&d->lateness, datapath_clock(d) - t->tail);
        port_write(p, iov, endpoint_out(d, p, t, &scratch, iov));
        train_release(d->trains, t);
    }
    if (p->first)
        eventq_set(d->queue, e, p->first->tail);
}

void port_deliver(struct live_port *p, struct train *t)
{
    struct train **at = &p->first;

    /* Nearly always behind the last one. */
    if (p->last && p->last->tail <= t->tail)
        at = &p->last->next;
    else
        while (*at && (*at)->tail <= t->tail)
            at = &(*at)->next;
    t->next = *at;
    *at = t;
    if (!t->next)
        p->last = t;
    if (p->first == t)
        eventq_set(p->datapath->queue, &p->due, t->tail);
}

void port_init(struct live_port *p, struct datapath *d, int iface)
{
    p->datapath = d;
    p->iface = iface;
    p->fd = -1;
    p->due.run = due;
    p->nas = d->topo->nodes[d->topo->boxes[d->topo->ifaces[iface].box].node].kind == TOPO_NAS;
}

int port_open(struct live_port *p, int fd)
{
    if (p->fd >= 0)
        return -EBUSY;
    p->fd = fd;
    ev_io_init(&p->io, readable, fd, EV_READ);
    p->io.data = p;
    ev_io_start(p->datapath->loop, &p->io);
    return 0;
}
