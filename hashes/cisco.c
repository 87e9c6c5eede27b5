/* Cisco Catalyst EtherChannel: a 3-bit hash, and masks that give its eight values to the links.
 *
 * How many of the eight values each link gets is documented; which values was seen in print for two links only (55
 * and AA), and the interleaved order continues that. The 3-bit XOR itself is training material: the Catalyst 4500,
 * 6500, 3850 and later mix more bits by a function that is not published. Frames that are not IP are hashed by both
 * MACs under every IP method.
 */
#include "hashes/vendors.h"

#include "hashes/fields.h"
#include "hashes/key.h"
#include "hashes/trace.h"

const char *const hash_map_names[] = {"interleaved", "contiguous", NULL};

static const struct hash_param params[] = {
    {.name = "map",
     .kind = HASH_PARAM_CHOICE,
     .values = hash_map_names,
     .preset = HASH_MAP_INTERLEAVED,
     .help = "which of the eight values a link has: every n-th (Catalyst) or a run of them (Marvell 88E6xxx)"},
};

static struct hash_word value(const struct hash_selector *sel, const struct hash_key *key, struct hash_trace *trace)
{
    const uint32_t of_ip = HASH_READS_IPS | HASH_READS_PORTS;
    uint32_t fields = sel->policy->variant;

    if (key->ip_version == 0 && fields & of_ip)
        fields = HASH_READS_MACS;
    return hash_fields_xor(key, fields, 3, trace);
}

#define CISCO(method, fields, ...)                                                                          \
    {                                                                                                       \
        .name = "cisco-" method, .aliases = HASH_NAMES("catalyst-" method, __VA_ARGS__), .prefix = "cisco", \
        .vendor = "Cisco", .summary = "Catalyst port-channel load-balance " method,                         \
        .rule = "low 3 bits (xor of the fields') are a bucket, buckets are dealt to the links in turn",     \
        .source = "Cisco community ta-p/3130447 (masks, ratios); CCNP SWITCH training texts (3-bit xor)",   \
        .caveat = "the 3-bit xor is training material; larger Catalysts mix more bits, unpublished",        \
        .reads = (fields), .status = HASH_APPROXIMATE, .reduction = HASH_REDUCE_BUCKETS8,                   \
        .failure = HASH_FAIL_COMPACT, .failure_assumed = true, HASH_PARAMS(params), .variant = (fields),    \
        .value = value,                                                                                     \
    }

static const struct hash_policy policies[] = {
    CISCO("src-ip", HASH_READS_SRC_IP, NULL),
    CISCO("dst-ip", HASH_READS_DST_IP, NULL),
    CISCO("src-dst-ip", HASH_READS_IPS, "cisco-ip", "etherchannel"),
    CISCO("src-mac", HASH_READS_SRC_MAC, NULL),
    CISCO("dst-mac", HASH_READS_DST_MAC, NULL),
    CISCO("src-dst-mac", HASH_READS_MACS, NULL),
    CISCO("src-port", HASH_READS_SRC_PORT, NULL),
    CISCO("dst-port", HASH_READS_DST_PORT, NULL),
    CISCO("src-dst-port", HASH_READS_PORTS, NULL),
    CISCO("src-dst-mixed-ip-port", HASH_READS_IPS | HASH_READS_PORTS, NULL),
};

HASH_GROUP(hash_group_cisco, policies);
