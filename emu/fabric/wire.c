/* Theory of operation
 *
 * The queue is a number: the work that has arrived and isn't sent, as time. It falls by one second a second and rises by what
 * arrives. A frame that arrives at h leaves at h + work + its own time; that is all of FIFO, and frames need nothing else.
 *
 * A train comes in over a while: its first frame at its head, the others evenly between body and tail. When its head is in
 * the wire learns of all of it, but must not count all of it: a train from a 1 Gbit/s port takes 530 us to come in and
 * 53 us to leave at 10 Gbit/s, and nine others fit between its frames. So the rest of a train is *inflow*, work per time,
 * from body to tail; `steps` says when inflow changes. Between two steps the queue is a straight line that stops at zero,
 * which is the closed form for any two rates.
 *
 * For a train with head h, body b, tail t, sending times f (first frame), r (the others), l (last frame):
 *
 *   head_out = h + work(h) + f
 *   tail_out = t + max(work(t), l)       with all known inflow and the train's own in work(t)
 *   body_out = tail_out - max(r, min(t - b, tail_out - head_out)), not before head_out
 *
 * tail_out is what frames would do, as far as known: trains whose heads come later, but before t, are not in it. They would
 * push some of this train's frames back. It has been passed on by then, and taking it back would have to go through all
 * the wires behind this one. Instead the later train bears the wait: its tail_out counts all of the earlier one. The first
 * frame of the later train goes in its turn, though, so a request does not wait for a whole train of another flow; and
 * body_out says that the rest of it comes close together, before its tail. Without body (all frames evenly between head and
 * tail) the next wire, of the same rate, would see both trains at once, faster than this one can send, and build a queue that
 * can't be there: sixteen trains at once would build 390 KB.
 *
 * Integers: work is in ps / 2^16 and inflow in WIRE_ONE per line rate, so that an inflow is at most 2^-16 of the line rate
 * off while it lasts; what rounding left out is added when it ends. Sending times are whole ps; where a byte isn't a
 * whole number of ps (3 Gbit/s), the remainder is carried to the next train: nothing drifts.
 *
 * The buffer: a frame is dropped when, at its arrival, more than `buffer` bytes wait or are being sent. With frames of one
 * size that is a queue of buffer / size frames beside the one being sent.
 *
 * Who loses when trains meet in a full queue decides who gets which share of the link, so that must be what frames would
 * do: whoever comes. In closed form it is the train that comes last, because the one before has been let in as a whole; a
 * flow with much in flight then never loses, and small ones starve (four equal flows: Jain index 0.6 instead of 0.99). So a
 * train is taken in frame by frame (wire_entering) where the queue might be full before it is in, with room left for one
 * more train that nobody knows of yet. Its frames join one train again behind the queue, as long as that waits there: it is
 * one event per frame at this wire and none more behind it. Trains of the live side can't be joined again; they stay with
 * the closed form.
 *
 * A sharp limit lets flows lock others out: who sends one frame for each that leaves keeps the queue just full for ever, and
 * a newcomer's frame never finds room (twelve of plant-b's 72 writers moved nothing in 30 s). No real switch is so exact: it
 * counts in cells, shares its buffer among ports, and clocks differ. So the limit may be vague over a frame's length; both
 * sides lose then, in proportion to what they send.
 *
 * Random loss draws once per frame; a train is split around a lost frame, which stays in flight as a train of its own (it
 * takes its time, and captures show it). A wire that is down loses what is in flight, but a train whose head has arrived
 * has arrived: at most one train per wire and failure gets through that should not.
 */
#include "emu/fabric/wire.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "emu/fabric/wire_internal.h"

#include "emu/fabric/hot.h"

/* A train of 64 KiB and its headers: as long as there is room for one more beside what is known, nothing that comes later
 * can make a frame of a train that is just coming in find the queue full. */
#define WIRE_GUARD 70000

static event_function arrival;

void wire_init(struct wire *w, const struct wire_config *c, struct eventq *queue, struct train_pool *pool)
{
    memset(w, 0, sizeof *w);
    assert(c->rate > 0);
    w->event.run = arrival;
    w->frame.run = wire_frame_in;
    w->arrive = c->arrive;
    w->tap = c->tap;
    w->owner = c->owner;
    w->id = c->id;
    w->to = c->to;
    w->delay = c->delay;
    w->draws.state = c->seed;
    w->queue = queue;
    w->pool = pool;
    w->level.at = eventq_now(queue);
    wire_apply_rate(w, c->rate);
    wire_set_buffer(w, c->buffer, c->vague);
}

void wire_close(struct wire *w)
{
    if (w->queue)
        eventq_cancel(w->queue, &w->event);
    if (w->queue)
        eventq_cancel(w->queue, &w->frame);
    while (w->first) {
        struct train *t = w->first;

        w->first = t->next;
        train_release(w->pool, t);
    }
    for (uint32_t i = 0; i < w->n_entering; i++)
        train_release(w->pool, w->entering[i].rest);
    free(w->entering);
    free(w->steps);
    w->entering = NULL;
    w->steps = NULL;
}

static void add_step(struct wire *w, struct wire_step s)
{
    uint32_t i;

    if (w->end_step == w->size_steps && w->first_step > w->size_steps / 2) {
        memmove(w->steps, w->steps + w->first_step, (w->end_step - w->first_step) * sizeof *w->steps);
        w->end_step -= w->first_step;
        w->first_step = 0;
    }
    if (w->end_step == w->size_steps) {
        uint32_t size = w->size_steps ? 2 * w->size_steps : 8;
        struct wire_step *steps = realloc(w->steps, size * sizeof *steps);

        if (!steps) {
            fputs("out of memory for wires\n", stderr);
            abort();
        }
        w->steps = steps;
        w->size_steps = size;
    }
    for (i = w->end_step++; i > w->first_step && w->steps[i - 1].at > s.at; i--)
        w->steps[i] = w->steps[i - 1];
    w->steps[i] = s;
}

/* The other frames of a train while they come in. */
struct inflow {
    ps_t from, to;
    int64_t rate, left; /* what the rate leaves out by rounding */
    int64_t last;       /* work of the last frame */
};

static struct inflow inflow_of(ps_t from, ps_t to, ps_t work, ps_t last)
{
    struct inflow in = {from, to, 0, work << WIRE_FRACTION, last << WIRE_FRACTION};

    if (to > from) {
        in.rate = in.left / (to - from);
        in.left -= in.rate * (to - from);
    }
    return in;
}

static struct wire_step begins(const struct inflow *in) { return (struct wire_step){in->from, in->rate, 0, 0}; }

/* The last frame has just come in whole: the wire can't have sent of it what inflow says. */
static struct wire_step ends(const struct inflow *in)
{
    return (struct wire_step){in->to, -in->rate, in->left, in->last};
}

struct foresight {
    struct wire_level end; /* when `in` has ended */
    ps_t full;             /* when the queue first exceeds the limit, PS_NEVER: not before */
    int64_t peak;
};

/* How the queue will be, with all that is known now and `in`, starting from the present. */
static struct foresight foresee(const struct wire *w, const struct inflow *in)
{
    const struct wire_step own[2] = {begins(in), ends(in)};
    struct wire_level l = w->level;
    struct foresight f = {.full = PS_NEVER, .peak = l.work};
    uint32_t i = w->first_step, j = 0;

    while (j < 2) {
        const struct wire_step *next = i < w->end_step && w->steps[i].at <= own[j].at ? &w->steps[i++] : &own[j++];
        struct wire_level before = l;

        wire_take_step(&l, next);
        f.peak = l.work > f.peak ? l.work : f.peak;
        if (l.work > w->limit && f.full == PS_NEVER && next->at > in->from) {
            int64_t rises = before.inflow - WIRE_ONE, room = w->limit - before.work;

            f.full = before.at + (room > 0 && rises > 0 ? room / rises : 0);
        }
    }
    f.end = l;
    return f;
}

/* Puts t on its way, in order of arrival. */
static inline void append(struct wire *w, struct train *t)
{
    struct train **place;

    t->next = NULL;
    if (!w->first) {
        w->first = w->last = t;
        eventq_set(w->queue, &w->event, t->head);
        return;
    }
    if (w->last->head <= t->head) {
        w->last = w->last->next = t;
        return;
    }
    /* Behind a loss the rest of a train may come after the head of the next. */
    for (place = &w->first; (*place)->head <= t->head;)
        place = &(*place)->next;
    t->next = *place;
    *place = t;
    if (w->first == t)
        eventq_set(w->queue, &w->event, t->head);
}

/* Sends t, whose times are those of leaving, over the cable. */
void wire_launch(struct wire *w, struct train *t)
{
    t->start = t->head - wire_about(w, train_first_bytes(t) + TRAIN_FRAME_OVERHEAD);
    t->head += w->delay;
    t->body += w->delay;
    t->tail += w->delay;
    if (t->head < w->floor) {
        t->head = w->floor;
        t->body = wire_later(t->body, t->head);
        t->tail = wire_later(t->tail, t->head);
    }
    append(w, t);
}

/* As wire_launch(), with random loss: split around each lost frame. */
static void launch_lossy(struct wire *w, struct train *t)
{
    for (uint32_t i = 0; i < t->frames;) {
        struct train *lost = t, *rest = NULL;

        if ((uint32_t)(random_next(&w->draws) >> 32) >= w->lose) {
            i++;
            continue;
        }
        if (i > 0) {
            lost = train_split(w->pool, t, i);
            wire_launch(w, t);
        }
        if (lost->frames > 1)
            rest = train_split(w->pool, lost, 1);
        lost->lost = true;
        wire_launch(w, lost);
        if (!rest)
            return;
        t = rest;
        i = 0;
    }
    wire_launch(w, t);
}

/* Bytes on the wire after the first frame. */
static uint64_t other_bytes(const struct train *t)
{
    return train_wire_bytes(t) - train_first_bytes(t) - TRAIN_FRAME_OVERHEAD;
}

/* A single frame, or frames that are all there already. */
static void send_at_once(struct wire *w, struct train *t)
{
    struct wire_level *l = &w->level;
    ps_t first, others = 0;

    if (t->frames > 1) {
        int64_t frame = wire_work(wire_about(w, t->frame_bytes + TRAIN_FRAME_OVERHEAD));

        if (frame * (int64_t)(t->frames - 1) > w->limit - l->work)
            wire_drop(w, train_split(w->pool, t, (uint32_t)((w->limit - l->work) / frame) + 1));
    }
    first = wire_sending_time(w, train_first_bytes(t) + TRAIN_FRAME_OVERHEAD);
    if (t->frames > 1)
        others = wire_sending_time(w, other_bytes(t));
    t->head = t->body = l->at + (l->work >> WIRE_FRACTION) + first;
    t->tail = t->head + others;
    l->work += (first + others) << WIRE_FRACTION;
    w->counters.busy += first + others;
    wire_note_peak(w, l->work);
}

/* How many frames of t, which come in between body and tail, are in by `full`: the first one at least. */
static uint32_t frames_by(const struct train *t, ps_t full)
{
    if (full <= t->body)
        return 1;
    return 1 + (uint32_t)((wire_wide)(full - t->body) * (t->frames - 1) / (wire_wide)(t->tail - t->body));
}

/* A train whose other frames are yet to come. */
static void send_as_it_comes(struct wire *w, struct train *t)
{
    struct wire_level *l = &w->level;
    uint64_t remainder;
    ps_t head, tail, first, others, last, spread;
    struct inflow in;
    struct foresight f;

    t->head = l->at;
    t->body = t->body > l->at ? t->body : l->at;
    first = wire_sending_time(w, t->frame_bytes + TRAIN_FRAME_OVERHEAD);
    head = l->at + (l->work >> WIRE_FRACTION) + first;
    l->work += first << WIRE_FRACTION;
    w->counters.busy += first;
    remainder = w->remainder;
    others = wire_sending_time(w, other_bytes(t));
    last = wire_about(w, t->last_bytes + TRAIN_FRAME_OVERHEAD);
    in = inflow_of(t->body, t->tail, others, last);
    f = foresee(w, &in);
    while (f.full < t->tail && frames_by(t, f.full) < t->frames) {
        wire_drop(w, train_split(w->pool, t, frames_by(t, f.full)));
        w->remainder = remainder;
        if (t->frames == 1) {
            train_ready(t, head);
            wire_note_peak(w, l->work);
            return;
        }
        others = wire_sending_time(w, other_bytes(t));
        in = inflow_of(t->body, t->tail, others, first);
        f = foresee(w, &in);
    }
    wire_note_peak(w, f.peak);
    w->counters.busy += others;
    add_step(w, begins(&in));
    add_step(w, ends(&in));

    tail = in.to + (f.end.work >> WIRE_FRACTION);
    spread = in.to - in.from < tail - head ? in.to - in.from : tail - head;
    spread = spread > others ? spread : others;
    t->head = head;
    t->body = tail - spread > head ? tail - spread : head;
    t->tail = tail;
}

/* Whether something that comes while t comes in could fill the queue. */
static bool tight(const struct wire *w, const struct train *t)
{
    struct inflow in = inflow_of(w->level.at, t->tail, wire_about(w, train_wire_bytes(t)), 0);

    if (train_pool_hooked(w->pool))
        return false;
    return w->n_entering || foresee(w, &in).peak > w->limit - wire_work(wire_about(w, WIRE_GUARD));
}

/* A single frame that finds room and isn't at risk: what frames need, in one go. */
static inline void send_frame(struct wire *w, struct train *t, uint64_t bytes)
{
    struct wire_level *l = &w->level;
    ps_t time = wire_sending_time(w, bytes);

    t->start = l->at + (l->work >> WIRE_FRACTION);
    t->head = t->start + time + w->delay;
    if (t->head < w->floor)
        t->head = w->floor;
    t->body = t->tail = t->head;
    l->work += time << WIRE_FRACTION;
    w->counters.busy += time;
    wire_note_peak(w, l->work);
    append(w, t);
}

/* Everything but a single frame. Apart, so that frames have a short way. */
static __attribute__((noinline)) void send_train(struct wire *w, struct train *t, ps_t now)
{
    if (t->tail > now && tight(w, t)) {
        wire_enter(w, t);
        return;
    }
    if (wire_full(w)) {
        wire_drop(w, t);
        return;
    }
    if (t->tail <= now)
        send_at_once(w, t);
    else
        send_as_it_comes(w, t);
    if (w->lose)
        launch_lossy(w, t);
    else
        wire_launch(w, t);
}

FABRIC_HOT void wire_send(struct wire *w, struct train *t)
{
    ps_t now = t->head > w->level.at ? t->head : w->level.at;
    uint64_t bytes = train_wire_bytes(t);

    w->counters.frames_in += t->frames;
    w->counters.bytes_in += bytes;
    if (w->down) {
        wire_lose(w, t);
        return;
    }
    wire_catch_up(w, now);
    if (t->frames > 1 || w->lose)
        send_train(w, t, now);
    else if (wire_full(w))
        wire_drop(w, t);
    else
        send_frame(w, t, bytes);
}

void wire_pass(struct wire *w, const struct train *t)
{
    struct wire_counters *c = &w->counters;
    uint64_t bytes = train_wire_bytes(t);
    ps_t time, start;

    c->frames_in++;
    c->bytes_in += bytes;
    wire_catch_up(w, wire_later(t->head, w->level.at));
    if (w->down || wire_full(w)) {
        *(w->down ? &c->frames_lost : &c->frames_dropped) += 1;
        *(w->down ? &c->bytes_lost : &c->bytes_dropped) += bytes;
        return;
    }
    time = wire_sending_time(w, bytes);
    start = w->level.at + (w->level.work >> WIRE_FRACTION);
    w->level.work += time << WIRE_FRACTION;
    c->busy += time;
    wire_note_peak(w, w->level.work);
    if (w->tap)
        w->tap(w, t, start);
    *(w->deaf ? &c->frames_lost : &c->frames_out) += 1;
    *(w->deaf ? &c->bytes_lost : &c->bytes_out) += bytes;
}

static FABRIC_HOT void arrival(struct event *e, ps_t now)
{
    struct wire *w = (struct wire *)e;
    struct train *t = w->first;
    uint64_t bytes = train_wire_bytes(t);

    w->first = t->next;
    if (w->first)
        eventq_set(w->queue, e, w->first->head);
    for (uint32_t i = 0; i < w->n_entering; i++)
        if (w->entering[i].out == t)
            w->entering[i].out = NULL;
    w->arrived = wire_later(w->arrived, t->tail);
    if (w->tap)
        w->tap(w, t, t->start);
    if (t->lost || w->deaf) {
        wire_lose(w, t);
        return;
    }
    w->counters.frames_out += t->frames;
    w->counters.bytes_out += bytes;
    assert(w->first || w->n_entering ||
           w->counters.bytes_in == w->counters.bytes_out + w->counters.bytes_dropped + w->counters.bytes_lost);
    w->arrive(w, t, now);
}
static_assert(offsetof(struct wire, event) == 0, "an event is where its wire is");
