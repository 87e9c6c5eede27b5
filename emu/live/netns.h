/* Network namespaces and what is in them: made, named, entered and configured, by system calls and netlink.
 *
 * A namespace has a name in the file system, a file on which it is mounted, as `ip netns` does it: "/run/netns/NAME" works with
 * `ip netns exec NAME`. A handle keeps a netlink socket that was made inside, so whoever holds it may go on configuring the
 * namespace from outside.
 *
 * All functions return 0 or a negative errno. Not for threads: they change the namespace of the calling one.
 */
#ifndef EMU_LIVE_NETNS_H
#define EMU_LIVE_NETNS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct topo_addr; /* emu/model/topology.h */

#define NETNS_FOLDER "/run/netns"

/* Makes NETNS_FOLDER if need be, and what is mounted below it visible to (and removable from) every mount namespace that
 * is made later. */
int netns_folder(void);

struct netns;
/* Makes a namespace, mounts it on the file `path` (made; -EEXIST where it is), brings up `lo`. The calling thread is in it
 * afterwards: devices that it opens now belong there. netns_leave() goes back. */
int netns_new(struct netns **out, const char *path);
/* A handle for a namespace that exists; the caller stays where it is. */
int netns_open(struct netns **out, const char *path);
void netns_close(struct netns *n); /* the namespace stays; accepts NULL */
/* Takes the name away; the namespace goes when nothing is in it any more. Nothing there: 0. */
int netns_remove(const char *path);

/* For a process in a mount namespace that was made for it: what it mounts from now on is seen nowhere else. In a chroot as well,
 * whose "/" is no mount point; the working directory is then "/". */
int netns_mounts_apart(void);

int netns_here(void);              /* descriptor of the caller's namespace, or -errno */
int netns_leave(int here);         /* back to it; leaves it open */
int netns_enter(const char *path); /* the calling thread moves in */

/* What a device is given. Each is set in one message, so nothing is half done in between. */
struct netns_device {
    const char *name;
    uint8_t mac[6];
    uint32_t mtu;
    uint32_t queue; /* txqueuelen */
};
/* Address, MTU, queue; no IPv6 addresses of the kernel's making; answers and asks by ARP for its own addresses only; up. */
int netns_device_up(struct netns *n, const struct netns_device *d);

/* Adds or deletes an address with its prefix, without a route. Adding what is there, or deleting what isn't, is no error. */
int netns_address_add(struct netns *n, const char *device, const struct topo_addr *a);
int netns_address_delete(struct netns *n, const char *device, const struct topo_addr *a);

/* The link-local address of IPv6 that the Ethernet address makes, with its route: without it neighbours can't be probed. */
int netns_link_local(struct netns *n, const char *device, const uint8_t mac[6]);

struct netns_route {
    const char *device;
    uint8_t version;                 /* of IP, where no address below says it */
    const struct topo_addr *to;      /* a network; NULL: everything */
    const struct topo_addr *gateway; /* or NULL: on the link */
    const struct topo_addr *source;  /* preferred source address, or NULL */
    const char *congestion;          /* of TCP connections that use it, "cubic"; NULL: the system's */
    uint32_t metric;                 /* several routes to one network: the lowest is used */
    uint32_t table;                  /* 0: the main one; else that of a netns_rule_add() */
};
int netns_route_add(struct netns *n, const struct netns_route *r);

/* What is sent from this address looks into the table first. */
int netns_rule_add(struct netns *n, const struct topo_addr *from, uint32_t table);

/* What a TCP connection of the namespace that the calling thread is in may buffer at most, in bytes: the kernel's own count,
 * overhead included. */
int netns_tcp_buffers(uint64_t send, uint64_t receive);

/* Frames that the device has dropped because nobody fetched them in time. */
int netns_device_dropped(struct netns *n, const char *device, uint64_t *frames);

#endif
