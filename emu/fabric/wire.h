/* A wire: one direction of a link, with the queue in front of it.
 *
 * Trains enter when their head is in (wire_send at t->head) and arrive at the other end with new head, body and tail. The
 * wire is a first-in first-out queue of frames, served at `rate`, then `delay`. One event is pending per wire, whatever is
 * in flight: the arrival of the first train.
 *
 * The arithmetic is in wire.c. What it promises, against the same frames one by one through a FIFO queue:
 *   - a single frame, and the head of a train: exact, up to one frame time for each train that is just coming in
 *   - the tail of a train: never later; earlier at most by the work of trains whose heads came in between its own head and
 *     tail (these then bear the wait: the last of a busy period is exact, and the wire never sends more than its rate)
 *   - frames dropped: exact, each frame of a train meets the queue as it is when it comes; a train that loses frames leaves
 *     as several (live: cut at the first frame that finds the queue full)
 */
#ifndef EMU_FABRIC_WIRE_H
#define EMU_FABRIC_WIRE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "emu/fabric/eventq.h"
#include "emu/fabric/train.h"
#include "emu/model/random.h"

/* Work is time that it takes to send, in ps / 2^16. Inflow is work per time: WIRE_ONE is the line's own rate. */
enum { WIRE_FRACTION = 16 };
#define WIRE_ONE (INT64_C(1) << WIRE_FRACTION)

struct wire_level { /* the queue at a moment */
    ps_t at;
    int64_t work;   /* arrived and not sent */
    int64_t inflow; /* arriving */
};

struct wire_step { /* inflow that is known to begin or end */
    ps_t at;
    int64_t inflow, work; /* to be added */
    int64_t least;        /* work at least, afterwards */
};

struct wire_counters {
    uint64_t frames_in, bytes_in, frames_out, bytes_out;
    uint64_t frames_dropped, bytes_dropped; /* tail drop */
    uint64_t frames_lost, bytes_lost;       /* random loss, faults, link down */
    ps_t busy;                              /* time spent sending */
};

/* A train that is taken in frame by frame, because the queue may be full before all of it is in. */
struct wire_entering {
    struct train *rest; /* frames that are not in yet; its head is when the next one is */
    struct train *out;  /* what has been queued of it, still here and without a gap: the next frame joins it */
};

struct wire;
typedef void wire_arrive(struct wire *w, struct train *t, ps_t now); /* ownership passes */
typedef void wire_tap(struct wire *w, const struct train *t, ps_t start);

struct wire { /* the caller embeds it */
    struct event event;
    struct event frame; /* the next frame of those entering is in */
    wire_arrive *arrive;
    struct train *first, *last; /* in flight, in order of arrival */
    struct wire_level level;
    struct wire_step *steps; /* first_step .. end_step-1 in order of time */
    uint32_t first_step, end_step, size_steps;
    struct wire_entering *entering;
    uint32_t n_entering, size_entering;
    uint32_t lose;    /* a frame is lost when a draw of 32 bits is below; 0 = never */
    ps_t ps_per_byte; /* 0: not a whole number, then by division with the remainder carried */
    bps_t rate;
    uint64_t remainder; /* in 1/rate ps */
    int64_t limit;      /* of the queue, as work */
    int64_t vague;      /* of the limit, as work */
    int64_t background; /* inflow that is always there */
    ps_t delay, floor;  /* nothing arrives before floor */
    ps_t arrived;       /* latest tail of what has arrived */
    bool down, deaf;    /* deaf: all that is sent gets lost */
    struct wire_counters counters;
    int64_t peak;        /* of the queue, as work at the present rate */
    uint64_t peak_bytes; /* at former rates */
    uint64_t buffer, vague_bytes;
    struct random draws;
    struct eventq *queue;
    struct train_pool *pool;
    wire_tap *tap;
    void *owner;
    int id, to;
};

struct wire_config {
    bps_t rate; /* > 0 */
    ps_t delay;
    uint64_t buffer; /* a frame is dropped when more bytes than this wait or are being sent before it */
    uint64_t vague;  /* ... or when a draw says so: never up to so many bytes below, always at `buffer`. 0: sharp */
    uint64_t seed;   /* of random loss */
    wire_arrive *arrive;
    wire_tap *tap; /* may be NULL; called for each train at its arrival, or loss on the way */
    void *owner;   /* left alone here, with id and to */
    int id, to;
};

/* Makes an idle wire. queue and pool must outlive it. */
void wire_init(struct wire *w, const struct wire_config *c, struct eventq *queue, struct train_pool *pool);
void wire_close(struct wire *w); /* releases what is in flight and all memory but *w; accepts a zeroed one */

/* Sends t, whose head is in at t->head >= now of the queue. Heads go forward: one before that of the last train counts as
 * equal. Takes ownership: what finds the queue full is dropped, a link that is down takes nothing. */
void wire_send(struct wire *w, struct train *t);

/* As wire_send() of a single frame that nobody at the other end will take: it takes its place in the queue and is counted,
 * but nothing arrives. t stays the caller's; its tap is called at once. */
void wire_pass(struct wire *w, const struct train *t);

void wire_set_down(struct wire *w, bool down, ps_t now); /* going down, all that is queued or on the way is lost */
void wire_set_deaf(struct wire *w, bool deaf);
void wire_set_rate(struct wire *w, bps_t rate, ps_t now);
void wire_set_delay(struct wire *w, ps_t delay, ps_t now); /* a shorter one never reorders */
void wire_set_loss(struct wire *w, double share);
/* `buffer` and `vague` as in struct wire_config. What is queued beyond a smaller buffer stays. */
void wire_set_buffer(struct wire *w, uint64_t buffer, uint64_t vague);
/* Other traffic that takes this share of the rate (below 1), evenly. It queues like ours and is not counted. */
void wire_set_background(struct wire *w, double share);

uint64_t wire_queue_peak(const struct wire *w);       /* bytes */
uint64_t wire_queued(const struct wire *w, ps_t now); /* bytes that wait or are being sent */
/* Frames and bytes queued or on the way. */
void wire_flying(const struct wire *w, uint64_t *frames, uint64_t *bytes);
bool wire_conserves(const struct wire *w);

#endif
