#define _GNU_SOURCE /* accept4() */
#include "emu/live/metrics_http.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "emu/live/control_address.h"
#include "emu/live/metrics.h"

enum { REQUEST_MAX = 8192, PATIENCE_MS = 2000, BACKLOG = 16 };

/* ---- listening ---- */

static int started(int fd, const struct sockaddr *address, socklen_t size)
{
    int one = 1, error = 0;

    if (fd < 0)
        return -errno;
    if (address->sa_family != AF_UNIX && setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one) < 0)
        error = -errno;
    if (!error && (bind(fd, address, size) < 0 || listen(fd, BACKLOG) < 0))
        error = -errno;
    if (!error)
        return fd;
    close(fd);
    return error;
}

/* "ADDRESS:PORT" with a numeric address, in brackets where it is IPv6. */
static bool parse_address(const char *text, struct sockaddr_storage *out, socklen_t *size)
{
    struct sockaddr_in *four = (struct sockaddr_in *)(void *)out;
    struct sockaddr_in6 *six = (struct sockaddr_in6 *)(void *)out;
    const char *colon = strrchr(text, ':');
    char host[64], *end;
    unsigned long port;

    if (!colon || colon[1] < '0' || colon[1] > '9')
        return false;
    port = strtoul(colon + 1, &end, 10);
    if (*end || port > 65535)
        return false;
    memset(out, 0, sizeof *out);
    if (text[0] == '[' && colon > text + 1 && colon[-1] == ']') {
        if ((size_t)(colon - text - 2) >= sizeof host)
            return false;
        snprintf(host, sizeof host, "%.*s", (int)(colon - text - 2), text + 1);
        six->sin6_family = AF_INET6;
        six->sin6_port = htons((uint16_t)port);
        *size = sizeof *six;
        return inet_pton(AF_INET6, host, &six->sin6_addr) == 1;
    }
    if ((size_t)(colon - text) >= sizeof host)
        return false;
    snprintf(host, sizeof host, "%.*s", (int)(colon - text), text);
    four->sin_family = AF_INET;
    four->sin_port = htons((uint16_t)port);
    *size = sizeof *four;
    return inet_pton(AF_INET, host, &four->sin_addr) == 1;
}

int metrics_listen(const char *address, int *port)
{
    struct sockaddr_storage a;
    socklen_t size;
    int fd;

    if (!parse_address(address, &a, &size))
        return -EINVAL;
    fd = started(socket(a.ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0), (const struct sockaddr *)&a, size);
    if (fd < 0)
        return fd;
    size = sizeof a;
    if (getsockname(fd, (struct sockaddr *)&a, &size) == 0)
        *port = ntohs(a.ss_family == AF_INET6 ? ((struct sockaddr_in6 *)(void *)&a)->sin6_port
                                              : ((struct sockaddr_in *)(void *)&a)->sin_port);
    return fd;
}

int metrics_listen_unix(const char *path)
{
    struct control_address a;
    int error = control_address(&a, path), fd = -1, other;

    if (error)
        return error;
    other = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (other >= 0 && connect(other, (const struct sockaddr *)&a.address, sizeof a.address) < 0 &&
        errno == ECONNREFUSED)
        unlink(path);
    if (other >= 0)
        close(other);
    fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd >= 0 && fchmod(fd, S_IRUSR | S_IWUSR) < 0) { /* the name gets the socket's mode */
        error = -errno;
        close(fd);
        fd = error;
    } else {
        fd = started(fd, (const struct sockaddr *)&a.address, sizeof a.address);
    }
    control_address_close(&a);
    return fd;
}

/* ---- requests ---- */

static bool word(const char **at, const char *end, const char **from, size_t *n)
{
    *from = *at;
    while (*at < end && **at != ' ')
        ++*at;
    *n = (size_t)(*at - *from);
    if (*at < end)
        ++*at;
    return *n > 0;
}

static bool is(const char *from, size_t n, const char *text) { return n == strlen(text) && memcmp(from, text, n) == 0; }

enum metrics_request metrics_request(const char *line, size_t length, bool *head)
{
    const char *at = line, *end = line + length, *method, *path, *version, *query;
    size_t n_method, n_path, n_version;

    *head = false;
    if (!word(&at, end, &method, &n_method) || !word(&at, end, &path, &n_path) ||
        !word(&at, end, &version, &n_version) || at != end)
        return METRICS_BAD;
    if (n_version != 8 || memcmp(version, "HTTP/1.", 7) != 0 || version[7] < '0' || version[7] > '9' || path[0] != '/')
        return METRICS_BAD;
    *head = is(method, n_method, "HEAD");
    if (!*head && !is(method, n_method, "GET"))
        return METRICS_NO_METHOD;
    query = memchr(path, '?', n_path);
    n_path = query ? (size_t)(query - path) : n_path;
    if (is(path, n_path, "/"))
        return METRICS_INDEX;
    return is(path, n_path, "/metrics") ? METRICS_PAGE : METRICS_NOT_FOUND;
}

static int64_t now_ms(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

static bool wait_for(int fd, short events, int64_t deadline)
{
    struct pollfd p = {.fd = fd, .events = events};
    int64_t left = deadline - now_ms();

    return left > 0 && poll(&p, 1, (int)left) == 1;
}

/* The request with all its headers: the length of its first line, or -1. */
static ssize_t read_request(int fd, char *text, size_t size, int64_t deadline)
{
    size_t n = 0;

    while (n < size - 1) {
        ssize_t got = recv(fd, text + n, size - 1 - n, 0);
        const char *end;

        if (got < 0 && errno == EAGAIN && wait_for(fd, POLLIN, deadline))
            continue;
        if (got <= 0)
            return -1;
        n += (size_t)got;
        text[n] = '\0';
        if (strlen(text) < n)
            return -1;
        if (strstr(text, "\r\n\r\n") || strstr(text, "\n\n")) {
            end = strchr(text, '\n');
            return end - text - (end > text && end[-1] == '\r');
        }
    }
    return -1;
}

static void send_all(int fd, const char *bytes, size_t n, int64_t deadline)
{
    while (n > 0) {
        ssize_t sent = send(fd, bytes, n, MSG_NOSIGNAL);

        if (sent < 0 && errno == EAGAIN && wait_for(fd, POLLOUT, deadline))
            continue;
        if (sent <= 0)
            return;
        bytes += sent;
        n -= (size_t)sent;
    }
}

static void respond(int fd, const char *status, const char *type, const char *body, size_t n, bool head,
                    int64_t deadline)
{
    char text[256];
    int length = snprintf(text, sizeof text,
                          "HTTP/1.1 %s\r\nContent-Type: %s\r\nContent-Length: %zu\r\nConnection: close\r\n%s\r\n",
                          status, type, n, strncmp(status, "405", 3) == 0 ? "Allow: GET, HEAD\r\n" : "");

    send_all(fd, text, (size_t)length, deadline);
    if (!head)
        send_all(fd, body, n, deadline);
}

static void respond_text(int fd, const char *status, bool head, int64_t deadline)
{
    char body[128];
    int n = snprintf(body, sizeof body, "%s\n", status);

    respond(fd, status, "text/plain; charset=utf-8", body, (size_t)n, head, deadline);
}

static void respond_page(int fd, bool (*write_page)(void *context, FILE *out), void *context, bool head,
                         int64_t deadline)
{
    char *body = NULL;
    size_t n = 0;
    FILE *out = open_memstream(&body, &n);
    bool ok = out && write_page(context, out);

    if (out && fclose(out) == 0 && ok)
        respond(fd, "200 OK", METRICS_CONTENT_TYPE, body, n, head, deadline);
    else
        respond_text(fd, "503 Service Unavailable", head, deadline);
    free(body);
}

static void answer(int fd, bool (*write_page)(void *context, FILE *out), void *context)
{
    static const char index[] = "Counters of a live lab: /metrics\n";
    int64_t deadline = now_ms() + PATIENCE_MS;
    char text[REQUEST_MAX];
    ssize_t n = read_request(fd, text, sizeof text, deadline);
    bool head = false;

    switch (n < 0 ? METRICS_BAD : metrics_request(text, (size_t)n, &head)) {
    case METRICS_BAD:
        respond_text(fd, "400 Bad Request", false, deadline);
        break;
    case METRICS_NO_METHOD:
        respond_text(fd, "405 Method Not Allowed", false, deadline);
        break;
    case METRICS_NOT_FOUND:
        respond_text(fd, "404 Not Found", head, deadline);
        break;
    case METRICS_INDEX:
        respond(fd, "200 OK", "text/plain; charset=utf-8", index, sizeof index - 1, head, deadline);
        break;
    case METRICS_PAGE:
        respond_page(fd, write_page, context, head, deadline);
        break;
    }
}

void metrics_answer(int listener, bool (*write_page)(void *context, FILE *out), void *context)
{
    int fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);

    if (fd < 0)
        return;
    answer(fd, write_page, context);
    close(fd);
}
