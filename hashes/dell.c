/* Dell PowerConnect 62xx, 70xx, 80xx and N-series: hashing modes 1 to 7 of their FASTPATH software.
 *
 * The field lists are documented; the numbers follow their order in the guides. Modes 1 to 6 have no remainder step,
 * which the guides themselves say makes 3, 5, 6 and 7 links uneven: modelled as three bits, dealt to the links. Modes
 * 1, 2, 5 and 7 read the port where the frame came in, so the same flow can take another link after re-cabling. Mode
 * 7 is RTAG7 with settings that are not published.
 */
#include "hashes/vendors.h"

#include "hashes/fields.h"
#include "hashes/key.h"
#include "hashes/rtag7.h"

static const struct hash_param bucket_params[] = {
    {.name = "map",
     .kind = HASH_PARAM_CHOICE,
     .values = hash_map_names,
     .preset = HASH_MAP_INTERLEAVED,
     .help = "which of the eight values a link has: every n-th or a run of them"},
};

static const struct hash_param enhanced_params[] = {
    {.name = "ingress",
     .kind = HASH_PARAM_CHOICE,
     .values = hash_no_yes,
     .preset = 1,
     .help = "whether the incoming port is hashed: the N-series guides say so, the 7000 manual does not"},
};

static struct hash_word buckets(const struct hash_selector *sel, const struct hash_key *key, struct hash_trace *trace)
{
    return hash_fields_xor(key, hash_fields_for(key, sel->policy->variant), 3, trace);
}

static struct hash_word enhanced(const struct hash_selector *sel, const struct hash_key *key, struct hash_trace *trace)
{
    return hash_rtag7_assumed(key, sel->params.value[0], trace);
}

static uint32_t enhanced_reads(const struct hash_selector *sel)
{
    return HASH_READS_IPS | HASH_READS_PORTS | (sel->params.value[0] ? HASH_READS_INGRESS : 0);
}

#define L2_FIELDS (HASH_READS_VLAN | HASH_READS_ETHERTYPE | HASH_READS_INGRESS)

#define DELL(number, fields, text)                                                                               \
    {                                                                                                            \
        .name = "dell-mode-" number, .aliases = HASH_NAMES("powerconnect-mode-" number, "hashing-mode-" number), \
        .prefix = "dell", .vendor = "Dell", .summary = "hashing mode " number ": " text,                         \
        .rule = "stand-in: xor of the fields' low 3 bits is a bucket, buckets are dealt to the links in turn",   \
        .source = "Dell N3200-ON guide 6.8.0, N3000 guide, PowerConnect 7000 CLI reference (fields)",            \
        .caveat = "Dell documents the fields, not the bits", .reads = (fields), .status = HASH_APPROXIMATE,      \
        .reduction = HASH_REDUCE_BUCKETS8, .failure = HASH_FAIL_COMPACT, .failure_assumed = true,                \
        HASH_PARAMS(bucket_params), .variant = (fields), .value = buckets,                                       \
    }

static const struct hash_policy policies[] = {
    DELL("1", HASH_READS_SRC_MAC | L2_FIELDS, "source MAC, VLAN, EtherType, incoming module and port"),
    DELL("2", HASH_READS_DST_MAC | L2_FIELDS, "destination MAC, VLAN, EtherType, incoming module and port"),
    DELL("3", HASH_READS_SRC_IP | HASH_READS_SRC_PORT, "source IP and TCP/UDP port"),
    DELL("4", HASH_READS_DST_IP | HASH_READS_DST_PORT, "destination IP and TCP/UDP port"),
    DELL("5", HASH_READS_MACS | L2_FIELDS, "both MACs, VLAN, EtherType, incoming module and port"),
    DELL("6", HASH_READS_IPS | HASH_READS_PORTS, "both IPs and TCP/UDP ports"),
    {
        .name = "dell-mode-7",
        .aliases = HASH_NAMES("powerconnect-mode-7", "hashing-mode-7", "dell-enhanced", "enhanced-hashing-mode"),
        .prefix = "dell",
        .vendor = "Dell",
        .summary = "hashing mode 7, enhanced: MACs for layer 2 frames, IPs and ports for IP, incoming port, mod n",
        .rule = "stand-in: rtag7 with CRC16 over addresses, ports and incoming port, mod n",
        .source = "Dell N3200-ON guide 6.8.0, N3000 guide (fields); OpenBCM (rtag7)",
        .caveat = "Dell documents the fields; function, seed and offset of the chip are assumed",
        .reads = HASH_READS_IPS | HASH_READS_PORTS | HASH_READS_INGRESS,
        .status = HASH_APPROXIMATE,
        .reduction = HASH_REDUCE_RTAG7,
        .failure = HASH_FAIL_COMPACT,
        .failure_assumed = true,
        HASH_PARAMS(enhanced_params),
        .value = enhanced,
        .reads_now = enhanced_reads,
    },
};

HASH_GROUP(hash_group_dell, policies);
