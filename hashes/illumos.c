/* illumos, OpenSolaris and NexentaStor link aggregation (dladm create-aggr -P).
 *
 * Layers combine by XOR to one byte. L4 alone, the default, does not look at addresses: towards an NFS server only
 * the client's port decides. Later IPv4 fragments and all IPv6 fragments are hashed by addresses and identification,
 * even when L3 was not asked for; a first IPv4 fragment is hashed as a whole packet and can leave by another link.
 * The code of 2008 had no rule for fragments.
 *
 * Source: illumos-gate usr/src/uts/common/io/mac/mac_util.c (mac_pkt_hash), io/aggr/aggr_send.c; the latter of 2008.
 */
#include "hashes/vendors.h"

#include "hashes/fields.h"
#include "hashes/headers.h"
#include "hashes/key.h"
#include "hashes/trace.h"

enum { POLICY_L2 = 1, POLICY_L3 = 2, POLICY_L4 = 4 };
enum { GEN_CROSSBOW, GEN_2008 };
enum { PARAM_POLICY, PARAM_GEN };

static const struct hash_param params[] = {
    {.name = "policy",
     .kind = HASH_PARAM_SET,
     .values = HASH_NAMES("L2", "L3", "L4"),
     .preset = POLICY_L4,
     .help = "layers of dladm -P"},
    {.name = "gen",
     .kind = HASH_PARAM_CHOICE,
     .values = HASH_NAMES("crossbow", "2008"),
     .preset = GEN_CROSSBOW,
     .help = "crossbow: illumos, NexentaStor 3; 2008: before, without a rule for fragments"},
};

static unsigned xor_bytes(const uint8_t *bytes, size_t count)
{
    unsigned sum = 0;

    for (size_t i = 0; i < count; i++)
        sum ^= bytes[i];
    return sum;
}

static unsigned step(unsigned hash, unsigned value, const char *name, struct hash_trace *trace)
{
    hash_trace_step(trace, "xor of the bytes of %s 0x%02X = 0x%02X", name, value, hash ^ value);
    return hash ^ value;
}

static unsigned addresses(const struct hash_key *key)
{
    const size_t skip = key->ip_version == 4 ? 0 : HASH_IP_BYTES - 4;

    return xor_bytes(key->src + skip, 4) ^ xor_bytes(key->dst + skip, 4);
}

static struct hash_word value(const struct hash_selector *sel, const struct hash_key *key, struct hash_trace *trace)
{
    const uint64_t policy = sel->params.value[PARAM_POLICY];
    const bool readable = key->ip_version && key->inline_tags == (key->wire_ethertype == ETHERTYPE_VLAN ? 1 : 0);
    const bool later =
        key->ip_version == 6 ? key->fragment != HASH_FRAGMENT_NONE : key->fragment == HASH_FRAGMENT_LATER;
    const bool by_id = later && sel->params.value[PARAM_GEN] == GEN_CROSSBOW;
    unsigned hash = 0;

    if (policy & POLICY_L2)
        hash =
            step(hash, xor_bytes(key->smac, HASH_MAC_BYTES) ^ xor_bytes(key->dmac, HASH_MAC_BYTES), "both MACs", trace);
    if (!(policy & (POLICY_L3 | POLICY_L4)))
        return hash_word(hash);
    if (!readable) {
        hash_trace_step(trace, "not IP: nothing more to hash = 0x%02X", hash);
        return hash_word(hash);
    }
    if (by_id || policy & POLICY_L3)
        hash = step(hash, addresses(key), "both addresses", trace);
    if (by_id)
        hash = step(hash, xor_bytes(key->fragment_id, key->ip_version == 4 ? 2 : 4), "the fragment's identification",
                    trace);
    else if (policy & POLICY_L4 && (key->proto == PROTO_TCP || key->proto == PROTO_UDP || key->proto == PROTO_SCTP ||
                                    key->proto == PROTO_ESP))
        hash = step(hash, xor_bytes(key->l4, 4), "the first transport word", trace);
    return hash_word(hash);
}

static uint32_t reads_now(const struct hash_selector *sel)
{
    const uint64_t policy = sel->params.value[PARAM_POLICY];

    return (policy & POLICY_L2 ? HASH_READS_MACS : 0u) | (policy & POLICY_L3 ? HASH_READS_IPS : 0u) |
           (policy & POLICY_L4 ? HASH_READS_PORTS : 0u);
}

static const struct hash_policy policies[] = {
    {
        .name = "illumos",
        .aliases = HASH_NAMES("illumos-aggr", "dladm", "nexenta", "nexentastor", "opensolaris"),
        .prefix = "illumos",
        .vendor = "illumos",
        .summary = "link aggregation of illumos and NexentaStor: L2, L3, L4 or a combination",
        .rule = "xor of the bytes of the layers, mod n",
        .source = "illumos-gate usr/src/uts/common/io/mac/mac_util.c, mac_pkt_hash",
        .reads = HASH_READS_MACS | HASH_READS_IPS | HASH_READS_PORTS,
        .status = HASH_EXACT,
        .reduction = HASH_REDUCE_LOW8_MOD,
        .failure = HASH_FAIL_SWAP_LAST,
        HASH_PARAMS(params),
        .value = value,
        .reads_now = reads_now,
    },
};

HASH_GROUP(hash_group_illumos, policies);
