/* One end of a TCP connection in virtual time, over trains.
 *
 * The bytes are not there: a stream is a range of 64-bit offsets. What they mean is known to the user on top (rpc), who
 * keeps the ends of his messages and asks to be called when the stream has come in as far as the next one.
 *
 * The same code runs at both details. The sender makes trains of up to 64 KiB as segmentation offload does. With `frames`
 * they leave as one train per frame, and every second segment is acknowledged; without, the receiver acknowledges a train
 * at once, as receive offload does.
 *
 * Not modelled: closing (mounts last), urgent data, window scaling below a byte, D-SACK, F-RTO, ECN.
 */
#ifndef EMU_SIM_TCP_H
#define EMU_SIM_TCP_H

#include "emu/fabric/eventq.h"
#include "emu/fabric/train.h"
#include "emu/sim/congestion.h"

struct tcp;
struct tcp_chunk;
struct tcp_range;

enum tcp_notice {
    TCP_CONNECTED,
    TCP_RESET,    /* the peer does not know the connection */
    TCP_TIMED_OUT /* too many timeouts in a row */
};

/* What all connections of a run share. */
struct tcp_world {
    struct eventq *queue;
    struct train_pool *trains;
    bool frames;
    /* A train leaves; ownership passes. Addresses, flow and VLAN are the receiver of this call's to fill in. */
    void (*send)(void *context, struct tcp *t, struct train *train, ps_t now);
    /* The stream has come in up to t->want or further: move t->want on (UINT64_MAX: nothing awaited). */
    void (*receive)(void *context, struct tcp *t, ps_t now);
    void (*notice)(void *context, struct tcp *t, enum tcp_notice what, ps_t now);
    void *context;
    struct tcp_pool *pool; /* tcp_pool_new() */
};

struct tcp_pool *tcp_pool_new(void);
void tcp_pool_free(struct tcp_pool *p);

/* What all connections of an interface share. */
struct tcp_config {
    uint32_t mtu; /* IP MTU */
    bool timestamps;
    enum congestion_kind congestion;
    uint64_t send_buffer, receive_buffer; /* bytes */
    /* Bytes of one connection that may wait in the queue of the interface's own NIC; the rest stays in the socket (Linux: TCP
     * small queues). UINT64_MAX: the user does not call tcp_sent(). */
    uint64_t nic_limit;
};

enum tcp_state { TCP_CLOSED, TCP_LISTEN, TCP_SYN_SENT, TCP_SYN_RECEIVED, TCP_ESTABLISHED };
enum tcp_phase { TCP_OPEN, TCP_RECOVERY, TCP_LOSS };

/* The caller embeds it; readable fields are marked, the rest belongs to tcp*.c. */
struct tcp {
    const struct tcp_world *world;
    const struct tcp_config *config;
    unsigned side;        /* the user's, to tell two ends apart */
    bool ipv6;            /* set by the user, before it opens */
    enum tcp_state state; /* readable */
    enum tcp_phase phase; /* readable */
    uint32_t mss;         /* payload of a full segment without SACK blocks */

    /* sending; all offsets are of this direction's stream */
    uint64_t iss, una, nxt, end;                 /* end: what the user has written so far (readable) */
    uint64_t right;                              /* the peer's window ends here */
    struct tcp_chunk *first, *last;              /* what is in flight, in order of offsets */
    uint64_t sacked, lost;                       /* bytes of it with that mark */
    uint32_t resent;                             /* chunks of it that are retransmissions in flight */
    bool timestamps;                             /* both ends have them */
    bool cut;                                    /* the next new chunk must not join the last one */
    bool limited;                                /* cwnd held the last transmission back */
    bool throttled;                              /* the NIC's queue did; it goes on with tcp_sent() */
    uint64_t in_nic;                             /* bytes in that queue */
    uint64_t recover;                            /* recovery or loss ends here */
    uint64_t prr_delivered, prr_out, prr_flight; /* RFC 6937 */
    uint64_t tlp_end;                            /* a probe is out and ends here; 0: none */
    ps_t tlp_sent;
    bool tlp_again; /* ... and it repeated old data */
    struct congestion cc;

    ps_t srtt, rttvar, rto, min_rtt;
    ps_t rack_sent, rack_rtt; /* of the latest-sent segment known to have arrived */
    uint64_t rack_end;
    uint8_t backoff;
    ps_t last_send;

    struct event timer; /* earliest of the four below; fires early rather than being moved later */
    ps_t rto_at, tlp_at, reorder_at, delack_at;

    /* receiving; offsets of the other direction's stream */
    uint64_t in;   /* everything below has come in (readable) */
    uint64_t want; /* user's: call receive() from here on */
    uint64_t acked;
    ps_t recent;             /* timestamp to echo */
    struct tcp_range *holes; /* ranges beyond `in` that have come in, in order of offsets */
    struct tcp_range *newest;
    struct event rx;
    struct train *rx_first, *rx_last; /* trains whose tail is not in yet */

    uint64_t retransmitted, timeouts; /* readable: segments; RTOs with data */
};

/* Offsets of a connection start at `iss`; give every incarnation another range (above 2^40 apart) and nothing of an old
 * one will be mistaken for the new one. */
void tcp_init(struct tcp *t, const struct tcp_world *world, const struct tcp_config *config);
void tcp_connect(struct tcp *t, uint64_t iss, ps_t now);
void tcp_listen(struct tcp *t, uint64_t iss);
/* Forgets everything in flight and every timer; statistics stay. */
void tcp_close(struct tcp *t);

/* Appends to the stream; sent as windows allow. The stream's first byte is iss + 1. */
void tcp_write(struct tcp *t, uint64_t bytes, ps_t now);
/* A train for this end; ownership passes. Called when its head is in. */
void tcp_deliver(struct tcp *t, struct train *train, ps_t now);

/* So many bytes that this end had sent have left its NIC. May be called while a train is being moved: sends nothing itself. */
void tcp_sent(struct tcp *t, uint64_t bytes, ps_t now);

/* What was in the NIC's queue may be gone: nothing more will be heard of it. */
void tcp_nic_lost(struct tcp *t, ps_t now);

/* The answer to a train for which there is no connection: a reset, or NULL for a reset itself. The train stays the
 * caller's. */
struct train *tcp_reset_for(const struct tcp_world *world, const struct train *train, ps_t now);

/* Payload bytes of a full segment. */
uint32_t tcp_mss(uint32_t mtu, bool ipv6, bool timestamps);

#endif
