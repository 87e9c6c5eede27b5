/* One question to a server's mount service: the handle of a path, or the list of exports. On a connection of its own that
 * lives as long as the question; the port is the portmapper's answer where none is given.
 */
#ifndef NFSBAL_CLIENT_MOUNT_QUERY_H
#define NFSBAL_CLIENT_MOUNT_QUERY_H

#include <stddef.h>
#include <stdint.h>

#include "nfsbal/client/conn.h"

struct loop;
struct mount_query;

/* `result` is of MNT or EXPORT; on failure its status says so and `problem` is a sentence. */
typedef void mount_query_done(void *context, const struct nfs3_result *result, const char *problem);

/* Asks the server of `to` (its port is not used): MNT of `path`, or EXPORT when that is NULL. `path` must live until `done`,
 * which comes from the loop. NULL: no memory. */
struct mount_query *mount_query_new(struct loop *l, const struct conn_config *to, uint16_t mount_port, const char *path,
                                    mount_query_done *done, void *context);
/* Not within `done`. Accepts NULL; `done` does not come any more. */
void mount_query_free(struct mount_query *q);

/* For command lines: finds which part of "/vol1/dir/file" may be mounted, by trying the whole, then without its last
 * component, and so on. `export` gets what was mounted, `rest` what stands behind it ("" or "dir/file"); both buffers are as
 * long as the path plus one. Blocks; returns 0 or -1 with a sentence in `problem`. */
int mount_query_split(const struct conn_config *to, uint16_t mount_port, const char *path, char *export, char *rest,
                      char *problem, size_t size);

#endif
