/* Linux bonding: xmit_hash_policy in every kernel generation, balance-alb, balance-tlb, active-backup.
 *
 * Theory of operation. The arithmetic of one policy name changed five times. What changed are two things that do not
 * depend on each other, how the EtherType enters and which policies drop the lowest bit, and before 3.14 the whole
 * formula; a `gen` parameter names the combination and three small functions answer the questions. Words are loaded
 * as a little-endian host does (x86, ARM), on any host. A frame whose tag is inline looks like a non-IP frame to
 * layer2+3 and layer3+4, because the driver sees EtherType 0x8100.
 *
 * Sources: Linux drivers/net/bonding/bond_main.c, bond_alb.c, net/core/flow_dissector.c as of 6.1, and bond_main.c of
 * the 3.10 series for g1; the boundaries are upstream commits 32819dc18348 (3.14), ce04d63502ca (3.17), b5f862180d70
 * (4.15), 49aefd131739 (5.18).
 */
#include "hashes/vendors.h"

#include <string.h>

#include "hashes/bytes.h"
#include "hashes/fields.h"
#include "hashes/headers.h"
#include "hashes/key.h"
#include "hashes/pick.h"
#include "hashes/trace.h"

enum xmit { LAYER2, LAYER23, LAYER34, ENCAP23, ENCAP34 };
enum gen { G1, G2, G3, G4, G4B, G5, G6 };
enum icmp { ICMP_AUTO, ICMP_NO, ICMP_YES };

/* Positions of the parameters: the first two of every hashing policy here. */
enum { PARAM_GEN, PARAM_ICMP, PARAM_XMIT };
enum { PARAM_PRIMARY, PARAM_RESELECT };
enum { RESELECT_ALWAYS, RESELECT_FAILURE };

/* An empty name stands for a generation that did not have the policy. */
static const char *const all_gens[] = {"g1", "g2", "g3", "g4", "g4b", "g5", "g6", NULL};
static const char *const encap_gens[] = {"", "g2", "g3", "g4", "g4b", "g5", "g6", NULL};
static const char *const srcmac_gens[] = {"", "", "", "g4", "g4b", "g5", "g6", NULL};

#define GEN_PARAM(list)                                                                                            \
    {                                                                                                              \
        .name = "gen", .kind = HASH_PARAM_CHOICE, .values = (list), .preset = G6,                                  \
        .help = "kernel generation: g1 to 3.13, g2 3.14-3.16, g3 3.17-4.14, g4 4.15-5.14, g4b older stable trees " \
                "with the 5.18 fix, g5 5.15-5.17.5, g6 from 5.17.6"                                                \
    }
#define ICMP_PARAM                                                                                                 \
    {                                                                                                              \
        .name = "icmp", .kind = HASH_PARAM_CHOICE, .values = HASH_NAMES("auto", "no", "yes"), .preset = ICMP_AUTO, \
        .help = "whether echo ids are hashed and errors follow the flow they quote (from 5.5); auto: g5 and g6 do" \
    }

static const struct hash_param layer2_params[] = {GEN_PARAM(all_gens)};
static const struct hash_param layer_params[] = {GEN_PARAM(all_gens), ICMP_PARAM};
static const struct hash_param encap_params[] = {GEN_PARAM(encap_gens), ICMP_PARAM};
static const struct hash_param srcmac_params[] = {GEN_PARAM(srcmac_gens)};
static const struct hash_param tlb_params[] = {
    GEN_PARAM(encap_gens),
    ICMP_PARAM,
    {.name = "xmit",
     .kind = HASH_PARAM_CHOICE,
     .values = HASH_NAMES("layer2", "layer2+3", "layer3+4", "encap2+3", "encap3+4"),
     .preset = LAYER2,
     .help = "xmit_hash_policy of the bond, which gives the table index"},
};
static const struct hash_param backup_params[] = {
    {.name = "primary",
     .kind = HASH_PARAM_NUMBER,
     .min = 0,
     .max = HASH_MEMBERS_MAX,
     .preset = HASH_MEMBERS_MAX,
     .help = "member that is preferred, from 0; 64: none"},
    {.name = "reselect",
     .kind = HASH_PARAM_CHOICE,
     .values = HASH_NAMES("always", "failure"),
     .preset = RESELECT_ALWAYS,
     .help = "when a recovered primary takes over: always, or only when the active member fails"},
};

#define LAYER23_READS (HASH_READS_MACS | HASH_READS_ETHERTYPE | HASH_READS_IPS)
#define LAYER34_READS (HASH_READS_IPS | HASH_READS_PORTS)

/* What a dissector found: addresses as words, and the word of the transport. */
struct dissected {
    uint32_t src, dst, word;
};

static bool hashes_icmp(const struct hash_selector *sel)
{
    const enum gen gen = (enum gen)sel->params.value[PARAM_GEN];

    if (sel->params.value[PARAM_ICMP] == ICMP_AUTO)
        return gen >= G5;
    return sel->params.value[PARAM_ICMP] == ICMP_YES;
}

/* How the EtherType enters the layer 2 hash. */
static uint32_t ethertype_term(enum gen gen, uint16_t ethertype)
{
    if (gen <= G2)
        return 0;
    return gen <= G4B ? (uint32_t)(uint16_t)(ethertype << 8 | ethertype >> 8) : ethertype;
}

static bool drops_lowest_bit(enum gen gen, enum xmit xmit)
{
    if (gen == G4 || gen == G5)
        return true;
    return (gen == G4B || gen == G6) && (xmit == LAYER34 || xmit == ENCAP34);
}

static uint32_t layer2(enum gen gen, const struct hash_key *key, struct hash_trace *trace)
{
    const uint32_t term = ethertype_term(gen, key->wire_ethertype);
    const uint32_t hash = key->dmac[5] ^ key->smac[5] ^ term;

    hash_trace_step(trace, "MACs' last bytes 0x%02X xor 0x%02X", key->dmac[5], key->smac[5]);
    if (term)
        hash_trace_more(trace, " xor EtherType 0x%04X", (unsigned)term);
    hash_trace_more(trace, " = 0x%08X", (unsigned)hash);
    return hash;
}

static uint32_t address_word(uint8_t version, const uint8_t *address)
{
    if (version == 6)
        return hash_le32(address) ^ hash_le32(address + 4) ^ hash_le32(address + 8) ^ hash_le32(address + 12);
    return version == 4 ? hash_le32(address) : 0;
}

static void take_addresses(struct dissected *out, uint8_t version, const uint8_t *src, const uint8_t *dst)
{
    out->src = address_word(version, src);
    out->dst = address_word(version, dst);
}

/* Type, code and id as the kernel keeps them: the id in host order, 0 replaced by 1. */
static uint32_t echo_word(const struct hash_key *key)
{
    const uint32_t id = key->icmp_id ? key->icmp_id : 1;

    return id << 16 | (uint32_t)key->icmp_code << 8 | key->icmp_type;
}

/* The port word behind the fixed header: nothing in a fragment and nothing behind IPv6 extension headers. */
static uint32_t plain_word(const struct hash_key *key)
{
    uint8_t spi[4];

    if (key->fragment != HASH_FRAGMENT_NONE)
        return 0;
    if (key->next_header == PROTO_AH && key->has_ah) {
        hash_put_be32(spi, key->ah_spi);
        return hash_le32(spi);
    }
    if (key->next_header != key->proto || !(hash_proto_has_ports(key->proto) || key->proto == PROTO_ESP))
        return 0;
    return hash_le32(key->l4);
}

/* As bond_flow_dissect() for layer2+3 and layer3+4. False: the frame is hashed by layer 2. */
static bool dissect_plain(const struct hash_selector *sel, const struct hash_key *key, struct dissected *out)
{
    if (key->ip_version == 0 || key->inline_tags)
        return false;
    take_addresses(out, key->ip_version, key->src, key->dst);
    out->word = plain_word(key);
    if (!key->has_icmp || key->next_header != key->proto || key->fragment != HASH_FRAGMENT_NONE || !hashes_icmp(sel))
        return true;
    if (hash_icmp_has_id(key->icmp_type)) {
        out->word = echo_word(key);
    } else if (hash_icmp_quotes(key->proto, key->icmp_type)) {
        if (key->quoted.ip_version == 0)
            return false;
        take_addresses(out, key->quoted.ip_version, key->quoted.src, key->quoted.dst);
        out->word = hash_le32(key->quoted.word);
    }
    return true;
}

/* As the flow dissector for encap2+3 and encap3+4. */
static bool dissect_encap(const struct hash_selector *sel, const struct hash_key *key, struct dissected *out)
{
    const struct hash_inner *inner = &key->tunnel;

    if (key->walk == HASH_WALK_BROKEN || (key->walk == HASH_WALK_PLAIN && key->ip_version == 0))
        return false;
    if (key->walk == HASH_WALK_FOLLOWED) {
        /* The dissector learned about ARP between g3 and g4. */
        if (inner->ip_version == 0 && sel->params.value[PARAM_GEN] <= G3)
            return false;
        take_addresses(out, inner->ip_version, inner->src, inner->dst);
        out->word = hash_le32(inner->word);
        if ((inner->proto == PROTO_ICMP || inner->proto == PROTO_ICMPV6) && !hashes_icmp(sel))
            out->word = 0;
        return true;
    }
    take_addresses(out, key->ip_version, key->src, key->dst);
    out->word = plain_word(key);
    if (key->has_icmp && key->fragment == HASH_FRAGMENT_NONE && hash_icmp_has_id(key->icmp_type) && hashes_icmp(sel))
        out->word = echo_word(key);
    return true;
}

static uint32_t fold(uint32_t hash, const struct dissected *d, struct hash_trace *trace)
{
    const uint32_t mixed = hash ^ d->src ^ d->dst;
    const uint32_t half = mixed ^ mixed >> 16;
    const uint32_t folded = half ^ half >> 8;

    if (trace) {
        hash_trace_step(trace, "xor source 0x%08X xor destination 0x%08X = 0x%08X", (unsigned)d->src, (unsigned)d->dst,
                        (unsigned)mixed);
        hash_trace_step(trace, "xor itself >> 16 = 0x%08X", (unsigned)half);
        hash_trace_step(trace, "xor itself >> 8 = 0x%08X", (unsigned)folded);
    }
    return folded;
}

/* Up to 3.13: sixteen bits of the addresses in host order, no fold; IPv6 without its first word. */
static uint32_t first_generation(enum xmit xmit, const struct hash_key *key, struct hash_trace *trace)
{
    uint32_t hash, addresses;

    if (xmit == LAYER2 || key->ip_version == 0 || key->inline_tags)
        return layer2(G1, key, trace);
    if (xmit == LAYER23) {
        hash = layer2(G1, key, trace);
    } else {
        const uint32_t word = plain_word(key);
        const uint32_t swapped = (word & 0xff) << 8 | (word >> 8 & 0xff);
        const uint32_t swapped_high = (word >> 16 & 0xff) << 8 | word >> 24;

        hash = swapped ^ swapped_high;
        hash_trace_step(trace, "source port %u xor destination port %u = 0x%04X", (unsigned)swapped,
                        (unsigned)swapped_high, (unsigned)hash);
    }
    if (key->ip_version == 4) {
        addresses = (hash_be32(key->src) ^ hash_be32(key->dst)) & 0xffff;
        hash_trace_step(trace, "xor lower halves of the addresses 0x%04X = 0x%08X", (unsigned)addresses,
                        (unsigned)(hash ^ addresses));
        return hash ^ addresses;
    }
    addresses = 0;
    for (int i = 4; i < HASH_IP_BYTES; i += 4)
        addresses ^= hash_le32(key->src + i) ^ hash_le32(key->dst + i);
    if (xmit == LAYER34)
        addresses ^= hash;
    addresses ^= addresses >> 24 ^ addresses >> 16 ^ addresses >> 8;
    hash = xmit == LAYER34 ? addresses : hash ^ addresses;
    hash_trace_step(trace, "with the addresses = 0x%08X", (unsigned)hash);
    return hash;
}

static uint32_t xmit_hash(const struct hash_selector *sel, enum xmit xmit, const struct hash_key *key,
                          struct hash_trace *trace)
{
    const enum gen gen = (enum gen)sel->params.value[PARAM_GEN];
    struct dissected d;
    uint32_t hash;
    bool ip;

    if (gen == G1)
        return first_generation(xmit, key, trace);
    if (xmit == LAYER2)
        return layer2(gen, key, trace);
    ip = xmit == ENCAP23 || xmit == ENCAP34 ? dissect_encap(sel, key, &d) : dissect_plain(sel, key, &d);
    if (!ip) {
        hash_trace_step(trace, "not IP to the driver: layer 2 alone");
        return layer2(gen, key, trace);
    }
    if (xmit == LAYER23 || xmit == ENCAP23) {
        hash = layer2(gen, key, trace);
    } else {
        hash = d.word;
        hash_trace_step(trace, "ports 0x%08X", (unsigned)hash);
    }
    hash = fold(hash, &d, trace);
    if (drops_lowest_bit(gen, xmit)) {
        hash >>= 1;
        hash_trace_step(trace, "shifted right by one = 0x%08X", (unsigned)hash);
    }
    return hash;
}

static struct hash_word policy_hash(const struct hash_selector *sel, const struct hash_key *key,
                                    struct hash_trace *trace)
{
    return hash_word(xmit_hash(sel, (enum xmit)sel->policy->variant, key, trace));
}

static struct hash_word tlb_hash(const struct hash_selector *sel, const struct hash_key *key, struct hash_trace *trace)
{
    return hash_word(xmit_hash(sel, (enum xmit)sel->params.value[PARAM_XMIT], key, trace));
}

static struct hash_word srcmac_hash(const struct hash_selector *sel, const struct hash_key *key,
                                    struct hash_trace *trace)
{
    const uint32_t vendor = hash_be32(key->smac) >> 8;
    const uint32_t device = hash_be32(key->smac + 2) & 0xffffff;
    const uint32_t tci = key->tag == HASH_TAG_OFFLOADED ? key->tci : 0;
    const uint32_t hash = tci ^ vendor ^ device;

    (void)sel;
    hash_trace_step(trace, "tag 0x%04X xor vendor 0x%06X xor device 0x%06X = 0x%06X", (unsigned)tci, (unsigned)vendor,
                    (unsigned)device, (unsigned)hash);
    return hash_word(hash);
}

static struct hash_word alb_index(const struct hash_selector *sel, const struct hash_key *key, struct hash_trace *trace)
{
    unsigned index = 0;

    (void)sel;
    for (int i = 0; i < (key->ip_version == 4 ? 4 : HASH_IP_BYTES); i++)
        index ^= key->dst[i];
    hash_trace_step(trace, "xor of the destination address's bytes = %u", index);
    return hash_word(index);
}

/* Frames that the adaptive modes do not balance: they leave by the current active member. */
static bool unbalanced(const struct hash_key *key)
{
    static const uint8_t broadcast[HASH_MAC_BYTES] = {0xff, 0xff, 0xff, 0xff, 0xff, 0xff};
    static const uint8_t all_nodes[HASH_MAC_BYTES] = {0x33, 0x33, 0, 0, 0, 1};
    static const uint8_t zero[HASH_IP_BYTES];
    enum { PROTO_IGMP = 2, NEIGHBOUR_SOLICITATION = 135, NEIGHBOUR_ADVERTISEMENT = 136 };

    if (key->ip_version == 0 || key->inline_tags || memcmp(key->dmac, broadcast, HASH_MAC_BYTES) == 0)
        return true;
    if (key->ip_version == 4)
        return hash_be32(key->dst) == UINT32_MAX || key->next_header == PROTO_IGMP;
    return memcmp(key->dmac, all_nodes, HASH_MAC_BYTES) == 0 || memcmp(key->src, zero, HASH_IP_BYTES) == 0 ||
           (key->next_header == PROTO_ICMPV6 && key->has_icmp &&
            (key->icmp_type == NEIGHBOUR_SOLICITATION || key->icmp_type == NEIGHBOUR_ADVERTISEMENT));
}

static int adaptive_shortcut(const struct hash_selector *sel, const struct hash_key *key,
                             const struct hash_members *members, struct hash_trace *trace)
{
    (void)sel;
    if (!unbalanced(key))
        return HASH_GO_ON;
    hash_trace_step(trace, "not balanced: the active member");
    return hash_members_is_up(members, members->active) ? members->active : members->order[0];
}

static uint32_t tlb_reads(const struct hash_selector *sel)
{
    switch ((enum xmit)sel->params.value[PARAM_XMIT]) {
    case LAYER2:
        return HASH_READS_MACS | HASH_READS_ETHERTYPE;
    case LAYER23:
    case ENCAP23:
        return LAYER23_READS;
    case LAYER34:
    case ENCAP34:
        break;
    }
    return LAYER34_READS;
}

static unsigned backup_choose(const struct hash_selector *sel, const struct hash_members *members)
{
    const uint64_t primary = sel->params.value[PARAM_PRIMARY];
    const bool primary_up = primary < members->count && hash_members_is_up(members, (unsigned)primary);
    const bool active_up = hash_members_is_up(members, members->active);

    if (primary_up && (sel->params.value[PARAM_RESELECT] == RESELECT_ALWAYS || !active_up))
        return (unsigned)primary;
    if (active_up || members->usable == 0)
        return members->active;
    return members->order[0];
}

static struct hash_label bond_label(const struct hash_selector *sel, const struct hash_key *key, unsigned n)
{
    const enum gen gen = (enum gen)sel->params.value[PARAM_GEN];

    (void)n;
    if (key && key->ip_version == 6 && gen == G1 && sel->policy->variant != LAYER2)
        return (struct hash_label){HASH_APPROXIMATE, "kernels before 3.7 hash IPv6 by layer 2 only"};
    if (key && key->has_icmp && (gen == G4 || gen == G4B) && sel->policy->variant != LAYER2 &&
        sel->params.value[PARAM_ICMP] == ICMP_AUTO)
        return (struct hash_label){HASH_APPROXIMATE, "ICMP is hashed from 5.5 on: set icmp=yes or icmp=no"};
    if (key && key->ip_version == 0 && sel->policy->variant >= ENCAP23 && key->walk == HASH_WALK_FOLLOWED && gen == G3)
        return (struct hash_label){HASH_APPROXIMATE, "the flow dissector learned about ARP within this generation"};
    return (struct hash_label){HASH_EXACT, NULL};
}

static struct hash_label encap34_label(const struct hash_selector *sel, const struct hash_key *key, unsigned n)
{
    const struct hash_label label = bond_label(sel, key, n);

    if (label.status != HASH_EXACT)
        return label;
    return (struct hash_label){HASH_APPROXIMATE,
                               "local TCP sockets carry a random hash that this policy uses instead; exact for others"};
}

#define BONDING_DOC "Linux drivers/net/bonding/bond_main.c, "

static const struct hash_policy policies[] = {
    {
        .name = "linux-layer2",
        .aliases = HASH_NAMES("layer2", "l2"),
        .prefix = "linux",
        .vendor = "Linux bonding",
        .summary = "MACs and EtherType; the default of balance-xor and 802.3ad",
        .rule = "last bytes of both MACs xor EtherType, mod n",
        .source = BONDING_DOC "bond_eth_hash",
        .reads = HASH_READS_MACS | HASH_READS_ETHERTYPE,
        .status = HASH_EXACT,
        .reduction = HASH_REDUCE_MOD,
        .failure = HASH_FAIL_COMPACT,
        HASH_PARAMS(layer2_params),
        .variant = LAYER2,
        .value = policy_hash,
        .label = bond_label,
    },
    {
        .name = "linux-layer2+3",
        .aliases = HASH_NAMES("layer2+3", "layer23", "l2+3", "l23"),
        .prefix = "linux",
        .vendor = "Linux bonding",
        .summary = "MACs and IP addresses",
        .rule = "layer2 xor both addresses, folded to all bytes, mod n",
        .source = BONDING_DOC "bond_xmit_hash, bond_ip_hash",
        .reads = LAYER23_READS,
        .status = HASH_EXACT,
        .reduction = HASH_REDUCE_MOD,
        .failure = HASH_FAIL_COMPACT,
        HASH_PARAMS(layer_params),
        .variant = LAYER23,
        .value = policy_hash,
        .label = bond_label,
    },
    {
        .name = "linux-layer3+4",
        .aliases = HASH_NAMES("layer3+4", "layer34", "l3+4", "l34"),
        .prefix = "linux",
        .vendor = "Linux bonding",
        .summary = "IP addresses and ports",
        .rule = "ports xor both addresses, folded, shifted right by one, mod n; fragments without ports",
        .source = BONDING_DOC "bond_xmit_hash, bond_ip_hash",
        .reads = LAYER34_READS,
        .status = HASH_EXACT,
        .reduction = HASH_REDUCE_MOD,
        .failure = HASH_FAIL_COMPACT,
        HASH_PARAMS(layer_params),
        .variant = LAYER34,
        .value = policy_hash,
        .label = bond_label,
    },
    {
        .name = "linux-encap2+3",
        .aliases = HASH_NAMES("encap2+3", "encap23"),
        .prefix = "linux",
        .vendor = "Linux bonding",
        .summary = "as layer2+3, over the addresses inside tunnels",
        .rule = "as layer2+3 over the innermost headers that the flow dissector finds",
        .source = BONDING_DOC "bond_flow_dissect; net/core/flow_dissector.c",
        .reads = LAYER23_READS,
        .status = HASH_EXACT,
        .reduction = HASH_REDUCE_MOD,
        .failure = HASH_FAIL_COMPACT,
        HASH_PARAMS(encap_params),
        .variant = ENCAP23,
        .value = policy_hash,
        .label = bond_label,
    },
    {
        .name = "linux-encap3+4",
        .aliases = HASH_NAMES("encap3+4", "encap34"),
        .prefix = "linux",
        .vendor = "Linux bonding",
        .summary = "as layer3+4, over the headers inside tunnels",
        .rule = "as layer3+4 over the innermost headers that the flow dissector finds",
        .source = BONDING_DOC "bond_flow_dissect; net/core/flow_dissector.c",
        .caveat = "local TCP sockets carry a random hash that this policy uses instead; exact for others",
        .reads = LAYER34_READS,
        .status = HASH_APPROXIMATE,
        .reduction = HASH_REDUCE_MOD,
        .failure = HASH_FAIL_COMPACT,
        HASH_PARAMS(encap_params),
        .variant = ENCAP34,
        .value = policy_hash,
        .label = encap34_label,
    },
    {
        .name = "linux-vlan+srcmac",
        .aliases = HASH_NAMES("vlan+srcmac"),
        .prefix = "linux",
        .vendor = "Linux bonding",
        .summary = "VLAN tag, priority bits included, and source MAC; from 5.12",
        .rule = "offloaded tag xor both halves of the source MAC, mod n; an inline tag counts as 0",
        .source = BONDING_DOC "bond_vlan_srcmac_hash",
        .reads = HASH_READS_SRC_MAC | HASH_READS_VLAN,
        .status = HASH_EXACT,
        .reduction = HASH_REDUCE_MOD,
        .failure = HASH_FAIL_COMPACT,
        HASH_PARAMS(srcmac_params),
        .value = srcmac_hash,
    },
    {
        .name = "linux-alb",
        .aliases = HASH_NAMES("balance-alb", "alb", "mode6", "adaptive-load-balancing"),
        .prefix = "linux",
        .vendor = "Linux bonding",
        .summary = "balance-alb: table entry of the destination address; its member depends on load history",
        .rule = "xor of the destination address's bytes is an index; an empty entry takes the idlest member, cleared "
                "every 10 s",
        .source = "Linux drivers/net/bonding/bond_alb.c, bond_xmit_alb_slave_get",
        .caveat = "the index is exact, the member of an entry depends on what was sent before",
        .reads = HASH_READS_DST_IP,
        .status = HASH_APPROXIMATE,
        .reduction = HASH_REDUCE_BUCKETS_BOUND,
        .failure = HASH_FAIL_BUCKET_STATE,
        .value = alb_index,
        .shortcut = adaptive_shortcut,
    },
    {
        .name = "linux-tlb",
        .aliases = HASH_NAMES("balance-tlb", "tlb", "mode5"),
        .prefix = "linux",
        .vendor = "Linux bonding",
        .summary = "balance-tlb: table entry of the xmit hash; its member depends on load history",
        .rule = "low byte of the xmit hash is an index into the table of balance-alb",
        .source = "Linux drivers/net/bonding/bond_alb.c, bond_xmit_tlb_slave_get",
        .caveat = "the index is exact, the member of an entry depends on what was sent before",
        .reads = LAYER23_READS | HASH_READS_PORTS,
        .status = HASH_APPROXIMATE,
        .reduction = HASH_REDUCE_BUCKETS_BOUND,
        .failure = HASH_FAIL_BUCKET_STATE,
        HASH_PARAMS(tlb_params),
        .value = tlb_hash,
        .reads_now = tlb_reads,
        .shortcut = adaptive_shortcut,
    },
    {
        .name = "linux-active-backup",
        .aliases = HASH_NAMES("active-backup", "mode1"),
        .prefix = "linux",
        .vendor = "Linux bonding",
        .summary = "no hash: one member at a time",
        .rule = "the primary while it is up, else the member in use, else the first that is up",
        .source = "Linux Documentation/networking/bonding.rst, active-backup and primary_reselect",
        .status = HASH_EXACT,
        .reduction = HASH_REDUCE_ACTIVE,
        .failure = HASH_FAIL_ORDER,
        HASH_PARAMS(backup_params),
        .choose = backup_choose,
    },
};

HASH_GROUP(hash_group_linux, policies);

/* Reads a decimal number and moves past it; false when there is none or it is absurd. */
static bool number(const char **text, unsigned *value)
{
    const char *p = *text;

    *value = 0;
    if (*p < '0' || *p > '9')
        return false;
    for (; *p >= '0' && *p <= '9'; p++) {
        if (*value > 9999)
            return false;
        *value = *value * 10 + (unsigned)(*p - '0');
    }
    *text = p;
    return true;
}

const char *hash_linux_gen_for_kernel(const char *version, const char **doubt)
{
    static const char fix[] = "stable trees took the fix of 5.18 at some point (g4b): check the running kernel";
    static const char fix515[] =
        "stable 5.15 trees took the fix of 5.18 at some point (then g6): check the running kernel";
    unsigned major, minor, patch = 0;

    if (doubt)
        *doubt = NULL;
    if (!number(&version, &major) || *version++ != '.' || !number(&version, &minor))
        return NULL;
    if (*version == '.') {
        version++;
        if (!number(&version, &patch))
            return NULL;
    }
    if (major > 5 || (major == 5 && (minor > 17 || (minor == 17 && patch > 5))))
        return all_gens[G6];
    if (major == 5 && minor >= 15) {
        if (doubt && minor == 15)
            *doubt = fix515;
        return all_gens[G5];
    }
    if (major == 5 || (major == 4 && minor >= 15)) {
        if (doubt)
            *doubt = fix;
        return all_gens[G4];
    }
    if (major == 4 || (major == 3 && minor >= 17))
        return all_gens[G3];
    if (major == 3 && minor >= 14)
        return all_gens[G2];
    return all_gens[G1];
}
