/* The parts of a run at train or frame detail, and how they hang together. Internal to emu/sim.
 *
 *   jobs (job.c)         a workload state machine per mount; starts operations, counts their ends
 *   rpc.c                an operation becomes one or more NFS calls on the mount's connections; calls and replies are
 *                        messages of the two TCP streams; a lost connection is made again and its calls are sent again
 *   server.c             what a controller does between call and reply: the storage stations
 *   tcp*.c               the streams
 *   host.c               interfaces of hosts and controllers: ARP, jitter, who gets an arriving train
 *   fabric               everything between
 *   measure.c            the measuring window, link counters over time
 *   run.c                builds all this for a topology and drives the event queue
 */
#ifndef EMU_SIM_SIM_H
#define EMU_SIM_SIM_H

#include "emu/fabric/eventq.h"
#include "emu/fabric/train.h"
#include "emu/model/nfs.h"
#include "emu/model/random.h"
#include "emu/model/result.h"
#include "emu/model/topology.h"
#include "emu/model/workload.h"
#include "emu/sim/run.h"
#include "emu/sim/tcp.h"

#define SIM_CONTAINER(pointer, type, member) ((type *)(void *)((char *)(pointer)-offsetof(type, member)))

#define SIM_NOTHING_TO_RUN "no workload can run: no mount of a host that works leads to an address"

enum { SIM_CLIENT, SIM_SERVER };       /* the ends of a connection */
enum { SIM_TO_SERVER, SIM_TO_CLIENT }; /* directions: what the client sends, what the server sends */

struct sim;
struct fabric;
struct served;
struct storage;

/* One NFS call. An operation that fits into one has no struct operation. */
struct rpc {
    struct rpc *next;
    struct sim_conn *conn;
    struct operation *operation; /* of several calls, or NULL */
    uint64_t end;                /* of its message, in the stream that it travels in; in service: when it is done */
    ps_t issued;                 /* when its operation was started */
    uint32_t job;
    uint32_t bytes;
    uint8_t call; /* enum nfs_call */
};

/* An operation of several calls. */
struct operation {
    struct operation *next; /* while free */
    uint64_t bytes;
    uint32_t calls; /* not answered yet */
    bool write, commit;
};

struct rpc_list {
    struct rpc *first, *last;
};

/* One TCP connection of a mount. */
struct sim_conn {
    struct tcp end[2];
    struct train_flow flow[2];
    struct rpc_list message[2]; /* sent and not wholly in, by direction */
    struct rpc_list waiting;    /* to be sent on the next connection */
    struct sim *sim;
    struct arp_entry *arp; /* the client's next hop */
    struct event again;    /* reconnect */
    ps_t progress;         /* when a reply last came in, or the first call went out */
    uint32_t mount;
    uint32_t incarnation;
    uint32_t out;          /* calls without a reply */
    uint32_t job;          /* the one that its TCP counters go to: the first of its mount */
    int iface, vip;        /* the client's interface; the server's address */
    int server_iface;      /* where the client's frames arrive, -1: nobody listens */
    int box;               /* the controller that served it last */
    uint8_t client_mac[6]; /* as the server sees it */
    uint8_t failures;      /* connection attempts in a row that came to nothing */
    bool bulk[2];          /* by direction: carries data of jobs, for the link counters */
    bool beating;          /* a heartbeat is out */
};

struct sim_job {
    struct workload_job work;
    struct event event; /* its next operation is due */
    struct sim *sim;
    struct sim_job *target,
        *source; /* of a clone: the half that writes, of the one that reads, and the other way round */
    uint32_t mount;
    int stream[2]; /* of the storage, by direction (reads, writes), -1: none yet */
};

/* A mount: its connections, used in turn. */
struct sim_mount {
    uint32_t first_conn, n_conns; /* its own, or those of the mount that it shares with */
    uint32_t owner;               /* whose turn counts */
    uint32_t turn;
};

enum arp_state { ARP_ASKING, ARP_KNOWN, ARP_DELAYED, ARP_PROBING };

struct arp_entry {
    struct arp_entry *next;
    struct event timer;
    struct sim *sim;
    struct train *first, *last; /* wait for the answer */
    unsigned queued;
    ps_t confirmed, check; /* last sign of life; when that is too old */
    int iface;
    enum arp_state state;
    uint8_t tries;
    uint8_t ip[16], mac[6];
};

/* What a kind of host does about ARP; docs/sim.md has the sources. */
struct arp_rules {
    ps_t life;       /* without a sign of life */
    ps_t delay;      /* then: wait so long for one, */
    uint8_t unicast; /* ask the old address so often, */
    uint8_t tries;   /* and everybody so often */
    bool tcp_counts; /* progress of a connection is a sign of life */
};

/* A layer-3 interface of a host or controller. */
struct sim_iface {
    struct arp_entry *arp;
    const struct arp_rules *rules;
    struct tcp_config tcp;
    struct random jitter;
    uint64_t jitter_per_byte; /* ps, of the first frame, by its slowest cable */
    ps_t ready;               /* trains leave in order: not before this */
};

enum { STATION_READ, STATION_WRITE };
struct station {
    struct event event; /* the first of the list is done */
    struct rpc_list list;
    struct sim *sim;
    uint64_t rate; /* bytes/s, 0 = never limiting */
    ps_t free;
};

/* The storage behind a NAS: short form. */
struct limits {
    struct station station[2];
    uint64_t iops; /* 0 = never limiting */
    ps_t free;
    /* The long form: stations of its own, and the calls that are in them. */
    struct storage *storage;
    struct san *san; /* its back end, where the file draws it */
    struct served *first, *last;
};

struct sim {
    struct topo *topo;
    const struct sim_options *options;
    struct result *result;
    struct eventq *queue;
    struct train_pool *trains;
    struct fabric *fabric;
    struct tcp_world tcp;
    struct sim_iface *ifaces;
    struct sim_conn *conns;
    struct sim_mount *mounts;
    struct sim_job *jobs;
    struct limits *limits;        /* by node */
    struct calls_link *san_links; /* per link direction: what back ends send there; NULL: the file draws none */
    size_t n_conns, n_jobs;
    size_t jobs_left; /* not over yet */
    struct served *free_served;
    struct served_slab *served_slabs;
    struct rpc *free_rpcs;
    struct operation *free_operations;
    struct rpc_slab *slabs;
    struct operation_slab *operation_slabs;
    struct sim_fault *faults;
    struct event heartbeat;
    ps_t ended;                /* last operation's end */
    ps_t *slice_busy;          /* per link direction, at the start of the slice */
    size_t slices;             /* done */
    bool *first_hop;           /* per link direction: leaves a host or controller */
    struct link_count *counts; /* per phase, then per link direction */
    int phase;                 /* where the last train was counted, -1: in none */
    uint64_t operations;       /* ended, whole run */
};

static inline void rpc_append(struct rpc_list *l, struct rpc *r)
{
    r->next = NULL;
    if (l->last)
        l->last->next = r;
    else
        l->first = r;
    l->last = r;
}

static inline struct rpc *rpc_take(struct rpc_list *l)
{
    struct rpc *r = l->first;
    if (r && !(l->first = r->next))
        l->last = NULL;
    return r;
}

/* host.c */
bool host_init(struct sim *s);
void host_free(struct sim *s);
struct arp_entry *host_arp(struct sim *s, int iface, const uint8_t ip[16]); /* finds or makes */
void host_send(struct sim *s, struct sim_conn *c, int end, struct train *n, ps_t now);
void host_deliver(void *context, int iface, struct train *n, ps_t now);

/* rpc.c */
void rpc_init(struct sim_conn *c);
void rpc_free(struct sim *s);
void rpc_operation(struct sim *s, struct sim_job *j, const struct workload_operation *o, ps_t now);
void rpc_serve_done(struct sim *s, struct rpc *r, ps_t now);   /* the server answers */
void rpc_server_gone(struct sim *s, struct sim_conn *c);       /* the server has forgotten the connection */
void rpc_listen(struct sim *s, struct sim_conn *c, int iface); /* ... and meets it again, or for the first time */
void rpc_heartbeat(struct sim *s, ps_t now);
void rpc_tcp_receive(void *context, struct tcp *t, ps_t now);
void rpc_tcp_notice(void *context, struct tcp *t, enum tcp_notice what, ps_t now);

/* server.c */
bool server_init(struct sim *s, char *problem, size_t size);
void server_free(struct sim *s);
void server_take(struct sim *s, struct rpc *r, ps_t now);
void server_controller(struct sim *s, int box, bool up, ps_t now); /* has failed, or is back */
void server_job_over(struct sim *s, const struct sim_job *j);      /* its streams have ended */
/* Takes the calls of c out of the stations, in order, and appends them to l. */
void server_withdraw(struct sim *s, struct sim_conn *c, struct rpc_list *l);

/* job.c */
bool job_init(struct sim *s);
void job_free(struct sim *s);
void job_done(struct sim *s, struct rpc *r, bool write, uint64_t bytes, ps_t now);

/* measure.c */
bool measure_init(struct sim *s);
void measure_free(struct sim *s);
void measure_tap(void *context, int linkdir, const struct train *n, ps_t start);
void measure_slice(struct sim *s, ps_t now); /* call at least as often as slices end */
void measure_finish(struct sim *s, ps_t now);

#endif
