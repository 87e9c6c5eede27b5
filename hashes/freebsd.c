/* FreeBSD lagg, protocols loadbalance and lacp.
 *
 * FNV-1 over the bytes of the chosen layers from a seed that is drawn at random when the interface is made: without
 * the seed of the running system the link, and even who shares one with whom, is not predictable. Fragments are not
 * looked at, so later IPv4 fragments hash payload as ports; IPv6 ports are never hashed, the flow label is. A tag in
 * the NIC's metadata enters as the host's little-endian word, one in the frame as on the wire. The source reads an
 * inline tag fourteen bytes too far into the frame (it adds the offset of a header that contains the MACs), so that
 * such a frame hashes the checksum of its IP header; what is computed here is what was meant, and labelled.
 *
 * Source: freebsd-src sys/kern/uipc_mbufhash.c, sys/sys/fnv_hash.h, sys/net/if_lagg.c, sys/net/ieee8023ad_lacp.c;
 * FreeBSD 9.3 if_lagg.c.
 */
#include "hashes/vendors.h"

#include "hashes/bytes.h"
#include "hashes/fields.h"
#include "hashes/headers.h"
#include "hashes/key.h"
#include "hashes/mix.h"
#include "hashes/trace.h"

enum { LAYER_L2 = 1, LAYER_L3 = 2, LAYER_L4 = 4 };
enum { GEN_10, GEN_9 };
enum { PROTO_LACP, PROTO_LOADBALANCE };
enum { PARAM_LAGGHASH, PARAM_SEED, PARAM_GEN, PARAM_PROTO };

static const struct hash_param params[] = {
    {.name = "lagghash",
     .kind = HASH_PARAM_SET,
     .values = HASH_NAMES("l2", "l3", "l4"),
     .preset = LAYER_L2 | LAYER_L3 | LAYER_L4,
     .help = "layers of ifconfig lagghash"},
    {.name = "seed",
     .kind = HASH_PARAM_NUMBER,
     .max = UINT32_MAX,
     .preset = 0,
     .help = "hash key of the running system, drawn at random when the lagg is made; 0: not known"},
    {.name = "gen",
     .kind = HASH_PARAM_CHOICE,
     .values = HASH_NAMES("10+", "9"),
     .preset = GEN_10,
     .help = "10+: FNV-1; 9: times 33 plus byte"},
    {.name = "proto",
     .kind = HASH_PARAM_CHOICE,
     .values = HASH_NAMES("lacp", "loadbalance"),
     .preset = PROTO_LACP,
     .help = "laggproto: lacp hashes over the working ports, loadbalance over all and walks on from a dead one"},
};

/* One run over the layers, with either mixing function. */
struct run {
    uint32_t hash;
    bool old;
    struct hash_trace *trace;
};

static void feed(struct run *run, const uint8_t *bytes, size_t count, const char *name)
{
    run->hash = run->old ? hash_times33(run->hash, bytes, count) : hash_fnv1(run->hash, bytes, count);
    hash_trace_step(run->trace, "%s = 0x%08X", name, (unsigned)run->hash);
}

static void feed_tag(struct run *run, const struct hash_key *key)
{
    const uint8_t wire[2] = {(uint8_t)(key->tci >> 8), (uint8_t)key->tci};
    const uint8_t host[2] = {(uint8_t)key->tci, (uint8_t)(key->tci >> 8)};

    if (key->tag == HASH_TAG_OFFLOADED)
        feed(run, host, sizeof host, "tag");
    else if (key->wire_ethertype == ETHERTYPE_VLAN && key->inline_tags)
        feed(run, wire, sizeof wire, "tag");
}

/* Whether the code finds an IP header: right behind the Ethernet header or one 802.1Q tag. */
static bool finds_ip(const struct hash_key *key, bool l2)
{
    if (key->inline_tags == 0)
        return key->ip_version;
    return key->ip_version && key->inline_tags == 1 && key->wire_ethertype == ETHERTYPE_VLAN &&
           !(key->tag == HASH_TAG_OFFLOADED && l2);
}

static void feed_layer4(struct run *run, const struct hash_key *key)
{
    const uint8_t proto = key->next_header;

    if (key->ip_version == 4 && key->l4_bytes && (proto == PROTO_TCP || proto == PROTO_UDP || proto == PROTO_SCTP))
        feed(run, key->l4, 4, "first transport word");
}

static struct hash_word value(const struct hash_selector *sel, const struct hash_key *key, struct hash_trace *trace)
{
    const uint64_t layers = sel->params.value[PARAM_LAGGHASH];
    struct run run = {
        .hash = (uint32_t)sel->params.value[PARAM_SEED],
        .old = sel->params.value[PARAM_GEN] == GEN_9,
        .trace = trace,
    };
    const size_t size = key->ip_version == 4 ? 4 : HASH_IP_BYTES;
    uint8_t label[4];

    hash_trace_step(trace, "%s from seed 0x%08X", run.old ? "times 33 plus byte" : "FNV-1", (unsigned)run.hash);
    if (layers & LAYER_L2) {
        feed(&run, key->smac, HASH_MAC_BYTES, "source MAC");
        feed(&run, key->dmac, HASH_MAC_BYTES, "destination MAC");
        feed_tag(&run, key);
    }
    if (!finds_ip(key, layers & LAYER_L2))
        return hash_word(run.hash);
    if (layers & LAYER_L3) {
        feed(&run, key->src, size, "source address");
        feed(&run, key->dst, size, "destination address");
    }
    if (key->ip_version == 6 && layers & (run.old ? LAYER_L3 : LAYER_L4)) {
        hash_put_be32(label, key->flow_label);
        feed(&run, label, sizeof label, "flow label");
    }
    if (layers & LAYER_L4)
        feed_layer4(&run, key);
    return hash_word(run.hash);
}

static uint32_t reads_now(const struct hash_selector *sel)
{
    const uint64_t layers = sel->params.value[PARAM_LAGGHASH];

    return (layers & LAYER_L2 ? HASH_READS_MACS | HASH_READS_VLAN : 0u) | (layers & LAYER_L3 ? HASH_READS_IPS : 0u) |
           (layers & LAYER_L4 ? HASH_READS_PORTS | HASH_READS_FLOW_LABEL : 0u);
}

static enum hash_failure failure_now(const struct hash_selector *sel)
{
    return sel->params.value[PARAM_PROTO] == PROTO_LOADBALANCE ? HASH_FAIL_WALK_NEXT : HASH_FAIL_COMPACT;
}

static struct hash_label label(const struct hash_selector *sel, const struct hash_key *key, unsigned n)
{
    (void)n;
    if (sel->params.value[PARAM_SEED] == 0)
        return (struct hash_label){HASH_APPROXIMATE, "the seed is drawn at random when the lagg is made: give seed="};
    if (key && key->inline_tags)
        return (struct hash_label){HASH_APPROXIMATE,
                                   "the source misreads a tag inside the frame; shown is what was meant"};
    return (struct hash_label){HASH_EXACT, NULL};
}

static const struct hash_policy policies[] = {
    {
        .name = "freebsd-lagg",
        .aliases = HASH_NAMES("lagg", "freebsd", "truenas-core", "freenas"),
        .prefix = "freebsd",
        .vendor = "FreeBSD",
        .summary = "lagg(4), protocols lacp and loadbalance",
        .rule = "FNV-1 over MACs, tag, addresses and ports from a random seed, mod n",
        .source = "freebsd-src sys/kern/uipc_mbufhash.c, sys/net/if_lagg.c",
        .caveat = "the seed is drawn at random when the lagg is made: exact once it is given",
        .reads = HASH_READS_MACS | HASH_READS_VLAN | HASH_READS_IPS | HASH_READS_PORTS | HASH_READS_FLOW_LABEL,
        .status = HASH_EXACT,
        .reduction = HASH_REDUCE_MOD,
        .failure = HASH_FAIL_COMPACT,
        HASH_PARAMS(params),
        .value = value,
        .reads_now = reads_now,
        .failure_now = failure_now,
        .label = label,
    },
};

HASH_GROUP(hash_group_freebsd, policies);
