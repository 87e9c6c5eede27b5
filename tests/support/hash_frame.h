/* Frames made from flows, to see that parsing them gives the key of the flow. */
#ifndef TESTS_SUPPORT_HASH_FRAME_H
#define TESTS_SUPPORT_HASH_FRAME_H

#include <stddef.h>
#include <stdint.h>

struct hash_arp;
struct hash_flow;
struct hash_key;

enum { HASH_FRAME_MAX = 512 };

/* Writes an Ethernet frame without FCS into `out` and returns its length. `options` bytes of IPv4 options (a multiple
 * of 4, at most 40) or that many of IPv6 hop-by-hop options (a multiple of 8) stand before the transport. */
size_t hash_frame_build(const struct hash_flow *flow, unsigned options, uint8_t out[HASH_FRAME_MAX]);
size_t hash_frame_build_arp(const struct hash_arp *arp, uint8_t out[HASH_FRAME_MAX]);

/* What to hand to hash_key_from_frame() beside the frame. */
int32_t hash_frame_tci(const struct hash_flow *flow);

/* Fails the running cmocka test and prints the field where two keys differ in anything. */
void hash_frame_assert_same_key(const struct hash_key *a, const struct hash_key *b);

#endif
