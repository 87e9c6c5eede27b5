/* Which link of this machine a connection takes: its interface, and where that is (a VLAN on) a bond, the member that the
 * bonding driver's transmit hash picks.
 */
#ifndef NFSBAL_CLIENT_LOCAL_LINK_H
#define NFSBAL_CLIENT_LOCAL_LINK_H

#include <net/if.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "hashes/policy.h"
#include "nfsbal/client/conn.h"

struct local_link {
    char interface[IF_NAMESIZE]; /* that has the source address */
    char bond[IF_NAMESIZE];      /* "" when there is none below it */
    char mode[32], policy[32];   /* of the bond */
    char members[HASH_MEMBERS_MAX][IF_NAMESIZE];
    bool up[HASH_MEMBERS_MAX];
    unsigned n_members;
    uint8_t mac[6]; /* of the interface */
    bool hashed;    /* the mode sends by a hash that is known: `selector` */
    struct hash_selector selector;
};

/* The interface with the address `source`, as the files below `root` ("" for the machine itself, a copy for tests) describe
 * it. False: none has it. */
bool local_link_find(const char *root, const char *interface, struct local_link *out);
bool local_link_of(const union conn_address *source, struct local_link *out);

/* The member that carries frames of this connection: its index, or -1 when that can't be told (no bond, no hash, or it reads
 * the MAC address of the next hop and that is not in `root`/proc/net/arp). Ports in host order. */
int local_link_member(const char *root, const struct local_link *l, const union conn_address *source,
                      const union conn_address *server, uint16_t source_port);

/* Source ports for n connections, one to each of `servers`, so that no member carries more than one connection more than
 * another. `is_free` says whether a port can be had. False: the hash does not read ports, or is not known. */
bool local_link_plan(const char *root, const struct local_link *l, const union conn_address *source,
                     const union conn_address *servers, size_t n, bool reserved,
                     bool (*is_free)(const union conn_address *source, uint16_t port), uint16_t *ports);

/* For `is_free`: tries to bind it. */
bool local_link_port_is_free(const union conn_address *source, uint16_t port);

/* The address that this machine would connect from. False: no route. */
bool local_link_source(const union conn_address *server, union conn_address *source);

#endif
