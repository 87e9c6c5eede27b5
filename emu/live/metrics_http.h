/* A scraper's questions answered: HTTP on a Unix socket or a TCP port, one connection after the other.
 *
 * Enough for Prometheus and curl and no more: GET and HEAD of /metrics (and of /, which points there), HTTP/1.0 and 1.1, one
 * answer per connection. A peer that is slow gets two seconds.
 */
#ifndef EMU_LIVE_METRICS_HTTP_H
#define EMU_LIVE_METRICS_HTTP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* What a request line asks for. */
enum metrics_request {
    METRICS_BAD,       /* 400 */
    METRICS_NO_METHOD, /* 405 */
    METRICS_NOT_FOUND, /* 404 */
    METRICS_INDEX,
    METRICS_PAGE,
};
/* `head`: the answer goes without its body. */
enum metrics_request metrics_request(const char *line, size_t length, bool *head);

/* Listens on "127.0.0.1:9100", "[::1]:9100" (port 0: any; *port says which), or on a Unix socket at `path` (mode 0600,
 * in place of one on which nobody listens). The descriptor or -errno; -EINVAL: no such address. */
int metrics_listen(const char *address, int *port);
int metrics_listen_unix(const char *path);

/* Answers one connection on a listening socket. `write_page` writes the page, or returns false: 503. */
void metrics_answer(int listener, bool (*write_page)(void *context, FILE *out), void *context);

#endif
