/* Storage behind a NAS: what the long form of `storage:` says. Parameters only; the arithmetic over them is in
 * storage_forms.h (pure) and storage_load.h (rates for the fluid solver), the stations in emu/sim/storage.h.
 *
 * The chain of an operation: CPU of the controller that serves it, cache (a hit, or a write's copy to the partner), then,
 * for what misses or is destaged, a place among the requests that one NAS system may have outstanding, the back-end
 * network, and the disks of a group. docs/model.md explains each station, docs/topology.md each key.
 */
#ifndef EMU_MODEL_STORAGE_H
#define EMU_MODEL_STORAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "emu/model/distribution.h"
#include "emu/model/units.h"

enum storage_medium { STORAGE_HDD, STORAGE_SSD };
enum storage_raid { STORAGE_RAID_0, STORAGE_RAID_5, STORAGE_RAID_6, STORAGE_RAID_10, STORAGE_RAID_50 };
enum storage_order { STORAGE_FIFO, STORAGE_ELEVATOR };
/* What a controller does with writes when no partner holds a copy: */
enum storage_alone {
    STORAGE_WRITE_THROUGH, /* acknowledges from the disks */
    STORAGE_JOURNAL,       /* from the cache, once they are in a journal on the disks */
    STORAGE_CACHE          /* from the cache all the same: they are at risk */
};
enum storage_protocol { STORAGE_ISCSI, STORAGE_RDMA, STORAGE_SAS };

/* Names as in the file, NULL-terminated. */
extern const char *const storage_media[], *const storage_raids[], *const storage_orders[], *const storage_protocols[],
                                                                                               *const storage_alones[];

/* One disk. Of an HDD: a request takes seek + part of a turn + bytes / rate; of an SSD: read or write + bytes / rate, and
 * `parallel` requests at a time. */
struct storage_disk {
    enum storage_medium medium;
    ps_t seek_least;             /* the part of a seek that does not depend on its distance */
    ps_t seek_read, seek_write;  /* average over the whole stroke */
    ps_t turn;                   /* one revolution */
    ps_t read, write;            /* SSD */
    double rate;                 /* bytes/s from the medium; 0: transfer takes no time */
    uint64_t size;               /* usable bytes */
    unsigned parallel;           /* SSD: requests served at once */
    bool physical;               /* HDD: seeks between places and turns are drawn; else the mean time is drawn from: */
    struct distribution service; /* of mean 1: what a request's mean time is multiplied with */
};

/* Disks that share data: one RAID level. */
struct storage_group {
    const char *name;
    struct storage_disk disk;
    unsigned disks;  /* that work, all arrays together */
    unsigned spares; /* that only stand by */
    enum storage_raid raid;
    unsigned set;     /* disks of one parity set, data and parity; of RAID-10: 2 */
    unsigned penalty; /* disk operations of one small write */
    double merge;     /* random writes that one destage write stands for */
    bool
        full_stripe; /* sequential writes are destaged as whole stripes: bytes x set / (set - parities), nothing read */
    enum storage_order order;
    uint64_t placed;     /* bytes on it besides what workloads place: the span of seeks */
    bool placed_said;    /* not said, and nothing placed by workloads: the whole disks */
    uint64_t visit;      /* most bytes that a head reads of one sequential stream before it turns to another */
    uint64_t destage;    /* the same for sequential writes */
    uint64_t read_ahead; /* bytes of a sequential stream that are fetched before they are asked for */
    double share;        /* of the operations */
};

/* Flash cards in the hosts that hold what they write, with a copy in another host, and what they read. */
struct storage_host_cache {
    struct storage_disk card; /* of each host */
    double read_hit;          /* share of reads that find their data in some host's card */
    ps_t path;                /* an operation's way through the host: adapter, driver, cache software */
    uint64_t destage;         /* bytes that a host writes to the array at a time, */
    unsigned destages;        /* so many at a time */
    uint64_t dirty;           /* bytes of a card that wait for the array at most */
};

/* All behind one NAS. */
struct storage_model {
    const char *preset;       /* or NULL */
    unsigned systems;         /* NAS systems: the controllers, in the order of their names, in so many equal parts */
    const uint8_t *system_of; /* per controller, in the order of the boxes; NULL: equal parts of that order */
    unsigned concurrency;     /* requests to disks that one system has outstanding at most; 0: no limit */
    struct {
        unsigned cores;              /* 0: a controller's CPU takes no time */
        ps_t per_operation;          /* of one core */
        double rate;                 /* bytes/s that one core moves; 0: no time */
        struct distribution service; /* of mean 1 */
    } controller;
    struct {
        uint64_t size;      /* of all controllers */
        double read_hit;    /* share of random reads that find their data */
        ps_t hit;           /* a hit takes this long */
        bool write_back;    /* a write is acknowledged from the cache; else from the disks */
        ps_t write;         /* a write into the cache takes this long */
        ps_t mirror;        /* and its copy to the partner this long, */
        double mirror_rate; /* and bytes / this, one after the other per controller; 0: no time */
        uint64_t dirty;     /* bytes written and not destaged at most; 0: no limit */
        enum storage_alone
            alone;     /* of a system whose other controllers have failed; matters where writes are mirrored */
        ps_t failover; /* after a controller's failure those that are left serve nothing for so long */
    } cache;
    struct {
        unsigned links; /* 0: takes no time. Requests take them in turn (MPIO round robin) */
        bps_t speed;
        unsigned mtu;
        enum storage_protocol protocol;
        ps_t delay; /* one way */
    } back_end;
    const struct storage_host_cache *host_cache; /* or NULL */
    const struct storage_group *groups;
    size_t n_groups;
};

#endif
