/* Receive-side scaling: the Toeplitz hash and its indirection table.
 *
 * Source: Microsoft, Verifying the RSS Hash Calculation; the same vectors in the Intel 82599 datasheet, 7.1.2.8.3.
 */
#include "hashes/vendors.h"

#include <string.h>

#include "hashes/fields.h"
#include "hashes/headers.h"
#include "hashes/key.h"
#include "hashes/mix.h"
#include "hashes/trace.h"

enum { TUPLE_2, TUPLE_4 };
enum { PARAM_TABLE, PARAM_KEY, PARAM_TUPLE, PARAM_UDP };

/* The key of Microsoft's verification suite, which most drivers ship. */
static const uint8_t verification_key[HASH_KEY_BYTES] = {
    0x6d, 0x5a, 0x56, 0xda, 0x25, 0x5b, 0x0e, 0xc2, 0x41, 0x67, 0x25, 0x3d, 0x43, 0xa3,
    0x8f, 0xb0, 0xd0, 0xca, 0x2b, 0xcb, 0xae, 0x7b, 0x30, 0xb4, 0x77, 0xcb, 0x2d, 0xa3,
    0x80, 0x30, 0xf2, 0x0c, 0x6a, 0x42, 0xb7, 0x3b, 0xbe, 0xac, 0x01, 0xfa,
};

static const struct hash_param params[] = {
    {.name = "table",
     .kind = HASH_PARAM_POWER,
     .min = 1,
     .max = 65536,
     .preset = 128,
     .help = "entries of the indirection table, filled with the queues in turn"},
    {.name = "key", .kind = HASH_PARAM_BYTES, .preset_bytes = verification_key, .help = "40 bytes of hash key"},
    {.name = "tuple",
     .kind = HASH_PARAM_CHOICE,
     .values = HASH_NAMES("2", "4"),
     .preset = TUPLE_4,
     .help = "addresses, or addresses and ports; fragments always 2"},
    {.name = "udp",
     .kind = HASH_PARAM_CHOICE,
     .values = hash_no_yes,
     .preset = 1,
     .help = "whether the ports of UDP are hashed as well as those of TCP"},
};

static struct hash_word value(const struct hash_selector *sel, const struct hash_key *key, struct hash_trace *trace)
{
    const bool four = sel->params.value[PARAM_TUPLE] == TUPLE_4 && key->has_ports &&
                      key->fragment == HASH_FRAGMENT_NONE &&
                      (key->proto == PROTO_TCP || (key->proto == PROTO_UDP && sel->params.value[PARAM_UDP]));
    const size_t size = key->ip_version == 4 ? 4 : HASH_IP_BYTES;
    uint8_t input[2 * HASH_IP_BYTES + 4];
    size_t count = 2 * size;
    uint32_t hash;

    if (key->ip_version == 0) {
        hash_trace_step(trace, "not IP: 0");
        return hash_word(0);
    }
    memcpy(input, key->src, size);
    memcpy(input + size, key->dst, size);
    if (four) {
        memcpy(input + count, key->l4, 4);
        count += 4;
    }
    hash = hash_toeplitz(sel->params.bytes, input, count);
    if (trace) {
        hash_trace_step(trace, "Toeplitz of ");
        hash_trace_bytes(trace, input, count);
        hash_trace_more(trace, " = 0x%08X", (unsigned)hash);
    }
    return hash_word(hash);
}

static uint32_t reads_now(const struct hash_selector *sel)
{
    return HASH_READS_IPS | (sel->params.value[PARAM_TUPLE] == TUPLE_4 ? HASH_READS_PORTS : 0u);
}

static const struct hash_policy policies[] = {
    {
        .name = "rss-toeplitz",
        .aliases = HASH_NAMES("rss", "toeplitz"),
        .prefix = "rss",
        .vendor = "Microsoft RSS",
        .summary = "receive queue of a NIC: Toeplitz hash and indirection table",
        .rule = "Toeplitz of addresses and ports; table[hash and size - 1], filled with the queues in turn",
        .source = "Microsoft, Verifying the RSS Hash Calculation",
        .reads = HASH_READS_IPS | HASH_READS_PORTS,
        .status = HASH_EXACT,
        .reduction = HASH_REDUCE_INDIRECTION,
        .failure = HASH_FAIL_COMPACT,
        .failure_assumed = true,
        HASH_PARAMS(params),
        .value = value,
        .reads_now = reads_now,
    },
};

HASH_GROUP(hash_group_rss, policies);
