/* How a message of a TCP stream is cut into frames: the same sizes that trains have. Internal to emu/sim. */
#ifndef EMU_SIM_FRAMING_H
#define EMU_SIM_FRAMING_H

#include <stdbool.h>
#include <stdint.h>

enum { FRAMING_HEADERS = 14 + 40, FRAMING_TIMESTAMPS = 12, FRAMING_MIN = 60, FRAMING_WIRE = 24 };

struct framing {
    double frames, first, last; /* count; bytes on an untagged wire, with preamble, FCS and gap */
};

static inline double framing_bytes(double payload, bool timestamps)
{
    double b = FRAMING_HEADERS + (timestamps ? FRAMING_TIMESTAMPS : 0) + payload;
    return (b < FRAMING_MIN ? FRAMING_MIN : b) + FRAMING_WIRE;
}

/* bytes > 0 */
static inline struct framing framing_cut(uint64_t bytes, uint32_t mss, bool timestamps)
{
    uint64_t n = (bytes + mss - 1) / mss;
    return (struct framing){(double)n, framing_bytes(n > 1 ? mss : (double)bytes, timestamps),
                            framing_bytes((double)(bytes - (n - 1) * mss), timestamps)};
}

#endif
