/* Congestion control of one TCP sender: slow start with HyStart++, then CUBIC or Reno. Integers only.
 *
 * The sender (tcp.c) tells what happened (bytes acknowledged, a round-trip time, a loss, a timeout); this answers with
 * cwnd and ssthresh, in bytes. How cwnd falls *during* recovery (PRR) is the sender's business.
 */
#ifndef EMU_SIM_CONGESTION_H
#define EMU_SIM_CONGESTION_H

#include <stdbool.h>
#include <stdint.h>

#include "emu/model/units.h"

enum congestion_kind { CONGESTION_CUBIC, CONGESTION_RENO };
bool congestion_find(const char *name, enum congestion_kind *kind); /* "cubic", "reno" */

struct cubic {
    ps_t epoch;        /* start of the growth curve; -1: none yet */
    int64_t k;         /* from the epoch to the plateau, in 2^-20 s */
    uint64_t w_max;    /* bytes, the plateau */
    uint64_t estimate; /* bytes, what Reno would have by now */
    uint64_t prior;    /* cwnd before the last reduction */
    uint64_t part;     /* remainder of the estimate's growth */
};

struct congestion {
    enum congestion_kind kind;
    uint32_t mss;
    uint64_t cwnd, ssthresh;
    uint64_t part; /* remainder of the growth per byte acknowledged */
    ps_t last_ack; /* when growth was last looked at: time that is not cwnd-limited does not count */
    struct cubic cubic;
    /* HyStart++ (RFC 9406) */
    uint64_t round_end; /* stream offset that ends the round */
    ps_t round_min, last_min, baseline;
    uint32_t samples;
    uint8_t css_rounds; /* 0: not in conservative slow start */
};

/* Initial window: ten segments (RFC 6928). */
void congestion_init(struct congestion *c, enum congestion_kind kind, uint32_t mss);

static inline bool congestion_slow_start(const struct congestion *c) { return c->cwnd < c->ssthresh; }

/* `bytes` newly acknowledged outside of fast recovery. `limited`: cwnd was what held the sender back; else no growth.
 * una, nxt: the sender's stream offsets now, for rounds. rtt: of this acknowledgement, 0 = none; srtt: smoothed. */
void congestion_acked(struct congestion *c, uint64_t bytes, bool limited, uint64_t una, uint64_t nxt, ps_t rtt,
                      ps_t srtt, ps_t now);
/* A loss seen by acknowledgements: sets ssthresh from the bytes in flight. cwnd is left to the caller. */
void congestion_loss(struct congestion *c, uint64_t flight);
/* A retransmission timeout: ssthresh as above, cwnd one segment. */
void congestion_timeout(struct congestion *c, uint64_t flight);
/* Nothing was sent for `idle`: the window decays by half per RTO down to the initial window (RFC 2861). */
void congestion_idle(struct congestion *c, ps_t idle, ps_t rto);

/* The parts of CUBIC that a test holds against floating point. Times in 2^-20 s. */
int64_t cubic_k(uint32_t mss, uint64_t w_max, uint64_t cwnd);
uint64_t cubic_window(uint32_t mss, uint64_t w_max, int64_t k, int64_t t);
uint64_t cubic_root(unsigned __int128 x); /* floor of the cube root */

#endif
