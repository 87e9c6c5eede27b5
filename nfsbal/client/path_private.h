/* Between the files of path.h. */
#ifndef NFSBAL_CLIENT_PATH_PRIVATE_H
#define NFSBAL_CLIENT_PATH_PRIVATE_H

#include "nfsbal/client/loop.h"
#include "nfsbal/client/path.h"
#include "nfsbal/client/stats.h"

struct conn;
struct order;
struct path;

/* One of a path's connections: what outlives the conn. */
struct path_conn {
    struct path *path;
    struct conn *conn; /* NULL: none now */
    uint16_t fixed_port;
    bool meta;     /* for metadata alone */
    bool verified; /* the server behind it serves our root: requests may go */
    int64_t backoff_ms;
    struct loop_timer retry;
};

struct path {
    struct paths *set;
    size_t index;
    char *name; /* NULL: removed */
    union conn_address address;
    uint32_t weight;
    int64_t credit; /* weighted round robin */
    enum path_state state;
    bool tried, mounted; /* first contact is over; MNT and FSINFO are done with */
    bool slow;           /* "not responding" was said */
    struct path_conn *conns;
    uint16_t *ports;
    unsigned n_conns, next_conn;
    struct loop_timer failback;
    struct conn *helper;                    /* to portmapper or mountd */
    void (*helper_next)(struct path *path); /* what comes when it is closed; NULL: it failed */
    struct loop_timer mount_retry;
    int64_t mount_backoff_ms;
    uint16_t mount_port;
    uint64_t reconnects, lost, epoch;
    struct tcp_counts tcp; /* of connections that have closed */
    char problem[200];
    struct stats_path stats;
};

/* A request under way on a connection. The request may be forgotten meanwhile; this stays. */
struct pending {
    struct pending *next;    /* in free_pending */
    struct request *request; /* NULL: forgotten */
    struct paths *set;
    struct path *path;
    struct order_entry *order;
    int64_t sent;
};

struct request_list {
    struct request *first, **last;
};

struct paths {
    struct loop *loop;
    struct paths_config config; /* strings are ours */
    struct path **paths;
    size_t n_paths, next_path;
    struct paths_root root;
    bool have_root, others_started, ready_told, freeing;
    paths_ready *ready;
    void *ready_context;
    struct request *all;         /* every request that has not been answered */
    struct request_list waiting; /* for a path */
    struct request_list failed;  /* to be told from the loop */
    struct request_list delayed; /* jukebox: `sent` is when to try again */
    struct loop_task run, tell, tell_ready;
    struct loop_timer delay, tick;
    struct pending *free_pending;
    struct order *order;
    char problem[256]; /* why nothing could be mounted */
};

/* How long the oldest request on it has been waiting for its answer. */
int64_t path_silent_ms(const struct path *path);
void paths_report(struct paths *p, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* path_choose.c */
bool path_conn_usable(const struct path_conn *pc); /* up, and its server verified */
unsigned path_n_usable(const struct path *path);
struct path_conn *paths_choose(struct paths *p, const struct request *r); /* NULL: none is up */

/* path_request.c */
void requests_init(struct paths *p);
void requests_run(struct paths *p);                 /* sends what waits for a path, from the loop */
void requests_expire(struct paths *p, int64_t now); /* soft: those past their time */
void requests_cancel(struct paths *p);
void requests_free(struct paths *p); /* connections are gone */
void request_answer(struct request *r, const struct nfs3_result *result);

/* path_order.c: which writes may be under way at a time. */
struct order *order_new(struct loop *l, int64_t quarantine_ms, void (*start)(struct request *r));
void order_free(struct order *o);
bool order_needed(const struct nfs3_call *call);
/* 1: go on, r->order is its place. 0: it is held, `start` is called when it may go on. -ENOMEM. */
int order_enter(struct order *o, struct request *r);
void order_cancel(struct order *o, struct request *r);              /* a held one */
void order_leave(struct order *o, struct order_entry *entry);       /* answered */
void order_fence(struct order *o, const struct order_entry *entry); /* lost with its connection: a copy may live on */

/* path_replay.c: true when the answer to a call that was lost before needs no more or other telling. */
bool replay_settle(struct request *r, const struct nfs3_result *result);
void replay_cancel(struct request *r);

#endif
