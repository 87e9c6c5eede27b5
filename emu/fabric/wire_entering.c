/* Trains that are taken in frame by frame, because the queue may be full before all of them is in: wire.c says why. */
#include "emu/fabric/wire_internal.h"

#include <stdio.h>
#include <stdlib.h>

void wire_enter(struct wire *w, struct train *t)
{
    if (w->n_entering == w->size_entering) {
        uint32_t size = w->size_entering ? 2 * w->size_entering : 4;
        struct wire_entering *entering = realloc(w->entering, size * sizeof *entering);

        if (!entering) {
            fputs("out of memory for wires\n", stderr);
            abort();
        }
        w->entering = entering;
        w->size_entering = size;
    }
    w->entering[w->n_entering++] = (struct wire_entering){t, NULL};
    if (!event_pending(&w->frame) || w->frame.at > t->head)
        eventq_set(w->queue, &w->frame, t->head);
}

/* Takes the first frame off what is entering; NULL in e->rest when it was the last. */
static void next_frame(struct wire *w, struct wire_entering *e)
{
    struct train *t = e->rest;

    if (t->frames == 1) {
        train_release(w->pool, t);
        e->rest = NULL;
        return;
    }
    t->head = t->body = train_frame_time(t, 1);
    t->frames--;
    if (t->kind == TRAIN_DATA && t->u.tcp.mss > 0) {
        t->u.tcp.seq += t->u.tcp.mss;
        t->u.tcp.length -= t->u.tcp.mss;
    }
}

/* The first frame of what is entering finds room. */
static void queue_frame(struct wire *w, struct wire_entering *e)
{
    struct train *t = e->rest, *out = e->out;
    uint32_t bytes = train_first_bytes(t);
    ps_t time = wire_sending_time(w, bytes + TRAIN_FRAME_OVERHEAD),
         left = w->level.at + (w->level.work >> WIRE_FRACTION) + time;
    bool lost = w->lose && (uint32_t)(random_next(&w->draws) >> 32) < w->lose;

    w->level.work += time << WIRE_FRACTION;
    w->counters.busy += time;
    wire_note_peak(w, w->level.work);
    if (out && !lost) {
        out->tail = wire_later(left + w->delay, w->floor);
        out->frames++;
        out->last_bytes = bytes;
        if (t->kind == TRAIN_DATA && t->u.tcp.mss > 0)
            out->u.tcp.length += t->frames > 1 ? t->u.tcp.mss : t->u.tcp.length;
        next_frame(w, e);
        return;
    }
    e->rest = t->frames > 1 ? train_split(w->pool, t, 1) : NULL;
    train_ready(t, left);
    t->lost = lost;
    wire_launch(w, t);
    e->out = lost ? NULL : t;
}

/* The first frame of what is entering finds the queue full. */
static void drop_frame(struct wire *w, struct wire_entering *e)
{
    uint32_t bytes = train_first_bytes(e->rest) + TRAIN_FRAME_OVERHEAD;

    w->counters.frames_dropped++;
    w->counters.bytes_dropped += bytes;
    e->out = NULL;
    next_frame(w, e);
}

void wire_frame_in(struct event *event, ps_t now)
{
    struct wire *w = (struct wire *)(void *)((char *)event - offsetof(struct wire, frame));
    ps_t next = PS_NEVER;

    wire_catch_up(w, wire_later(now, w->level.at));
    for (uint32_t i = 0; i < w->n_entering;) {
        struct wire_entering *e = &w->entering[i];

        while (e->rest && e->rest->head <= now) {
            if (wire_full(w))
                drop_frame(w, e);
            else
                queue_frame(w, e);
        }
        if (e->rest) {
            next = e->rest->head < next ? e->rest->head : next;
            i++;
        } else {
            *e = w->entering[--w->n_entering];
        }
    }
    if (next != PS_NEVER)
        eventq_set(w->queue, event, next);
}
