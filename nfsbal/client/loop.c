/* libev's watchers live inside ours (a union that is large enough), its `data` points to ours. Deferred tasks hang on one
 * watcher that is never started but fed with an event: libev calls it after the callbacks of the present round, before
 * it waits again. */
#include "nfsbal/client/loop.h"

#include <assert.h>
#include <stdlib.h>
#include <time.h>

#include <ev.h>

struct loop {
    struct ev_loop *ev;
    ev_timer tasks; /* never started */
    struct loop_task *first, **last;
};

static_assert(sizeof(union loop_watcher) >= sizeof(ev_io), "room for ev_io");
static_assert(sizeof(union loop_watcher) >= sizeof(ev_timer), "room for ev_timer");
static_assert(sizeof(union loop_watcher) >= sizeof(ev_signal), "room for ev_signal");

int64_t loop_clock(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * NS_PER_S + t.tv_nsec;
}

/* Tasks that tasks queue run in the next round of this, after whatever is pending by then. */
static void run_tasks(struct ev_loop *ev, ev_timer *w, int events)
{
    struct loop *l = w->data;
    struct loop_task *t = l->first;

    (void)events;
    if (!t)
        return;
    l->first = t->next;
    if (t->next)
        t->next->link = &l->first;
    else
        l->last = &l->first;
    t->link = NULL;
    if (l->first)
        ev_feed_event(ev, w, EV_CUSTOM);
    t->call(t->context);
}

struct loop *loop_new(void)
{
    struct loop *l = calloc(1, sizeof *l);

    if (!l)
        return NULL;
    l->ev = ev_loop_new(EVFLAG_AUTO | EVFLAG_NOENV);
    if (!l->ev) {
        free(l);
        return NULL;
    }
    l->last = &l->first;
    ev_timer_init(&l->tasks, run_tasks, 0., 0.);
    l->tasks.data = l;
    return l;
}

void loop_free(struct loop *l)
{
    if (!l)
        return;
    ev_loop_destroy(l->ev);
    free(l);
}

void loop_run(struct loop *l) { ev_run(l->ev, 0); }
void loop_stop(struct loop *l) { ev_break(l->ev, EVBREAK_ALL); }

static ev_io *io_of(struct loop_io *io) { return (ev_io *)(void *)&io->watcher; }
static ev_timer *timer_of(struct loop_timer *t) { return (ev_timer *)(void *)&t->watcher; }
static ev_signal *signal_of(struct loop_signal *s) { return (ev_signal *)(void *)&s->watcher; }

static int to_ev(unsigned events) { return (events & LOOP_READ ? EV_READ : 0) | (events & LOOP_WRITE ? EV_WRITE : 0); }

static void io_ready(struct ev_loop *ev, ev_io *w, int events)
{
    struct loop_io *io = w->data;

    (void)ev;
    io->call(io->context, (events & EV_READ ? LOOP_READ : 0u) | (events & EV_WRITE ? LOOP_WRITE : 0u));
}

void loop_io_start(struct loop *l, struct loop_io *io, int fd, unsigned events, loop_io_fn *call, void *context)
{
    loop_io_stop(io);
    io->loop = l;
    io->call = call;
    io->context = context;
    io->fd = fd;
    io->events = events;
    ev_io_init(io_of(io), io_ready, fd, to_ev(events));
    io_of(io)->data = io;
    if (events)
        ev_io_start(l->ev, io_of(io));
}

void loop_io_events(struct loop_io *io, unsigned events)
{
    if (!io->loop || io->events == events)
        return;
    ev_io_stop(io->loop->ev, io_of(io));
    io->events = events;
    ev_io_set(io_of(io), io->fd, to_ev(events));
    if (events)
        ev_io_start(io->loop->ev, io_of(io));
}

void loop_io_stop(struct loop_io *io)
{
    if (io->loop)
        ev_io_stop(io->loop->ev, io_of(io));
    io->loop = NULL;
    io->events = 0;
}

static void timer_ready(struct ev_loop *ev, ev_timer *w, int events)
{
    struct loop_timer *t = w->data;

    (void)ev;
    (void)events;
    t->active = false;
    t->call(t->context);
}

void loop_timer_start(struct loop *l, struct loop_timer *t, int64_t after, loop_fn *call, void *context)
{
    loop_timer_stop(t);
    t->loop = l;
    t->call = call;
    t->context = context;
    t->active = true;
    ev_now_update(l->ev);
    ev_timer_init(timer_of(t), timer_ready, after > 0 ? (double)after / 1e9 : 0., 0.);
    timer_of(t)->data = t;
    ev_timer_start(l->ev, timer_of(t));
}

void loop_timer_stop(struct loop_timer *t)
{
    if (t->active)
        ev_timer_stop(t->loop->ev, timer_of(t));
    t->active = false;
}

static void signal_ready(struct ev_loop *ev, ev_signal *w, int events)
{
    struct loop_signal *s = w->data;

    (void)ev;
    (void)events;
    s->call(s->context);
}

void loop_signal_start(struct loop *l, struct loop_signal *s, int number, loop_fn *call, void *context)
{
    loop_signal_stop(s);
    s->loop = l;
    s->call = call;
    s->context = context;
    s->active = true;
    ev_signal_init(signal_of(s), signal_ready, number);
    signal_of(s)->data = s;
    ev_signal_start(l->ev, signal_of(s));
    ev_unref(l->ev); /* waiting for a signal alone keeps no loop running */
}

void loop_signal_stop(struct loop_signal *s)
{
    if (s->active) {
        ev_ref(s->loop->ev);
        ev_signal_stop(s->loop->ev, signal_of(s));
    }
    s->active = false;
}

void loop_task_queue(struct loop *l, struct loop_task *t, loop_fn *call, void *context)
{
    if (t->link)
        return;
    t->loop = l;
    t->call = call;
    t->context = context;
    t->next = NULL;
    t->link = l->last;
    *l->last = t;
    l->last = &t->next;
    ev_feed_event(l->ev, &l->tasks, EV_CUSTOM);
}

void loop_task_cancel(struct loop_task *t)
{
    if (!t->link)
        return;
    *t->link = t->next;
    if (t->next)
        t->next->link = t->link;
    else
        t->loop->last = t->link;
    t->link = NULL;
}
