#include "emu/live/up_internal.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "emu/live/connections.h"
#include "emu/live/tap.h"
#include "emu/model/path.h"

/* Super-frames that wait for the datapath at most, per interface. */
enum { QUEUE = 1000, METRICS = 64, BOUND_TABLES = 1000 };

/* ---- names of devices ---- */

static bool device_name_fits(const char *name)
{
    size_t n = strlen(name);

    if (n == 0 || n >= UP_DEVICE_MAX || strcmp(name, "lo") == 0 || strcmp(name, ".") == 0 || strcmp(name, "..") == 0)
        return false;
    for (size_t i = 0; i < n; i++)
        if (name[i] <= ' ' || name[i] == '/' || name[i] == ':' || name[i] == '%' || (unsigned char)name[i] > '~')
            return false;
    return true;
}

void up_device_name(const struct topo *t, int iface, char name[UP_DEVICE_MAX])
{
    const char *own = t->ifaces[iface].name;
    bool taken = !device_name_fits(own);
    int place = 0;

    for (int i = 0; i < iface; i++)
        if (t->ifaces[i].box == t->ifaces[iface].box) {
            taken |= strcmp(t->ifaces[i].name, own) == 0;
            place++;
        }
    if (taken)
        snprintf(name, UP_DEVICE_MAX, "emu%d", place);
    else
        snprintf(name, UP_DEVICE_MAX, "%s", own);
}

/* ---- addresses and routes ---- */

/* Networks that two interfaces share are told apart by a metric: the first one is used. */
static int add_route(struct netns *n, struct netns_route *r)
{
    int rc = -EEXIST;

    for (int i = 0; i < METRICS && rc == -EEXIST; i++, r->metric++)
        rc = netns_route_add(n, r);
    return rc;
}

/* A mount of the host is bound to the interface. */
static bool is_bound(const struct topo *t, int iface)
{
    for (size_t m = 0; m < t->n_mounts; m++)
        if (t->mounts[m].bound && t->mounts[m].iface == iface)
            return true;
    return false;
}

static int host_addresses(struct up_lab *u, struct netns *n, int iface, const char *device)
{
    const struct topo_iface *i = &u->topo->ifaces[iface];
    const char *congestion = u->topo->stacks[i->box].congestion;
    struct netns_route connected = {
        .device = device, .to = &i->addr, .source = &i->addr, .congestion = congestion, .metric = i->weight};
    struct netns_route standard = {
        .device = device, .gateway = &i->gateway, .source = &i->addr, .congestion = congestion, .metric = i->weight};
    int rc = i->addr.version == 6 ? netns_link_local(n, device, i->mac) : 0;

    if (rc == 0)
        rc = netns_address_add(n, device, &i->addr);
    if (rc == 0)
        rc = add_route(n, &connected);
    if (rc == 0 && i->gateway.version)
        rc = add_route(n, &standard);
    if (rc != 0 || !is_bound(u->topo, iface))
        return rc;
    /* Whatever the other interfaces can reach: what has this address leaves here. */
    connected.table = standard.table = (uint32_t)(BOUND_TABLES + iface);
    rc = netns_rule_add(n, &i->addr, connected.table);
    if (rc == 0)
        rc = add_route(n, &connected);
    return rc == 0 && i->gateway.version ? add_route(n, &standard) : rc;
}

/* The network of the subnet of VIPs that may come to a controller's interface, whether or not one is there now, and everything
 * else by the gateway, or on the link: clients that have called are known there (endpoint.c). */
static int controller_routes(struct up_lab *u, struct netns *n, int iface, const struct topo_addr *vip,
                             const char *device, int (*add)(struct netns *n, struct netns_route *r))
{
    const struct topo_iface *i = &u->topo->ifaces[iface];
    const char *congestion = u->topo->stacks[i->box].congestion;
    struct netns_route connected = {.device = device, .to = vip, .congestion = congestion},
                       standard = {.device = device,
                                   .version = vip->version,
                                   .gateway = i->gateway.version == vip->version ? &i->gateway : NULL,
                                   .congestion = congestion,
                                   .metric = 1};
    int rc = add(n, &connected);

    return rc == 0 ? add(n, &standard) : rc;
}

static int controller_addresses(struct up_lab *u, struct netns *n, int iface, const char *device)
{
    const struct topo *t = u->topo;
    bool routed[2] = {false, false}; /* IPv4, IPv6 */
    int rc = 0, box = t->ifaces[iface].box;

    for (size_t v = 0; v < t->n_vips && rc == 0; v++) {
        if (path_vip_iface(t, (int)v, box) != iface)
            continue;
        bool six = t->vips[v].addr.version == 6;
        if (!routed[six] && six)
            rc = netns_link_local(n, device, t->ifaces[iface].mac);
        if (!routed[six] && rc == 0)
            rc = controller_routes(u, n, iface, &t->vips[v].addr, device, add_route);
        routed[six] = true;
        if (rc == 0 && t->vips[v].home == box && t->vips[v].up)
            rc = netns_address_add(n, device, &t->vips[v].addr);
    }
    return rc;
}

/* The kernel forgets the routes of a device with its last address. */
static int route_again(struct netns *n, struct netns_route *r)
{
    int rc = netns_route_add(n, r);

    return rc == -EEXIST ? 0 : rc;
}

/* A controller that gives a VIP up ends its connections; where the kernel can't they stay. */
static int end_connections(const struct up_lab *u, int vip, int box)
{
    int rc = 0;

    for (size_t i = 0; i < u->lab->n_nodes && rc == 0; i++)
        if (u->lab->nodes[i].box == box)
            rc = connections_end(u->lab->nodes[i].netns, &u->topo->vips[vip].addr);
    return rc == -EOPNOTSUPP || rc == -ENOENT ? 0 : rc;
}

int up_end_connections(struct up_lab *u, int box)
{
    int rc = 0;

    for (int v = 0; rc == 0 && v < (int)u->topo->n_vips; v++)
        if (fabric_vip_box(datapath_fabric(u->datapath), v) == box)
            rc = end_connections(u, v, box);
    return rc;
}

int up_move_address(struct up_lab *u, int vip, int from, int to)
{
    const struct topo *t = u->topo;
    char device[UP_DEVICE_MAX];
    int rc = 0, iface;

    iface = from >= 0 && from != to ? path_vip_iface(t, vip, from) : -1;
    if (iface >= 0) {
        up_device_name(t, iface, device);
        rc = netns_address_delete(u->spaces[from], device, &t->vips[vip].addr);
    }
    iface = to >= 0 ? path_vip_iface(t, vip, to) : -1;
    if (iface >= 0 && rc == 0) {
        up_device_name(t, iface, device);
        rc = netns_address_add(u->spaces[to], device, &t->vips[vip].addr);
        if (rc == 0)
            rc = controller_routes(u, u->spaces[to], iface, &t->vips[vip].addr, device, route_again);
    }
    if (rc == 0 && from >= 0 && from != to)
        rc = end_connections(u, vip, from);
    return rc;
}

/* ---- nodes ---- */

/* Interfaces without an address carry nothing of their own. */
static bool is_used(const struct topo *t, int iface)
{
    if (t->ifaces[iface].team < 0)
        return false;
    if (t->nodes[t->boxes[t->ifaces[iface].box].node].kind != TOPO_NAS)
        return t->ifaces[iface].addr.version != 0;
    for (size_t v = 0; v < t->n_vips; v++)
        if (path_vip_iface(t, (int)v, t->ifaces[iface].box) == iface)
            return true;
    return false;
}

uint64_t up_unfetched(const struct up_lab *u)
{
    uint64_t sum = 0, frames;
    char device[UP_DEVICE_MAX];

    for (int i = 0; i < (int)u->topo->n_ifaces; i++) {
        struct netns *n = u->spaces[u->topo->ifaces[i].box];

        if (!n || !is_used(u->topo, i))
            continue;
        up_device_name(u->topo, i, device);
        if (netns_device_dropped(n, device, &frames) == 0)
            sum += frames;
    }
    return sum;
}

static int make_interface(struct up_lab *u, struct netns *n, const struct lab_node *node, int iface, char *problem,
                          size_t size)
{
    const struct topo *t = u->topo;
    const struct topo_iface *i = &t->ifaces[iface];
    char device[UP_DEVICE_MAX];
    struct netns_device d = {.name = device, .mtu = i->mtu, .queue = QUEUE};
    bool host = t->nodes[t->boxes[i->box].node].kind != TOPO_NAS;
    int fd, rc;

    up_device_name(t, iface, device);
    memcpy(d.mac, i->mac, sizeof d.mac);
    fd = tap_open(device, !u->options->frames, problem, size);
    if (fd < 0)
        return fd;
    rc = datapath_port(u->datapath, iface, fd);
    if (rc == 0)
        rc = netns_device_up(n, &d);
    if (rc == 0)
        rc = host ? host_addresses(u, n, iface, device) : controller_addresses(u, n, iface, device);
    if (rc < 0)
        snprintf(problem, size, "%s: %s: %s", node->name, device, strerror(-rc));
    return rc;
}

/* What sockets hold, as the file says or the kind of system does. The kernel counts its overhead as well, about half of all;
 * for Linux the file's numbers are the kernel's own. */
static int set_buffers(const struct topo *t, int box)
{
    const struct topo_stack *s = &t->stacks[box];
    unsigned times = t->nodes[t->boxes[box].node].kind == TOPO_ESXI ? 2 : 1;

    return netns_tcp_buffers(times * s->send_buffer, times * s->receive_buffer);
}

static int make_node(struct up_lab *u, const struct lab_node *node, char *problem, size_t size)
{
    int rc = netns_new(&u->spaces[node->box], node->netns);

    if (rc < 0) {
        snprintf(problem, size, "%s: %s%s", node->netns, strerror(-rc),
                 rc == -EEXIST ? ": a namespace of that name is there" : "");
        return rc;
    }
    if (node->folder && mkdir(node->folder, 0755) < 0 && errno != EEXIST) {
        rc = -errno;
        snprintf(problem, size, "%s: %s", node->folder, strerror(-rc));
    }
    if (rc == 0 && (rc = set_buffers(u->topo, node->box)) < 0)
        snprintf(problem, size, "%s: /proc/sys/net/ipv4/tcp_wmem: %s", node->name, strerror(-rc));
    for (int i = 0; rc == 0 && i < (int)u->topo->n_ifaces; i++)
        if (u->topo->ifaces[i].box == node->box && is_used(u->topo, i))
            rc = make_interface(u, u->spaces[node->box], node, i, problem, size);
    return rc;
}

int up_nodes(struct up_lab *u, char *problem, size_t size)
{
    int here = netns_here(), rc = here, back;

    if (rc < 0) {
        snprintf(problem, size, "/proc/thread-self/ns/net: %s", strerror(-rc));
        return rc;
    }
    rc = 0;
    for (size_t i = 0; i < u->lab->n_nodes && rc == 0; i++)
        rc = make_node(u, &u->lab->nodes[i], problem, size);
    back = netns_leave(here);
    if (back < 0 && rc == 0) {
        snprintf(problem, size, "back to the first network namespace: %s", strerror(-back));
        rc = back;
    }
    close(here);
    return rc;
}
