/* VMware ESXi: teaming policies of standard and distributed switches, and the LACP modes of the latter.
 *
 * Only the IP hash is published as arithmetic, and twice: KB 1007371 takes both addresses as 32-bit numbers, the
 * vSphere networking manuals speak of the last octets. The two agree whenever n divides 256 and whenever both hosts
 * share their first three octets.
 */
#include "hashes/vendors.h"

#include "hashes/bytes.h"
#include "hashes/fields.h"
#include "hashes/key.h"
#include "hashes/pick.h"
#include "hashes/trace.h"

enum { READING_FULL, READING_LAST_OCTET };
enum { USE_WHOLE, USE_LAST_BYTE };

static const struct hash_param ip_hash_params[] = {
    {.name = "reading",
     .kind = HASH_PARAM_CHOICE,
     .values = HASH_NAMES("full", "last-octet"),
     .preset = READING_FULL,
     .help = "which published text is followed: whole addresses (KB 1007371) or last octets (manuals)"},
};

static const struct hash_param mac_hash_params[] = {
    {.name = "use",
     .kind = HASH_PARAM_CHOICE,
     .values = HASH_NAMES("whole", "last-byte"),
     .preset = USE_WHOLE,
     .help = "the MAC as a 48-bit number or its last byte: blogs differ, the same where the links divide 256"},
};

static const struct hash_param explicit_params[] = {
    {.name = "failback",
     .kind = HASH_PARAM_CHOICE,
     .values = hash_no_yes,
     .preset = 1,
     .help = "whether a recovered uplink of higher rank takes over again"},
};

/* The two 32-bit words that are combined: the addresses, or in a frame that is not IP what stands in their place. */
static void ip_words(const struct hash_key *key, uint32_t *a, uint32_t *b)
{
    const bool ip = key->ip_version == 4;

    *a = hash_be32(ip ? key->src : key->window);
    *b = hash_be32(ip ? key->dst : key->window + 4);
}

static struct hash_word ip_hash(const struct hash_selector *sel, const struct hash_key *key, struct hash_trace *trace)
{
    uint32_t a, b;

    ip_words(key, &a, &b);
    if (trace && key->ip_version != 4)
        hash_trace_step(trace, "not IP: bytes 26 to 33 in place of the addresses");
    if (sel->params.value[0] == READING_LAST_OCTET) {
        a &= 0xff;
        b &= 0xff;
        hash_trace_step(trace, "0x%02X xor 0x%02X = 0x%02X", (unsigned)a, (unsigned)b, (unsigned)(a ^ b));
    } else {
        hash_trace_xor32(trace, a, b);
    }
    return hash_word(a ^ b);
}

static int ip_hash_shortcut(const struct hash_selector *sel, const struct hash_key *key,
                            const struct hash_members *members, struct hash_trace *trace)
{
    (void)sel, (void)members;
    if (key->ip_version != 6)
        return HASH_GO_ON;
    hash_trace_step(trace, "IPv6: VMware has not published what its IP hash does with it");
    return -HASH_UNKNOWN;
}

static struct hash_label ip_hash_label(const struct hash_selector *sel, const struct hash_key *key, unsigned n)
{
    uint32_t a, b;

    (void)sel;
    if (key && key->ip_version == 6)
        return (struct hash_label){HASH_STATUS_UNKNOWN, "VMware has published nothing about IPv6 under IP hash"};
    if (key && key->ip_version == 0)
        return (struct hash_label){HASH_APPROXIMATE,
                                   "not IP: whatever stands where the addresses would be, by an old guide"};
    if (key && key->inline_tags)
        return (struct hash_label){HASH_APPROXIMATE,
                                   "a tag inside the frame: whether the offset moves is not published"};
    if (n == 0 || 256 % n == 0)
        return (struct hash_label){HASH_EXACT, NULL};
    if (key) {
        ip_words(key, &a, &b);
        if ((a ^ b) % n == ((a ^ b) & 0xff) % n)
            return (struct hash_label){HASH_EXACT, NULL};
    }
    return (struct hash_label){HASH_APPROXIMATE, "two published readings (whole addresses, last octets) differ here"};
}

static struct hash_word port_id(const struct hash_selector *sel, const struct hash_key *key, struct hash_trace *trace)
{
    (void)sel;
    hash_trace_step(trace, "virtual port %u", (unsigned)key->port_id);
    return hash_word(key->port_id);
}

static struct hash_word mac_hash(const struct hash_selector *sel, const struct hash_key *key, struct hash_trace *trace)
{
    if (sel->params.value[0] == USE_LAST_BYTE) {
        hash_trace_step(trace, "last byte of the source MAC 0x%02X", key->smac[5]);
        return hash_word(key->smac[5]);
    }
    hash_trace_step(trace, "source MAC ");
    if (trace)
        hash_trace_bytes(trace, key->smac, HASH_MAC_BYTES);
    return hash_word(hash_be48(key->smac));
}

static struct hash_word lacp(const struct hash_selector *sel, const struct hash_key *key, struct hash_trace *trace)
{
    return hash_fields_xor(key, hash_fields_for(key, sel->policy->variant), 32, trace);
}

static unsigned explicit_choose(const struct hash_selector *sel, const struct hash_members *members)
{
    const bool failback = sel->params.value[0];

    if (!failback && hash_members_is_up(members, members->active))
        return members->active;
    return members->usable ? members->order[0] : members->active;
}

#define LACP_ROW(canonical, names, fields, text)                                                      \
    {                                                                                                 \
        .name = "esxi-lacp-" canonical, .aliases = names, .prefix = "esxi", .vendor = "VMware",       \
        .summary = "vDS LACP: " text, .rule = "stand-in: xor of the fields folded to 32 bits, mod n", \
        .source = "vSphere Web Services API 8.0, LacpLoadBalanceAlgorithm",                           \
        .caveat = "VMware documents the fields, not how they become an index", .reads = (fields),     \
        .status = HASH_APPROXIMATE, .reduction = HASH_REDUCE_MOD, .failure = HASH_FAIL_COMPACT,       \
        .failure_assumed = true, .variant = (fields), .value = lacp,                                  \
    }
/* Also under the name that the API gives it. */
#define LACP(canonical, api, fields, text) \
    LACP_ROW(canonical, HASH_NAMES("esxi-lacp-" api, "lacp-" api, api), fields, text)

static const struct hash_policy policies[] = {
    {
        .name = "esxi-port-id",
        .aliases = HASH_NAMES("Route based on originating virtual port", "Route based on originating virtual port ID",
                              "loadbalance_srcid", "port-id", "portid", "virtual-port-id"),
        .prefix = "esxi",
        .vendor = "VMware",
        .summary = "originating virtual port: one vmknic or vNIC, one uplink",
        .rule = "stand-in: port id mod n",
        .source = "vSphere 6.5-7.0 Networking, Route Based on Originating Virtual Port; KB 321396",
        .caveat = "VMware documents the inputs, not the formula",
        .reads = HASH_READS_PORT_ID,
        .status = HASH_APPROXIMATE,
        .reduction = HASH_REDUCE_MOD,
        .failure = HASH_FAIL_COMPACT,
        .failure_assumed = true,
        .value = port_id,
    },
    {
        .name = "esxi-mac-hash",
        .aliases = HASH_NAMES("Route based on source MAC hash", "loadbalance_srcmac", "mac-hash", "source-mac-hash"),
        .prefix = "esxi",
        .vendor = "VMware",
        .summary = "source MAC: one vmknic or vNIC, one uplink",
        .rule = "stand-in: source MAC as a 48-bit number mod n",
        .source = "vSphere 6.5-7.0 Networking, Route Based on Source MAC Hash (inputs)",
        .caveat = "VMware documents the inputs, not the formula",
        .reads = HASH_READS_SRC_MAC,
        .status = HASH_APPROXIMATE,
        .reduction = HASH_REDUCE_MOD,
        .failure = HASH_FAIL_COMPACT,
        .failure_assumed = true,
        HASH_PARAMS(mac_hash_params),
        .value = mac_hash,
    },
    {
        .name = "esxi-ip-hash",
        .aliases = HASH_NAMES("Route based on IP hash", "loadbalance_ip", "ip-hash", "iphash"),
        .prefix = "esxi",
        .vendor = "VMware",
        .summary = "source and destination IPv4 address; needs a static LAG on the switch",
        .rule = "(source xor destination) mod n, over whole addresses or last octets",
        .source = "VMware KB 1007371; vSphere 6.0-7.0 Networking, Route Based on IP Hash",
        .caveat = "exact where both published readings agree (1, 2, 4, 8 uplinks, or one /24); IPv6 unknown",
        .reads = HASH_READS_IPS,
        .status = HASH_EXACT,
        .reduction = HASH_REDUCE_MOD,
        .failure = HASH_FAIL_COMPACT,
        .failure_assumed = true,
        HASH_PARAMS(ip_hash_params),
        .value = ip_hash,
        .shortcut = ip_hash_shortcut,
        .label = ip_hash_label,
    },
    {
        .name = "esxi-explicit",
        .aliases = HASH_NAMES("Use explicit failover order", "failover_explicit", "explicit", "explicit-failover",
                              "failover-order"),
        .prefix = "esxi",
        .vendor = "VMware",
        .summary = "no hash: the first uplink of the failover order that works",
        .rule = "the highest-ranked uplink that is up",
        .source = "vSphere 6.5 Networking, Use Explicit Failover Order; Teaming and Failover Policy",
        .status = HASH_EXACT,
        .reduction = HASH_REDUCE_ACTIVE,
        .failure = HASH_FAIL_ORDER,
        HASH_PARAMS(explicit_params),
        .choose = explicit_choose,
    },
    {
        .name = "esxi-lbt",
        .aliases = HASH_NAMES("Route based on physical NIC load", "loadbalance_loadbased", "lbt", "load-based",
                              "load-based-teaming"),
        .prefix = "esxi",
        .vendor = "VMware",
        .summary = "load-based teaming: starts as port id, moves ports off an uplink above 75 % for 30 s",
        .rule = "first placement as esxi-port-id; moves are the emulator's",
        .source = "vSphere 6.5 Networking, Route Based on Physical NIC Load",
        .caveat = "formula of the first placement and choice of the port that moves are not published",
        .reads = HASH_READS_PORT_ID,
        .status = HASH_APPROXIMATE,
        .reduction = HASH_REDUCE_MOD,
        .failure = HASH_FAIL_COMPACT,
        .failure_assumed = true,
        .value = port_id,
    },
    LACP("src-mac", "srcMac", HASH_READS_SRC_MAC, "source MAC"),
    LACP("dst-mac", "destMac", HASH_READS_DST_MAC, "destination MAC"),
    LACP("src-dst-mac", "srcDestMac", HASH_READS_MACS, "source and destination MAC"),
    LACP("dst-ip-vlan", "destIpVlan", HASH_READS_DST_IP | HASH_READS_VLAN, "destination IP and VLAN"),
    LACP("src-ip-vlan", "srcIpVlan", HASH_READS_SRC_IP | HASH_READS_VLAN, "source IP and VLAN"),
    LACP("src-dst-ip-vlan", "srcDestIpVlan", HASH_READS_IPS | HASH_READS_VLAN, "source and destination IP and VLAN"),
    LACP("dst-port", "destTcpUdpPort", HASH_READS_DST_PORT, "destination TCP/UDP port"),
    LACP("src-port", "srcTcpUdpPort", HASH_READS_SRC_PORT, "source TCP/UDP port"),
    LACP("src-dst-port", "srcDestTcpUdpPort", HASH_READS_PORTS, "source and destination TCP/UDP port"),
    LACP("dst-ip-port", "destIpTcpUdpPort", HASH_READS_DST_IP | HASH_READS_DST_PORT, "destination IP and TCP/UDP port"),
    LACP("src-ip-port", "srcIpTcpUdpPort", HASH_READS_SRC_IP | HASH_READS_SRC_PORT, "source IP and TCP/UDP port"),
    LACP("src-dst-ip-port", "srcDestIpTcpUdpPort", HASH_READS_IPS | HASH_READS_PORTS,
         "source and destination IP and TCP/UDP port"),
    LACP("dst-ip-port-vlan", "destIpTcpUdpPortVlan", HASH_READS_DST_IP | HASH_READS_DST_PORT | HASH_READS_VLAN,
         "destination IP, TCP/UDP port and VLAN"),
    LACP("src-ip-port-vlan", "srcIpTcpUdpPortVlan", HASH_READS_SRC_IP | HASH_READS_SRC_PORT | HASH_READS_VLAN,
         "source IP, TCP/UDP port and VLAN"),
    LACP("src-dst-ip-port-vlan", "srcDestIpTcpUdpPortVlan", HASH_READS_IPS | HASH_READS_PORTS | HASH_READS_VLAN,
         "source and destination IP, TCP/UDP port and VLAN"),
    LACP("dst-ip", "destIp", HASH_READS_DST_IP, "destination IP"),
    LACP("src-ip", "srcIp", HASH_READS_SRC_IP, "source IP"),
    LACP("src-dst-ip", "srcDestIp", HASH_READS_IPS, "source and destination IP"),
    LACP_ROW("vlan", NULL, HASH_READS_VLAN, "VLAN"),
    LACP("src-port-id", "srcPortId", HASH_READS_PORT_ID, "source virtual port"),
};

HASH_GROUP(hash_group_esxi, policies);
