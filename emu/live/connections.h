/* TCP connections of a namespace. */
#ifndef EMU_LIVE_CONNECTIONS_H
#define EMU_LIVE_CONNECTIONS_H

struct topo_addr; /* emu/model/topology.h */

/* Ends all connections of a local address in the namespace of that name, as a controller does that gives the address up; the
 * caller stays where it is. 0 or a negative errno; -EOPNOTSUPP and -ENOENT: this kernel can't (CONFIG_INET_DIAG_DESTROY). */
int connections_end(const char *netns_path, const struct topo_addr *address);

#endif
