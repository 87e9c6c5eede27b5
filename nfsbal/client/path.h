/* One export over several server addresses (VIPs): a set of paths that requests are spread over and that outlives each.
 *
 * A path is one VIP with `nconnect` connections (and one more for metadata when data is striped). Requests are data
 * (nfs3.h) embedded by the caller. The set chooses a connection for each, and when one dies it issues what was lost on
 * another: the caller sees one answer, once. What it guarantees:
 *
 *   - A path whose TCP makes no progress within `bound` is left; its requests are issued again elsewhere (never before
 *     its connection is closed). A slow server is reported, not retried.
 *   - Writes that overlap are never outstanding at the same time, on whatever paths. After a WRITE (or a SETATTR of the
 *     size) was lost with a connection, later ones to that range wait until the lost copy can't be executed any more:
 *     `quarantine` after the connection was closed. The lost write itself is issued again at once: same bytes.
 *   - A call that may have been done by a server whose answer was lost (CREATE, MKDIR, REMOVE, RENAME, LINK ...) is
 *     answered as if it was done once; replay.h has the rules.
 *   - NFS3_EJUKEBOX is waited out.
 *   - Hard: a request waits for ever. Soft: after timeo x (retrans + 1) it comes back with NFS3_TIMED_OUT.
 *   - VIPs that do not serve the same root (handle, fsid, file id) are refused.
 */
#ifndef NFSBAL_CLIENT_PATH_H
#define NFSBAL_CLIENT_PATH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "nfsbal/client/conn.h"
#include "nfsbal/client/nfs3.h"

struct loop;
struct order_entry;
struct paths;
struct pending;
struct replay;
struct stats_path;

enum path_state {
    PATH_TRYING,    /* first contact under way */
    PATH_UP,        /* in use */
    PATH_DEAD,      /* no connection; tried again with back-off */
    PATH_RETURNING, /* reachable again, used from `failback` on (at once when no other is up) */
    PATH_REFUSED,   /* serves something else, or does not let us; tried again rarely */
    PATH_DOWN,      /* taken out by the administrator */
    PATH_STATES
};

enum paths_spread {
    PATHS_SPREAD_MOUNT,  /* the first path that is up; the others stand by */
    PATHS_SPREAD_FILE,   /* a file's handle picks the path */
    PATHS_SPREAD_STRIPE, /* READ, WRITE and COMMIT over all, the rest on the first path's metadata connection */
};
enum paths_choice { PATHS_ROUND_ROBIN, PATHS_LEAST_BYTES, PATHS_WEIGHTED };

struct paths_server {
    const char *name; /* as the user wrote it; copied */
    union conn_address address;
    uint32_t weight; /* PATHS_WEIGHTED; 0 counts as 1 */
};

/* All strings are copied. */
struct paths_config {
    const struct paths_server *servers; /* the first is the planned one */
    size_t n_servers;
    const char *export;
    uint16_t port, mount_port;    /* 0: 2049; 0: ask the portmapper */
    const struct nfs3_fh *root;   /* known already: no MOUNT call; NULL: ask */
    union conn_address source;    /* family 0: the kernel's choice */
    const uint16_t *source_ports; /* of the connections, in order of paths then connections; used again on reconnect */
    size_t n_source_ports;
    bool reserved;
    unsigned nconnect; /* 0: 1 */
    enum paths_spread spread;
    enum paths_choice choice;
    const char *congestion; /* NULL: the system's */
    int send_buffer, receive_buffer;
    struct nfs3_credential credential;
    int64_t bound_ms;      /* 0: 3000 */
    int64_t failback_ms;   /* 0: 30000 */
    int64_t quarantine_ms; /* 0: 30000 */
    bool soft;
    int64_t timeo_ms; /* 0: 60000; soft: see above; hard: "not responding" is reported after it */
    unsigned retrans; /* 0: 2 */
    /* One line for people about what happened ("10.0.0.2: no progress for 3.0 s, 12 requests go elsewhere"); may be NULL. */
    void (*report)(void *context, const char *line);
    void *report_context;
};

/* What is known of the export once the first path is up. */
struct paths_root {
    struct nfs3_fh fh;
    struct nfs3_attr attr;
    struct nfs3_fsinfo fsinfo;
    uint32_t read_max, write_max; /* bytes of one READ, WRITE: fsinfo and NFS3_IO_MAX, the least of all paths */
};

typedef void paths_ready(void *context, const char *problem); /* NULL: mounted */

/* Starts. `ready` comes once, from the loop: when every path has been tried once and at least one is up; or, soft only,
 * with a problem when none is; hard sets go on trying unless all paths refused. NULL: no memory. */
struct paths *paths_new(struct loop *l, const struct paths_config *config, paths_ready *ready, void *context);
/* Closes all; requests that are still out come back with NFS3_CANCELLED within this call. Accepts NULL. Not within a
 * callback of the set. */
void paths_free(struct paths *p);

const struct paths_root *paths_root(const struct paths *p); /* NULL before `ready` */

enum { REQUEST_ANY_PATH = -1 };
struct request;
typedef void request_done(struct request *r, const struct nfs3_result *result);

/* Embedded by the caller; valid until `done`. Zero it, fill the first part, submit. */
struct request {
    struct nfs3_call call;
    request_done *done;
    void *arg;
    int want;        /* a path to prefer, REQUEST_ANY_PATH otherwise: COMMIT goes where the WRITEs went */
    bool must;       /* only that path: NFS3_CONN_LOST when it has no connection or loses it */
    uint64_t fileid; /* RENAME, if known: of the object, to tell whether a lost one was done; 0: not known */

    /* Answers, valid in `done`. */
    uint64_t epoch; /* of that path, see paths_epoch() */
    int path;       /* that served it */
    unsigned lost;  /* times it was lost with a connection and issued again */

    /* Private. */
    struct paths *paths;                  /* NULL: not submitted, or answered */
    struct request *next, **link;         /* in one of the set's lists */
    struct request *all_next, **all_link; /* of the set */
    struct pending *pending;              /* NULL: not on a connection */
    struct order_entry *order;            /* its place among the file's writes */
    struct replay *replay;                /* what is being looked up for it */
    enum { REQUEST_FREE, REQUEST_HELD, REQUEST_WAITING, REQUEST_DELAYED, REQUEST_FAILED } where;
    enum nfs3_status failed;
    int64_t submitted, due;
    unsigned jukebox, bad;
};

/* `done` comes from the loop, never from within this call. */
void paths_submit(struct paths *p, struct request *r);
/* The caller no longer wants the answer: `done` never comes. Its memory may be used again; a WRITE that was sent still
 * holds back later writes to its range until it is answered or fenced. */
void paths_forget(struct request *r);

/* Paths, by position; a removed one leaves its position unused (state PATH_DOWN, no name). */
size_t paths_count(const struct paths *p);
/* Changes when a path loses a connection: the server behind it may be another from then on. */
uint64_t paths_epoch(const struct paths *p, size_t i);
struct path_info {
    const char *name;
    union conn_address address;
    enum path_state state;
    const char *problem; /* the last error, "" if none */
    unsigned connections, connected;
    size_t outstanding;
    uint64_t outstanding_bytes;
    uint64_t reconnects, lost; /* connections made again; requests issued again elsewhere */
    struct tcp_counts tcp;     /* of all connections so far */
    int64_t silent_ms, rtt_us;
    const uint16_t *ports; /* source ports of `connections`, 0: none now */
    const struct stats_path *stats;
};
bool paths_info(const struct paths *p, size_t i, struct path_info *out); /* false: removed */
const char *path_state_name(enum path_state s);

/* Changes while in use. 0, -ENOENT, -EEXIST, -ENOMEM. Requests of a path taken down or removed go elsewhere, as if lost. */
int paths_add(struct paths *p, const struct paths_server *server);
int paths_remove(struct paths *p, const char *name);
int paths_set_down(struct paths *p, const char *name, bool down);

#endif
