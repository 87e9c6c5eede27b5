/* What our event queue's benchmark and its peer share: the same delays, the same number of operations, the best of some
 * rounds in processor time (the machine may be busy with other things). */
#ifndef TESTS_PERF_HOLD_H
#define TESTS_PERF_HOLD_H

#include <math.h>
#include <stdint.h>

#define HOLD_SEED UINT64_C(88172645463325252)
enum { HOLD_OPERATIONS = 500000, HOLD_ROUNDS = 6, HOLD_TABLE = 1024 };

/* An exponential delay, mean 1,000,000, out of a table so that drawing costs both sides next to nothing. */
static inline uint64_t hold_delay(uint64_t *state)
{
    static uint64_t table[HOLD_TABLE];

    if (table[0] == 0)
        for (int i = 0; i < HOLD_TABLE; i++)
            table[i] = 1 + (uint64_t)(-1e6 * log((i + 0.5) / HOLD_TABLE));
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return table[*state % HOLD_TABLE] + (*state >> 54);
}

#endif
