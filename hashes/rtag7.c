/* Broadcom RTAG7 (Trident): exact, once the register settings are known.
 *
 * Theory of operation. A frame fills up to twelve 16-bit bins, one set for IP and one for everything else. A bitmap
 * chooses bins; which bitmap depends on the frame: TCP or UDP, TCP or UDP with equal ports, other IP, not IP. Chosen
 * bins and a 32-bit seed make seven words, of which eight mixing functions are taken; one is selected. For a trunk
 * the 16-bit result is rotated right by an offset, 10 bits of it are kept (8 for broadcast, multicast and unknown),
 * and the remainder by the number of members is the link. Settings are the vendor's and mostly unpublished: they are
 * the parameters here.
 *
 * Source: Broadcom-Network-Switching-Software/OpenBCM sdk-6.5.20 src/bcm/esw/trident/hashing.c.
 */
#include "hashes/rtag7.h"

#include <string.h>

#include "hashes/bytes.h"
#include "hashes/fields.h"
#include "hashes/headers.h"
#include "hashes/key.h"
#include "hashes/mix.h"
#include "hashes/trace.h"
#include "hashes/vendors.h"

enum function { CRC16, CCITT, CRC32LO, CRC32HI, XOR16, CRC16_XOR8, CRC16_XOR4, CRC16_XOR2, CRC16_XOR1 };
enum {
    PARAM_FUNCTION,
    PARAM_SEED,
    PARAM_OFFSET,
    PARAM_PREPROCESS,
    PARAM_IPV6,
    PARAM_L4,
    PARAM_EQUAL,
    PARAM_IP,
    PARAM_L2
};
enum { IPV6_XOR, IPV6_LOW };

/* Bits of the field parameters. */
enum { IP_SIP = 1, IP_DIP = 2, IP_VLAN = 4, IP_SPORT = 8, IP_DPORT = 16, IP_PROTO = 32, IP_PORT = 64, IP_MODULE = 128 };
enum { L2_SMAC = 1, L2_DMAC = 2, L2_ETHERTYPE = 4, L2_VLAN = 8, L2_PORT = 16, L2_MODULE = 32 };
static const char *const ip_names[] = {"sip", "dip", "vlan", "sport", "dport", "proto", "port", "module", NULL};
static const char *const l2_names[] = {"smac", "dmac", "ethertype", "vlan", "port", "module", NULL};

enum { BINS = 12, WORDS = 7, WORD_BYTES = 4 * WORDS };

static const struct hash_param params[] = {
    {.name = "function",
     .kind = HASH_PARAM_CHOICE,
     .values = HASH_NAMES("crc16", "ccitt", "crc32lo", "crc32hi", "xor16", "crc16xor8", "crc16xor4", "crc16xor2",
                          "crc16xor1"),
     .preset = CRC16,
     .help = "mixing function: CRC16-BISYNC, CRC16-CCITT, a half of CRC-32C, XOR16, or CRC16 with an XOR below"},
    {.name = "seed", .kind = HASH_PARAM_NUMBER, .max = UINT32_MAX, .preset = 0, .help = "32-bit hash seed"},
    {.name = "offset",
     .kind = HASH_PARAM_NUMBER,
     .max = 15,
     .preset = 0,
     .help = "rotation of the hash before the remainder"},
    {.name = "preprocess",
     .kind = HASH_PARAM_CHOICE,
     .values = hash_no_yes,
     .preset = 0,
     .help = "whether each bin is mixed with itself first"},
    {.name = "ipv6",
     .kind = HASH_PARAM_CHOICE,
     .values = HASH_NAMES("xor", "low"),
     .preset = IPV6_XOR,
     .help = "how an IPv6 address becomes 32 bits: xor of its words, or the lowest word"},
    {.name = "fields",
     .kind = HASH_PARAM_SET,
     .values = ip_names,
     .preset = IP_SIP | IP_DIP | IP_SPORT | IP_DPORT,
     .help = "bins for TCP and UDP"},
    {.name = "fields-equal",
     .kind = HASH_PARAM_SET,
     .values = ip_names,
     .preset = IP_SIP | IP_DIP | IP_SPORT | IP_DPORT,
     .help = "bins for TCP and UDP with source port = destination port"},
    {.name = "fields-ip",
     .kind = HASH_PARAM_SET,
     .values = ip_names,
     .preset = IP_SIP | IP_DIP,
     .help = "bins for other IP, fragments without ports included"},
    {.name = "fields-l2",
     .kind = HASH_PARAM_SET,
     .values = l2_names,
     .preset = L2_SMAC | L2_DMAC,
     .help = "bins for frames that are not IP"},
};

/* Everything that the registers say. */
struct settings {
    enum function function;
    uint32_t seed;
    bool preprocess;
    bool ipv6_low;
    uint32_t l4, equal, ip, l2;
};

static uint32_t address(const struct settings *s, const struct hash_key *key, const uint8_t *a)
{
    if (key->ip_version == 4)
        return hash_be32(a);
    if (s->ipv6_low)
        return hash_be32(a + 12);
    return hash_be32(a) ^ hash_be32(a + 4) ^ hash_be32(a + 8) ^ hash_be32(a + 12);
}

/* Fills the bins of an IP frame and returns which are chosen. */
static unsigned ip_bins(const struct settings *s, const struct hash_key *key, uint32_t bins[BINS])
{
    const uint32_t sip = address(s, key, key->src), dip = address(s, key, key->dst);
    uint32_t fields = s->ip;
    unsigned chosen = 0;

    if (key->has_ports && (key->proto == PROTO_TCP || key->proto == PROTO_UDP))
        fields = key->sport == key->dport ? s->equal : s->l4;
    bins[11] = sip >> 16;
    bins[10] = sip & 0xffff;
    bins[9] = dip >> 16;
    bins[8] = dip & 0xffff;
    bins[7] = key->tci & 0xfff;
    bins[6] = key->sport;
    bins[5] = key->dport;
    bins[4] = key->proto;
    bins[3] = key->ingress_port;
    bins[2] = key->ingress_module & 0xff;
    chosen |= fields & IP_SIP ? 0xc00 : 0;
    chosen |= fields & IP_DIP ? 0x300 : 0;
    chosen |= fields & IP_VLAN ? 0x080 : 0;
    chosen |= fields & IP_SPORT ? 0x040 : 0;
    chosen |= fields & IP_DPORT ? 0x020 : 0;
    chosen |= fields & IP_PROTO ? 0x010 : 0;
    chosen |= fields & IP_PORT ? 0x008 : 0;
    chosen |= fields & IP_MODULE ? 0x004 : 0;
    return chosen;
}

static unsigned l2_bins(const struct settings *s, const struct hash_key *key, uint32_t bins[BINS])
{
    unsigned chosen = 0;

    for (size_t i = 0; i < 3; i++) {
        bins[11 - i] = hash_be16(key->smac + 2 * i);
        bins[8 - i] = hash_be16(key->dmac + 2 * i);
    }
    bins[5] = key->ethertype >= 0x600 ? key->ethertype : 0;
    bins[4] = key->tci & 0xfff;
    bins[3] = key->ingress_port;
    bins[2] = key->ingress_module & 0xff;
    chosen |= s->l2 & L2_SMAC ? 0xe00 : 0;
    chosen |= s->l2 & L2_DMAC ? 0x1c0 : 0;
    chosen |= s->l2 & L2_ETHERTYPE ? 0x020 : 0;
    chosen |= s->l2 & L2_VLAN ? 0x010 : 0;
    chosen |= s->l2 & L2_PORT ? 0x008 : 0;
    chosen |= s->l2 & L2_MODULE ? 0x004 : 0;
    return chosen;
}

/* The seven words, as bytes from the lowest of the first word to the highest of the seed. */
static void words(const struct settings *s, const struct hash_key *key, uint8_t out[WORD_BYTES])
{
    uint32_t bins[BINS] = {0};
    const unsigned chosen = key->ip_version ? ip_bins(s, key, bins) : l2_bins(s, key, bins);

    memset(out, 0, WORD_BYTES);
    for (size_t i = 0; i < BINS; i++) {
        uint32_t bin = bins[i];

        if (!(chosen >> i & 1))
            continue;
        if (s->preprocess)
            bin = (bin ^ bin >> 3 ^ bin << 2) & 0xffff;
        out[2 * i] = (uint8_t)bin;
        out[2 * i + 1] = (uint8_t)(bin >> 8);
    }
    for (size_t i = 0; i < 4; i++)
        out[2 * (size_t)BINS + i] = (uint8_t)(s->seed >> 8 * i);
}

static uint32_t xor_of(const uint8_t bytes[WORD_BYTES], unsigned bits)
{
    uint32_t sum = 0;

    for (size_t i = 0; i < WORD_BYTES; i += 2)
        sum ^= (uint32_t)bytes[i + 1] << 8 | bytes[i];
    for (unsigned width = 8; width >= bits; width /= 2)
        sum = (sum ^ sum >> width) & ((1u << width) - 1);
    return sum;
}

static uint32_t bisync(const uint8_t bytes[WORD_BYTES])
{
    return hash_reverse_bits(hash_crc16(hash_crc16_bisync, bytes, WORD_BYTES), 16);
}

static uint32_t mix(enum function function, const uint8_t bytes[WORD_BYTES])
{
    switch (function) {
    case CRC16:
        return bisync(bytes);
    case CCITT:
        return hash_reverse_bits(hash_crc16(hash_crc16_ccitt, bytes, WORD_BYTES), 16);
    case CRC32LO:
        return hash_reverse_bits(hash_crc32c(0, bytes, WORD_BYTES), 32) & 0xffff;
    case CRC32HI:
        return hash_reverse_bits(hash_crc32c(0, bytes, WORD_BYTES), 32) >> 16;
    case XOR16:
        return xor_of(bytes, 16);
    case CRC16_XOR8:
        return (bisync(bytes) & 0xff00) | xor_of(bytes, 8);
    case CRC16_XOR4:
        return (bisync(bytes) & 0xff00) | xor_of(bytes, 4);
    case CRC16_XOR2:
        return (bisync(bytes) & 0xff00) | xor_of(bytes, 2);
    case CRC16_XOR1:
        return (bisync(bytes) & 0xff00) | xor_of(bytes, 1);
    }
    return 0;
}

/* The 16-bit hash before rotation. */
static struct hash_word hash16(const struct settings *s, const struct hash_key *key, struct hash_trace *trace)
{
    static const char *const names[] = {"CRC16-BISYNC",       "CRC16-CCITT",    "CRC-32C lower half",
                                        "CRC-32C upper half", "XOR16",          "CRC16 and XOR8",
                                        "CRC16 and XOR4",     "CRC16 and XOR2", "CRC16 and XOR1"};
    uint8_t bytes[WORD_BYTES];
    uint32_t hash;

    words(s, key, bytes);
    hash = mix(s->function, bytes);
    if (trace) {
        hash_trace_step(trace, "%s of ", names[s->function]);
        hash_trace_bytes(trace, bytes, sizeof bytes);
        hash_trace_more(trace, " = 0x%04X", (unsigned)hash);
    }
    if (key->dmac[0] & 1)
        hash |= HASH_RTAG7_NOT_UNICAST;
    return hash_word(hash);
}

uint32_t hash_rtag7_place(struct hash_word value, unsigned offset, struct hash_trace *trace)
{
    const uint32_t h = value.low & 0xffff;
    const bool unicast = !(value.low & HASH_RTAG7_NOT_UNICAST);
    const uint32_t kept = (h >> offset | h << (16 - offset)) & (unicast ? 0x3ff : 0xff);

    hash_trace_step(trace, "rotated right by %u and cut to %u bits = %u", offset, unicast ? 10 : 8, (unsigned)kept);
    return kept;
}

struct hash_word hash_rtag7_assumed(const struct hash_key *key, bool ingress, struct hash_trace *trace)
{
    const struct settings s = {
        .function = CRC16,
        .l4 = IP_SIP | IP_DIP | IP_SPORT | IP_DPORT | (ingress ? IP_PORT : 0),
        .equal = IP_SIP | IP_DIP | IP_SPORT | IP_DPORT | (ingress ? IP_PORT : 0),
        .ip = IP_SIP | IP_DIP | (ingress ? IP_PORT : 0),
        .l2 = L2_SMAC | L2_DMAC | (ingress ? L2_PORT : 0),
    };

    return hash16(&s, key, trace);
}

static struct hash_word value(const struct hash_selector *sel, const struct hash_key *key, struct hash_trace *trace)
{
    const uint64_t *v = sel->params.value;
    const struct settings s = {
        .function = (enum function)v[PARAM_FUNCTION],
        .seed = (uint32_t)v[PARAM_SEED],
        .preprocess = v[PARAM_PREPROCESS],
        .ipv6_low = v[PARAM_IPV6] == IPV6_LOW,
        .l4 = (uint32_t)v[PARAM_L4],
        .equal = (uint32_t)v[PARAM_EQUAL],
        .ip = (uint32_t)v[PARAM_IP],
        .l2 = (uint32_t)v[PARAM_L2],
    };

    return hash16(&s, key, trace);
}

static uint32_t reads_now(const struct hash_selector *sel)
{
    const uint64_t *v = sel->params.value;
    const uint64_t ip = v[PARAM_L4] | v[PARAM_EQUAL] | v[PARAM_IP], l2 = v[PARAM_L2];
    uint32_t reads = HASH_READS_PROTO;

    reads |= ip & IP_SIP ? HASH_READS_SRC_IP : 0;
    reads |= ip & IP_DIP ? HASH_READS_DST_IP : 0;
    reads |= (v[PARAM_L4] | v[PARAM_EQUAL]) & IP_SPORT ? HASH_READS_SRC_PORT : 0;
    reads |= (v[PARAM_L4] | v[PARAM_EQUAL]) & IP_DPORT ? HASH_READS_DST_PORT : 0;
    reads |= ip & IP_VLAN || l2 & L2_VLAN ? HASH_READS_VLAN : 0;
    reads |= ip & (IP_PORT | IP_MODULE) || l2 & (L2_PORT | L2_MODULE) ? HASH_READS_INGRESS : 0;
    return reads;
}

unsigned hash_rtag7_offset(const struct hash_selector *sel)
{
    return sel->policy->params == params ? (unsigned)sel->params.value[PARAM_OFFSET] : 0;
}

static struct hash_label label(const struct hash_selector *sel, const struct hash_key *key, unsigned n)
{
    (void)sel, (void)n;
    if (key && key->dmac[0] & 1)
        return (struct hash_label){HASH_APPROXIMATE, "broadcast and multicast go by a mask table that is the vendor's"};
    return (struct hash_label){HASH_EXACT, "given the switch's register settings, which vendors seldom publish"};
}

static const struct hash_policy policies[] = {
    {
        .name = "rtag7",
        .aliases = HASH_NAMES("broadcom-rtag7", "trident", "broadcom"),
        .prefix = "rtag7",
        .vendor = "Broadcom",
        .summary = "RTAG7 of Trident switch chips, settings given",
        .rule = "mixing function over chosen 16-bit bins and a seed, rotated, low 10 bits mod n",
        .source = "OpenBCM sdk-6.5.20 src/bcm/esw/trident/hashing.c",
        .reads = HASH_READS_IPS | HASH_READS_PORTS | HASH_READS_PROTO | HASH_READS_VLAN | HASH_READS_INGRESS,
        .status = HASH_EXACT,
        .reduction = HASH_REDUCE_RTAG7,
        .failure = HASH_FAIL_COMPACT,
        .failure_assumed = true,
        HASH_PARAMS(params),
        .value = value,
        .reads_now = reads_now,
        .label = label,
    },
};

HASH_GROUP(hash_group_rtag7, policies);
