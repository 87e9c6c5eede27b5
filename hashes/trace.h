/* The written trail of one choice: steps of arithmetic, separated by ", ". A NULL trace costs one test per step, so
 * that explaining and choosing are the same code.
 */
#ifndef HASHES_TRACE_H
#define HASHES_TRACE_H

#include <stddef.h>
#include <stdint.h>

#include "hashes/policy.h"

#if defined __GNUC__
#define HASH_PRINTF(text, first) __attribute__((format(printf, text, first)))
#else
#define HASH_PRINTF(text, first)
#endif

struct hash_trace {
    char *out;
    size_t size;
    size_t length; /* written so far, without the terminating zero */
};

/* Adds a step; the text must not contain ", ". */
void hash_trace_step(struct hash_trace *trace, const char *format, ...) HASH_PRINTF(2, 3);

/* Adds to the step that is being written. */
void hash_trace_more(struct hash_trace *trace, const char *format, ...) HASH_PRINTF(2, 3);

/* A step "A xor B = C" of 32-bit words. */
void hash_trace_xor32(struct hash_trace *trace, uint32_t a, uint32_t b);

/* The bytes as one hexadecimal number. */
void hash_trace_bytes(struct hash_trace *trace, const uint8_t *bytes, size_t count);

#endif
