/* How late frames leave, and how much of the time the datapath is behind: the answer to "could the machine keep up?" */
#ifndef EMU_LIVE_LATENESS_H
#define EMU_LIVE_LATENESS_H

#include <stdint.h>

#include "emu/model/units.h"

/* A histogram with eight classes per power of two of nanoseconds, up to 2^40. */
enum { LATENESS_STEPS = 8, LATENESS_CLASSES = 40 * LATENESS_STEPS };
/* Behind: the oldest thing that is due has waited for more than this. */
#define LATENESS_BEHIND PS_PER_MS
/* A share of the time behind from which on the rates can't be trusted. */
#define LATENESS_LIMIT 0.01
/* The same for seconds in which programs lacked processor time (struct shortage). */
#define LATENESS_SHORT 0.25

struct lateness {
    uint64_t count[LATENESS_CLASSES];
    uint64_t total;
    ps_t most;
    ps_t behind;  /* time spent behind */
    ps_t running; /* since the start */
};

void lateness_add(struct lateness *l, ps_t late); /* a frame left so late; negative counts as 0 */
/* The lateness that this share (0 to 1) of the frames didn't exceed; the upper end of its class. 0 without frames. */
ps_t lateness_quantile(const struct lateness *l, double share);
double lateness_share_behind(const struct lateness *l);

#endif
