/* How a dead connection is told from a slow server.
 *
 * TCP does most of it: keepalive (1 s, then every 1 s, 2 times) finds a peer that is gone while nothing is in flight, the
 * user timeout one that no longer acknowledges what was sent, a reset speaks for itself. Keepalive matters as much as the
 * timeout: when the server's TCP had acknowledged a request and its reply is lost with the address, nothing is in flight
 * and nothing else would ever notice. Its resolution is a second, so for bounds below three seconds a watchdog sends a NULL
 * call when it has not heard anything for half the bound: the peer's TCP acknowledges it however busy the server is. The
 * watchdog also ends connections whose data is not acknowledged for the bound (the user timeout alone is only looked at when
 * a retransmission is due). It counts its own ticks instead of reading the clock, because this process may have been
 * stopped meanwhile.
 *
 * What must not happen within a callback (freeing what calls us) is left to a task of the loop.
 */
#include "nfsbal/client/conn.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/tcp.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <unistd.h>

#include "nfsbal/client/loop.h"

enum {
    KEEPALIVE_IDLE = 1, /* s */
    KEEPALIVE_INTERVAL = 1,
    KEEPALIVE_COUNT = 2,
    KEEPALIVE_FINDS_MS = 3000, /* within which these find a dead peer */
    PROBES_MAX = 8,            /* NULL calls unanswered at a time */
    RESERVED_LOWEST = 665,     /* below are ports of well-known services */
};

struct conn {
    struct loop *loop;
    struct conn_config config;
    char congestion[16];
    conn_changed *changed;
    void *context;
    enum conn_state state;
    int fd; /* while connecting; then it is nfs3's */
    struct nfs3 *nfs3;
    struct loop_io io;
    struct loop_timer timer; /* connecting: its limit; up: the watchdog */
    struct loop_task flush, close;
    unsigned bad_ticks, probes, unsent;
    uint16_t source_port;
    struct tcp_counts counts; /* in the end */
    bool stalled;
    char problem[200];
};

static int64_t bound_ms(const struct conn *c) { return c->config.bound_ms ? c->config.bound_ms : CONN_BOUND_MS; }

static int64_t tick_ms(const struct conn *c)
{
    int64_t tick = bound_ms(c) / 6;

    return tick < 20 ? 20 : tick > 500 ? 500 : tick;
}

static void say(struct conn *c, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void say(struct conn *c, const char *format, ...)
{
    va_list args;

    if (*c->problem)
        return;
    va_start(args, format);
    vsnprintf(c->problem, sizeof c->problem, format, args);
    va_end(args);
}

static void shut(struct conn *c)
{
    struct nfs3 *n = c->nfs3;

    c->counts = conn_tcp(c);
    c->state = CONN_CLOSED;
    loop_io_stop(&c->io);
    loop_timer_stop(&c->timer);
    loop_task_cancel(&c->flush);
    loop_task_cancel(&c->close);
    c->nfs3 = NULL;
    nfs3_free(n);
    if (c->fd >= 0)
        close(c->fd);
    c->fd = -1;
}

/* Everything that ends a connection comes here, once, from the loop. */
static void end(void *context)
{
    struct conn *c = context;

    shut(c);
    c->changed(c->context, c, CONN_CLOSED);
    free(c);
}

void conn_free(struct conn *c)
{
    if (!c)
        return;
    shut(c);
    free(c);
}

static void fail(struct conn *c)
{
    c->state = CONN_CLOSED;
    loop_io_stop(&c->io);
    loop_timer_stop(&c->timer);
    loop_task_queue(c->loop, &c->close, end, c);
}

void conn_close(struct conn *c, const char *reason)
{
    say(c, "%s", reason);
    fail(c);
}

static void set_option(int fd, int level, int name, int value) { setsockopt(fd, level, name, &value, sizeof value); }

/* Lets nfs3 send and receive, and watches for what it waits for next. */
static void service(struct conn *c, int revents)
{
    bool good = nfs3_service(c->nfs3, revents);

    if (c->state != CONN_UP) /* closed by a callback */
        return;
    if (!good) {
        say(c, "%s", nfs3_problem(c->nfs3));
        c->stalled = nfs3_errno(c->nfs3) == ETIMEDOUT || nfs3_errno(c->nfs3) == EHOSTUNREACH;
        fail(c);
        return;
    }
    loop_io_events(&c->io, LOOP_READ | (nfs3_events(c->nfs3) & POLLOUT ? LOOP_WRITE : 0u));
}

static void ready(void *context, unsigned events)
{
    service(context, (events & LOOP_READ ? POLLIN : 0) | (events & LOOP_WRITE ? POLLOUT : 0));
}

/* libnfs sends call by call; corked, small ones leave in one segment, which is one journey through the stack instead of many and
 * wakes the server once. */
static void flush(void *context)
{
    struct conn *c = context;
    bool corked = c->unsent > 1;

    c->unsent = 0;
    if (corked)
        set_option(nfs3_fd(c->nfs3), IPPROTO_TCP, TCP_CORK, 1);
    service(c, POLLOUT);
    if (corked && c->nfs3)
        set_option(nfs3_fd(c->nfs3), IPPROTO_TCP, TCP_CORK, 0);
}

static bool tcp_of(const struct conn *c, struct tcp_info *info);

static void probed(void *arg, const struct nfs3_result *result)
{
    struct conn *c = arg;

    (void)result;
    c->probes--;
}

static void watch(void *context)
{
    struct conn *c = context;
    struct tcp_info info;
    int64_t tick = tick_ms(c), bound = bound_ms(c), heard;

    loop_timer_start(c->loop, &c->timer, tick * NS_PER_MS, watch, c);
    if (nfs3_outstanding(c->nfs3) == 0 || !tcp_of(c, &info)) {
        c->bad_ticks = 0;
        return;
    }
    heard = info.tcpi_last_ack_recv < info.tcpi_last_data_recv ? info.tcpi_last_ack_recv : info.tcpi_last_data_recv;
    if (heard <= tick + tick / 2)
        c->bad_ticks = 0;
    else if (info.tcpi_unacked || info.tcpi_notsent_bytes || info.tcpi_probes)
        c->bad_ticks++;
    else if (bound < KEEPALIVE_FINDS_MS && heard >= bound / 2 && c->probes < PROBES_MAX) {
        static const struct nfs3_call null = {.procedure = NFS3_NULL};

        if (conn_send(c, &null, probed, c) == 0)
            c->probes++;
    }
    if (c->bad_ticks * tick >= bound && heard >= bound) {
        say(c, "no progress for %lld.%lld s", (long long)heard / 1000, (long long)heard % 1000 / 100);
        c->stalled = true;
        fail(c);
    }
}

static bool tune(struct conn *c, char *problem, size_t size)
{
    const struct conn_config *k = &c->config;

    set_option(c->fd, IPPROTO_TCP, TCP_NODELAY, 1);
    set_option(c->fd, SOL_SOCKET, SO_KEEPALIVE, 1);
    set_option(c->fd, IPPROTO_TCP, TCP_KEEPIDLE, KEEPALIVE_IDLE);
    set_option(c->fd, IPPROTO_TCP, TCP_KEEPINTVL, KEEPALIVE_INTERVAL);
    set_option(c->fd, IPPROTO_TCP, TCP_KEEPCNT, KEEPALIVE_COUNT);
    set_option(c->fd, IPPROTO_TCP, TCP_USER_TIMEOUT, (int)bound_ms(c));
    if (k->send_buffer)
        set_option(c->fd, SOL_SOCKET, SO_SNDBUF, k->send_buffer);
    if (k->receive_buffer)
        set_option(c->fd, SOL_SOCKET, SO_RCVBUF, k->receive_buffer);
    if (*c->congestion &&
        setsockopt(c->fd, IPPROTO_TCP, TCP_CONGESTION, c->congestion, (socklen_t)strlen(c->congestion))) {
        snprintf(problem, size, "congestion control %s: %s", c->congestion, strerror(errno));
        return false;
    }
    return true;
}

static socklen_t address_size(const union conn_address *a)
{
    return a->any.sa_family == AF_INET6 ? sizeof a->in6 : sizeof a->in;
}

static void set_port(union conn_address *a, uint16_t port)
{
    if (a->any.sa_family == AF_INET6)
        a->in6.sin6_port = htons(port);
    else
        a->in.sin_port = htons(port);
}

static uint16_t get_port(const union conn_address *a)
{
    return ntohs(a->any.sa_family == AF_INET6 ? a->in6.sin6_port : a->in.sin_port);
}

/* A free reserved port, the search begun anywhere so that clients started together don't collide. False: not allowed or
 * none free; an ordinary port will do then, if the server takes it. */
static bool bind_reserved(int fd, union conn_address *a)
{
    unsigned start = 0, n = IPPORT_RESERVED - RESERVED_LOWEST;

    if (getrandom(&start, sizeof start, GRND_NONBLOCK) != (ssize_t)sizeof start)
        start = (unsigned)getpid();
    for (unsigned i = 0; i < n; i++) {
        set_port(a, (uint16_t)(RESERVED_LOWEST + (start + i) % n));
        if (bind(fd, &a->any, address_size(a)) == 0)
            return true;
        if (errno != EADDRINUSE)
            return false;
    }
    return false;
}

static bool bind_source(struct conn *c, char *problem, size_t size)
{
    const struct conn_config *k = &c->config;
    union conn_address a = k->source;
    char text[64];

    if (!a.any.sa_family) {
        memset(&a, 0, sizeof a);
        a.any.sa_family = k->server.any.sa_family;
    }
    if (k->source_port) {
        set_option(c->fd, SOL_SOCKET, SO_REUSEADDR, 1);
        set_port(&a, k->source_port);
    } else if (k->reserved && bind_reserved(c->fd, &a)) {
        return true;
    } else {
        set_port(&a, 0);
        if (!k->source.any.sa_family)
            return true;
        set_option(c->fd, IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT, 1);
    }
    if (bind(c->fd, &a.any, address_size(&a)) == 0)
        return true;
    snprintf(problem, size, "source %s port %u: %s", conn_print_address(&a, text, sizeof text), k->source_port,
             strerror(errno));
    return false;
}

static void up(struct conn *c)
{
    union conn_address a;
    socklen_t size = sizeof a;
    uint32_t xid = 0;

    memset(&a, 0, sizeof a);
    if (getsockname(c->fd, &a.any, &size) == 0)
        c->source_port = get_port(&a);
    if (getrandom(&xid, sizeof xid, GRND_NONBLOCK) != (ssize_t)sizeof xid)
        xid = (uint32_t)loop_clock();
    loop_io_stop(&c->io);
    c->nfs3 = nfs3_new(c->fd, &c->config.credential, xid);
    if (!c->nfs3) {
        c->fd = -1;
        say(c, "out of memory");
        fail(c);
        return;
    }
    c->fd = -1;
    c->state = CONN_UP;
    loop_io_start(c->loop, &c->io, nfs3_fd(c->nfs3), LOOP_READ, ready, c);
    loop_timer_start(c->loop, &c->timer, tick_ms(c) * NS_PER_MS, watch, c);
    c->changed(c->context, c, CONN_UP);
}

static void connected(void *context, unsigned events)
{
    struct conn *c = context;
    int error = 0;
    socklen_t size = sizeof error;

    (void)events;
    if (getsockopt(c->fd, SOL_SOCKET, SO_ERROR, &error, &size))
        error = errno;
    if (error) {
        say(c, "connect: %s", strerror(error));
        fail(c);
        return;
    }
    up(c);
}

static void too_late(void *context)
{
    struct conn *c = context;

    say(c, "connect: no answer");
    fail(c);
}

struct conn *conn_open(struct loop *l, const struct conn_config *config, conn_changed *changed, void *context,
                       char *problem, size_t size)
{
    struct conn *c = calloc(1, sizeof *c);

    if (!c) {
        snprintf(problem, size, "out of memory");
        return NULL;
    }
    c->loop = l;
    c->config = *config;
    if (config->congestion)
        snprintf(c->congestion, sizeof c->congestion, "%s", config->congestion);
    c->config.congestion = NULL;
    c->changed = changed;
    c->context = context;
    c->fd = socket(config->server.any.sa_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (c->fd < 0) {
        snprintf(problem, size, "socket: %s", strerror(errno));
        free(c);
        return NULL;
    }
    if (!tune(c, problem, size) || !bind_source(c, problem, size))
        goto fail;
    if (connect(c->fd, &config->server.any, address_size(&config->server)) && errno != EINPROGRESS) {
        snprintf(problem, size, "connect: %s", strerror(errno));
        goto fail;
    }
    loop_io_start(l, &c->io, c->fd, LOOP_WRITE, connected, c);
    loop_timer_start(l, &c->timer, (config->connect_ms ? config->connect_ms : bound_ms(c)) * NS_PER_MS, too_late, c);
    return c;
fail:
    close(c->fd);
    free(c);
    return NULL;
}

int conn_send(struct conn *c, const struct nfs3_call *call, nfs3_done *done, void *arg)
{
    int rc;

    if (c->state != CONN_UP)
        return -ENOTCONN;
    rc = nfs3_send(c->nfs3, call, done, arg);
    if (rc == 0) {
        c->unsent++;
        loop_task_queue(c->loop, &c->flush, flush, c);
    }
    return rc;
}

enum conn_state conn_get_state(const struct conn *c) { return c->state; }
const char *conn_problem(const struct conn *c) { return c->problem; }
bool conn_stalled(const struct conn *c) { return c->stalled; }
uint16_t conn_source_port(const struct conn *c) { return c->source_port; }
size_t conn_outstanding(const struct conn *c) { return c->nfs3 ? nfs3_outstanding(c->nfs3) : 0; }
uint64_t conn_outstanding_bytes(const struct conn *c) { return c->nfs3 ? nfs3_outstanding_bytes(c->nfs3) : 0; }

static bool tcp_of(const struct conn *c, struct tcp_info *info)
{
    socklen_t size = sizeof *info;

    memset(info, 0, sizeof *info);
    return c->nfs3 && getsockopt(nfs3_fd(c->nfs3), IPPROTO_TCP, TCP_INFO, info, &size) == 0;
}

struct tcp_counts conn_tcp(const struct conn *c)
{
    char info[TCP_COUNTS_ROOM];
    socklen_t size = sizeof info;

    if (!c->nfs3 || getsockopt(nfs3_fd(c->nfs3), IPPROTO_TCP, TCP_INFO, info, &size) != 0)
        return c->counts;
    return tcp_counts_of(info, size);
}

int64_t conn_rtt_us(const struct conn *c)
{
    struct tcp_info info;

    return tcp_of(c, &info) ? info.tcpi_rtt : 0;
}

bool conn_parse_address(const char *text, uint16_t port, union conn_address *out)
{
    union conn_address a;
    char bare[INET6_ADDRSTRLEN];
    size_t length = strlen(text);

    memset(&a, 0, sizeof a);
    if (inet_pton(AF_INET, text, &a.in.sin_addr) == 1) {
        a.in.sin_family = AF_INET;
    } else {
        if (length >= 2 && text[0] == '[' && text[length - 1] == ']' && length - 2 < sizeof bare) {
            memcpy(bare, text + 1, length - 2);
            bare[length - 2] = '\0';
            text = bare;
        }
        if (inet_pton(AF_INET6, text, &a.in6.sin6_addr) != 1)
            return false;
        a.in6.sin6_family = AF_INET6;
    }
    set_port(&a, port);
    *out = a;
    return true;
}

bool conn_same_address(const union conn_address *a, const union conn_address *b)
{
    if (a->any.sa_family != b->any.sa_family)
        return false;
    return a->any.sa_family == AF_INET6 ? memcmp(&a->in6.sin6_addr, &b->in6.sin6_addr, sizeof a->in6.sin6_addr) == 0
                                        : a->in.sin_addr.s_addr == b->in.sin_addr.s_addr;
}

const char *conn_print_address(const union conn_address *a, char *buf, size_t size)
{
    const void *bytes = a->any.sa_family == AF_INET6 ? (const void *)&a->in6.sin6_addr : (const void *)&a->in.sin_addr;

    if (!a->any.sa_family || !inet_ntop(a->any.sa_family, bytes, buf, (socklen_t)size))
        snprintf(buf, size, "?");
    return buf;
}
