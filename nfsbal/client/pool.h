/* Buffers for data, pooled: fresh memory is slow to touch, and what a client holds must be bounded.
 *
 * Buffers come in powers of two from 4 KiB to 1 MiB, page aligned, counted. Released ones are kept for the next, never
 * given back to the system before pool_free().
 */
#ifndef NFSBAL_CLIENT_POOL_H
#define NFSBAL_CLIENT_POOL_H

#include <stddef.h>
#include <stdint.h>

struct pool;

struct buffer {
    uint8_t *data;
    uint32_t size; /* bytes at data */
    uint32_t refs;
    struct pool *pool;   /* or share, that it counts in */
    struct buffer *next; /* in the pool's list, or free for the holder */
};

/* Someone who waits for a buffer; embedded. Called once, when pool_get() of that size may succeed again. */
struct pool_waiter {
    struct pool_waiter *next, **link; /* link NULL: not waiting */
    struct pool *pool;
    void (*call)(void *context);
    void *context;
};

/* At most `limit` bytes at a time. NULL: no memory. */
struct pool *pool_new(uint64_t limit);
void pool_free(struct pool *p); /* accepts NULL; all buffers must be back, and all shares gone */

/* One of `n` pools that share `whole`, for users of whom none may starve the others. Half of it is divided among them (never less
 * than POOL_SHARE_LEAST each, which makes `whole` larger if need be), half goes to who comes first. Buffers are of `whole` and must
 * not be taken from it directly. NULL: no memory. */
struct pool *pool_share(struct pool *whole, unsigned n);
enum { POOL_SHARE_LEAST = 4 << 20 };

/* A buffer of at least `size` bytes (at most 1 MiB) with one reference; NULL at the limit or without memory. The contents
 * are whatever they were. */
struct buffer *pool_get(struct pool *p, size_t size);
struct buffer *buffer_hold(struct buffer *b);
void buffer_release(struct buffer *b); /* accepts NULL */

void pool_wait(struct pool *p, struct pool_waiter *w, void (*call)(void *context), void *context);
void pool_wait_cancel(struct pool_waiter *w);

uint64_t pool_used(const struct pool *p);
uint64_t pool_limit(const struct pool *p); /* of a share: when the others take nothing beyond their part */
uint64_t pool_fair(const struct pool *p);  /* of a share: when all are as busy; else the limit */
uint64_t pool_room(const struct pool *p);  /* bytes that it has at the moment */

/* Tells malloc to keep what it has: with the defaults each 1 MiB message is mapped and unmapped again. Once, at start. */
void pool_tune_malloc(void);

#endif
