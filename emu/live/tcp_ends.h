/* What the NFS servers' ends of TCP connections have sent again, asked of the kernel in the namespace of each controller. The
 * clients know of their own ends only, and the data of reads come from the other one.
 *
 * The last word on each connection is kept, also when it has gone since. Not for threads: changes the caller's namespace for
 * a moment.
 */
#ifndef EMU_LIVE_TCP_ENDS_H
#define EMU_LIVE_TCP_ENDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "emu/model/tcp_counts.h"
#include "emu/model/topology.h"

struct tcp_end {
    struct topo_addr client, server;
    uint16_t client_port;
    bool taken; /* the user's: false at first */
    struct tcp_counts counts;
};

struct tcp_ends;
struct tcp_ends *tcp_ends_new(void);    /* NULL: no memory */
void tcp_ends_free(struct tcp_ends *e); /* accepts NULL */

/* Also those of this namespace, on the port `port` of servers there. 0 or -errno. */
int tcp_ends_add(struct tcp_ends *e, const char *netns, uint16_t port);
/* Asks about all connections there are now. 0 or -errno. */
int tcp_ends_read(struct tcp_ends *e);

size_t tcp_ends_count(const struct tcp_ends *e);
struct tcp_end *tcp_ends_at(struct tcp_ends *e, size_t i);

#endif
