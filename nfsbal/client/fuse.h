/* One mounted file system: FUSE requests of the kernel, answered by NFS 3 calls. */
#ifndef NFSBAL_CLIENT_FUSE_H
#define NFSBAL_CLIENT_FUSE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct fs;
struct loop;
struct mount_options;
struct paths;
struct pool;
struct stable;

/* What it is built on; all of it outlives the file system. */
struct fs_config {
    struct loop *loop;
    struct paths *paths; /* ready: paths_root() is known */
    struct stable *stable;
    struct pool *pool; /* of unwritten data; not shared */
    const struct mount_options *options;
    const char *source, *target;                     /* what is mounted where */
    bool debug;                                      /* every request on standard error */
    void (*report)(void *context, const char *line); /* a line for people */
    void (*ended)(void *context);                    /* it was unmounted; call fs_free(), not from within */
    void *context;
};

/* Mounts. NULL with a sentence in `problem`. */
struct fs *fs_mount(const struct fs_config *config, char *problem, size_t size);

/* Starts to unmount: detaches it at once, brings unwritten data to the server, then calls `ended`. `force`: what is not written
 * is dropped, with a line for each file, and everything that waits gets EIO. */
void fs_unmount(struct fs *fs, bool force);
void fs_free(struct fs *fs); /* accepts NULL */

struct fs_stats {
    uint64_t requests;                  /* of the kernel */
    uint64_t read_bytes, written_bytes; /* for programs */
    uint64_t waiting;                   /* requests not answered yet */
    uint64_t nodes, open_files;
    uint64_t dirty_bytes, unstable_bytes, dirty_limit;
    uint64_t dropped_bytes; /* that programs wrote and the server never took */
};
void fs_get_stats(const struct fs *fs, struct fs_stats *out);

/* The device number of the mount, as stat(2) gives it. */
uint64_t fs_device(const struct fs *fs);

#endif
