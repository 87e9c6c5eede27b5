#include "hashes/mix.h"

#include "hashes/bytes.h"

static uint32_t rotate_left(uint32_t value, unsigned count) { return value << count | value >> (32 - count); }

uint32_t hash_murmur_add(uint32_t hash, uint32_t word)
{
    word *= 0xcc9e2d51u;
    word = rotate_left(word, 15);
    word *= 0x1b873593u;
    return rotate_left(hash ^ word, 13) * 5 + 0xe6546b64u;
}

uint32_t hash_murmur_finish(uint32_t hash)
{
    hash ^= hash >> 16;
    hash *= 0x85ebca6bu;
    hash ^= hash >> 13;
    hash *= 0xc2b2ae35u;
    return hash ^ hash >> 16;
}

/* Four bits at a time: entry i is the register after four steps from i. */
uint32_t hash_crc32c(uint32_t crc, const uint8_t *bytes, size_t count)
{
    static const uint32_t step4[16] = {
        0x00000000, 0x105ec76f, 0x20bd8ede, 0x30e349b1, 0x417b1dbc, 0x5125dad3, 0x61c69362, 0x7198540d,
        0x82f63b78, 0x92a8fc17, 0xa24bb5a6, 0xb21572c9, 0xc38d26c4, 0xd3d3e1ab, 0xe330a81a, 0xf36e6f75,
    };

    for (size_t i = 0; i < count; i++) {
        crc ^= bytes[i];
        crc = crc >> 4 ^ step4[crc & 15];
        crc = crc >> 4 ^ step4[crc & 15];
    }
    return crc;
}

const uint16_t hash_crc16_bisync[16] = {0x0000, 0xcc01, 0xd801, 0x1400, 0xf001, 0x3c00, 0x2800, 0xe401,
                                        0xa001, 0x6c00, 0x7800, 0xb401, 0x5000, 0x9c01, 0x8801, 0x4400};
const uint16_t hash_crc16_ccitt[16] = {0x0000, 0x1081, 0x2102, 0x3183, 0x4204, 0x5285, 0x6306, 0x7387,
                                       0x8408, 0x9489, 0xa50a, 0xb58b, 0xc60c, 0xd68d, 0xe70e, 0xf78f};

uint16_t hash_crc16(const uint16_t step4[16], const uint8_t *bytes, size_t count)
{
    unsigned crc = 0;

    for (size_t i = 0; i < count; i++) {
        crc ^= bytes[i];
        crc = crc >> 4 ^ step4[crc & 15];
        crc = crc >> 4 ^ step4[crc & 15];
    }
    return (uint16_t)crc;
}

uint32_t hash_reverse_bits(uint32_t value, unsigned width)
{
    uint32_t reversed = 0;

    for (unsigned i = 0; i < width; i++)
        reversed |= (value >> i & 1) << (width - 1 - i);
    return reversed;
}

uint32_t hash_fnv1(uint32_t hash, const uint8_t *bytes, size_t count)
{
    for (size_t i = 0; i < count; i++)
        hash = hash * 0x01000193u ^ bytes[i];
    return hash;
}

uint32_t hash_times33(uint32_t hash, const uint8_t *bytes, size_t count)
{
    for (size_t i = 0; i < count; i++)
        hash = hash * 33 + bytes[i];
    return hash;
}

/* A right shift that keeps the sign, spelled out: C leaves >> of negative numbers to the compiler. */
static uint32_t shift_right(uint32_t value, unsigned count, bool arithmetic)
{
    uint32_t shifted = value >> count;

    if (arithmetic && value >> 31)
        shifted |= ~(UINT32_MAX >> count);
    return shifted;
}

uint32_t hash_superfast_pair(uint16_t a, uint16_t b, uint32_t start, bool arithmetic)
{
    uint32_t h = start + a;
    uint32_t t = (uint32_t)b << 11 ^ h;

    h = h << 16 ^ t;
    h += shift_right(h, 11, arithmetic);
    h ^= h << 3;
    h += shift_right(h, 5, arithmetic);
    h ^= h << 4;
    h += shift_right(h, 17, arithmetic);
    h ^= h << 25;
    h += shift_right(h, 6, arithmetic);
    return h;
}

uint32_t hash_toeplitz(const uint8_t *key, const uint8_t *bytes, size_t count)
{
    uint32_t hash = 0;

    for (size_t i = 0; i < count; i++) {
        uint64_t window =
            (uint64_t)hash_be32(key + i) << 8 | key[i + 4]; /* 40 key bits for the eight bits of this byte */
        unsigned byte = bytes[i];

        for (unsigned bit = 0; bit < 8; bit++)
            hash ^= (uint32_t)(window >> (8 - bit)) & (0u - (byte >> (7 - bit) & 1));
    }
    return hash;
}

uint64_t hash_mix64(uint64_t value)
{
    value ^= value >> 33;
    value *= 0xff51afd7ed558ccdu;
    value ^= value >> 33;
    value *= 0xc4ceb9fe1a85ec53u;
    return value ^ value >> 33;
}
