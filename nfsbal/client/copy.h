/* One file from here to there: local files and files on NFS servers, over all their VIPs, many blocks under way at a time.
 *
 * The copy is made under a temporary name beside its target and renamed when all of it is on stable storage; a copy that
 * fails leaves nothing. Blocks of zeros are left out of the new file (holes) unless `full`.
 */
#ifndef NFSBAL_CLIENT_COPY_H
#define NFSBAL_CLIENT_COPY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct loop;
struct paths_config;

struct copy_end {
    const struct paths_config *paths; /* NULL: a local file */
    const char *path;                 /* below the export, or local */
};

struct copy_config {
    struct copy_end from, to; /* `to` may be an existing directory: the name is the source's */
    uint32_t block;           /* bytes, at most 1 MiB */
    unsigned outstanding;     /* blocks */
    bool full, preserve;      /* write zeros; keep the time of modification */
    bool no_replace;          /* -EEXIST when the target exists */
    void (*progress)(void *context, uint64_t done, uint64_t total); /* may be NULL */
    void *context;
};

struct copy_result {
    uint64_t size, written; /* bytes of the file; of these written, the rest are holes */
    double seconds;
    uint64_t reissued;
};

/* Blocks. 0, -EINTR after SIGINT or SIGTERM, or another negative errno, with a sentence in `problem`. */
int copy_file(struct loop *l, const struct copy_config *config, struct copy_result *out, char *problem, size_t size);

#endif
