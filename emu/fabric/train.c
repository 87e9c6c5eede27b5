#include "emu/fabric/train.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "emu/fabric/hot.h"

#define CHUNK 256

struct chunk {
    struct chunk *next;
    struct train trains[CHUNK];
};

struct train_pool {
    struct train *free;
    struct chunk *chunks;
    size_t used;
    struct train_hooks hooks;
};

struct train_pool *train_pool_new(void) { return calloc(1, sizeof(struct train_pool)); }

void train_pool_free(struct train_pool *p)
{
    if (!p)
        return;
    while (p->chunks) {
        struct chunk *c = p->chunks;
        p->chunks = c->next;
        free(c);
    }
    free(p);
}

void train_pool_hooks(struct train_pool *p, const struct train_hooks *hooks) { p->hooks = *hooks; }

bool train_pool_hooked(const struct train_pool *p) { return p->hooks.release || p->hooks.copy || p->hooks.split; }

size_t train_pool_used(const struct train_pool *p) { return p->used; }

static void grow(struct train_pool *p)
{
    struct chunk *c = malloc(sizeof *c);

    if (!c) {
        fputs("out of memory for trains\n", stderr);
        abort();
    }
    c->next = p->chunks;
    p->chunks = c;
    for (int i = CHUNK - 1; i >= 0; i--) {
        c->trains[i].next = p->free;
        p->free = &c->trains[i];
    }
}

static struct train *take(struct train_pool *p)
{
    struct train *t;

    if (!p->free)
        grow(p);
    t = p->free;
    p->free = t->next;
    p->used++;
    return t;
}

FABRIC_HOT struct train *train_new(struct train_pool *p)
{
    struct train *t = take(p);

    memset(t, 0, offsetof(struct train, u));
    return t;
}

struct train *train_copy(struct train_pool *p, const struct train *t)
{
    struct train *copy = take(p);

    *copy = *t;
    copy->next = NULL;
    if (p->hooks.copy)
        p->hooks.copy(p->hooks.context, t, copy);
    return copy;
}

FABRIC_HOT void train_release(struct train_pool *p, struct train *t)
{
    if (p->hooks.release)
        p->hooks.release(p->hooks.context, t);
    t->next = p->free;
    p->free = t;
    p->used--;
}

ps_t train_frame_time(const struct train *t, uint32_t i)
{
    uint32_t gaps = t->frames - 1;
    ps_t span = t->tail - t->body;

    if (i == 0)
        return t->head;
    if (i == gaps)
        return t->tail;
    /* Quotient and remainder apart: span * i may not fit. */
    return t->body + span / gaps * i + span % gaps * i / gaps;
}

struct train *train_split(struct train_pool *p, struct train *t, uint32_t frames)
{
    struct train *rest = take(p);

    *rest = *t;
    rest->next = NULL;
    rest->frames = t->frames - frames;
    rest->head = rest->body = train_frame_time(t, frames);
    t->tail = train_frame_time(t, frames - 1);
    if (frames == 1)
        t->body = t->tail;
    t->frames = frames;
    t->last_bytes = t->frame_bytes;
    if (p->hooks.split) {
        p->hooks.split(p->hooks.context, t, rest);
    } else if (t->kind == TRAIN_DATA && t->u.tcp.mss > 0) {
        uint32_t kept = frames * t->u.tcp.mss;

        rest->u.tcp.seq += kept;
        rest->u.tcp.length -= kept;
        t->u.tcp.length = kept;
    }
    return rest;
}
