/* Whether what is read or written of a file is a sequential stream, as the storage's stations want to know it. One for each file and
 * direction; the caller embeds it. No clock, no storage: tests drive it.
 *
 * A client has several requests out and they come in any order, so an operation continues a stream when it lies within reach of
 * where the others have come to: what was out at a time before, twice over.
 */
#ifndef EMU_LIVE_STORE_PATTERN_H
#define EMU_LIVE_STORE_PATTERN_H

#include <stdbool.h>
#include <stdint.h>

struct store_pattern {
    uint64_t front; /* private: how far it has come */
    uint64_t out,
        most;     /* bytes asked for and not answered, now and at most; `most` is readable: a requester's window */
    unsigned run; /* private: operations in a row that continued */
};

/* An operation comes; true: it belongs to a sequential stream. */
bool store_pattern_begin(struct store_pattern *p, uint64_t offset, uint64_t bytes);
/* It was answered. */
void store_pattern_end(struct store_pattern *p, uint64_t bytes);

#endif
