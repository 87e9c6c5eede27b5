/* The clock on the wall as the fabric counts time: picoseconds since the start of the lab. */
#ifndef EMU_LIVE_CLOCK_H
#define EMU_LIVE_CLOCK_H

#include <time.h>

#include "emu/model/units.h"

/* CLOCK_MONOTONIC, nanoseconds. */
static inline int64_t clock_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

#endif
