/* Private to wire*.c: the queue as a number (theory on top of wire.c), shared by
 *
 *   wire.c           sending and arriving
 *   wire_entering.c  trains that are taken in frame by frame
 *   wire_change.c    faults, changes of rate and delay, questions
 */
#ifndef EMU_FABRIC_WIRE_INTERNAL_H
#define EMU_FABRIC_WIRE_INTERNAL_H

#include "emu/fabric/wire.h"

__extension__ typedef unsigned __int128 wire_wide;

#define PS_BITS_PER_BYTE (UINT64_C(8) * PS_PER_S) /* 8 bits, in bit * ps/s */
#define LONGEST          (INT64_C(1) << 46)       /* ps, 70 s: as work it still fits */

static inline ps_t wire_later(ps_t a, ps_t b) { return a > b ? a : b; }

static inline int64_t wire_work(ps_t time) { return (time < LONGEST ? time : LONGEST) << WIRE_FRACTION; }

/* Time to send so many bytes after each other; carries the remainder. */
static inline ps_t wire_sending_time(struct wire *w, uint64_t bytes)
{
    uint64_t bits;

    if (w->ps_per_byte)
        return (ps_t)bytes * w->ps_per_byte;
    bits = bytes * PS_BITS_PER_BYTE + w->remainder; /* up to 2 MB */
    w->remainder = bits % w->rate;
    return (ps_t)(bits / w->rate);
}

/* The same rounded down, for estimates. */
static inline ps_t wire_about(const struct wire *w, uint64_t bytes)
{
    return (ps_t)(w->ps_per_byte ? bytes * (uint64_t)w->ps_per_byte : bytes * PS_BITS_PER_BYTE / w->rate);
}

/* Lets time pass for the queue, the inflow being constant. */
static inline void wire_let_pass(struct wire_level *l, ps_t to)
{
    ps_t time = to - l->at;
    int64_t falls = WIRE_ONE - l->inflow;

    l->at = to;
    if (falls <= 0)
        l->work -= falls * time;
    else if (l->work / falls < time)
        l->work = 0;
    else
        l->work -= falls * time;
}

static inline void wire_take_step(struct wire_level *l, const struct wire_step *s)
{
    wire_let_pass(l, s->at);
    l->inflow += s->inflow;
    l->work += s->work;
    l->work = l->work > s->least ? l->work : s->least;
}

/* Brings the queue to the moment `to`. */
static inline void wire_catch_up(struct wire *w, ps_t to)
{
    struct wire_level *l = &w->level;

    if (w->first_step == w->end_step && l->inflow == 0) {
        ps_t time = to - l->at;

        l->at = to;
        l->work = l->work >> WIRE_FRACTION <= time ? 0 : l->work - (time << WIRE_FRACTION);
        return;
    }
    while (w->first_step < w->end_step && w->steps[w->first_step].at <= to)
        wire_take_step(l, &w->steps[w->first_step++]);
    if (w->first_step == w->end_step)
        w->first_step = w->end_step = 0;
    wire_let_pass(l, to);
}

/* Whether a frame that comes now finds no room. */
static inline bool wire_full(struct wire *w)
{
    int64_t over = w->level.work - (w->limit - w->vague);

    if (over <= 0)
        return false;
    if (over > w->vague)
        return true;
    return (wire_wide)(random_next(&w->draws) >> 32) * (wire_wide)w->vague >> 32 < (wire_wide)over;
}

static inline void wire_drop(struct wire *w, struct train *t)
{
    w->counters.frames_dropped += t->frames;
    w->counters.bytes_dropped += train_wire_bytes(t);
    train_release(w->pool, t);
}

static inline void wire_lose(struct wire *w, struct train *t)
{
    w->counters.frames_lost += t->frames;
    w->counters.bytes_lost += train_wire_bytes(t);
    train_release(w->pool, t);
}

static inline void wire_note_peak(struct wire *w, int64_t work) { w->peak = work > w->peak ? work : w->peak; }

/* wire.c: sends t, whose times are those of leaving, over the cable. */
void wire_launch(struct wire *w, struct train *t);

/* wire_entering.c: takes t in frame by frame from now on. */
void wire_enter(struct wire *w, struct train *t);
event_function wire_frame_in;

/* wire_change.c: everything that follows from the rate. */
void wire_apply_rate(struct wire *w, bps_t rate);

#endif
