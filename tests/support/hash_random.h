/* Random frames of every kind that the parser of hashes/ knows, from a small set of addresses so that branches meet
 * often.
 */
#ifndef TESTS_SUPPORT_HASH_RANDOM_H
#define TESTS_SUPPORT_HASH_RANDOM_H

#include <stddef.h>
#include <stdint.h>

#include "hashes/key.h"
#include "tests/support/hash_frame.h"

struct hash_random {
    uint64_t state;
};

/* 0 .. below-1 */
uint32_t hash_random_below(struct hash_random *random, uint32_t below);
void hash_random_bytes(struct hash_random *random, void *out, size_t count);

/* A flow of any kind that struct hash_flow can express. */
void hash_random_flow(struct hash_random *random, struct hash_flow *flow);

/* A frame: of a random flow, perhaps with IP options, more tags, inside a tunnel, as an ICMP error that quotes
 * another, cut short, or no more than noise. *tci as for hash_key_from_frame(). Returns the length. */
size_t hash_random_frame(struct hash_random *random, uint8_t out[HASH_FRAME_MAX], int32_t *tci);

#endif
