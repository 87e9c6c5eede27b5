/* The generic family, for switches that document their fields and nothing better: the fields as numbers, xored, mod
 * n. One field is that number mod n: xor-dst-ip is the destination address mod n. Frames that are not IP go by the
 * MACs of the same directions.
 */
#include "hashes/vendors.h"

#include "hashes/fields.h"
#include "hashes/key.h"

static const struct hash_param field_params[] = {
    {.name = "fields",
     .kind = HASH_PARAM_SET,
     .values = hash_field_names,
     .preset = HASH_READS_IPS,
     .help = "fields that are xored"},
};

static struct hash_word value(const struct hash_selector *sel, const struct hash_key *key, struct hash_trace *trace)
{
    return hash_fields_xor(key, hash_fields_for(key, sel->policy->variant), 128, trace);
}

static struct hash_word chosen_value(const struct hash_selector *sel, const struct hash_key *key,
                                     struct hash_trace *trace)
{
    return hash_fields_xor(key, hash_fields_for(key, hash_fields_expand(sel->params.value[0])), 128, trace);
}

static uint32_t chosen_reads(const struct hash_selector *sel) { return hash_fields_expand(sel->params.value[0]); }

#define COMMON                                                                                                       \
    .prefix = "xor", .vendor = "generic", .source = "none: a stand-in for switches that document only their fields", \
    .caveat = "a stand-in: the fields are known, the arithmetic is assumed", .status = HASH_APPROXIMATE,             \
    .reduction = HASH_REDUCE_MOD, .failure = HASH_FAIL_COMPACT, .failure_assumed = true

#define XOR(what, fields, text, ...)                                                                           \
    {                                                                                                          \
        .name = "xor-" what, .aliases = HASH_NAMES(what, __VA_ARGS__), COMMON, .summary = text,                \
        .rule = "xor of the fields as numbers, mod n", .reads = (fields), .variant = (fields), .value = value, \
    }

static const struct hash_policy policies[] = {
    XOR("src-ip", HASH_READS_SRC_IP, "source address mod n", NULL),
    XOR("dst-ip", HASH_READS_DST_IP, "destination address mod n", NULL),
    XOR("src-dst-ip", HASH_READS_IPS, "both addresses", "ip", "source-destination-ip"),
    XOR("src-mac", HASH_READS_SRC_MAC, "source MAC mod n", NULL),
    XOR("dst-mac", HASH_READS_DST_MAC, "destination MAC mod n", NULL),
    XOR("src-dst-mac", HASH_READS_MACS, "both MACs", "mac", "source-destination-mac"),
    XOR("src-port", HASH_READS_SRC_PORT, "source port mod n", NULL),
    XOR("dst-port", HASH_READS_DST_PORT, "destination port mod n", NULL),
    XOR("l4", HASH_READS_PORTS, "both ports", "src-dst-port", "xor-src-dst-port"),
    XOR("src-dst-ip-l4", HASH_READS_IPS | HASH_READS_PORTS, "both addresses and ports", "src-dst-ip-port", "ip-l4",
        "xor-ip-l4", "xor-src-dst-ip-port"),
    XOR("src-dst-mac-ip", HASH_READS_MACS | HASH_READS_IPS, "both MACs and addresses", NULL),
    XOR("src-dst-mac-ip-l4", HASH_READS_MACS | HASH_READS_IPS | HASH_READS_PORTS, "MACs, addresses and ports", NULL),
    {
        .name = "xor-fields",
        COMMON,
        .summary = "fields of your choice",
        .rule = "xor of the fields as numbers, mod n",
        .reads = (1u << HASH_FIELD_COUNT) - 1,
        HASH_PARAMS(field_params),
        .value = chosen_value,
        .reads_now = chosen_reads,
    },
};

HASH_GROUP(hash_group_xor, policies);
