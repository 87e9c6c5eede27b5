/* Shared by tcp.c (connection, receiving, timers), tcp_send.c (output) and tcp_loss.c (acknowledgements, recovery). */
#ifndef EMU_SIM_TCP_INTERNAL_H
#define EMU_SIM_TCP_INTERNAL_H

#include "emu/sim/tcp.h"

enum { TCP_SACKED = 1, TCP_LOST = 2, TCP_RESENT = 4 };

/* A run of segments in flight with one fate: sent in one go (or right after one another) and marked alike. */
struct tcp_chunk {
    struct tcp_chunk *next;
    uint64_t from, to;
    ps_t sent;
    uint8_t marks;
};

struct tcp_range {
    struct tcp_range *next;
    uint64_t from, to;
};

#define TCP_RTO_FIRST PS_PER_S          /* RFC 6298 */
#define TCP_RTO_MIN   (200 * PS_PER_MS) /* Linux TCP_RTO_MIN; FreeBSD's and ESXi's is 30 to 230 ms */
#define TCP_RTO_MAX   (120 * PS_PER_S)  /* Linux TCP_RTO_MAX */
#define TCP_DELACK    (40 * PS_PER_MS)  /* Linux TCP_DELACK_MIN */
#define TCP_TLP_SLACK (2 * PS_PER_MS)   /* Linux TCP_TIMEOUT_MIN, two ticks of a kernel with 1000 a second */

enum {
    TCP_TRAIN_MAX = 65536, /* payload of a segmentation-offload frame; Linux GSO_LEGACY_MAX_SIZE */
    TCP_TRAIN_SHARE = 4,   /* ... and at most this part of the window, so that acknowledgements keep coming */
    TCP_DUPLICATES = 3,    /* RFC 6675 DupThresh */
    TCP_SYN_RETRIES = 6,   /* Linux tcp_syn_retries */
    TCP_RETRIES = 15,      /* Linux tcp_retries2 */
    TCP_SACKS = 3,
};

struct tcp_chunk *tcp_chunk_new(struct tcp_pool *p);
void tcp_chunk_release(struct tcp_pool *p, struct tcp_chunk *c);
struct tcp_range *tcp_range_new(struct tcp_pool *p);
void tcp_range_release(struct tcp_pool *p, struct tcp_range *r);

static inline uint64_t tcp_flight(const struct tcp *t) { return t->nxt - t->una - t->sacked - t->lost; }

/* Cuts c at `at` (from < at < to); returns the second part, which follows it. */
struct tcp_chunk *tcp_chunk_cut(struct tcp *t, struct tcp_chunk *c, uint64_t at);

/* Sends what may be sent; true when something went out (and with it an acknowledgement). */
bool tcp_output(struct tcp *t, ps_t now);
void tcp_send_ack(struct tcp *t, ps_t now);
void tcp_send_syn(struct tcp *t, bool acknowledge, ps_t now);
/* The tail-loss probe: one new segment where there is one, else the last one again. */
void tcp_send_probe(struct tcp *t, ps_t now);

/* The acknowledgement part of an arriving train. */
void tcp_acknowledged(struct tcp *t, const struct train_tcp *in, ps_t now);
void tcp_retransmission_timeout(struct tcp *t, ps_t now);
void tcp_reorder_timeout(struct tcp *t, ps_t now);

/* Brings the timer event forward to the earliest of the deadlines, if need be. */
void tcp_timer_update(struct tcp *t);
/* Restarts the probe or retransmission timer after something was acknowledged or sent. */
void tcp_timer_restart(struct tcp *t, ps_t now);

#endif
