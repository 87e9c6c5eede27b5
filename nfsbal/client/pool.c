#include "nfsbal/client/pool.h"

#include <malloc.h>
#include <stdlib.h>

enum { POOL_CLASSES = 9, POOL_SMALLEST = 4096 }; /* 4 KiB << 8 is 1 MiB */

struct pool {
    uint64_t limit, used; /* bytes of buffers that are out */
    uint64_t kept;        /* bytes of free ones */
    struct buffer *free[POOL_CLASSES];
    struct pool_waiter *first, **last;
};

struct pool *pool_new(uint64_t limit)
{
    struct pool *p = calloc(1, sizeof *p);

    if (p) {
        p->limit = limit;
        p->last = &p->first;
    }
    return p;
}

static void drop_free(struct pool *p)
{
    for (int i = 0; i < POOL_CLASSES; i++)
        while (p->free[i]) {
            struct buffer *b = p->free[i];

            p->free[i] = b->next;
            free(b->data);
            free(b);
        }
    p->kept = 0;
}

void pool_free(struct pool *p)
{
    if (!p)
        return;
    drop_free(p);
    free(p);
}

static int class_of(size_t size)
{
    int class = 0;

    while (class < POOL_CLASSES && (size_t)POOL_SMALLEST << class < size)
        class ++;
    return class;
}

struct buffer *pool_get(struct pool *p, size_t size)
{
    int class = class_of(size);
    uint32_t bytes = (uint32_t)POOL_SMALLEST << class;
    struct buffer *b;

    if (class == POOL_CLASSES || p->used + bytes > p->limit)
        return NULL;
    b = p->free[class];
    if (b) {
        p->free[class] = b->next;
        p->kept -= bytes;
    } else {
        if (p->used + p->kept + bytes > p->limit)
            drop_free(p); /* of the wrong sizes */
        b = calloc(1, sizeof *b);
        if (!b)
            return NULL;
        b->data = aligned_alloc(POOL_SMALLEST, bytes);
        if (!b->data) {
            free(b);
            return NULL;
        }
        b->size = bytes;
        b->pool = p;
    }
    b->refs = 1;
    b->next = NULL;
    p->used += bytes;
    return b;
}

struct buffer *buffer_hold(struct buffer *b)
{
    b->refs++;
    return b;
}

/* One waiter per released buffer: it takes what it needs and the next release wakes the next. */
static void wake(struct pool *p)
{
    struct pool_waiter *w = p->first;

    if (!w)
        return;
    pool_wait_cancel(w);
    w->call(w->context);
}

void buffer_release(struct buffer *b)
{
    struct pool *p;
    int class;

    if (!b || --b->refs)
        return;
    p = b->pool;
    class = class_of(b->size);
    b->next = p->free[class];
    p->free[class] = b;
    p->used -= b->size;
    p->kept += b->size;
    wake(p);
}

void pool_wait(struct pool *p, struct pool_waiter *w, void (*call)(void *context), void *context)
{
    if (w->link)
        return;
    w->pool = p;
    w->call = call;
    w->context = context;
    w->next = NULL;
    w->link = p->last;
    *p->last = w;
    p->last = &w->next;
}

void pool_wait_cancel(struct pool_waiter *w)
{
    if (!w->link)
        return;
    *w->link = w->next;
    if (w->next)
        w->next->link = w->link;
    else
        w->pool->last = w->link;
    w->link = NULL;
}

uint64_t pool_used(const struct pool *p) { return p->used; }
uint64_t pool_limit(const struct pool *p) { return p->limit; }

void pool_tune_malloc(void)
{
    mallopt(M_MMAP_THRESHOLD, 32 << 20);
    mallopt(M_TRIM_THRESHOLD, 256 << 20);
    mallopt(M_TOP_PAD, 4 << 20);
}
