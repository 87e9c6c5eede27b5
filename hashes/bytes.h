/* Numbers out of bytes, independent of the machine's byte order. */
#ifndef HASHES_BYTES_H
#define HASHES_BYTES_H

#include <stdint.h>

static inline uint16_t hash_be16(const uint8_t *p) { return (uint16_t)(p[0] << 8 | p[1]); }

static inline uint32_t hash_be32(const uint8_t *p)
{
    return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

static inline uint64_t hash_be48(const uint8_t *p) { return (uint64_t)hash_be16(p) << 32 | hash_be32(p + 2); }

static inline uint64_t hash_be64(const uint8_t *p) { return (uint64_t)hash_be32(p) << 32 | hash_be32(p + 4); }

/* What a little-endian host sees when it loads wire bytes as a word. */
static inline uint32_t hash_le32(const uint8_t *p)
{
    return (uint32_t)p[3] << 24 | (uint32_t)p[2] << 16 | (uint32_t)p[1] << 8 | p[0];
}

static inline void hash_put_be16(uint8_t *p, uint16_t value)
{
    p[0] = (uint8_t)(value >> 8);
    p[1] = (uint8_t)value;
}

static inline void hash_put_be32(uint8_t *p, uint32_t value)
{
    hash_put_be16(p, (uint16_t)(value >> 16));
    hash_put_be16(p + 2, (uint16_t)value);
}

#endif
