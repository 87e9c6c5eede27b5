/* Linux keeps the connections of an address that was taken away. Left on a controller that has lost a VIP they are a trap: the
 * Linux NFS client keeps its source port, so after a move there and back its packets meet the old connection, which
 * answers out-of-window data with an ACK (RFC 5961) where a RST would make the client begin anew. Both wait for ever. Storage
 * systems therefore end the connections of an address when they give it up (Samba's CTDB: "killtcp"). The kernel does it by
 * SOCK_DESTROY of its socket diagnostics, a dump and a request for each. The RSTs that it sends get no further than the
 * TAP device: the controller no longer has the VIP. */
#include "emu/live/connections.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <linux/inet_diag.h>
#include <linux/netlink.h>
#include <linux/sock_diag.h>

#include "emu/live/netns.h"
#include "emu/model/topology.h"

/* States as the kernel numbers them (include/net/tcp_states.h). */
enum { TIME_WAIT = 6, CLOSED = 7, LISTENING = 10, ALL_STATES = 0xfff };

struct request {
    struct nlmsghdr header;
    struct inet_diag_req_v2 ask;
};

struct found {
    struct inet_diag_req_v2 *items;
    size_t n, size;
};

static int socket_in(const char *netns_path)
{
    int here = netns_here(), s, rc, back;

    if (here < 0)
        return here;
    rc = netns_enter(netns_path);
    if (rc < 0) {
        close(here);
        return rc;
    }
    s = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_SOCK_DIAG);
    rc = s < 0 ? -errno : s;
    back = netns_leave(here);
    close(here);
    if (back < 0 && s >= 0)
        close(s);
    return back < 0 ? back : rc;
}

static int ask(int s, uint16_t type, uint16_t flags, const struct inet_diag_req_v2 *what)
{
    struct request r = {
        .header = {.nlmsg_len = sizeof r, .nlmsg_type = type, .nlmsg_flags = (uint16_t)(NLM_F_REQUEST | flags)},
        .ask = *what};

    return send(s, &r, sizeof r, 0) < 0 ? -errno : 0;
}

/* Servers listen on IPv6 sockets, which have IPv4 addresses mapped. */
static bool is_local(const struct inet_diag_msg *m, const struct topo_addr *a)
{
    const uint8_t *src = (const uint8_t *)m->id.idiag_src;
    static const uint8_t mapped[12] = {[10] = 0xff, [11] = 0xff};

    if (a->version == 6)
        return m->idiag_family == AF_INET6 && memcmp(src, a->bytes, 16) == 0;
    if (m->idiag_family == AF_INET)
        return memcmp(src, a->bytes, 4) == 0;
    return memcmp(src, mapped, sizeof mapped) == 0 && memcmp(src + 12, a->bytes, 4) == 0;
}

static int note(struct found *f, const struct inet_diag_msg *m)
{
    if (f->n == f->size) {
        size_t size = f->size ? 2 * f->size : 64;
        struct inet_diag_req_v2 *items = realloc(f->items, size * sizeof *items);

        if (!items)
            return -ENOMEM;
        f->items = items;
        f->size = size;
    }
    f->items[f->n++] = (struct inet_diag_req_v2){
        .sdiag_family = m->idiag_family, .sdiag_protocol = IPPROTO_TCP, .idiag_states = ALL_STATES, .id = m->id};
    return 0;
}

/* Reads answers until the last; those about the address are noted. */
static int answers(int s, const struct topo_addr *a, struct found *f)
{
    _Alignas(struct nlmsghdr) uint8_t buffer[16384];

    for (;;) {
        ssize_t n = recv(s, buffer, sizeof buffer, 0);

        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return -errno;
        for (struct nlmsghdr *h = (struct nlmsghdr *)buffer; NLMSG_OK(h, n); h = NLMSG_NEXT(h, n)) {
            int rc = 0;

            if (h->nlmsg_type == NLMSG_DONE)
                return 0;
            if (h->nlmsg_type == NLMSG_ERROR)
                return ((const struct nlmsgerr *)NLMSG_DATA(h))->error;
            if (f && a && is_local(NLMSG_DATA(h), a))
                rc = note(f, NLMSG_DATA(h));
            if (rc < 0)
                return rc;
        }
    }
}

static int find(int s, uint8_t family, const struct topo_addr *a, struct found *f)
{
    struct inet_diag_req_v2 all = {.sdiag_family = family,
                                   .sdiag_protocol = IPPROTO_TCP,
                                   .idiag_states = ALL_STATES & ~(1U << TIME_WAIT | 1U << CLOSED | 1U << LISTENING)};
    int rc = ask(s, SOCK_DIAG_BY_FAMILY, NLM_F_DUMP, &all);

    return rc < 0 ? rc : answers(s, a, f);
}

/* One that has ended by itself meanwhile is no error. */
static int destroy(int s, const struct inet_diag_req_v2 *one)
{
    int rc = ask(s, SOCK_DESTROY, NLM_F_ACK, one);

    if (rc == 0)
        rc = answers(s, NULL, NULL);
    return rc == -ENOENT ? 0 : rc;
}

int connections_end(const char *netns_path, const struct topo_addr *address)
{
    struct found f = {0};
    int s = socket_in(netns_path), rc = s < 0 ? s : 0;

    if (rc == 0 && address->version == 4)
        rc = find(s, AF_INET, address, &f);
    if (rc == 0)
        rc = find(s, AF_INET6, address, &f);
    for (size_t i = 0; i < f.n && rc == 0; i++)
        rc = destroy(s, &f.items[i]);
    free(f.items);
    if (s >= 0)
        close(s);
    return rc;
}
