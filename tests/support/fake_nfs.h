/* A scripted NFS server on loopback addresses, in the loop of the client under test: it does and answers what the real one
 * would, unless a hook says otherwise. One small file system in memory behind all addresses; unstable data is lost when it
 * restarts, as a power failure would have it.
 */
#ifndef TESTS_SUPPORT_FAKE_NFS_H
#define TESTS_SUPPORT_FAKE_NFS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "nfsbal/client/path.h"

struct fake_nfs;
struct loop;

enum { FAKE_VIPS_MAX = 8 };

struct fake_call {
    unsigned vip;
    bool mount;         /* of the MOUNT protocol */
    uint32_t procedure; /* of the protocol */
    unsigned number;    /* of this call, from 0 */
    const char *name;   /* the first name in it, or "" */
    uint64_t offset;    /* READ WRITE */
    uint32_t count;
    int64_t after_ms; /* for DELAY and DO_LATE: set by the hook */
    uint8_t *reply;   /* MUTATE: record without its mark; may be changed, also its length */
    size_t reply_size;
};

enum fake_action {
    FAKE_ANSWER,
    FAKE_LOSE_REPLY, /* do it, then reset the connection */
    FAKE_RESET,      /* reset without doing it */
    FAKE_SWALLOW,    /* neither do nor answer it */
    FAKE_DO_LATE,    /* reset now, do it after_ms later all the same */
    FAKE_DELAY,      /* do it and answer after_ms later */
    FAKE_JUKEBOX,    /* "try later", not done */
    FAKE_MUTATE,     /* answer, but `mutate` may change the bytes first */
};

struct fake_hooks {
    enum fake_action (*call)(void *context, struct fake_call *call); /* NULL: answer everything */
    void (*mutate)(void *context, struct fake_call *call);
    void *context;
};

struct fake_nfs *fake_nfs_new(struct loop *l, unsigned n_vips, const struct fake_hooks *hooks);
void fake_nfs_free(struct fake_nfs *f);

uint16_t fake_nfs_port(const struct fake_nfs *f); /* NFS and MOUNT */
/* A configuration with all VIPs of it, short timers; the servers live in `servers`. */
void fake_nfs_config(const struct fake_nfs *f, struct paths_config *config, struct paths_server *servers);

void fake_nfs_restart(struct fake_nfs *f);                       /* unstable data is lost, connections are reset */
void fake_nfs_vip(struct fake_nfs *f, unsigned vip, bool there); /* refuses connections while it isn't */
void fake_nfs_other(struct fake_nfs *f, unsigned vip, bool fsid, bool handle); /* serves something else */

/* The largest WRITE, as the server says, and the bytes of it that it writes at a time. */
void fake_nfs_writes(struct fake_nfs *f, uint32_t told, uint32_t done);

/* Of the file system. */
const uint8_t *fake_nfs_data(const struct fake_nfs *f, const char *name, uint64_t *size); /* NULL: no such file */
bool fake_nfs_exists(const struct fake_nfs *f, const char *name);
unsigned fake_nfs_executed(const struct fake_nfs *f, uint32_t procedure); /* times it was done */

#endif
