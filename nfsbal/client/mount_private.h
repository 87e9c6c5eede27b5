/* What mount.c and mount_status.c share. */
#ifndef NFSBAL_CLIENT_MOUNT_PRIVATE_H
#define NFSBAL_CLIENT_MOUNT_PRIVATE_H

#include "nfsbal/client/loop.h"
#include "nfsbal/client/mount.h"

#include <stdio.h>

struct control;
struct fs;
struct paths;
struct pool;
struct stable;

struct mount {
    struct mounts *all;
    struct mount_options options;
    char *servers, *export, *target, *source;
    struct paths *paths;
    struct pool *pool;
    struct stable *stable;
    struct fs *fs;
    struct control *control;
    struct loop_task over;
    bool ready, ended;
    int64_t since; /* mounted, by loop_clock() */
    char problem[300];
};

struct mounts {
    struct loop *loop;
    struct pool *pool; /* for unwritten data of all; each mount has a share */
    struct mount *items;
    size_t n, n_ready, n_ended;
    mounts_report *report;
    bool debug, lost;
    struct loop_signal terminate, interrupt;
    struct loop_timer patience;
    bool stopping;
};

/* `form`: "text", "json" or "prometheus". False: no such form. */
bool mount_status(const struct mount *m, const char *form, FILE *out);

#endif
