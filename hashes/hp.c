/* Switches that document plain three-bit rules: HP blade switches, Allied Telesis AT-9000; and Alteon with six bits.
 *
 * HP BL e-Class: its worked examples number the links from 0; its prose, which sends N = 0 to "the first link" and
 * others to "the Nth", contradicts them. The examples are followed.
 */
#include "hashes/vendors.h"

#include "hashes/bytes.h"
#include "hashes/fields.h"
#include "hashes/key.h"
#include "hashes/trace.h"

static const struct hash_param map_params[] = {
    {.name = "map",
     .kind = HASH_PARAM_CHOICE,
     .values = hash_map_names,
     .preset = HASH_MAP_INTERLEAVED,
     .help = "which of the eight values a port has: every n-th or a run of them"},
};

static struct hash_word low3(const struct hash_selector *sel, const struct hash_key *key, struct hash_trace *trace)
{
    return hash_fields_xor(key, hash_fields_for(key, sel->policy->variant), 3, trace);
}

static struct hash_word alteon(const struct hash_selector *sel, const struct hash_key *key, struct hash_trace *trace)
{
    const uint32_t mac = hash_be32(key->smac + 2);
    const uint32_t other = key->ip_version ? hash_be32(key->src) & 0xffff : hash_be16(key->dmac + 4);

    (void)sel;
    hash_trace_step(trace, "%s 0x%04X xor source MAC 0x%08X = 0x%08X",
                    key->ip_version ? "source IP" : "destination MAC", (unsigned)other, (unsigned)mac,
                    (unsigned)(other ^ mac));
    return hash_word(other ^ mac);
}

static struct hash_label ipv4_label(const struct hash_selector *sel, const struct hash_key *key, unsigned n)
{
    (void)sel, (void)n;
    if (key && key->ip_version == 6)
        return (struct hash_label){HASH_APPROXIMATE, "the guide speaks of IPv4 only"};
    return (struct hash_label){HASH_EXACT, NULL};
}

static struct hash_label at9000_label(const struct hash_selector *sel, const struct hash_key *key, unsigned n)
{
    if (n > 1 && n < 8)
        return (struct hash_label){HASH_APPROXIMATE, "the guide's value-to-port map was read for eight ports only"};
    return ipv4_label(sel, key, n);
}

#define HP_BL(what, fields, text)                                                                           \
    {                                                                                                       \
        .name = "hp-bl-" what, .prefix = "hp", .vendor = "HP", .summary = "BL e-Class interconnect: " text, \
        .rule = "low 3 bits of the last MAC byte (xor of both), mod n",                                     \
        .source = "HP BL e-Class C-GbE Interconnect Switch user guide, appendix G", .reads = (fields),      \
        .status = HASH_EXACT, .reduction = HASH_REDUCE_LOW3_MOD, .failure = HASH_FAIL_COMPACT,              \
        .failure_assumed = true, .variant = (fields), .value = low3,                                        \
    }

#define GBE2C(what, fields, text)                                                                                 \
    {                                                                                                             \
        .name = "hp-gbe2c-" what, .prefix = "hp", .vendor = "HP",                                                 \
        .summary = "GbE2c and 1:10Gb BL-c blade switch: " text,                                                   \
        .rule = "low 3 bits of source xor of destination, mod n; frames that are not IP by their MACs",           \
        .source = "HP GbE2c BLADE OS 5.1 application guide p. 68; HP 1:10Gb BL-c application guide p. 37",        \
        .reads = (fields), .status = HASH_EXACT, .reduction = HASH_REDUCE_LOW3_MOD, .failure = HASH_FAIL_COMPACT, \
        .failure_assumed = true, .variant = (fields), .value = low3, .label = ipv4_label,                         \
    }

#define AT9000(what, fields, text)                                                                                   \
    {                                                                                                                \
        .name = "at9000-" what, .aliases = HASH_NAMES("allied-telesis-" what), .prefix = "at9000",                   \
        .vendor = "Allied Telesis", .summary = "AT-9000 static port trunk: " text,                                   \
        .rule = "low 3 bits (xor of both) are looked up in a value-to-port map",                                     \
        .source = "Allied Telesis AT-9000 CLI guide p. 517, AT-9000/28POE guide p. 545", .reads = (fields),          \
        .status = HASH_EXACT, .reduction = HASH_REDUCE_BUCKETS8, .failure = HASH_FAIL_COMPACT,                       \
        .failure_assumed = true, HASH_PARAMS(map_params), .variant = (fields), .value = low3, .label = at9000_label, \
    }

static const struct hash_policy policies[] = {
    HP_BL("src", HASH_READS_SRC_MAC, "source MAC"),
    HP_BL("dst", HASH_READS_DST_MAC, "destination MAC"),
    HP_BL("xor", HASH_READS_MACS, "source xor destination MAC"),
    GBE2C("ip", HASH_READS_IPS, "source and destination IP"),
    GBE2C("mac", HASH_READS_MACS, "source and destination MAC"),
    AT9000("src-mac", HASH_READS_SRC_MAC, "source MAC"),
    AT9000("dst-mac", HASH_READS_DST_MAC, "destination MAC"),
    AT9000("src-dst-mac", HASH_READS_MACS, "source and destination MAC"),
    AT9000("src-ip", HASH_READS_SRC_IP, "source IP"),
    AT9000("dst-ip", HASH_READS_DST_IP, "destination IP"),
    AT9000("src-dst-ip", HASH_READS_IPS, "source and destination IP"),
    {
        .name = "alteon",
        .prefix = "alteon",
        .vendor = "Alteon",
        .summary = "trunk of Alteon Web switches, bridged frames: source IP and source MAC",
        .rule =
            "low half of source IP xor low 32 bits of source MAC, low 6 bits mod n; not IP: destination MAC for the IP",
        .source = "Alteon OS application guide, trunking (72000540282)",
        .reads = HASH_READS_SRC_IP | HASH_READS_SRC_MAC,
        .status = HASH_EXACT,
        .reduction = HASH_REDUCE_LOW6_MOD,
        .failure = HASH_FAIL_COMPACT,
        .failure_assumed = true,
        .value = alteon,
        .label = ipv4_label,
    },
};

HASH_GROUP(hash_group_hp, policies);
