/* The event queue: one per run, intrusive, ties in order of insertion. The caller embeds the node. */
#ifndef EMU_FABRIC_EVENTQ_H
#define EMU_FABRIC_EVENTQ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "emu/model/units.h"

struct event;
typedef void event_function(struct event *e, ps_t now);

struct event {
    ps_t at;
    uint64_t order; /* of insertion, breaks ties */
    uint32_t index; /* place in the heap + 1, 0 = not queued */
    event_function *run;
};

struct eventq;
struct eventq *eventq_new(void);
void eventq_free(struct eventq *q);

/* Queues e (at >= now of the queue), or moves it when queued already. */
void eventq_set(struct eventq *q, struct event *e, ps_t at);
void eventq_cancel(struct eventq *q, struct event *e); /* nothing when not queued */
static inline bool event_pending(const struct event *e) { return e->index != 0; }

ps_t eventq_next(const struct eventq *q); /* PS_NEVER when empty */
ps_t eventq_now(const struct eventq *q);
/* Runs all events with at <= until, in order; now ends at `until`. Returns their number. */
uint64_t eventq_run(struct eventq *q, ps_t until);
/* Runs one event; false when empty. */
bool eventq_step(struct eventq *q);

#endif
