/* sock_diag: a socket belongs to the namespace in which it was made, so each is made inside once and asked from outside. */
#include "emu/live/tcp_ends.h"

#include <errno.h>
#include <linux/inet_diag.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <linux/sock_diag.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "emu/live/netns.h"

enum { ANSWER_ROOM = 32768 };

struct place {
    int fd;
    uint16_t port;
};

struct tcp_ends {
    struct place *places;
    struct tcp_end *ends;
    size_t n_places, n_ends, size;
    size_t next; /* the kernel's order hardly changes: where the next one is likely to be */
};

struct tcp_ends *tcp_ends_new(void) { return calloc(1, sizeof(struct tcp_ends)); }

void tcp_ends_free(struct tcp_ends *e)
{
    if (!e)
        return;
    for (size_t i = 0; i < e->n_places; i++)
        close(e->places[i].fd);
    free(e->places);
    free(e->ends);
    free(e);
}

int tcp_ends_add(struct tcp_ends *e, const char *netns, uint16_t port)
{
    struct place *more = realloc(e->places, (e->n_places + 1) * sizeof *more);
    int here, fd = -1, rc;

    if (!more)
        return -ENOMEM;
    e->places = more;
    here = netns_here();
    if (here < 0)
        return here;
    rc = netns_enter(netns);
    if (rc == 0) {
        int back;

        fd = socket(AF_NETLINK, SOCK_DGRAM | SOCK_CLOEXEC, NETLINK_SOCK_DIAG);
        rc = fd < 0 ? -errno : 0;
        back = netns_leave(here);
        rc = rc < 0 ? rc : back;
        if (fd >= 0 && rc < 0)
            close(fd);
    }
    close(here);
    if (rc == 0)
        e->places[e->n_places++] = (struct place){fd, port};
    return rc;
}

/* An IPv4 connection of a server that listens on IPv6 says its addresses as ::ffff:a.b.c.d. */
static struct topo_addr address_of(uint8_t family, const void *words)
{
    static const uint8_t mapped[12] = {[10] = 0xff, [11] = 0xff};
    struct topo_addr a = {.version = 4};

    if (family == AF_INET) {
        memcpy(a.bytes, words, 4);
    } else if (memcmp(words, mapped, sizeof mapped) == 0) {
        memcpy(a.bytes, (const uint8_t *)words + sizeof mapped, 4);
    } else {
        a.version = 6;
        memcpy(a.bytes, words, 16);
    }
    return a;
}

static bool is_end(const struct tcp_end *a, const struct tcp_end *b)
{
    return a->client_port == b->client_port && topo_addr_equal(&a->client, &b->client) &&
           topo_addr_equal(&a->server, &b->server);
}

static int keep(struct tcp_ends *e, const struct tcp_end *end)
{
    for (size_t i = 0; i < e->n_ends; i++) {
        size_t at = (e->next + i) % e->n_ends;

        if (is_end(&e->ends[at], end)) {
            e->ends[at].counts = end->counts;
            e->next = at + 1;
            return 0;
        }
    }
    if (e->n_ends == e->size) {
        size_t size = e->size ? 2 * e->size : 16;
        struct tcp_end *more = realloc(e->ends, size * sizeof *more);

        if (!more)
            return -ENOMEM;
        e->ends = more;
        e->size = size;
    }
    e->ends[e->n_ends++] = *end;
    return 0;
}

static int take(struct tcp_ends *e, struct nlmsghdr *h)
{
    struct inet_diag_msg *m = NLMSG_DATA(h); /* not const: the macros of rtattr cast that away */
    int left = (int)(h->nlmsg_len - NLMSG_LENGTH(sizeof *m));
    struct tcp_end end = {.client = address_of(m->idiag_family, m->id.idiag_dst),
                          .server = address_of(m->idiag_family, m->id.idiag_src),
                          .client_port = ntohs(m->id.idiag_dport)};

    if (!end.client_port) /* it listens */
        return 0;
    for (struct rtattr *a = (void *)(m + 1); RTA_OK(a, left); a = RTA_NEXT(a, left)) {
        if (a->rta_type != INET_DIAG_INFO)
            continue;
        end.counts = tcp_counts_of(RTA_DATA(a), RTA_PAYLOAD(a));
        return keep(e, &end);
    }
    return 0; /* closed to all but its memory */
}

/* All messages of an answer. 1: more answers come. */
static int take_answer(struct tcp_ends *e, struct nlmsghdr *h, size_t n)
{
    unsigned left = (unsigned)n;
    int rc = 1;

    for (; rc == 1 && NLMSG_OK(h, left); h = NLMSG_NEXT(h, left)) {
        if (h->nlmsg_type == NLMSG_DONE)
            rc = 0;
        else if (h->nlmsg_type == NLMSG_ERROR)
            rc = ((const struct nlmsgerr *)NLMSG_DATA(h))->error;
        else if (take(e, h) < 0)
            rc = -ENOMEM;
    }
    return rc;
}

static int read_family(struct tcp_ends *e, const struct place *p, uint8_t family)
{
    struct {
        struct nlmsghdr header;
        struct inet_diag_req_v2 request;
    } ask = {.header = {.nlmsg_len = sizeof ask,
                        .nlmsg_type = SOCK_DIAG_BY_FAMILY,
                        .nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP},
             .request = {.sdiag_family = family,
                         .sdiag_protocol = IPPROTO_TCP,
                         .idiag_ext = 1 << (INET_DIAG_INFO - 1),
                         .idiag_states = UINT32_MAX,
                         .id = {.idiag_sport = htons(p->port)}}};
    union {
        struct nlmsghdr header;
        char bytes[ANSWER_ROOM];
    } answer;
    int rc = send(p->fd, &ask, sizeof ask, 0) < 0 ? -errno : 1;

    while (rc == 1) {
        ssize_t n = recv(p->fd, &answer, sizeof answer, 0);

        if (n < 0 && errno == EINTR)
            continue;
        rc = n < 0 ? -errno : take_answer(e, &answer.header, (size_t)n);
    }
    return rc;
}

int tcp_ends_read(struct tcp_ends *e)
{
    int rc = 0;

    for (size_t i = 0; i < e->n_places && rc == 0; i++) {
        rc = read_family(e, &e->places[i], AF_INET6);
        if (rc == 0)
            rc = read_family(e, &e->places[i], AF_INET);
    }
    return rc;
}

size_t tcp_ends_count(const struct tcp_ends *e) { return e->n_ends; }
struct tcp_end *tcp_ends_at(struct tcp_ends *e, size_t i) { return &e->ends[i]; }
