/* Which flows each link direction has carried: frames and bytes per flow and direction, counted as trains pass.
 *
 * A table of bounded size: when it is full, what has not been seen for a while makes room, and what finds none is counted
 * as untold.
 */
#ifndef EMU_LIVE_CARRIED_H
#define EMU_LIVE_CARRIED_H

#include <stddef.h>
#include <stdint.h>

#include "emu/fabric/train.h"

enum { CARRIED_MAX = 65536 };
#define CARRIED_FORGET (10 * PS_PER_S) /* what wasn't seen for so long may make room */

struct carried_flow {
    struct hash_key key; /* as on this wire: with its latest MACs */
    int linkdir;
    uint16_t tag; /* VLAN on this wire, 0 = none */
    uint64_t frames, bytes;
    ps_t first, last; /* when it was seen */
    uint32_t id;      /* private, as all below */
    uint32_t hash, next;
};

struct carried;

struct carried *carried_new(void);    /* NULL on lack of memory */
void carried_free(struct carried *c); /* accepts NULL */
/* A train has been sent on this link direction at `start`. Trains without a flow are not counted. */
void carried_train(struct carried *c, int linkdir, const struct train *t, ps_t start);

size_t carried_count(const struct carried *c);
const struct carried_flow *carried_at(const struct carried *c, size_t i); /* i < carried_count(); in no order */
uint64_t carried_untold(const struct carried *c);                         /* trains for which there was no room */

#endif
