/* Buffers for frames between two TAP devices, and the trains that stand for them.
 *
 * A buffer holds one super-frame as it was read, behind its virtio header, and is never changed: several trains may refer to
 * it, copies of a flood or the parts of a train that a full queue has cut. The fresh addresses that a frame gets on its way are
 * in the train. Buffers are used again, the last one first, because memory that was never touched is slow.
 */
#ifndef EMU_LIVE_FRAME_POOL_H
#define EMU_LIVE_FRAME_POOL_H

#include <stddef.h>
#include <stdint.h>

#include "emu/fabric/train.h"
#include "emu/live/superframe.h"

struct frame_pool;
struct frame {
    struct frame *next; /* while it is free */
    uint32_t refs, capacity;
    struct superframe info;
    uint8_t bytes[]; /* virtio header, frame */
};
static inline uint8_t *frame_bytes(struct frame *f) { return f->bytes + SUPERFRAME_VNET; }

struct frame_pool *frame_pool_new(void);    /* NULL on lack of memory */
void frame_pool_free(struct frame_pool *p); /* with all its buffers; accepts NULL */

/* A buffer for the largest super-frame, with one reference; NULL on lack of memory. */
struct frame *frame_take(struct frame_pool *p);
/* Into a small buffer where it fits, so that a queue of acknowledgements isn't one of 64 KiB each: returns the buffer that
 * holds the first `bytes` bytes of f->bytes now; the reference goes over. */
struct frame *frame_fit(struct frame_pool *p, struct frame *f, size_t bytes);
void frame_release(struct frame_pool *p, struct frame *f);

/* The hooks for a train pool whose TRAIN_DATA trains carry frames (u.raw) and flows of flows.h. */
void frame_pool_hooks(struct frame_pool *p, struct train_hooks *hooks);

size_t frame_pool_used(const struct frame_pool *p); /* taken and not released */

#endif
