/* One TCP connection to an NFS server, from connect to its end: own socket, bound, tuned, non-blocking.
 *
 *     CONNECTING --> UP --> CLOSED        CONNECTING --> CLOSED
 *
 * It never reconnects: a new connection is a new object. It ends when connecting takes too long, when TCP makes no
 * progress within `bound` (keepalive, user timeout, reset, and a watchdog for bounds below keepalive's resolution of
 * a second), or when the stream is broken. A server that is slow to answer but whose TCP acknowledges is not dead.
 * Then, from the loop and never within a callback of the connection, it is closed with a reset, each outstanding call comes
 * back with NFS3_CONN_LOST, and last `changed` is called with CONN_CLOSED.
 */
#ifndef NFSBAL_CLIENT_CONN_H
#define NFSBAL_CLIENT_CONN_H

#include <netinet/in.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "emu/model/tcp_counts.h"
#include "nfsbal/client/nfs3.h"

struct conn;
struct loop;

union conn_address {
    struct sockaddr any;
    struct sockaddr_in in;
    struct sockaddr_in6 in6;
};

enum conn_state { CONN_CONNECTING, CONN_UP, CONN_CLOSED };

enum { CONN_BOUND_MS = 3000 };

struct conn_config {
    union conn_address server;       /* with port */
    union conn_address source;       /* family 0: the kernel's choice */
    uint16_t source_port;            /* 0: a free one, see `reserved` */
    bool reserved;                   /* a free port below 1024, where allowed; else an ordinary one */
    int64_t connect_ms;              /* 0: the bound */
    int64_t bound_ms;                /* no progress of TCP for so long: dead; 0: CONN_BOUND_MS */
    const char *congestion;          /* "cubic"; NULL: the system's */
    int send_buffer, receive_buffer; /* bytes; 0: the system's, which grow */
    struct nfs3_credential credential;
};

/* `changed` is called with CONN_UP once and with CONN_CLOSED once; after the latter the object is gone. */
typedef void conn_changed(void *context, struct conn *c, enum conn_state state);

/* Starts to connect. NULL with a sentence in `problem` when that is not even possible (address in use, no descriptor). */
struct conn *conn_open(struct loop *l, const struct conn_config *config, conn_changed *changed, void *context,
                       char *problem, size_t size);

/* Closes now with a reset; outstanding calls come back with NFS3_CONN_LOST from the loop, then `changed` comes. */
void conn_close(struct conn *c, const char *reason);

/* The same at once: calls come back within this call, `changed` never. Accepts NULL. Not within a callback of it. */
void conn_free(struct conn *c);

/* Sends a call. 0, -ENOMEM, -EINVAL, or -ENOTCONN when it is not UP. `done` never comes before this returns. */
int conn_send(struct conn *c, const struct nfs3_call *call, nfs3_done *done, void *arg);

enum conn_state conn_get_state(const struct conn *c);
const char *conn_problem(const struct conn *c); /* why it closed */
bool conn_stalled(const struct conn *c);        /* closed because nothing came: who else uses that way? */
uint16_t conn_source_port(const struct conn *c);
size_t conn_outstanding(const struct conn *c);         /* calls */
uint64_t conn_outstanding_bytes(const struct conn *c); /* of READ and WRITE data asked for and not answered */
struct tcp_counts conn_tcp(const struct conn *c);      /* what this end has sent again */
int64_t conn_rtt_us(const struct conn *c);             /* TCP's smoothed round-trip time; 0: not known */

/* "10.0.0.1", "[fd00::1]" and a port into an address; false when it is none. */
bool conn_parse_address(const char *text, uint16_t port, union conn_address *out);
bool conn_same_address(const union conn_address *a, const union conn_address *b);    /* whatever their ports */
const char *conn_print_address(const union conn_address *a, char *buf, size_t size); /* without the port */

#endif
