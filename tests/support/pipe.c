#include "tests/support/pipe.h"

#include <stddef.h>
#include <string.h>

static ps_t span(const struct pipe *p, uint64_t bytes)
{
    return (ps_t)((unsigned __int128)bytes * 8 * PS_PER_S / p->rate);
}

static void fired(struct event *e, ps_t now)
{
    struct pipe *p = (struct pipe *)(void *)((char *)e - offsetof(struct pipe, event));
    struct train *n = p->first;
    p->first = n->next;
    if (p->first)
        eventq_set(p->queue, &p->event, p->first->head);
    n->next = NULL;
    p->out(p->context, n, now);
}

void pipe_init(struct pipe *p, struct eventq *queue, struct train_pool *trains, bps_t rate, ps_t delay, uint64_t buffer)
{
    memset(p, 0, sizeof(*p));
    p->queue = queue;
    p->trains = trains;
    p->rate = rate;
    p->delay = delay;
    p->buffer = buffer;
    p->event.run = fired;
}

/* A train that is not cut any more. */
static void append(struct pipe *p, struct train *n, ps_t now)
{
    ps_t first = span(p, train_first_bytes(n) + TRAIN_FRAME_OVERHEAD), all = span(p, train_wire_bytes(n));
    ps_t last = span(p, n->last_bytes + TRAIN_FRAME_OVERHEAD);
    ps_t start = p->busy > now ? p->busy : now;
    ps_t end = start + all > n->tail + last ? start + all : n->tail + last;
    p->busy = end;
    n->head = n->body = start + first + p->delay;
    n->tail = end + p->delay;
    n->next = NULL;
    if (p->first) {
        p->last->next = n;
    } else {
        p->first = n;
        eventq_set(p->queue, &p->event, n->head);
    }
    p->last = n;
}

/* Keeps what the buffer takes; the rest is gone. */
static struct train *fit(struct pipe *p, struct train *n, ps_t now)
{
    if (!p->buffer)
        return n;
    uint64_t queued =
        p->busy > now ? (uint64_t)((unsigned __int128)(uint64_t)(p->busy - now) * p->rate / 8 / PS_PER_S) : 0;
    /* What leaves while a train that is still coming in comes in makes room as well. */
    uint64_t leaving = (uint64_t)((unsigned __int128)(uint64_t)(n->tail - n->head) * p->rate / 8 / PS_PER_S);
    uint64_t room = p->buffer + leaving > queued ? p->buffer + leaving - queued : 0;
    uint64_t frame = train_first_bytes(n) + TRAIN_FRAME_OVERHEAD;
    uint32_t frames = (uint32_t)(room / frame);
    if (frames >= n->frames)
        return n;
    p->dropped += n->frames - frames;
    if (frames == 0) {
        train_release(p->trains, n);
        return NULL;
    }
    train_release(p->trains, train_split(p->trains, n, frames));
    return n;
}

void pipe_in(struct pipe *p, struct train *n, ps_t now)
{
    while (n) {
        struct train *rest = NULL;
        bool lose = false;
        if (n->kind == TRAIN_DATA && n->u.tcp.length && p->lose) {
            /* The longest run of frames with one fate. */
            uint32_t i = 1;
            lose = p->lose(p->lose_context, p->data_frames);
            while (i < n->frames && p->lose(p->lose_context, p->data_frames + i) == lose)
                i++;
            p->data_frames += i;
            if (i < n->frames)
                rest = train_split(p->trains, n, i);
        }
        if (lose) {
            p->lost += n->frames;
            train_release(p->trains, n);
        } else if ((n = fit(p, n, now))) {
            append(p, n, now);
        }
        n = rest;
    }
}
