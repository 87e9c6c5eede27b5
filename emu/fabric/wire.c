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

__extension__ typedef unsigned __int128 wide;

#define PS_BITS_PER_BYTE (UINT64_C(8) * PS_PER_S) /* 8 bits, in bit * ps/s */
#define LONGEST          (INT64_C(1) << 46)       /* ps, 70 s: as work it still fits */

/* A train of 64 KiB and its headers: as long as there is room for one more beside what is known, nothing that comes later
 * can make a frame of a train that is just coming in find the queue full. */
#define WIRE_GUARD 70000

static event_function arrival, frame_in;

static ps_t later(ps_t a, ps_t b) { return a > b ? a : b; }

static int64_t work_of(ps_t time) { return (time < LONGEST ? time : LONGEST) << WIRE_FRACTION; }

/* value * from / to */
static int64_t scale(int64_t value, bps_t from, bps_t to)
{
    bool negative = value < 0;
    uint64_t size = negative ? -(uint64_t)value : (uint64_t)value;

    size = (uint64_t)((wide)size * from / to);
    return negative ? -(int64_t)size : (int64_t)size;
}

static void set_rate(struct wire *w, bps_t rate)
{
    wide limit = (wide)w->buffer * PS_BITS_PER_BYTE / rate;

    w->rate = rate;
    w->ps_per_byte = PS_BITS_PER_BYTE % rate == 0 ? (ps_t)(PS_BITS_PER_BYTE / rate) : 0;
    w->remainder = 0;
    w->limit = work_of(limit < (wide)LONGEST ? (ps_t)limit : LONGEST);
    w->vague = work_of((ps_t)((wide)w->vague_bytes * PS_BITS_PER_BYTE / rate));
}

void wire_init(struct wire *w, const struct wire_config *c, struct eventq *queue, struct train_pool *pool)
{
    memset(w, 0, sizeof *w);
    assert(c->rate > 0);
    w->event.run = arrival;
    w->frame.run = frame_in;
    w->arrive = c->arrive;
    w->tap = c->tap;
    w->owner = c->owner;
    w->id = c->id;
    w->to = c->to;
    w->delay = c->delay;
    w->buffer = c->buffer;
    w->vague_bytes = c->vague < c->buffer / 8 ? c->vague : c->buffer / 8;
    w->draws.state = c->seed;
    w->queue = queue;
    w->pool = pool;
    w->level.at = eventq_now(queue);
    set_rate(w, c->rate);
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

/* Time to send so many bytes after each other; carries the remainder. */
static ps_t sending_time(struct wire *w, uint64_t bytes)
{
    uint64_t bits;

    if (w->ps_per_byte)
        return (ps_t)bytes * w->ps_per_byte;
    bits = bytes * PS_BITS_PER_BYTE + w->remainder; /* up to 2 MB */
    w->remainder = bits % w->rate;
    return (ps_t)(bits / w->rate);
}

/* The same rounded down, for estimates. */
static ps_t about(const struct wire *w, uint64_t bytes)
{
    return (ps_t)(w->ps_per_byte ? bytes * (uint64_t)w->ps_per_byte : bytes * PS_BITS_PER_BYTE / w->rate);
}

/* Lets time pass for the queue, the inflow being constant. */
static inline void pass(struct wire_level *l, ps_t to)
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

static inline void step(struct wire_level *l, const struct wire_step *s)
{
    pass(l, s->at);
    l->inflow += s->inflow;
    l->work += s->work;
    l->work = l->work > s->least ? l->work : s->least;
}

/* Brings the queue to the moment `to`. */
static void catch_up(struct wire *w, ps_t to)
{
    struct wire_level *l = &w->level;

    if (w->first_step == w->end_step && l->inflow == 0) {
        ps_t time = to - l->at;

        l->at = to;
        l->work = l->work >> WIRE_FRACTION <= time ? 0 : l->work - (time << WIRE_FRACTION);
        return;
    }
    while (w->first_step < w->end_step && w->steps[w->first_step].at <= to)
        step(l, &w->steps[w->first_step++]);
    if (w->first_step == w->end_step)
        w->first_step = w->end_step = 0;
    pass(l, to);
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

        step(&l, next);
        f.peak = l.work > f.peak ? l.work : f.peak;
        if (l.work > w->limit && f.full == PS_NEVER && next->at > in->from) {
            int64_t rises = before.inflow - WIRE_ONE, room = w->limit - before.work;

            f.full = before.at + (room > 0 && rises > 0 ? room / rises : 0);
        }
    }
    f.end = l;
    return f;
}

/* Whether a frame that comes now finds no room. */
static bool full(struct wire *w)
{
    int64_t over = w->level.work - (w->limit - w->vague);

    if (over <= 0)
        return false;
    if (over > w->vague)
        return true;
    return (wide)(random_next(&w->draws) >> 32) * (wide)w->vague >> 32 < (wide)over;
}

static void drop(struct wire *w, struct train *t)
{
    w->counters.frames_dropped += t->frames;
    w->counters.bytes_dropped += train_wire_bytes(t);
    train_release(w->pool, t);
}

static void lose(struct wire *w, struct train *t)
{
    w->counters.frames_lost += t->frames;
    w->counters.bytes_lost += train_wire_bytes(t);
    train_release(w->pool, t);
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
static void launch(struct wire *w, struct train *t)
{
    t->start = t->head - about(w, train_first_bytes(t) + TRAIN_FRAME_OVERHEAD);
    t->head += w->delay;
    t->body += w->delay;
    t->tail += w->delay;
    if (t->head < w->floor) {
        t->head = w->floor;
        t->body = later(t->body, t->head);
        t->tail = later(t->tail, t->head);
    }
    append(w, t);
}

/* As launch(), with random loss: split around each lost frame. */
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
            launch(w, t);
        }
        if (lost->frames > 1)
            rest = train_split(w->pool, lost, 1);
        lost->lost = true;
        launch(w, lost);
        if (!rest)
            return;
        t = rest;
        i = 0;
    }
    launch(w, t);
}

/* Bytes on the wire after the first frame. */
static uint64_t other_bytes(const struct train *t)
{
    return train_wire_bytes(t) - train_first_bytes(t) - TRAIN_FRAME_OVERHEAD;
}

static void note_peak(struct wire *w, int64_t work) { w->peak = work > w->peak ? work : w->peak; }

/* A single frame, or frames that are all there already. */
static void send_at_once(struct wire *w, struct train *t)
{
    struct wire_level *l = &w->level;
    ps_t first, others = 0;

    if (t->frames > 1) {
        int64_t frame = work_of(about(w, t->frame_bytes + TRAIN_FRAME_OVERHEAD));

        if (frame * (int64_t)(t->frames - 1) > w->limit - l->work)
            drop(w, train_split(w->pool, t, (uint32_t)((w->limit - l->work) / frame) + 1));
    }
    first = sending_time(w, train_first_bytes(t) + TRAIN_FRAME_OVERHEAD);
    if (t->frames > 1)
        others = sending_time(w, other_bytes(t));
    t->head = t->body = l->at + (l->work >> WIRE_FRACTION) + first;
    t->tail = t->head + others;
    l->work += (first + others) << WIRE_FRACTION;
    w->counters.busy += first + others;
    note_peak(w, l->work);
}

/* How many frames of t, which come in between body and tail, are in by `full`: the first one at least. */
static uint32_t frames_by(const struct train *t, ps_t full)
{
    if (full <= t->body)
        return 1;
    return 1 + (uint32_t)((wide)(full - t->body) * (t->frames - 1) / (wide)(t->tail - t->body));
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
    first = sending_time(w, t->frame_bytes + TRAIN_FRAME_OVERHEAD);
    head = l->at + (l->work >> WIRE_FRACTION) + first;
    l->work += first << WIRE_FRACTION;
    w->counters.busy += first;
    remainder = w->remainder;
    others = sending_time(w, other_bytes(t));
    last = about(w, t->last_bytes + TRAIN_FRAME_OVERHEAD);
    in = inflow_of(t->body, t->tail, others, last);
    f = foresee(w, &in);
    while (f.full < t->tail && frames_by(t, f.full) < t->frames) {
        drop(w, train_split(w->pool, t, frames_by(t, f.full)));
        w->remainder = remainder;
        if (t->frames == 1) {
            train_ready(t, head);
            note_peak(w, l->work);
            return;
        }
        others = sending_time(w, other_bytes(t));
        in = inflow_of(t->body, t->tail, others, first);
        f = foresee(w, &in);
    }
    note_peak(w, f.peak);
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

/* ---- frame by frame ---- */

static void enter(struct wire *w, struct train *t)
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
    ps_t time = sending_time(w, bytes + TRAIN_FRAME_OVERHEAD),
         left = w->level.at + (w->level.work >> WIRE_FRACTION) + time;
    bool lost = w->lose && (uint32_t)(random_next(&w->draws) >> 32) < w->lose;

    w->level.work += time << WIRE_FRACTION;
    w->counters.busy += time;
    note_peak(w, w->level.work);
    if (out && !lost) {
        out->tail = later(left + w->delay, w->floor);
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
    launch(w, t);
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

static void frame_in(struct event *event, ps_t now)
{
    struct wire *w = (struct wire *)(void *)((char *)event - offsetof(struct wire, frame));
    ps_t next = PS_NEVER;

    catch_up(w, later(now, w->level.at));
    for (uint32_t i = 0; i < w->n_entering;) {
        struct wire_entering *e = &w->entering[i];

        while (e->rest && e->rest->head <= now) {
            if (full(w))
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

/* Whether something that comes while t comes in could fill the queue. */
static bool tight(const struct wire *w, const struct train *t)
{
    struct inflow in = inflow_of(w->level.at, t->tail, about(w, train_wire_bytes(t)), 0);

    if (train_pool_hooked(w->pool))
        return false;
    return w->n_entering || foresee(w, &in).peak > w->limit - work_of(about(w, WIRE_GUARD));
}

/* A single frame that finds room and isn't at risk: what frames need, in one go. */
static inline void send_frame(struct wire *w, struct train *t, uint64_t bytes)
{
    struct wire_level *l = &w->level;
    ps_t time = sending_time(w, bytes);

    t->start = l->at + (l->work >> WIRE_FRACTION);
    t->head = t->start + time + w->delay;
    if (t->head < w->floor)
        t->head = w->floor;
    t->body = t->tail = t->head;
    l->work += time << WIRE_FRACTION;
    w->counters.busy += time;
    note_peak(w, l->work);
    append(w, t);
}

/* Everything but a single frame. Apart, so that frames have a short way. */
static __attribute__((noinline)) void send_train(struct wire *w, struct train *t, ps_t now)
{
    if (t->tail > now && tight(w, t)) {
        enter(w, t);
        return;
    }
    if (full(w)) {
        drop(w, t);
        return;
    }
    if (t->tail <= now)
        send_at_once(w, t);
    else
        send_as_it_comes(w, t);
    if (w->lose)
        launch_lossy(w, t);
    else
        launch(w, t);
}

void wire_send(struct wire *w, struct train *t)
{
    ps_t now = t->head > w->level.at ? t->head : w->level.at;
    uint64_t bytes = train_wire_bytes(t);

    w->counters.frames_in += t->frames;
    w->counters.bytes_in += bytes;
    if (w->down) {
        lose(w, t);
        return;
    }
    catch_up(w, now);
    if (t->frames > 1 || w->lose)
        send_train(w, t, now);
    else if (full(w))
        drop(w, t);
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
    catch_up(w, later(t->head, w->level.at));
    if (w->down || full(w)) {
        *(w->down ? &c->frames_lost : &c->frames_dropped) += 1;
        *(w->down ? &c->bytes_lost : &c->bytes_dropped) += bytes;
        return;
    }
    time = sending_time(w, bytes);
    start = w->level.at + (w->level.work >> WIRE_FRACTION);
    w->level.work += time << WIRE_FRACTION;
    c->busy += time;
    note_peak(w, w->level.work);
    if (w->tap)
        w->tap(w, t, start);
    *(w->deaf ? &c->frames_lost : &c->frames_out) += 1;
    *(w->deaf ? &c->bytes_lost : &c->bytes_out) += bytes;
}

static void arrival(struct event *e, ps_t now)
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
    w->arrived = later(w->arrived, t->tail);
    if (w->tap)
        w->tap(w, t, t->start);
    if (t->lost || w->deaf) {
        lose(w, t);
        return;
    }
    w->counters.frames_out += t->frames;
    w->counters.bytes_out += bytes;
    assert(w->first || w->n_entering ||
           w->counters.bytes_in == w->counters.bytes_out + w->counters.bytes_dropped + w->counters.bytes_lost);
    w->arrive(w, t, now);
}
static_assert(offsetof(struct wire, event) == 0, "an event is where its wire is");

void wire_set_down(struct wire *w, bool down, ps_t now)
{
    if (w->down == down)
        return;
    w->down = down;
    w->level = (struct wire_level){.at = later(w->level.at, now), .inflow = w->background};
    w->first_step = w->end_step = 0;
    eventq_cancel(w->queue, &w->event);
    eventq_cancel(w->queue, &w->frame);
    while (w->first) {
        struct train *t = w->first;

        w->first = t->next;
        lose(w, t);
    }
    while (w->n_entering) {
        struct train *t = w->entering[--w->n_entering].rest;

        lose(w, t);
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
    now = later(w->level.at, now);
    catch_up(w, now);
    w->peak_bytes = wire_queue_peak(w);
    w->peak = 0;
    set_rate(w, rate);
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
    ps_t longer = delay - w->delay;

    w->delay = delay;
    w->floor = w->arrived;
    for (struct train *t = w->first; t; t = t->next) {
        if (t->start < now) {
            w->floor = later(w->floor, t->tail);
            continue;
        }
        t->head = later(t->head + longer, w->floor);
        t->body = later(t->body + longer, t->head);
        t->tail = later(t->tail + longer, t->head);
    }
    if (w->first)
        eventq_set(w->queue, &w->event, w->first->head);
}

void wire_set_loss(struct wire *w, double share)
{
    w->lose = share <= 0 ? 0 : share >= 1 ? UINT32_MAX : (uint32_t)(share * 4294967296.0);
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
    return (uint64_t)((wide)(work >> WIRE_FRACTION) * w->rate / PS_BITS_PER_BYTE);
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
        step(&l, &w->steps[i]);
    if (now > l.at)
        pass(&l, now);
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
