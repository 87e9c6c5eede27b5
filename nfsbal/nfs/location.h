/* nfs://SERVER[,SERVER]...[:PORT]/EXPORT[/FILE] on a command line. */
#ifndef NFSBAL_NFS_LOCATION_H
#define NFSBAL_NFS_LOCATION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "nfsbal/client/path.h"

struct topo_arena;

struct location {
    const char *names; /* of the servers, as written */
    const struct paths_server *servers;
    size_t n_servers;
    uint16_t port;             /* 0: not given */
    const char *export, *rest; /* rest: below the export, without a slash before it; "" when there is none */
};

bool location_is_url(const char *text);

/* Servers of a list of names. False with a sentence. */
bool location_servers(struct topo_arena *a, const char *names, struct location *out, char *problem, size_t size);

/* Reads a URL. `export` NULL: found out by asking the first server that answers, from `source` on. All in arena memory. */
bool location_read(struct topo_arena *a, const char *url, const char *export, uint16_t mount_port,
                   const union conn_address *source, const struct nfs3_credential *credential, struct location *out,
                   char *problem, size_t size);

#endif
