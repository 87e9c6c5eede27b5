/* Theory of operation
 *
 * The fabric's event queue holds everything that will happen, with its time. Before the loop waits it runs what is due; then
 * a timer (timerfd: epoll's own time-outs are whole milliseconds) is set to the next event and the loop waits for it or for
 * a frame. When the next event is nearer than a wake-up takes, the loop doesn't wait but looks again.
 *
 * A frame that is read gets the present as its time, after all that was due by then: there is one order of events. Between
 * two TAPs nothing asks for the time any more. So a late wake-up makes frames late, and the next ones are not later
 * for it; a link's rate is exact however late the datapath is, as long as its queue doesn't run empty for it.
 */
#include "emu/live/datapath.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "emu/live/clock.h"
#include "emu/live/datapath_internal.h"

/* An event nearer than this is waited for awake. */
#define SPIN (20 * PS_PER_US)
/* What may wait before a sender's cable. A TAP device can't hold sockets back, so what they would keep waits here, and a frame
 * that is dropped here would be one that no host drops. So it is more than sockets send ahead: 264 KiB each on ESXi, 4 MiB on Linux. */
enum { SENDER_BUFFER = 16 << 20 };
#define SENDER_TIME PS_PER_MS

ps_t datapath_clock(const struct datapath *d) { return d->start_ns ? (clock_ns() - d->start_ns) * PS_PER_NS : 0; }

ps_t datapath_now(struct datapath *d)
{
    ps_t now = datapath_clock(d), next = eventq_next(d->queue);

    if (next < now - LATENESS_BEHIND) {
        /* From when that event stopped being in time, but nothing twice. */
        ps_t from = next + LATENESS_BEHIND > d->late_since ? next + LATENESS_BEHIND : d->late_since;

        d->lateness.behind += now - from;
        d->late_since = now;
    }
    d->lateness.running = now;
    eventq_run(d->queue, now);
    return now;
}

static void arm(struct datapath *d, ps_t at)
{
    struct itimerspec when = {0};

    if (at == d->armed)
        return;
    d->armed = at;
    if (at != PS_NEVER) {
        int64_t ns = d->start_ns + (at + PS_PER_NS - 1) / PS_PER_NS;

        when.it_value.tv_sec = ns / 1000000000;
        when.it_value.tv_nsec = ns % 1000000000;
    }
    timerfd_settime(d->timer.fd, TFD_TIMER_ABSTIME, &when, NULL);
}

/* Before the loop waits. */
static void prepare(struct ev_loop *loop, ev_prepare *w, int events)
{
    struct datapath *d = w->data;
    ps_t now = datapath_now(d), next = eventq_next(d->queue);

    (void)events;
    if (next != PS_NEVER && next - now < SPIN) {
        if (!ev_is_active(&d->busy))
            ev_idle_start(loop, &d->busy);
        return;
    }
    if (ev_is_active(&d->busy))
        ev_idle_stop(loop, &d->busy);
    arm(d, next);
}

static void fired(struct ev_loop *loop, ev_io *w, int events)
{
    struct datapath *d = w->data;
    uint64_t times;

    (void)loop;
    (void)events;
    if (read(w->fd, &times, sizeof times) == sizeof times)
        d->armed = PS_NEVER;
}

static void look_again(struct ev_loop *loop, ev_idle *w, int events)
{
    (void)loop;
    (void)w;
    (void)events;
}

/* ---- the fabric's side ---- */

static void deliver(void *context, int iface, struct train *t, ps_t now)
{
    struct datapath *d = context;
    struct live_port *p = &d->ports[iface];

    (void)now;
    if (p->fd >= 0 && (t->kind == TRAIN_DATA || t->kind == TRAIN_ARP))
        port_deliver(p, t);
    else
        train_release(d->trains, t);
}

static void tapped(void *context, int linkdir, const struct train *t, ps_t start)
{
    struct datapath *d = context;

    for (struct datapath_watch *w = d->watches, *next; w; w = next) {
        next = w->next;
        w->train(w->context, linkdir, t, start);
    }
}

static void forgotten(void *context)
{
    struct datapath *d = context;

    fabric_forget_flows(d->fabric);
}

void datapath_watch(struct datapath *d, struct datapath_watch *w)
{
    w->next = d->watches;
    d->watches = w;
}

void datapath_unwatch(struct datapath *d, struct datapath_watch *w)
{
    struct datapath_watch **at = &d->watches;

    while (*at && *at != w)
        at = &(*at)->next;
    if (*at)
        *at = w->next;
}

/* ---- life ---- */

static bool build(struct datapath *d, const struct datapath_config *c)
{
    const struct fabric_config config = {
        .seed = c->seed,
        .sender_buffer = SENDER_BUFFER,
        .sender_time = SENDER_TIME,
        .deliver = deliver,
        .tap = tapped,
        .every_copy = true, /* a user may give a namespace addresses of his own */
        .context = d,
    };
    struct train_hooks hooks;
    int timer;

    d->queue = eventq_new();
    d->trains = train_pool_new();
    d->frames = frame_pool_new();
    d->flows = flows_new(forgotten, d);
    d->ports = calloc(d->topo->n_ifaces + 1, sizeof *d->ports);
    d->neighbours = calloc(d->topo->n_boxes + 1, sizeof *d->neighbours);
    if (!d->queue || !d->trains || !d->frames || !d->flows || !d->ports || !d->neighbours)
        return false;
    frame_pool_hooks(d->frames, &hooks);
    train_pool_hooks(d->trains, &hooks);
    for (size_t i = 0; i < d->topo->n_ifaces; i++)
        port_init(&d->ports[i], d, (int)i);
    d->fabric = fabric_new(d->topo, d->queue, d->trains, &config);
    timer = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
    if (!d->fabric || timer < 0)
        return false;
    ev_io_init(&d->timer, fired, timer, EV_READ);
    return true;
}

struct datapath *datapath_new(const struct datapath_config *c)
{
    struct datapath *d = calloc(1, sizeof *d);

    if (!d)
        return NULL;
    d->topo = c->topo;
    d->loop = c->loop;
    d->armed = PS_NEVER;
    d->timer.fd = -1;
    ev_prepare_init(&d->prepare, prepare);
    ev_idle_init(&d->busy, look_again);
    if (!build(d, c)) {
        datapath_free(d);
        return NULL;
    }
    d->timer.data = d->prepare.data = d;
    ev_io_start(d->loop, &d->timer);
    ev_prepare_start(d->loop, &d->prepare);
    return d;
}

/* Closing a TAP waits for a grace period of the kernel; all of them at the same time wait for the same one. */
static void *close_one(void *fd)
{
    close(*(int *)fd);
    return NULL;
}

static void close_all(struct datapath *d)
{
    size_t n = d->topo->n_ifaces;
    pthread_t *threads = calloc(n + 1, sizeof *threads);
    bool *started = calloc(n + 1, sizeof *started);

    for (size_t i = 0; i < n; i++) {
        struct live_port *p = &d->ports[i];

        if (p->fd < 0)
            continue;
        ev_io_stop(d->loop, &p->io);
        if (threads && started)
            started[i] = pthread_create(&threads[i], NULL, close_one, &p->fd) == 0;
        if (!started || !started[i])
            close(p->fd);
    }
    for (size_t i = 0; started && i < n; i++)
        if (started[i])
            pthread_join(threads[i], NULL);
    free(threads);
    free(started);
}

void datapath_free(struct datapath *d)
{
    if (!d)
        return;
    if (d->timer.fd >= 0) {
        ev_io_stop(d->loop, &d->timer);
        ev_prepare_stop(d->loop, &d->prepare);
        ev_idle_stop(d->loop, &d->busy);
        close(d->timer.fd);
    }
    if (d->ports)
        close_all(d);
    for (size_t i = 0; d->ports && i < d->topo->n_ifaces; i++)
        for (struct train *t = d->ports[i].first, *next; t; t = next) {
            next = t->next;
            train_release(d->trains, t);
        }
    fabric_free(d->fabric);
    for (size_t i = 0; d->neighbours && i < d->topo->n_boxes; i++)
        neighbours_free(&d->neighbours[i]);
    free(d->neighbours);
    free(d->ports);
    flows_free(d->flows);
    train_pool_free(d->trains);
    frame_pool_free(d->frames);
    eventq_free(d->queue);
    free(d);
}

void datapath_start(struct datapath *d) { d->start_ns = clock_ns(); }

int datapath_port(struct datapath *d, int iface, int fd) { return port_open(&d->ports[iface], fd); }

struct fabric *datapath_fabric(struct datapath *d) { return d->fabric; }
struct train_pool *datapath_trains(struct datapath *d) { return d->trains; }
struct eventq *datapath_queue(struct datapath *d) { return d->queue; }

void datapath_counters(const struct datapath *d, struct datapath_counters *out) { *out = d->counters; }
const struct lateness *datapath_lateness(const struct datapath *d) { return &d->lateness; }
