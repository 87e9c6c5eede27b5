/* The process behind mounts: one loop, one path set and one file system for each mount, one control socket for each.
 *
 * Mounting is two steps, so that what is wrong is said before anything is mounted: all mounts contact their servers, then all
 * are mounted, or none.
 */
#ifndef NFSBAL_CLIENT_MOUNT_H
#define NFSBAL_CLIENT_MOUNT_H

#include <stdbool.h>
#include <stddef.h>

#include "nfsbal/client/mount_options.h"

struct mounts;

struct mount_wish {
    const char *servers; /* "10.0.0.1,10.0.0.2", "10.0.0.[1-4]", a name; the first is the planned one */
    const char *export;
    const char *target; /* an existing directory, absolute */
    const char *source; /* what mount(8) shows; NULL: servers:export */
    struct mount_options options;
};

/* Where lines for people go: standard error, or the system's log. */
typedef void mounts_report(const char *line);

/* Mounts all; returns when they are mounted. Everything is copied. NULL with a sentence in `problem`: nothing is mounted. */
struct mounts *mounts_start(const struct mount_wish *wishes, size_t n, mounts_report *say, bool debug, char *problem,
                            size_t size);

/* Serves them until the last is unmounted, by umount(8), its control socket, or SIGTERM or SIGINT to the process (twice: without
 * waiting for servers). False when something that programs wrote could not be brought to the server. Frees it. */
bool mounts_serve(struct mounts *m);

#endif
