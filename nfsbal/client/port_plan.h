/* Source ports for the connections of one or several mounts, so that they use every member of this host's bond. */
#ifndef NFSBAL_CLIENT_PORT_PLAN_H
#define NFSBAL_CLIENT_PORT_PLAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "nfsbal/client/conn.h"

struct local_link;

/* One mount: `each` connections to each of its n servers, the planned one first. */
struct port_plan_set {
    const union conn_address *servers;
    size_t n;
    unsigned each;
    uint16_t *ports; /* answer: n x each, by server, then by connection */
};

/* Spreads first what all sets need for their first servers, then for their second ones ..., so that those in use are even
 * whichever stand by. `port`: of the servers. False with a sentence: no bond carries `source`, or its hash does not read ports. */
bool port_plan(const union conn_address *source, struct port_plan_set *sets, size_t n_sets, uint16_t port,
               char *problem, size_t size);
/* The same on a link that is known, as the files below `root` describe it. */
bool port_plan_on(const char *root, const struct local_link *link, const union conn_address *source,
                  struct port_plan_set *sets, size_t n_sets, uint16_t port, bool reserved,
                  bool (*is_free)(const union conn_address *source, uint16_t port));

#endif
