/* Messages are built by hand where libnl's objects have no word for what is meant: a route's congestion control, a device's
 * ARP rules. */
#define _GNU_SOURCE /* setns(), unshare(), O_PATH */
#include "emu/live/netns.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <linux/fib_rules.h>
#include <linux/if_addr.h>
#include <linux/if_link.h>
#include <linux/ip.h>
#include <linux/ipv6_route.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <netlink/msg.h>
#include <netlink/netlink.h>

#include "emu/model/topology.h"

struct netns {
    struct nl_sock *socket;
};

/* ---- names ---- */

int netns_folder(void)
{
    if (mkdir(NETNS_FOLDER, 0755) < 0 && errno != EEXIST)
        return -errno;
    /* As `ip netns` does it: a mount of its own that is shared, so that a name taken away goes from all mount namespaces. */
    if (mount("", NETNS_FOLDER, "none", MS_SHARED | MS_REC, NULL) == 0)
        return 0;
    if (errno != EINVAL || mount(NETNS_FOLDER, NETNS_FOLDER, "none", MS_BIND | MS_REC, NULL) < 0 ||
        mount("", NETNS_FOLDER, "none", MS_SHARED | MS_REC, NULL) < 0)
        return -errno;
    return 0;
}

int netns_mounts_apart(void)
{
    int root, space, rc;

    if (mount("", "/", NULL, MS_REC | MS_SLAVE, NULL) == 0)
        return 0;
    if (errno != EINVAL)
        return -errno;
    /* A chroot, then. Whoever enters a mount namespace, his own too, is at its first root; and then back. */
    root = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
    space = open("/proc/self/ns/mnt", O_RDONLY | O_CLOEXEC);
    rc = root < 0 || space < 0 || setns(space, CLONE_NEWNS) < 0 ? -errno : 0;
    if (rc == 0 && mount("", "/", NULL, MS_REC | MS_SLAVE, NULL) < 0)
        rc = -errno;
    if (root >= 0 && space >= 0 && (fchdir(root) < 0 || chroot(".") < 0) && rc == 0)
        rc = -errno;
    if (root >= 0)
        close(root);
    if (space >= 0)
        close(space);
    return rc;
}

int netns_here(void)
{
    int fd = open("/proc/thread-self/ns/net", O_RDONLY | O_CLOEXEC);

    return fd < 0 ? -errno : fd;
}

int netns_leave(int here) { return setns(here, CLONE_NEWNET) < 0 ? -errno : 0; }

int netns_enter(const char *path)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC), rc;

    if (fd < 0)
        return -errno;
    rc = setns(fd, CLONE_NEWNET) < 0 ? -errno : 0;
    close(fd);
    return rc;
}

int netns_remove(const char *path)
{
    if (umount2(path, MNT_DETACH) < 0 && errno != EINVAL && errno != ENOENT)
        return -errno;
    if (unlink(path) < 0 && errno != ENOENT)
        return -errno;
    return 0;
}

/* ---- netlink ---- */

/* libnl's errors are its own numbers. */
static int errno_of(int nl_error)
{
    static const struct {
        int theirs, ours;
    } table[] = {
        {NLE_EXIST, EEXIST}, {NLE_NODEV, ENODEV},         {NLE_OBJ_NOTFOUND, ENOENT},  {NLE_PERM, EPERM},
        {NLE_NOMEM, ENOMEM}, {NLE_BUSY, EBUSY},           {NLE_NOADDR, EADDRNOTAVAIL}, {NLE_NOACCESS, EACCES},
        {NLE_RANGE, ERANGE}, {NLE_OPNOTSUPP, EOPNOTSUPP}, {NLE_INVAL, EINVAL},
    };

    if (nl_error >= 0)
        return 0;
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++)
        if (table[i].theirs == -nl_error)
            return -table[i].ours;
    return -EIO;
}

/* A handle in the namespace that the calling thread is in. */
static int handle_here(struct netns **out)
{
    struct netns *n = calloc(1, sizeof *n);
    int rc;

    if (!n)
        return -ENOMEM;
    n->socket = nl_socket_alloc();
    rc = n->socket ? nl_connect(n->socket, NETLINK_ROUTE) : -NLE_NOMEM;
    if (rc < 0) {
        netns_close(n);
        return errno_of(rc);
    }
    fcntl(nl_socket_get_fd(n->socket), F_SETFD, FD_CLOEXEC);
    *out = n;
    return 0;
}

/* Sends the message, frees it and waits for the kernel's answer. */
static int ask(struct netns *n, struct nl_msg *m) { return errno_of(nl_send_sync(n->socket, m)); }

static int link_up(struct netns *n, const char *device)
{
    struct ifinfomsg link = {.ifi_family = AF_UNSPEC, .ifi_flags = IFF_UP, .ifi_change = IFF_UP};
    struct nl_msg *m = nlmsg_alloc_simple(RTM_NEWLINK, 0);

    if (!m || nlmsg_append(m, &link, sizeof link, NLMSG_ALIGNTO) < 0 || nla_put_string(m, IFLA_IFNAME, device) < 0) {
        nlmsg_free(m);
        return -ENOMEM;
    }
    return ask(n, m);
}

int netns_new(struct netns **out, const char *path)
{
    int fd = open(path, O_RDONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0444), rc;

    if (fd < 0)
        return -errno;
    close(fd);
    if (unshare(CLONE_NEWNET) < 0) {
        rc = -errno;
        unlink(path);
        return rc;
    }
    if (mount("/proc/thread-self/ns/net", path, "none", MS_BIND, NULL) < 0) {
        rc = -errno;
        unlink(path);
        return rc;
    }
    rc = handle_here(out);
    if (rc == 0)
        rc = link_up(*out, "lo");
    if (rc < 0)
        netns_remove(path);
    return rc;
}

int netns_open(struct netns **out, const char *path)
{
    int here = netns_here(), rc, back;

    if (here < 0)
        return here;
    rc = netns_enter(path);
    if (rc == 0) {
        rc = handle_here(out);
        back = netns_leave(here);
        rc = rc < 0 ? rc : back;
    }
    close(here);
    return rc;
}

void netns_close(struct netns *n)
{
    if (!n)
        return;
    nl_socket_free(n->socket);
    free(n);
}

/* ---- devices ---- */

/* IPV4_DEVCONF_*: answer and ask by ARP for the device's own addresses only, and let packets in whichever way their answers
 * would go. An address that goes takes no other one of its network with it. */
static int put_arp_rules(struct nl_msg *m)
{
    struct nlattr *all = nla_nest_start(m, IFLA_AF_SPEC), *inet, *conf, *inet6;

    if (!all || !(inet = nla_nest_start(m, AF_INET)) || !(conf = nla_nest_start(m, IFLA_INET_CONF)) ||
        nla_put_u32(m, IPV4_DEVCONF_ARP_IGNORE, 1) < 0 || nla_put_u32(m, IPV4_DEVCONF_ARP_ANNOUNCE, 2) < 0 ||
        nla_put_u32(m, IPV4_DEVCONF_RP_FILTER, 0) < 0 || nla_put_u32(m, IPV4_DEVCONF_PROMOTE_SECONDARIES, 1) < 0)
        return -ENOMEM;
    nla_nest_end(m, conf);
    nla_nest_end(m, inet);
    inet6 = nla_nest_start(m, AF_INET6);
    if (!inet6 || nla_put_u8(m, IFLA_INET6_ADDR_GEN_MODE, IN6_ADDR_GEN_MODE_NONE) < 0)
        return -ENOMEM;
    nla_nest_end(m, inet6);
    nla_nest_end(m, all);
    return 0;
}

int netns_device_up(struct netns *n, const struct netns_device *d)
{
    struct ifinfomsg link = {.ifi_family = AF_UNSPEC};
    struct nl_msg *m = nlmsg_alloc_simple(RTM_NEWLINK, 0);
    int rc;

    if (!m || nlmsg_append(m, &link, sizeof link, NLMSG_ALIGNTO) < 0 || nla_put_string(m, IFLA_IFNAME, d->name) < 0 ||
        nla_put(m, IFLA_ADDRESS, 6, d->mac) < 0 || nla_put_u32(m, IFLA_MTU, d->mtu) < 0 ||
        nla_put_u32(m, IFLA_TXQLEN, d->queue) < 0 || put_arp_rules(m) < 0) {
        nlmsg_free(m);
        return -ENOMEM;
    }
    rc = ask(n, m);
    return rc < 0 ? rc : link_up(n, d->name); /* afterwards: an address of IPv6 would be made at once */
}

/* The answer to RTM_GETLINK with its statistics. */
static int take_dropped(struct nl_msg *m, void *context)
{
    struct nlattr *stats = nlmsg_find_attr(nlmsg_hdr(m), sizeof(struct ifinfomsg), IFLA_STATS64);
    struct rtnl_link_stats64 s;

    if (stats) {
        memset(&s, 0, sizeof s);
        nla_memcpy(&s, stats, sizeof s);
        *(uint64_t *)context = s.tx_dropped;
    }
    return NL_OK;
}

int netns_device_dropped(struct netns *n, const char *device, uint64_t *frames)
{
    struct ifinfomsg link = {.ifi_family = AF_UNSPEC};
    struct nl_msg *m = nlmsg_alloc_simple(RTM_GETLINK, 0);
    int rc;

    if (!m || nlmsg_append(m, &link, sizeof link, NLMSG_ALIGNTO) < 0 || nla_put_string(m, IFLA_IFNAME, device) < 0) {
        nlmsg_free(m);
        return -ENOMEM;
    }
    *frames = 0;
    nl_socket_modify_cb(n->socket, NL_CB_VALID, NL_CB_CUSTOM, take_dropped, frames);
    rc = nl_send_auto(n->socket, m);
    nlmsg_free(m);
    if (rc >= 0)
        rc = nl_recvmsgs_default(n->socket);
    if (rc >= 0)
        nl_wait_for_ack(n->socket);
    nl_socket_modify_cb(n->socket, NL_CB_VALID, NL_CB_DEFAULT, NULL, NULL);
    return errno_of(rc);
}

/* ---- addresses and routes ---- */

static int family_of(const struct topo_addr *a) { return a->version == 4 ? AF_INET : AF_INET6; }
static int bytes_of(const struct topo_addr *a) { return a->version == 4 ? 4 : 16; }

static unsigned device_index(struct netns *n, const char *device);

static int change_address(struct netns *n, int type, int flags, const char *device, const struct topo_addr *a)
{
    struct ifaddrmsg address = {
        .ifa_family = (unsigned char)family_of(a),
        .ifa_prefixlen = a->prefix,
        .ifa_index = device_index(n, device),
    };
    struct nl_msg *m;

    if (address.ifa_index == 0)
        return -ENODEV;
    m = nlmsg_alloc_simple(type, flags);
    if (!m || nlmsg_append(m, &address, sizeof address, NLMSG_ALIGNTO) < 0 ||
        nla_put(m, IFA_LOCAL, bytes_of(a), a->bytes) < 0 || nla_put(m, IFA_ADDRESS, bytes_of(a), a->bytes) < 0 ||
        nla_put_u32(m, IFA_FLAGS, IFA_F_NOPREFIXROUTE | IFA_F_NODAD) < 0) {
        nlmsg_free(m);
        return -ENOMEM;
    }
    return ask(n, m);
}

int netns_address_add(struct netns *n, const char *device, const struct topo_addr *a)
{
    int rc = change_address(n, RTM_NEWADDR, NLM_F_CREATE | NLM_F_EXCL, device, a);

    return rc == -EEXIST ? 0 : rc;
}

int netns_address_delete(struct netns *n, const char *device, const struct topo_addr *a)
{
    int rc = change_address(n, RTM_DELADDR, 0, device, a);

    return rc == -EADDRNOTAVAIL ? 0 : rc;
}

int netns_link_local(struct netns *n, const char *device, const uint8_t mac[6])
{
    struct topo_addr a = {.version = 6, .prefix = 64, .bytes = {0xfe, 0x80}};
    const struct netns_route route = {.device = device, .to = &a};
    int rc;

    memcpy(a.bytes + 8, mac, 3);
    a.bytes[8] ^= 2;
    a.bytes[11] = 0xff;
    a.bytes[12] = 0xfe;
    memcpy(a.bytes + 13, mac + 3, 3);
    rc = netns_address_add(n, device, &a);
    if (rc == 0)
        rc = netns_route_add(n, &route);
    return rc == -EEXIST ? 0 : rc;
}

static int put_network(struct nl_msg *m, const struct topo_addr *to)
{
    struct topo_addr net = *to;

    for (unsigned bit = net.prefix; bit < 8 * sizeof net.bytes; bit++)
        net.bytes[bit / 8] &= (uint8_t) ~(0x80u >> bit % 8);
    return nla_put(m, RTA_DST, bytes_of(to), net.bytes);
}

static int put_congestion(struct nl_msg *m, const char *name)
{
    struct nlattr *metrics = nla_nest_start(m, RTA_METRICS);

    if (!metrics || nla_put_string(m, RTAX_CC_ALGO, name) < 0)
        return -ENOMEM;
    nla_nest_end(m, metrics);
    return 0;
}

int netns_route_add(struct netns *n, const struct netns_route *r)
{
    const struct topo_addr *any = r->to ? r->to : r->gateway ? r->gateway : r->source;
    bool six = any ? any->version == 6 : r->version == 6;
    /* IPv6 takes 0 for 1024, and a lower number before it. */
    uint32_t metric = six ? r->metric + IP6_RT_PRIO_USER : r->metric;
    struct rtmsg route = {
        .rtm_family = six ? AF_INET6 : AF_INET,
        .rtm_dst_len = r->to ? r->to->prefix : 0,
        .rtm_table = r->table ? RT_TABLE_UNSPEC : RT_TABLE_MAIN,
        .rtm_protocol = RTPROT_STATIC,
        .rtm_scope = r->gateway ? RT_SCOPE_UNIVERSE : RT_SCOPE_LINK,
        .rtm_type = RTN_UNICAST,
    };
    unsigned index = device_index(n, r->device);
    struct nl_msg *m;

    if (index == 0)
        return -ENODEV;
    m = nlmsg_alloc_simple(RTM_NEWROUTE, NLM_F_CREATE | NLM_F_EXCL);
    if (!m || nlmsg_append(m, &route, sizeof route, NLMSG_ALIGNTO) < 0 || nla_put_u32(m, RTA_OIF, index) < 0 ||
        (r->to && put_network(m, r->to) < 0) ||
        (r->gateway && nla_put(m, RTA_GATEWAY, bytes_of(r->gateway), r->gateway->bytes) < 0) ||
        (r->source && nla_put(m, RTA_PREFSRC, bytes_of(r->source), r->source->bytes) < 0) ||
        (r->table && nla_put_u32(m, RTA_TABLE, r->table) < 0) || (metric && nla_put_u32(m, RTA_PRIORITY, metric) < 0) ||
        (r->congestion && put_congestion(m, r->congestion) < 0)) {
        nlmsg_free(m);
        return -ENOMEM;
    }
    return ask(n, m);
}

int netns_rule_add(struct netns *n, const struct topo_addr *from, uint32_t table)
{
    struct fib_rule_hdr rule = {
        .family = (unsigned char)family_of(from),
        .src_len = (unsigned char)(8 * bytes_of(from)),
        .action = FR_ACT_TO_TBL,
    };
    struct nl_msg *m = nlmsg_alloc_simple(RTM_NEWRULE, NLM_F_CREATE | NLM_F_EXCL);

    if (!m || nlmsg_append(m, &rule, sizeof rule, NLMSG_ALIGNTO) < 0 ||
        nla_put(m, FRA_SRC, bytes_of(from), from->bytes) < 0 || nla_put_u32(m, FRA_TABLE, table) < 0) {
        nlmsg_free(m);
        return -ENOMEM;
    }
    return ask(n, m);
}

/* Least, default and most: the first two as they are unless the last is below them. */
static int set_buffers(const char *path, uint64_t first, uint64_t most)
{
    char text[64];
    int fd = open(path, O_WRONLY | O_CLOEXEC), n, rc;

    if (fd < 0)
        return -errno;
    n = snprintf(text, sizeof text, "4096 %llu %llu\n", (unsigned long long)(first < most ? first : most),
                 (unsigned long long)most);
    rc = write(fd, text, (size_t)n) < 0 ? -errno : 0;
    close(fd);
    return rc;
}

int netns_tcp_buffers(uint64_t send, uint64_t receive)
{
    enum { SEND_FIRST = 16384, RECEIVE_FIRST = 131072 }; /* the kernel's defaults */
    int rc = set_buffers("/proc/sys/net/ipv4/tcp_wmem", SEND_FIRST, send);

    return rc < 0 ? rc : set_buffers("/proc/sys/net/ipv4/tcp_rmem", RECEIVE_FIRST, receive);
}

static int take_index(struct nl_msg *m, void *context)
{
    const struct ifinfomsg *link = nlmsg_data(nlmsg_hdr(m));

    *(unsigned *)context = (unsigned)link->ifi_index;
    return NL_OK;
}

static unsigned device_index(struct netns *n, const char *device)
{
    struct ifinfomsg link = {.ifi_family = AF_UNSPEC};
    struct nl_msg *m = nlmsg_alloc_simple(RTM_GETLINK, 0);
    unsigned index = 0;

    if (!m || nlmsg_append(m, &link, sizeof link, NLMSG_ALIGNTO) < 0 || nla_put_string(m, IFLA_IFNAME, device) < 0) {
        nlmsg_free(m);
        return 0;
    }
    nl_socket_modify_cb(n->socket, NL_CB_VALID, NL_CB_CUSTOM, take_index, &index);
    if (nl_send_auto(n->socket, m) >= 0) {
        nl_recvmsgs_default(n->socket); /* the device, or an error that leaves 0 */
        if (index)
            nl_wait_for_ack(n->socket);
    }
    nlmsg_free(m);
    nl_socket_modify_cb(n->socket, NL_CB_VALID, NL_CB_DEFAULT, NULL, NULL);
    return index;
}
