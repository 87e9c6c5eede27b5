/* Mixing functions that more than one vendor uses, or that are known by a name of their own.
 */
#ifndef HASHES_MIX_H
#define HASHES_MIX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* MurmurHash3's steps for 32-bit words. */
uint32_t hash_murmur_add(uint32_t hash, uint32_t word);
uint32_t hash_murmur_finish(uint32_t hash);

/* CRC-32C (Castagnoli) of the bytes, the register starting as given and returned as it is: no inversions. */
uint32_t hash_crc32c(uint32_t crc, const uint8_t *bytes, size_t count);

/* Reflected CRC-16 from a register of 0. The table says which: entry i is the register after four steps from i. */
extern const uint16_t hash_crc16_bisync[16]; /* polynomial 0x8005 */
extern const uint16_t hash_crc16_ccitt[16];  /* polynomial 0x1021 */
uint16_t hash_crc16(const uint16_t step4[16], const uint8_t *bytes, size_t count);

uint32_t hash_reverse_bits(uint32_t value, unsigned width);

/* FNV-1 over the bytes, on from `hash`: multiply, then xor. */
uint32_t hash_fnv1(uint32_t hash, const uint8_t *bytes, size_t count);

/* Bernstein's times 33 plus byte. */
uint32_t hash_times33(uint32_t hash, const uint8_t *bytes, size_t count);

/* Hsieh's SuperFastHash over exactly two 16-bit words, starting from `start`; right shifts arithmetic or logical. */
uint32_t hash_superfast_pair(uint16_t a, uint16_t b, uint32_t start, bool arithmetic);

/* Toeplitz hash of `count` bytes; the key needs count + 4 bytes. */
uint32_t hash_toeplitz(const uint8_t *key, const uint8_t *bytes, size_t count);

/* A 64-bit finaliser in which every input bit reaches every output bit. */
uint64_t hash_mix64(uint64_t value);

#endif
