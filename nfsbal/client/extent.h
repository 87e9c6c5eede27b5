/* Ranges of a file that are held in memory: a tree of extents that don't overlap, by offset.
 *
 * A pooled buffer may be shared by several extents (one was cut in two); their ranges in it are disjoint.
 */
#ifndef NFSBAL_CLIENT_EXTENT_H
#define NFSBAL_CLIENT_EXTENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/queue.h>

#include "nfsbal/client/pool.h"

struct wb_file;

struct extent {
    struct extent *left, *right; /* of the tree */
    uint32_t priority;

    uint64_t offset; /* in the file */
    uint32_t size;   /* bytes, never 0 */
    uint32_t start;  /* where they begin in the buffer */
    struct buffer *buffer;

    bool flying;       /* a WRITE is out; then it is not in the tree */
    bool ready;        /* to be sent as soon as possible */
    bool sync;         /* as FILE_SYNC */
    uint64_t sequence; /* of the first write that is in it */
    int64_t since;     /* when that came */
    int64_t sent;      /* flying: since when; the sender's, as is */
    TAILQ_ENTRY(extent) unsent;
    struct wb_file *file;
    TAILQ_ENTRY(extent) link; /* in the list of its state */
};

TAILQ_HEAD(extent_list, extent);

static inline uint64_t extent_end(const struct extent *e) { return e->offset + e->size; }

static inline bool extent_overlaps(const struct extent *e, uint64_t offset, uint64_t end)
{
    return e->offset < end && extent_end(e) > offset;
}

static inline uint8_t *extent_bytes(const struct extent *e) { return e->buffer->data + e->start; }

/* The tree: extents that don't overlap, by offset. `random` is the state of its priorities. */
struct extent_tree {
    struct extent *root;
    uint32_t random;
};

void extent_tree_insert(struct extent_tree *t, struct extent *e);
void extent_tree_remove(struct extent_tree *t, struct extent *e);
/* The first that ends beyond `offset`, or NULL. */
struct extent *extent_tree_first(const struct extent_tree *t, uint64_t offset);
/* The one that ends at `offset`, or NULL. */
struct extent *extent_tree_ending(const struct extent_tree *t, uint64_t offset);

#endif
