/* What mount.c and mount_status.c share. */
#ifndef NFSBAL_CLIENT_MOUNT_PRIVATE_H
#define NFSBAL_CLIENT_MOUNT_PRIVATE_H

#include "nfsbal/client/loop.h"
#include "nfsbal/client/mount.h"
#include "nfsbal/client/server_name.h"

#include <stdio.h>

struct control;
struct dns_watch;
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
    struct dns_watch *dns; /* NULL: no server is called by a name */
    struct mount_server *known;
    size_t n_known;            /* what DNS has said */
    struct server_names names; /* at first; until it is mounted */
    uint16_t *ports;           /* planned for these; NULL: not planned */
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

void mount_report(void *context, const char *line); /* to people, with the mount's name where there are several */

/* The servers of the source and those of vips=, in that order, each once. */
bool mount_servers_resolve(struct mount *m, char *problem, size_t size); /* into m->names */
/* Source ports of all mounts that want theirs planned, those that leave by one address together. */
bool mount_servers_plan_ports(struct mounts *all, char *problem, size_t size);
/* Follows DNS from what it said just now: addresses come and go as paths. False: no memory. */
bool mount_servers_watch(struct mount *m);
void mount_servers_unwatch(struct mount *m);

/* `form`: "text", "json" or "prometheus". False: no such form. */
bool mount_status(const struct mount *m, const char *form, FILE *out);

#endif
