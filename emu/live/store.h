/* The storage of a NAS in a live lab: a file system under the exports of its servers that keeps what is written in a folder and
 * answers reads and writes when the file's `storage:` would have.
 *
 * One process for each NAS that has a storage, a FUSE file system of its own, in a mount namespace of its own: nobody else sees
 * it. Servers get it as detached mounts (store_tree()), one for each export. All controllers of a NAS share one, as they share
 * their disks, and see the same file handles. It ends with its starter, whatever happens to that.
 */
#ifndef EMU_LIVE_STORE_H
#define EMU_LIVE_STORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "emu/sim/storage.h"

struct topo;

/* What is known beforehand of a file: how it will be read and written. Of others it is found out by looking. */
struct store_file {
    int export_;      /* in the topology */
    const char *name; /* in the export's folder */
    bool sequential;
    uint64_t window; /* bytes that its requester asks for at a time */
    uint64_t length; /* bytes that will be read, or written; 0: endless */
};

struct store_config {
    const struct topo *topo;
    int node;
    const char *name;   /* for messages: "fs7500" */
    const char *folder; /* EXPORTS/NODE: what is written is there; its root */
    const char **netns; /* paths, of its controllers in the order of the node's boxes */
    size_t n_controllers;
    double rate; /* of its clock against the real one */
    uint64_t seed;
    const struct store_file *files;
    size_t n_files;
};

struct store_counters {
    uint64_t reads, writes, read_bytes, write_bytes;
    double late_mean, late_max; /* seconds after their time at which answers left */
};

/* Whether a node has a storage to play. */
bool store_wanted(const struct topo *t, int node);
/* NULL when all of a topology's storages can be played, else a sentence (in `problem`). */
const char *store_refuses(const struct topo *t, char *problem, size_t size);

struct store {
    pid_t pid;  /* 0: none */
    int pidfd;  /* readable once it has ended */
    int socket; /* to it */
    const char *name;
};
#define STORE_NONE ((struct store){.pidfd = -1, .socket = -1})

/* Starts it, and returns when its file system is there: 0, or a negative errno with a sentence, and then nothing runs. */
int store_start(struct store *s, const struct store_config *c, char *problem, size_t size);
/* From now on answers take their time. Before that everything is answered at once and leaves no trace in the storage: files are made
 * and filled. */
void store_begin(struct store *s);
/* A detached mount of a folder below the root ("/vol1"), for move_mount(): a descriptor, or a negative errno. */
int store_tree(struct store *s, const char *path);
/* What it has done so far; `groups`: of its disks, `n` at most, in the storage's own time. 0 or a negative errno. */
int store_count(struct store *s, struct store_counters *out, struct storage_group_counters *groups, size_t n);
/* Ends it: what still waits for an answer is broken off. Accepts STORE_NONE. */
void store_stop(struct store *s);

#endif
