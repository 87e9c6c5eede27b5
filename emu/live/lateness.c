#include "emu/live/lateness.h"

#include <stddef.h>

/* Classes: 0 .. 7 are single nanoseconds, then eight per power of two. */
static size_t class_of(uint64_t ns)
{
    unsigned power;
    size_t class;

    if (ns < LATENESS_STEPS)
        return (size_t)ns;
    power = 63 - (unsigned)__builtin_clzll(ns);
    class = (size_t)(power - 2) * LATENESS_STEPS + (ns >> (power - 3) & (LATENESS_STEPS - 1));
    return class < LATENESS_CLASSES ? class : LATENESS_CLASSES - 1;
}

/* The first nanosecond beyond the class. */
static uint64_t end_of(size_t class)
{
    uint64_t octave = class / LATENESS_STEPS, step = class % LATENESS_STEPS;

    if (octave == 0)
        return step + 1;
    return (LATENESS_STEPS + step + 1) << (octave - 1);
}

void lateness_add(struct lateness *l, ps_t late)
{
    late = late < 0 ? 0 : late;
    l->count[class_of((uint64_t)(late / PS_PER_NS))]++;
    l->total++;
    l->most = late > l->most ? late : l->most;
}

ps_t lateness_quantile(const struct lateness *l, double share)
{
    double wanted = share * (double)l->total;
    uint64_t sum = 0;

    for (size_t i = 0; i < LATENESS_CLASSES && l->total; i++) {
        sum += l->count[i];
        if (sum > 0 && (double)sum >= wanted) {
            ps_t end = (ps_t)end_of(i) * PS_PER_NS;

            return end < l->most ? end : l->most;
        }
    }
    return l->most;
}

double lateness_share_behind(const struct lateness *l)
{
    return l->running > 0 ? (double)l->behind / (double)l->running : 0;
}
