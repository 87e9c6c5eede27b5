/* The flows of a lab: frames with equal keys share a struct train_flow, with a dense number for caches and counters.
 *
 * A table of fixed size. When it is full, flows of which nothing is on the way and that were seen longest ago are
 * forgotten, many at a time, and their numbers are used again; `forgotten` is called first.
 */
#ifndef EMU_LIVE_FLOWS_H
#define EMU_LIVE_FLOWS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "emu/fabric/train.h"

enum { FLOWS_MAX = 32768 };

struct live_flow {
    struct train_flow flow; /* its owner is this */
    struct live_flow *next; /* in its bucket */
    uint32_t hash;
    uint32_t refs;   /* trains on the way */
    ps_t seen;       /* last sent */
    int vip;         /* whose address is the source, or -1 */
    uint8_t from[6]; /* delivered: the source address of its last frame */
    bool from_known;
};

struct flows;
struct flows *flows_new(void (*forgotten)(void *context), void *context); /* NULL on lack of memory */
void flows_free(struct flows *f);                                         /* accepts NULL */

/* The flow of this key; `made` says that it is new: vip is then for the caller to set. The key has no padding that
 * differs between equal ones, as hash_key_from_frame() makes it. NULL: all flows have something on the way. */
struct live_flow *flows_find(struct flows *f, const struct hash_key *key, ps_t now, bool *made);

size_t flows_count(const struct flows *f); /* numbers in use are below this */
/* The flow with that number; NULL when it has been forgotten. */
const struct live_flow *flows_at(const struct flows *f, size_t id);

#endif
