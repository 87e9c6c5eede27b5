/* How many desktops fit on an array by its capacity: the formula of Dell BP1018, section "sizing", pages 34-35:
 *
 *     desktops = (capacity - (reserve * capacity + image * images)) / ((1 + headroom) * (memory + write cache))
 *
 * rounded down, with a reserve of 15 % and a headroom of 25 %. Worked: 2,480 GB, one image of 25 GB, 1 GB of memory and 2 GB of write
 * cache: (2480 - 372 - 25) / 3.75 = 555.5, so 555.
 */
#ifndef EMU_MODEL_SIZING_H
#define EMU_MODEL_SIZING_H

#include <stdint.h>

struct sizing {
    uint64_t capacity, image, memory, write_cache; /* bytes; the last two of each desktop */
    uint64_t images;
    double reserve, headroom; /* shares */
};

#define SIZING_RESERVE  0.15
#define SIZING_HEADROOM 0.25

/* 0 when nothing is left after reserve and images, or the desktops need nothing. */
static inline uint64_t sizing_desktops(const struct sizing *s)
{
    double left = (double)s->capacity * (1 - s->reserve) - (double)s->image * (double)s->images;
    double each = (1 + s->headroom) * (double)(s->memory + s->write_cache);
    return left > 0 && each > 0 ? (uint64_t)(left / each) : 0;
}

#endif
