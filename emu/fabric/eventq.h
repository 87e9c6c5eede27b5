/* The event queue: one per run, intrusive, ties in order of insertion. The caller embeds the node. */
#ifndef EMU_FABRIC_EVENTQ_H
#define EMU_FABRIC_EVENTQ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "emu/model/units.h"

struct event;
typedef void event_function(struct event *e, ps_t now);

struct event_link {
    struct event_link *next, *prev;
};
struct event { /* zero it, then set `run` */
    struct event_link link;
    ps_t at;
    uint32_t place; /* which list it is in, 0 = not queued */
    event_function *run;
};

struct eventq;
struct eventq *eventq_new(void);    /* NULL on lack of memory */
void eventq_free(struct eventq *q); /* the events stay the caller's; accepts NULL */

/* Queues e (at >= now of the queue), or moves it when queued already: it then counts as inserted now. */
void eventq_set(struct eventq *q, struct event *e, ps_t at);
void eventq_cancel(struct eventq *q, struct event *e); /* nothing when not queued */
static inline bool event_pending(const struct event *e) { return e->place != 0; }

ps_t eventq_next(const struct eventq *q); /* PS_NEVER when empty */
ps_t eventq_now(const struct eventq *q);
size_t eventq_count(const struct eventq *q); /* counts them: for tests */
/* Runs all events with at <= until, in order; now ends at `until` (PS_NEVER: at the last event). Returns their number.
 * Not from within an event. */
uint64_t eventq_run(struct eventq *q, ps_t until);
/* Runs one event; false when empty. Not from within an event. */
bool eventq_step(struct eventq *q);

#endif
