/* Attributes of one object as a client may believe them: how long, and which of two answers is the newer one.
 *
 * As in nfs(5): believed for at least `min`, twice as long each time that they are found unchanged, at most `max`.
 */
#ifndef NFSBAL_CLIENT_ATTR_CACHE_H
#define NFSBAL_CLIENT_ATTR_CACHE_H

#include <stdbool.h>
#include <stdint.h>

#include "nfsbal/client/nfs3.h"

struct attr_limits {
    int64_t min, max; /* ns */
};

struct attr_cache {
    bool known;
    struct nfs3_attr attr;
    int64_t updated; /* when the answer came */
    int64_t trust;   /* for so long */
};

/* Takes an answer to a call that was sent at `sent` and came at `now`. One that was overtaken by a newer answer is dropped.
 * Returns whether the data may have changed (size or mtime or ctime) against what was known; true when nothing was. */
bool attr_cache_take(struct attr_cache *c, const struct nfs3_attr *a, const struct attr_limits *limits, int64_t sent,
                     int64_t now);

/* ns that it may be believed from now on; 0: ask. */
int64_t attr_cache_left(const struct attr_cache *c, int64_t now);

/* It has changed, by us; what is known stays for comparison. */
void attr_cache_expire(struct attr_cache *c);

/* -1, 0, 1 */
int nfs3_time_compare(const struct nfs3_time *a, const struct nfs3_time *b);

#endif
