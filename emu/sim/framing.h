/* How a message of a TCP stream is cut into frames: the same sizes that trains have. Internal to emu/sim. */
#ifndef EMU_SIM_FRAMING_H
#define EMU_SIM_FRAMING_H

#include <stdbool.h>
#include <stdint.h>

enum { FRAMING_HEADERS = 14 + 40, FRAMING_IPV6 = 20, FRAMING_TIMESTAMPS = 12, FRAMING_MIN = 60, FRAMING_WIRE = 24 };

/* Of each frame, Ethernet to TCP. */
static inline uint32_t framing_headers(bool ipv6, bool timestamps)
{
    return FRAMING_HEADERS + (ipv6 ? FRAMING_IPV6 : 0) + (timestamps ? FRAMING_TIMESTAMPS : 0);
}

struct framing {
    double frames, first, last; /* count; bytes on an untagged wire, with preamble, FCS and gap */
};

static inline double framing_bytes(double payload, uint32_t headers)
{
    double b = headers + payload;
    return (b < FRAMING_MIN ? FRAMING_MIN : b) + FRAMING_WIRE;
}

/* bytes > 0 */
static inline struct framing framing_cut(uint64_t bytes, uint32_t mss, uint32_t headers)
{
    uint64_t n = (bytes + mss - 1) / mss;
    return (struct framing){(double)n, framing_bytes(n > 1 ? mss : (double)bytes, headers),
                            framing_bytes((double)(bytes - (n - 1) * mss), headers)};
}

#endif
