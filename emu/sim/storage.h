/* Storage behind a NAS in virtual time: an operation enters, its completion comes out through the event queue.
 *
 *   CPU of the controller -> cache: a hit, or a write's copy -> acknowledged
 *                              |
 *                              +-> a place among `concurrency` -> disk <-> back-end link
 *
 * A controller that has lost the partner which held the copies acknowledges from the disks, or after writing a journal there.
 *
 * Writes are acknowledged from the cache (write-back) and destaged later, by their own disk operations that compete with
 * reads; when `dirty` bytes wait, writes wait for room, first come first served. Sequential reads are streams: chunks of
 * them are fetched ahead, dealt to the disks in turn, one head visit each.
 *
 * No clock and no network of its own: virtual runs and tests drive it through the event queue; the same model as rates, for
 * the fluid solver, is emu/model/storage_load.h. Deterministic: draws come from the seed. Several storages may share a queue.
 */
#ifndef EMU_SIM_STORAGE_H
#define EMU_SIM_STORAGE_H

#include "emu/fabric/eventq.h"

struct storage;
struct storage_model;
struct storage_op;

typedef void storage_done(struct storage_op *o, ps_t now);

enum { STORAGE_RANDOM = -1 };

/* One read or write. The caller embeds it and sets the first part; it belongs to the storage until `done` is called, or
 * storage_forget(). */
struct storage_op {
    storage_done *done; /* the data is there, the write is acknowledged */
    uint32_t bytes;
    int controller; /* that serves it: 0, 1, ... in the order of the node's boxes */
    int stream;     /* of storage_stream(), or STORAGE_RANDOM */
    bool write;
    /* private */
    struct event event;
    struct storage_op *next;
    struct storage *storage;
    struct storage_unit *unit; /* the disks' work that it waits for, or NULL */
    uint64_t until;            /* of a stream: answered when it has come so far */
    uint8_t state;
};

/* The back-end network where it is more than the model's own links: an array is a member, each has an equal part of every
 * group's disks. */
struct storage_network {
    void *context;
    unsigned members;
    /* Sends a message between a controller and a member, now, and runs `in` when it is in. First one goes `there`: a read's request,
     * or a write's data; then the other comes back on the same *session, which the first sets. `bytes` is what is read or written. */
    void (*cross)(void *context, unsigned controller, unsigned member, bool write, bool there, uint32_t bytes,
                  uint16_t *session, struct event *in, ps_t now);
};

/* NULL on lack of memory. `controllers`: of the node, m->systems divides it. `placed`: bytes that workloads have on it, which
 * sets how far seeks go (storage_placed()). The model must live as long. */
struct storage *storage_new(const struct storage_model *m, unsigned controllers, double placed, struct eventq *q,
                            uint64_t seed);
/* Before the first operation. What n points to must live as long as s. */
void storage_connect(struct storage *s, const struct storage_network *n);
void storage_free(struct storage *s); /* accepts NULL; operations stay the caller's, none is completed any more */

/* A sequential stream of reads or of writes, each operation continuing where the last ended. `window`: bytes that its
 * requester has asked for at a time (outstanding x block): what a head can read in one visit. `length`: nothing is fetched
 * beyond it; 0: endless. Aborts on lack of memory. */
int storage_stream(struct storage *s, uint64_t window, uint64_t length, bool write);
void storage_stream_end(struct storage *s, int stream); /* no more operations will come */

/* A controller (as in storage_op) has failed, or is back. What it had in its cache, the partner has; what was in its stations is lost
 * with its connections: the caller forgets it. */
void storage_controller(struct storage *s, unsigned controller, bool up, ps_t now);

void storage_submit(struct storage *s, struct storage_op *o, ps_t now);

/* The caller is not interested any more (its connection is lost): done will not be called, o is his again. What the
 * disks do for it goes on. */
void storage_forget(struct storage_op *o);

/* Counters since the start. */
struct storage_counters {
    uint64_t reads, writes, read_hits; /* operations that came in; random reads answered by the cache */
    uint64_t read_bytes, write_bytes;
    uint64_t dirty; /* bytes written and not destaged, now */
};
struct storage_group_counters {
    uint64_t reads, writes;           /* disk operations */
    uint64_t read_bytes, write_bytes; /* of disks, parity and mirror included */
    ps_t busy;                        /* of all disks together */
};
void storage_count(const struct storage *s, struct storage_counters *out);
void storage_count_group(const struct storage *s, size_t group, struct storage_group_counters *out);

#endif
