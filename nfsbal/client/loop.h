/* The event loop of the client: descriptors, timers, signals and deferred work, all on one thread.
 *
 * Watchers are embedded by the caller and hold libev's inside, so that no other file includes its header. Times are
 * nanoseconds of CLOCK_MONOTONIC. A watcher may be stopped, started again or freed within its own callback.
 */
#ifndef NFSBAL_CLIENT_LOOP_H
#define NFSBAL_CLIENT_LOOP_H

#include <stdbool.h>
#include <stdint.h>

#define NS_PER_MS INT64_C(1000000)
#define NS_PER_S  INT64_C(1000000000)

struct loop;

enum { LOOP_READ = 1, LOOP_WRITE = 2 };

/* Room for one watcher of libev. */
union loop_watcher {
    void *align;
    int64_t words[10];
};

typedef void loop_io_fn(void *context, unsigned events);
typedef void loop_fn(void *context);

/* All fields are private. Zeroed memory is a watcher that is not started. */
struct loop_io {
    union loop_watcher watcher;
    struct loop *loop;
    loop_io_fn *call;
    void *context;
    int fd;
    unsigned events;
};

struct loop_timer {
    union loop_watcher watcher;
    struct loop *loop;
    loop_fn *call;
    void *context;
    bool active;
};

struct loop_signal {
    union loop_watcher watcher;
    struct loop *loop;
    loop_fn *call;
    void *context;
    bool active;
};

/* Work that must not happen within the present callback: it runs once, before the loop waits again. */
struct loop_task {
    struct loop_task *next, **link; /* link NULL: not queued */
    struct loop *loop;
    loop_fn *call;
    void *context;
};

/* NULL when there is no memory or no descriptor for it. */
struct loop *loop_new(void);
void loop_free(struct loop *l); /* accepts NULL; watchers must have been stopped */

/* Runs until loop_stop(), or until nothing is started any more. */
void loop_run(struct loop *l);
void loop_stop(struct loop *l);

int64_t loop_clock(void); /* now */

/* Watches fd for `events` (LOOP_READ | LOOP_WRITE). Starting a started one changes it. */
void loop_io_start(struct loop *l, struct loop_io *io, int fd, unsigned events, loop_io_fn *call, void *context);
void loop_io_events(struct loop_io *io, unsigned events); /* cheap when nothing changes */
void loop_io_stop(struct loop_io *io);

/* Calls once, `after` ns from now (at once when not positive, but not within this call). Starting a started one moves it. */
void loop_timer_start(struct loop *l, struct loop_timer *t, int64_t after, loop_fn *call, void *context);
void loop_timer_stop(struct loop_timer *t);

/* Calls each time the process gets the signal. */
void loop_signal_start(struct loop *l, struct loop_signal *s, int number, loop_fn *call, void *context);
void loop_signal_stop(struct loop_signal *s);

void loop_task_queue(struct loop *l, struct loop_task *t, loop_fn *call, void *context); /* a queued one stays */
void loop_task_cancel(struct loop_task *t);

#endif
