/* Random numbers: one small stream per entity, so that adding a host moves nobody else's draws.
 *
 * A stream is a 64-bit counter run through splitmix64's finisher (Steele, Lea, Flood, "Fast splittable pseudorandom
 * number generators", 2014). A stream's start comes from the run's seed and the entity's name; name an entity by what
 * the file can't rename freely (an address rather than a node's name), and a renamed file draws the same numbers.
 */
#ifndef EMU_MODEL_RANDOM_H
#define EMU_MODEL_RANDOM_H

#include <stdint.h>

struct random {
    uint64_t state;
};

static inline uint64_t random_mix(uint64_t x)
{
    x = (x ^ (x >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
    x = (x ^ (x >> 27)) * UINT64_C(0x94D049BB133111EB);
    return x ^ (x >> 31);
}

/* A seed out of a seed and a name (FNV-1a over the name, then mixed). */
static inline uint64_t random_seed(uint64_t seed, const char *name)
{
    uint64_t h = UINT64_C(0xCBF29CE484222325);
    for (; *name; name++)
        h = (h ^ (uint8_t)*name) * UINT64_C(0x100000001B3);
    return random_mix(seed ^ random_mix(h));
}

static inline struct random random_stream(uint64_t seed, const char *name)
{
    return (struct random){random_seed(seed, name)};
}

/* The n-th draw of a stream that is numbered instead of walked: same answer in whatever order it is asked. */
static inline uint64_t random_at(uint64_t seed, uint64_t n)
{
    return random_mix(seed + (n + 1) * UINT64_C(0x9E3779B97F4A7C15));
}

static inline uint64_t random_next(struct random *r)
{
    r->state += UINT64_C(0x9E3779B97F4A7C15);
    return random_mix(r->state);
}

/* A draw scaled to 0 .. limit-1, limit < 2^32 (no modulo, no rejection: the bias is below 2^-32). */
static inline uint64_t random_scale(uint64_t draw, uint64_t limit) { return ((draw >> 32) * limit) >> 32; }
static inline uint64_t random_below(struct random *r, uint64_t limit) { return random_scale(random_next(r), limit); }

#endif
