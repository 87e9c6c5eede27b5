/* Fields of a key as numbers: what the generic XOR family, the vDS LACP modes, the Dell modes and the unknown
 * policies are made of.
 */
#ifndef HASHES_FIELDS_H
#define HASHES_FIELDS_H

#include "hashes/policy.h"

/* The value lists of parameters that name fields: bit i is enum hash_field bit i, more follow as HASH_FIELDS_* say. */
extern const char *const hash_field_names[];

/* Shorthands at the bits after the single fields. */
enum {
    HASH_FIELDS_SRC_DST_MAC = 1u << 16,
    HASH_FIELDS_SRC_DST_IP = 1u << 17,
    HASH_FIELDS_SRC_DST_PORT = 1u << 18,
    HASH_FIELDS_L4 = 1u << 19,
};

/* Both addresses, both MACs, both ports. */
enum {
    HASH_READS_MACS = HASH_READS_SRC_MAC | HASH_READS_DST_MAC,
    HASH_READS_IPS = HASH_READS_SRC_IP | HASH_READS_DST_IP,
    HASH_READS_PORTS = HASH_READS_SRC_PORT | HASH_READS_DST_PORT,
};

/* Shorthands spelled out. */
uint32_t hash_fields_expand(uint64_t fields);

/* One field as a number, 0 where the frame does not have it. */
struct hash_word hash_field_value(const struct hash_key *key, uint32_t field);

/* What a switch does that is asked for IP fields and sees a frame without any: the MACs of the same directions. */
uint32_t hash_fields_for(const struct hash_key *key, uint32_t fields);

/* XOR of fields, each cut to `width` bits by folding (32) or by dropping the upper bits (3); 128: as it is. */
struct hash_word hash_fields_xor(const struct hash_key *key, uint32_t fields, unsigned width, struct hash_trace *trace);

/* A 64-bit digest that is equal for keys that are equal in these fields, and else differs as good as always. */
uint64_t hash_fields_digest(const struct hash_key *key, uint32_t fields, uint64_t seed);

#endif
