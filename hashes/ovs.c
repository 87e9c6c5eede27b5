/* Open vSwitch bonds: the buckets of balance-slb and balance-tcp.
 *
 * The hash depends on how Open vSwitch was compiled: a distribution's x86-64 package mixes with MurmurHash3 steps, a
 * build for a CPU with SSE4.2 or ARM CRC instructions with CRC-32C. The bucket is exact; which member a bucket has is
 * state. balance-slb binds a bucket to the next member in turn when it is first used, balance-tcp fills its table
 * with random members when it writes its flows. In balance-tcp the Linux kernel datapath uses a hash with a random
 * key instead and DPDK the NIC's, so the rule here is that of the userspace path only.
 *
 * Sources: openvswitch/ovs lib/hash.h, lib/hash-aarch64.h, lib/flow.c (flow_hash_5tuple), ofproto/bond.c.
 */
#include "hashes/vendors.h"

#include "hashes/bytes.h"
#include "hashes/fields.h"
#include "hashes/headers.h"
#include "hashes/key.h"
#include "hashes/mix.h"
#include "hashes/trace.h"

enum { BUILD_GENERIC, BUILD_SSE42 };
enum { PARAM_BUILD, PARAM_BASIS };
enum { FINISH_TCP = 42, FINISH_SLB_GENERIC = 8, FINISH_SLB_CRC = 23 };

static const struct hash_param params[] = {
    {.name = "build",
     .kind = HASH_PARAM_CHOICE,
     .values = HASH_NAMES("generic", "sse42"),
     .preset = BUILD_GENERIC,
     .help = "how Open vSwitch was compiled: generic (distribution packages) or with SSE4.2 or ARM CRC instructions"},
    {.name = "basis",
     .kind = HASH_PARAM_NUMBER,
     .max = UINT32_MAX,
     .preset = 0,
     .help = "other_config:bond-hash-basis"},
};

static uint32_t add32(bool crc, uint32_t hash, uint32_t word)
{
    const uint8_t bytes[] = {(uint8_t)word, (uint8_t)(word >> 8), (uint8_t)(word >> 16), (uint8_t)(word >> 24)};

    return crc ? hash_crc32c(hash, bytes, sizeof bytes) : hash_murmur_add(hash, word);
}

static uint32_t add64(bool crc, uint32_t hash, uint64_t word)
{
    return add32(crc, add32(crc, hash, (uint32_t)word), (uint32_t)(word >> 32));
}

static uint32_t finish(bool crc, uint32_t hash, uint32_t constant)
{
    if (!crc)
        return hash_murmur_finish(hash ^ constant);
    hash = add64(true, hash, constant) * 0x805204f3u;
    return hash ^ hash >> 16;
}

static struct hash_word slb(const struct hash_selector *sel, const struct hash_key *key, struct hash_trace *trace)
{
    const bool crc = sel->params.value[PARAM_BUILD] == BUILD_SSE42;
    const uint32_t basis = (uint32_t)sel->params.value[PARAM_BASIS];
    const uint64_t word = (uint64_t)(key->tci & 0xfff) << 48 | hash_be48(key->smac);
    const uint32_t hash = finish(crc, add64(crc, basis, word), crc ? FINISH_SLB_CRC : FINISH_SLB_GENERIC);

    hash_trace_step(trace, "VLAN %u and source MAC 0x%012llX from basis %u by %s = 0x%08X",
                    (unsigned)(key->tci & 0xfff), (unsigned long long)hash_be48(key->smac), (unsigned)basis,
                    crc ? "CRC-32C" : "MurmurHash3", (unsigned)hash);
    return hash_word(hash);
}

/* The four bytes of Open vSwitch's port fields. An ICMP type and code fill one 16-bit field each. */
static uint32_t ports(const struct hash_key *key)
{
    if (key->has_icmp)
        return (uint32_t)key->icmp_type << 8 | (uint32_t)key->icmp_code << 24;
    return key->has_ports ? hash_le32(key->l4) : 0;
}

static struct hash_word tcp(const struct hash_selector *sel, const struct hash_key *key, struct hash_trace *trace)
{
    const bool crc = sel->params.value[PARAM_BUILD] == BUILD_SSE42;
    uint32_t hash = (uint32_t)sel->params.value[PARAM_BASIS];
    uint8_t proto = 0;

    if (key->ip_version == 6) {
        for (int i = 0; i < HASH_IP_BYTES; i += 4)
            hash = add32(crc, hash, hash_le32(key->src + i));
        for (int i = 0; i < HASH_IP_BYTES; i += 4)
            hash = add32(crc, hash, hash_le32(key->dst + i));
        proto = key->proto;
    } else if (key->ip_version == 4 || key->arp_op) {
        hash = add32(crc, hash, hash_le32(key->src));
        hash = add32(crc, hash, hash_le32(key->dst));
        proto = key->arp_op ? (uint8_t)key->arp_op : key->next_header;
    }
    if (key->ip_version || key->arp_op) {
        hash = add32(crc, hash, proto);
        if (proto == PROTO_TCP || proto == PROTO_UDP || proto == PROTO_SCTP || proto == PROTO_ICMP ||
            proto == PROTO_ICMPV6)
            hash = add32(crc, hash, key->arp_op ? 0 : ports(key));
    }
    hash = finish(crc, hash, FINISH_TCP);
    hash_trace_step(trace, "addresses and protocol %u and ports 0x%08X from basis %u by %s = 0x%08X", (unsigned)proto,
                    (unsigned)ports(key), (unsigned)sel->params.value[PARAM_BASIS], crc ? "CRC-32C" : "MurmurHash3",
                    (unsigned)hash);
    return hash_word(hash);
}

static const struct hash_policy policies[] = {
    {
        .name = "ovs-slb",
        .aliases = HASH_NAMES("balance-slb", "slb"),
        .prefix = "ovs",
        .vendor = "Open vSwitch",
        .summary = "source MAC and VLAN: one MAC, one link, until rebalanced",
        .rule =
            "hash of VLAN and source MAC, low byte is a bucket; a bucket takes the next member in turn on first use",
        .source = "Open vSwitch ofproto/bond.c, lib/hash.h",
        .reads = HASH_READS_SRC_MAC | HASH_READS_VLAN,
        .status = HASH_EXACT,
        .reduction = HASH_REDUCE_BUCKETS_STATE,
        .failure = HASH_FAIL_BUCKET_STATE,
        HASH_PARAMS(params),
        .value = slb,
    },
    {
        .name = "ovs-tcp",
        .aliases = HASH_NAMES("balance-tcp"),
        .prefix = "ovs",
        .vendor = "Open vSwitch",
        .summary = "addresses, protocol and ports (userspace datapath)",
        .rule = "hash of the 5-tuple, low byte is a bucket; its first member is random",
        .source = "Open vSwitch lib/flow.c, flow_hash_5tuple; ofproto/bond.c",
        .caveat = "the bucket is exact in the userspace datapath only (kernel and DPDK hash with keys of their own); "
                  "its member is random",
        .reads = HASH_READS_IPS | HASH_READS_PROTO | HASH_READS_PORTS | HASH_READS_ICMP,
        .status = HASH_APPROXIMATE,
        .reduction = HASH_REDUCE_BUCKETS_BOUND,
        .failure = HASH_FAIL_BUCKET_STATE,
        HASH_PARAMS(params),
        .value = tcp,
    },
};

HASH_GROUP(hash_group_ovs, policies);
