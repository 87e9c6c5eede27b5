/* Server names as people write them, into addresses: "10.0.0.1", "nas,nas2", "10.0.0.[101-108]", "[fd00::1]", and a name
 * that DNS gives several addresses, each of which is a path.
 */
#ifndef NFSBAL_CLIENT_SERVER_NAME_H
#define NFSBAL_CLIENT_SERVER_NAME_H

#include <stdbool.h>
#include <stddef.h>

#include "nfsbal/client/conn.h"

struct server_name {
    char *name; /* as messages call it: the name, with the address behind it when it has several */
    union conn_address address;
};

struct server_names {
    struct server_name *items; /* no address twice; in the order given, DNS's sorted */
    size_t n;
    bool dns; /* some are what DNS says, and may change */
};

/* Resolves a list separated by commas. False with a sentence in `problem`; then `out` is empty. Blocks on DNS. */
bool server_names_resolve(const char *text, struct server_names *out, char *problem, size_t size);
void server_names_free(struct server_names *names);

#endif
