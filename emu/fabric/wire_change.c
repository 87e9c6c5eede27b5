#include "emu/fabric/wire_internal.h"

#include <assert.h>

/* value * from / to */
static int64_t scale(int64_t value, bps_t from, bps_t to)
{
    bool negative = value < 0;
    uint64_t size = negative ? -(uint64_t)value : (uint64_t)value;

    size = (uint64_t)((wire_wide)size * from / to);
    return negative ? -(int64_t)size : (int64_t)size;
}

/* The limit of the queue as work at the present rate. */
static void apply_buffer(struct wire *w)
{
    wire_wide limit = (wire_wide)w->buffer * PS_BITS_PER_BYTE / w->rate;

    w->limit = wire_work(limit < (wire_wide)LONGEST ? (ps_t)limit : LONGEST);
    w->vague = wire_work((ps_t)((wire_wide)w->vague_bytes * PS_BITS_PER_BYTE / w->rate));
}

void wire_apply_rate(struct wire *w, bps_t rate)
{
    w->rate = rate;
    w->ps_per_byte = PS_BITS_PER_BYTE % rate == 0 ? (ps_t)(PS_BITS_PER_BYTE / rate) : 0;
    w->remainder = 0;
    apply_buffer(w);
}

void wire_set_down(struct wire *w, bool down, ps_t now)
{
    if (w->down == down)
        return;
    w->down = down;
    w->level = (struct wire_level){.at = wire_later(w->level.at, now), .inflow = w->background};
    w->first_step = w->end_step = 0;
    eventq_cancel(w->queue, &w->event);
    eventq_cancel(w->queue, &w->frame);
    while (w->first) {
        struct train *t = w->first;

        w->first = t->next;
        wire_lose(w, t);
    }
    while (w->n_entering) {
        struct train *t = w->entering[--w->n_entering].rest;

        wire_lose(w, t);
    }
}

void wire_set_deaf(struct wire *w, bool deaf) { w->deaf = deaf; }

/* What is left of the time until `at` when the rate changes now. */
static ps_t stretched(ps_t at, ps_t now, bps_t from, bps_t to)
{
    return at > now ? now + scale(at - now, from, to) : at;
}

void wire_set_rate(struct wire *w, bps_t rate, ps_t now)
{
    bps_t old = w->rate;
    ps_t delay = w->delay;

    assert(rate > 0);
    now = wire_later(w->level.at, now);
    wire_catch_up(w, now);
    w->peak_bytes = wire_queue_peak(w);
    w->peak = 0;
    wire_apply_rate(w, rate);
    w->level.work = scale(w->level.work, old, rate);
    w->level.inflow = w->background + scale(w->level.inflow - w->background, old, rate);
    for (uint32_t i = w->first_step; i < w->end_step; i++) {
        w->steps[i].inflow = scale(w->steps[i].inflow, old, rate);
        w->steps[i].work = scale(w->steps[i].work, old, rate);
    }
    for (struct train *t = w->first; t; t = t->next) {
        t->start = stretched(t->start, now, old, rate);
        t->head = delay + stretched(t->head - delay, now, old, rate);
        t->body = delay + stretched(t->body - delay, now, old, rate);
        t->tail = delay + stretched(t->tail - delay, now, old, rate);
    }
    if (w->first)
        eventq_set(w->queue, &w->event, w->first->head);
}

void wire_set_delay(struct wire *w, ps_t delay, ps_t now)
{
    ps_t longer = delay - w->delay, before = 0;

    w->delay = delay;
    w->floor = w->arrived;
    for (struct train *t = w->first; t; t = t->next) {
        /* What is on the cable keeps its time, unless what is in front of it has become later: a train that an earlier
         * change held back may stand behind one that hasn't left yet. */
        ps_t shift = t->start < now ? 0 : longer;

        t->head = wire_later(t->head + shift, t->start < now ? before : wire_later(w->floor, before));
        t->body = wire_later(t->body + shift, t->head);
        t->tail = wire_later(t->tail + shift, t->head);
        before = t->head;
        if (t->start < now)
            w->floor = wire_later(w->floor, t->tail);
    }
    if (w->first)
        eventq_set(w->queue, &w->event, w->first->head);
}

void wire_set_loss(struct wire *w, double share)
{
    w->lose = share <= 0 ? 0 : share >= 1 ? UINT32_MAX : (uint32_t)(share * 4294967296.0);
}

void wire_set_buffer(struct wire *w, uint64_t buffer, uint64_t vague)
{
    w->buffer = buffer;
    w->vague_bytes = vague < buffer / 8 ? vague : buffer / 8;
    apply_buffer(w);
}

void wire_set_background(struct wire *w, double share)
{
    int64_t inflow = (int64_t)(share * (double)WIRE_ONE + 0.5);

    inflow = inflow < 0 ? 0 : inflow >= WIRE_ONE ? WIRE_ONE - 1 : inflow;
    w->level.inflow += inflow - w->background;
    w->background = inflow;
}

static uint64_t bytes_of(const struct wire *w, int64_t work)
{
    return (uint64_t)((wire_wide)(work >> WIRE_FRACTION) * w->rate / PS_BITS_PER_BYTE);
}

uint64_t wire_queue_peak(const struct wire *w)
{
    uint64_t now = bytes_of(w, w->peak);

    return now > w->peak_bytes ? now : w->peak_bytes;
}

uint64_t wire_queued(const struct wire *w, ps_t now)
{
    struct wire_level l = w->level;

    for (uint32_t i = w->first_step; i < w->end_step && w->steps[i].at <= now; i++)
        wire_take_step(&l, &w->steps[i]);
    if (now > l.at)
        wire_let_pass(&l, now);
    return bytes_of(w, l.work);
}

void wire_flying(const struct wire *w, uint64_t *frames, uint64_t *bytes)
{
    *frames = *bytes = 0;
    for (const struct train *t = w->first; t; t = t->next) {
        *frames += t->frames;
        *bytes += train_wire_bytes(t);
    }
    for (uint32_t i = 0; i < w->n_entering; i++) {
        *frames += w->entering[i].rest->frames;
        *bytes += train_wire_bytes(w->entering[i].rest);
    }
}

bool wire_conserves(const struct wire *w)
{
    const struct wire_counters *c = &w->counters;
    uint64_t frames, bytes;

    wire_flying(w, &frames, &bytes);
    return c->frames_in == c->frames_out + c->frames_dropped + c->frames_lost + frames &&
           c->bytes_in == c->bytes_out + c->bytes_dropped + c->bytes_lost + bytes;
}
