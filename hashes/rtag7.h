/* Broadcom's RTAG7 over fields chosen by someone else: Dell's mode 7.
 */
#ifndef HASHES_RTAG7_H
#define HASHES_RTAG7_H

#include "hashes/policy.h"

/* Set in a value beside the 16 bits of the hash: broadcast, multicast, unknown; fewer bits are kept. */
enum { HASH_RTAG7_NOT_UNICAST = 1 << 16 };

/* CRC16-BISYNC over addresses, ports and perhaps the ingress port, seed 0, no preprocessing; MACs and the ingress
 * port where the frame is not IP. */
struct hash_word hash_rtag7_assumed(const struct hash_key *key, bool ingress, struct hash_trace *trace);

/* A value rotated and cut, ready for the remainder. */
uint32_t hash_rtag7_place(struct hash_word value, unsigned offset, struct hash_trace *trace);

/* The rotation that a selector with HASH_REDUCE_RTAG7 asks for. */
unsigned hash_rtag7_offset(const struct hash_selector *sel);

#endif
