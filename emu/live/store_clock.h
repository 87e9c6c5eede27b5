/* The storage of a NAS under the clock on the wall: the stations of emu/sim/storage.h, whose time is the real one times a rate.
 *
 * At rate R a request that takes 5 ms takes 5 ms / R, which is what a lab whose links run at R times their rates wants. Times are
 * computed by the stations from the moments at which operations come; being woken late delays an answer, and nothing that
 * comes after it.
 */
#ifndef EMU_LIVE_STORE_CLOCK_H
#define EMU_LIVE_STORE_CLOCK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "emu/live/store.h"
#include "emu/live/store_pattern.h"
#include "emu/sim/storage.h"

struct store_clock;

/* A file's streams, by direction. The caller embeds it, zeroed but for `known`. */
struct store_streams {
    const struct store_file *known; /* or NULL: found out by looking */
    struct {
        struct store_pattern pattern;
        uint64_t begun, ended; /* bytes, of a known one */
        int stream;            /* number + 1; 0: none yet */
        bool idle;             /* it has ended, or stood still for long */
        ps_t last;
    } way[2];
    struct store_streams *next; /* private: those with streams */
};

struct store_call {
    struct storage_op op; /* private */
    struct event limited; /* private: the short form */
    struct store_clock *clock;
    struct store_streams *file;
    uint64_t offset;
    uint32_t bytes;
    int controller; /* 0, 1, ... in the order of the node's boxes */
    bool write;
    void (*done)(struct store_call *c);
};

/* NULL on lack of memory. The configuration must live as long. */
struct store_clock *store_clock_new(const struct store_config *c);
void store_clock_free(struct store_clock *k);

/* Time begins; before, all is answered at once. */
void store_clock_begin(struct store_clock *k);
/* The caller has set `file` to `done`, and embeds it; done() is called from store_clock_run(), or at once. */
void store_clock_submit(struct store_clock *k, struct store_call *c);
/* A file is no more: nothing of it is under way. */
void store_clock_forget(struct store_clock *k, struct store_streams *f);
/* Answers what is due. Returns nanoseconds until more is, -1: nothing is under way. */
int64_t store_clock_run(struct store_clock *k);
/* So far; `late` is filled in here. */
void store_clock_count(const struct store_clock *k, struct store_counters *out);
void store_clock_count_group(const struct store_clock *k, size_t group, struct storage_group_counters *out);

#endif
