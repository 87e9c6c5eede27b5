#include "nfsbal/client/pool.h"

#include <malloc.h>
#include <stdlib.h>

enum { POOL_CLASSES = 9, POOL_SMALLEST = 4096 }; /* 4 KiB << 8 is 1 MiB */

struct pool {
    uint64_t limit, used; /* bytes of buffers that are out */
    uint64_t kept;        /* bytes of free ones */
    struct buffer *free[POOL_CLASSES];
    struct pool_waiter *first, **last;
    /* The whole of shares: what they have beyond their parts comes from `common` bytes. */
    uint64_t common, common_used;
    struct pool *shares;
    /* A share: `limit` is its part; free buffers are the whole's. */
    struct pool *whole, *next;
    unsigned n;
};

struct pool *pool_new(uint64_t limit)
{
    struct pool *p = calloc(1, sizeof *p);

    if (p) {
        p->limit = limit;
        p->common = limit / 2;
        p->last = &p->first;
    }
    return p;
}

struct pool *pool_share(struct pool *whole, unsigned n)
{
    uint64_t part = whole->common / n;
    struct pool *p = pool_new(part < POOL_SHARE_LEAST ? POOL_SHARE_LEAST : part);

    if (!p)
        return NULL;
    p->whole = whole;
    p->n = n;
    p->next = whole->shares;
    whole->shares = p;
    if (whole->common + n * p->limit > whole->limit)
        whole->limit = whole->common + n * p->limit;
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
    struct pool **link;

    if (!p)
        return;
    if (p->whole) {
        for (link = &p->whole->shares; *link != p; link = &(*link)->next)
            ;
        *link = p->next;
    }
    drop_free(p);
    free(p);
}

/* What a share that has `used` bytes has of the common ones. */
static uint64_t beyond(const struct pool *share, uint64_t used)
{
    return used > share->limit ? used - share->limit : 0;
}

static int class_of(size_t size)
{
    int class = 0;

    while (class < POOL_CLASSES && (size_t)POOL_SMALLEST << class < size)
        class ++;
    return class;
}

/* From the free ones of `whole`, or a new one. */
static struct buffer *take(struct pool *whole, int class)
{
    uint32_t bytes = (uint32_t)POOL_SMALLEST << class;
    struct buffer *b = whole->free[class];

    if (b) {
        whole->free[class] = b->next;
        whole->kept -= bytes;
        return b;
    }
    if (whole->used + whole->kept + bytes > whole->limit)
        drop_free(whole); /* of the wrong sizes */
    b = calloc(1, sizeof *b);
    if (!b)
        return NULL;
    b->data = aligned_alloc(POOL_SMALLEST, bytes);
    if (!b->data) {
        free(b);
        return NULL;
    }
    b->size = bytes;
    return b;
}

struct buffer *pool_get(struct pool *p, size_t size)
{
    struct pool *whole = p->whole ? p->whole : p;
    int class = class_of(size);
    uint32_t bytes = (uint32_t)POOL_SMALLEST << class;
    struct buffer *b;

    if (class == POOL_CLASSES || bytes > pool_room(p))
        return NULL;
    b = take(whole, class);
    if (!b)
        return NULL;
    b->refs = 1;
    b->next = NULL;
    b->pool = p;
    if (p->whole) {
        whole->used += bytes;
        whole->common_used += beyond(p, p->used + bytes) - beyond(p, p->used);
    }
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
    struct pool *p, *whole;
    uint64_t given;
    int class;

    if (!b || --b->refs)
        return;
    p = b->pool;
    whole = p->whole ? p->whole : p;
    class = class_of(b->size);
    b->next = whole->free[class];
    whole->free[class] = b;
    whole->kept += b->size;
    p->used -= b->size;
    if (!p->whole) {
        wake(p);
        return;
    }
    whole->used -= b->size;
    given = beyond(p, p->used + b->size) - beyond(p, p->used);
    whole->common_used -= given;
    wake(p);
    for (struct pool *share = given ? whole->shares : NULL; share; share = share->next)
        if (share != p)
            wake(share);
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
uint64_t pool_limit(const struct pool *p) { return p->whole ? p->limit + p->whole->common : p->limit; }
uint64_t pool_fair(const struct pool *p) { return p->whole ? p->limit + p->whole->common / p->n : p->limit; }

uint64_t pool_room(const struct pool *p)
{
    uint64_t room = p->limit > p->used ? p->limit - p->used : 0;

    return p->whole ? room + p->whole->common - p->whole->common_used : room;
}

void pool_tune_malloc(void)
{
    mallopt(M_MMAP_THRESHOLD, 32 << 20);
    mallopt(M_TRIM_THRESHOLD, 256 << 20);
    mallopt(M_TOP_PAD, 4 << 20);
}
