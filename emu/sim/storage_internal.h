/* The parts of storage in virtual time. Internal to emu/sim/storage*.c.
 *
 *   storage.c         operations: CPU, cache, acknowledgement, room for writes
 *   storage_stream.c  sequential reads: fetching ahead; sequential and random writes: what is destaged when
 *   storage_disk.c    work for the disks: places among the outstanding, back-end links, the disks themselves
 *
 * All that the disks do is a unit: one read (a miss, or a chunk of a stream), or one destage with the disk operations that
 * its RAID level takes. A unit is `pending` requests now; a parity write reads first and writes then. */
#ifndef EMU_SIM_STORAGE_INTERNAL_H
#define EMU_SIM_STORAGE_INTERNAL_H

#include "emu/model/random.h"
#include "emu/model/storage.h"
#include "emu/sim/storage.h"

struct storage_unit {
    struct storage_unit *next; /* while free, or waiting to be destaged */
    struct event event;        /* its bytes are over the back-end link */
    struct storage *storage;
    struct storage_op *op;  /* waits for it, or NULL */
    uint64_t clean;         /* bytes that are not dirty any more when it is done */
    uint64_t chunk;         /* of a stream's read: its number */
    uint32_t bytes;         /* of each disk request */
    uint32_t disk;          /* the first */
    int stream;             /* or STORAGE_RANDOM */
    uint16_t reads, writes; /* requests to come: reads first */
    uint16_t pending;       /* at the disks */
    uint16_t session;       /* of the network */
    uint8_t group, system, controller;
    bool destage; /* one of those that a group has in flight */
    bool write;   /* its data goes to the disks */
};

struct disk_request {
    struct disk_request *next;
    struct event event; /* done by the disk */
    struct storage_unit *unit;
    double place; /* fraction of the stroke */
    ps_t takes;   /* once it is served */
    uint32_t disk;
    bool write;
};

struct disk {
    double place;               /* of the head */
    int stream;                 /* whose chunk it served last, or STORAGE_RANDOM */
    ps_t free;                  /* first come, first served: when all that it has is done */
    uint32_t waiting;           /* elevator: requests in `queue` */
    bool busy, inwards;         /* elevator */
    struct disk_request *queue; /* elevator: by place, ascending */
};

struct group {
    const struct storage_group *model;
    struct disk *disks;
    ps_t *channels;     /* SSD: `parallel` per disk, when each is free */
    double stroke;      /* span of seeks */
    unsigned streams;   /* that are read or written now */
    unsigned destaging; /* units in flight */
    unsigned destages_most;
    struct storage_unit *first, *last; /* to be destaged */
    double owed;                       /* destages of random writes, fraction of one */
    uint64_t owed_bytes;               /* written since the last of them */
    struct storage_group_counters count;
};

struct stream {
    uint64_t chunk;                  /* bytes of a head visit */
    uint64_t length;                 /* or UINT64_MAX */
    uint64_t asked, ready, issued;   /* bytes asked for, chunks in from the first on, chunks asked of the disks */
    uint64_t *in;                    /* bits: chunks that are in; a ring */
    uint64_t ring;                   /* bits in it */
    uint32_t offset;                 /* disk of the first chunk */
    struct storage_op *first, *last; /* operations that wait */
    double owed;                     /* destage visits, fraction of one */
    uint64_t gathered;               /* bytes written and not in a visit */
    uint64_t visits;                 /* destaged */
    uint8_t group;
    uint8_t controller;
    bool write, active;
};

struct slots {    /* of one NAS system: requests to disks outstanding */
    unsigned up;  /* controllers */
    ps_t resumes; /* after a failover */
    unsigned used;
    struct disk_request *first, *last;
};

struct storage {
    const struct storage_model *model;
    struct eventq *queue;
    struct random random;
    unsigned controllers, per_system;
    ps_t *cores;   /* per controller and core: free when */
    ps_t *mirror;  /* per controller */
    bool *down;    /* per controller */
    ps_t *link[2]; /* back end: free when, by direction: to the disks, from them */
    unsigned turn[2];
    const struct storage_network *network; /* instead of links, or NULL */
    struct slots *systems;
    struct group *groups;
    struct stream *streams;
    size_t n_streams, streams_room;
    uint64_t dirty;
    struct storage_op *first, *last; /* writes that wait for room */
    struct storage_counters count;
    struct storage_unit *free_units;
    struct disk_request *free_requests;
    struct storage_slab *slabs;
};

enum op_state { OP_IDLE, OP_TIMED, OP_HIT, OP_ROOM, OP_STREAM, OP_DISK, OP_JOURNAL };

/* The NAS system that a controller is part of. */
static inline unsigned storage_system(const struct storage *s, unsigned controller)
{
    return s->model->system_of ? s->model->system_of[controller] : controller / s->per_system;
}

/* storage.c */
void storage_complete(struct storage_op *o, ps_t now);
void storage_unit_done(struct storage *s, struct storage_op *o, ps_t now); /* what it waited for of the disks */
void storage_cleaned(struct storage *s, uint64_t bytes, ps_t now);         /* no longer dirty */

/* storage_stream.c */
void stream_read(struct storage *s, struct storage_op *o, ps_t now);
void stream_chunk_in(struct storage *s, struct storage_unit *u, ps_t now);
void stream_forget(struct storage *s, struct storage_op *o);
void write_dirty(struct storage *s, const struct storage_op *o, ps_t now); /* its bytes are dirty now */
void write_flush(struct storage *s, ps_t now); /* destages all, also what is not a whole visit */

/* storage_disk.c */
bool disks_init(struct storage *s, double placed, uint64_t seed);
void disks_free(struct storage *s);
struct storage_unit *unit_new(struct storage *s, unsigned group, unsigned controller);
void unit_start(struct storage *s, struct storage_unit *u, ps_t now);   /* now */
void unit_destage(struct storage *s, struct storage_unit *u, ps_t now); /* when it is its turn */
unsigned storage_pick_group(struct storage *s);
uint32_t storage_pick_disk(struct storage *s, const struct group *g);

#endif
