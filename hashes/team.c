/* Linux team driver, load balancing runner: teamd compiles the chosen fields to a BPF program, the kernel folds its
 * result to one byte.
 *
 * Kept as they are, because they decide links: over IPv6 the source port is overwritten before it is used; SCTP over
 * IPv6 depends on the switch for SCTP over IPv4; an offloaded tag enters as a whole, an inline one without its
 * priority; only the fragment offset is tested, so a first fragment has ports and later ones do not; IPv6 extension
 * headers are not looked through; a second inline tag, or 802.1ad, ends the program. A load past the end of the frame
 * makes the program return 0.
 *
 * Sources: libteam teamd/teamd_bpf_chef.c; Linux drivers/net/team/team_mode_loadbalance.c, include/linux/if_team.h
 * (6.1).
 */
#include "hashes/vendors.h"

#include "hashes/bytes.h"
#include "hashes/fields.h"
#include "hashes/headers.h"
#include "hashes/key.h"
#include "hashes/trace.h"

/* Bits of tx_hash. */
enum {
    TX_ETH = 1 << 0,
    TX_VLAN = 1 << 1,
    TX_IPV4 = 1 << 2,
    TX_IPV6 = 1 << 3,
    TX_IP = 1 << 4,
    TX_L3 = 1 << 5,
    TX_TCP = 1 << 6,
    TX_UDP = 1 << 7,
    TX_SCTP = 1 << 8,
    TX_L4 = 1 << 9,
};

static const struct hash_param params[] = {
    {.name = "tx_hash",
     .kind = HASH_PARAM_SET,
     .values = HASH_NAMES("eth", "vlan", "ipv4", "ipv6", "ip", "l3", "tcp", "udp", "sctp", "l4"),
     .preset = TX_ETH | TX_IPV4 | TX_IPV6,
     .help = "fields of the runner's tx_hash"},
};

static unsigned expand(uint64_t tx)
{
    if (tx & (TX_IP | TX_L3))
        tx |= TX_IPV4 | TX_IPV6;
    if (tx & TX_L4)
        tx |= TX_TCP | TX_UDP | TX_SCTP;
    return (unsigned)tx;
}

static uint32_t step(uint32_t hash, uint32_t value, const char *name, struct hash_trace *trace)
{
    hash_trace_step(trace, "xor %s 0x%08X = 0x%08X", name, (unsigned)value, (unsigned)(hash ^ value));
    return hash ^ value;
}

static uint32_t xor_words(const uint8_t *bytes, int count)
{
    uint32_t sum = 0;

    for (int i = 0; i < count; i++)
        sum ^= hash_be32(bytes + 4 * (size_t)i);
    return sum;
}

static bool wants_ports(unsigned tx, uint8_t proto)
{
    return (proto == PROTO_TCP && tx & TX_TCP) || (proto == PROTO_UDP && tx & TX_UDP) ||
           (proto == PROTO_SCTP && tx & TX_SCTP);
}

static struct hash_word fold(uint32_t hash, struct hash_trace *trace)
{
    const uint32_t byte = (hash ^ hash >> 8 ^ hash >> 16 ^ hash >> 24) & 0xff;

    hash_trace_step(trace, "xor of its four bytes = 0x%02X", (unsigned)byte);
    return hash_word(byte);
}

static struct hash_word cut_off(struct hash_trace *trace)
{
    hash_trace_step(trace, "the frame ends before its ports: the program returns 0");
    return hash_word(0);
}

static struct hash_word value(const struct hash_selector *sel, const struct hash_key *key, struct hash_trace *trace)
{
    const unsigned tx = expand(sel->params.value[0]);
    const bool inline_tag = key->wire_ethertype == ETHERTYPE_VLAN;
    const unsigned version = key->inline_tags == (inline_tag ? 1 : 0) ? key->ip_version : 0;
    uint32_t hash = 0;

    if (tx & TX_ETH) {
        hash = step(hash, hash_be32(key->dmac + 2) ^ hash_be16(key->dmac), "destination MAC", trace);
        hash = step(hash, hash_be32(key->smac + 2) ^ hash_be16(key->smac), "source MAC", trace);
    }
    if (tx & TX_VLAN) {
        if (inline_tag && key->inline_tags)
            hash = step(hash, key->inline_tci & 0xfff, "VLAN id", trace);
        else if (!inline_tag && key->tag == HASH_TAG_OFFLOADED)
            hash = step(hash, key->tci, "tag", trace);
    }
    if (version == 4) {
        if (tx & TX_IPV4)
            hash = step(hash, hash_be32(key->src) ^ hash_be32(key->dst), "addresses", trace);
        if (wants_ports(tx, key->next_header) && key->fragment != HASH_FRAGMENT_LATER) {
            if (!key->has_ports)
                return cut_off(trace);
            hash = step(hash, (uint32_t)key->sport ^ key->dport, "ports", trace);
        }
    } else if (version == 6) {
        if (tx & TX_IPV6)
            hash = step(hash, xor_words(key->src, 4) ^ xor_words(key->dst, 4), "addresses", trace);
        if (wants_ports(tx, key->next_header)) {
            if (!key->has_ports)
                return cut_off(trace);
            hash = step(hash, key->dport, "destination port", trace);
        }
    }
    return fold(hash, trace);
}

static uint32_t reads_now(const struct hash_selector *sel)
{
    const unsigned tx = expand(sel->params.value[0]);
    uint32_t reads = 0;

    if (tx & TX_ETH)
        reads |= HASH_READS_MACS;
    if (tx & TX_VLAN)
        reads |= HASH_READS_VLAN;
    if (tx & (TX_IPV4 | TX_IPV6))
        reads |= HASH_READS_IPS;
    if (tx & (TX_TCP | TX_UDP | TX_SCTP))
        reads |= HASH_READS_PORTS;
    return reads;
}

static const struct hash_policy policies[] = {
    {
        .name = "team",
        .aliases = HASH_NAMES("teamd", "team-loadbalance", "libteam", "linux-team"),
        .prefix = "team",
        .vendor = "Linux team",
        .summary = "teamd's load balancing runner: the fields of tx_hash folded to one byte",
        .rule = "xor of the fields as big-endian words, its four bytes xored, mod n",
        .source = "libteam teamd/teamd_bpf_chef.c; Linux drivers/net/team/team_mode_loadbalance.c",
        .reads = HASH_READS_MACS | HASH_READS_VLAN | HASH_READS_IPS | HASH_READS_PORTS,
        .status = HASH_EXACT,
        .reduction = HASH_REDUCE_LOW8_MOD,
        .failure = HASH_FAIL_APPEND,
        HASH_PARAMS(params),
        .value = value,
        .reads_now = reads_now,
    },
};

HASH_GROUP(hash_group_team, policies);
