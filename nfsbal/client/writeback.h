/* Write-behind: what programs wrote, gathered in memory and sent in large WRITEs while the program goes on.
 *
 * No I/O and no clock in here: WRITEs go out through wb_ops.write and come back through wb_written(), time (nanoseconds of any
 * steady clock) comes in as a parameter. Keeping unstable data until it is committed is the business of stable.h beneath.
 */
#ifndef NFSBAL_CLIENT_WRITEBACK_H
#define NFSBAL_CLIENT_WRITEBACK_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>

#include "nfsbal/client/extent.h"

struct wb_config {
    uint32_t wsize;     /* the largest WRITE; none crosses a multiple of it. At most 1 MiB */
    uint64_t in_flight; /* bytes of WRITEs outstanding */
    uint32_t writes;    /* WRITEs outstanding */
    int64_t delay;      /* ns that a WRITE which is not full waits for more */
};

struct wb_ops {
    /* Start a WRITE of e->size bytes at extent_bytes(e), FILE_SYNC if e->sync. They don't move before wb_written(e), which must
     * not be called from within. */
    void (*write)(void *context, struct extent *e);
    /* Bytes that will never reach the server, and why (negative errno). */
    void (*dropped)(void *context, struct wb_file *f, uint64_t offset, uint32_t size, int error);
    void (*idle)(void *context, struct wb_file *f); /* nothing is left of f in here; it may be freed */
};

/* Somebody who waits until the server has answered for what was written before. The caller embeds it; it has left the list
 * when done() is called. */
struct wb_wait {
    void (*done)(struct wb_wait *w);
    /* private */
    uint64_t offset, end, sequence;
    uint32_t left; /* extents */
    TAILQ_ENTRY(wb_wait) link;
};

/* One file's part; embedded by the caller, all zero at first and again when it is idle. */
struct wb_file {
    struct extent_tree current; /* what is to be sent */
    struct extent_list dirty, ready, flying;
    TAILQ_HEAD(wb_waits, wb_wait) waits;
    uint64_t sequence;
    int error; /* negative errno, not yet reported */
    bool listed, settling;
    TAILQ_ENTRY(wb_file) link;
};

struct wb {
    struct wb_config config;
    struct wb_ops ops;
    void *context;
    struct pool *pool;
    TAILQ_HEAD(wb_files, wb_file) files; /* those that are not idle */
    int64_t now, due;                    /* due: when wb_pump() is to be called without another reason */
    uint64_t flying_bytes, written_bytes, held_bytes;
    uint32_t flying;
    bool starved;     /* the last writer was sent away */
    bool busy, again; /* inside wb_pump(); called in again meanwhile */
};

enum { WB_NOW = 1, WB_SYNC = 2 }; /* send it without waiting for more; as FILE_SYNC */

/* `pool` bounds what is held; it is the caller's. */
void wb_init(struct wb *wb, const struct wb_config *config, struct pool *pool, const struct wb_ops *ops, void *context);

/* Takes a copy. 0, -EAGAIN when the pool is at its limit (nothing was taken: wait for the pool, then try again), -ENOMEM. */
int wb_write(struct wb *wb, struct wb_file *f, uint64_t offset, const void *bytes, uint32_t size, unsigned flags,
             int64_t now);

/* Whether [offset, end) holds nothing that the server has not answered for. */
bool wb_clean(const struct wb_file *f, uint64_t offset, uint64_t end);

/* Waits for everything written to [offset, end) so far. True: nothing to wait for, done() is not called. `sync`: a COMMIT will
 * follow; if a single WRITE is all there is, it goes as FILE_SYNC and spares the COMMIT its work. */
bool wb_wait(struct wb *wb, struct wb_file *f, struct wb_wait *w, uint64_t offset, uint64_t end, bool sync,
             int64_t now);

/* The error that nobody was told yet, once: negative errno or 0. */
int wb_take_error(struct wb_file *f);
void wb_set_error(struct wb_file *f, int error); /* unless there is one already */

/* Forgets everything, each range with ops.dropped(error). No answer to a WRITE that is out may come any more. */
void wb_abandon(struct wb *wb, struct wb_file *f, int error, int64_t now);

/* The answer: `error` 0 (all of it is written) or negative errno (none of it is). */
void wb_written(struct wb *wb, struct extent *e, int error, int64_t now);

/* Sends what is due and sets wb->due. All of the above do so as well. */
void wb_pump(struct wb *wb, int64_t now);

/* The end of the bytes that are held, 0 when none: the file is at least that long. */
uint64_t wb_end(const struct wb_file *f);

#endif
