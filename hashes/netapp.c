/* NetApp interface groups (vifs).
 *
 * Before Data ONTAP 7.3.2 an XOR of last bytes, as the vendor's guide says. From 7.3.2 on the vendor names an
 * implementation of SuperFastHash over the last 16 bits of both addresses and no more; the arithmetic here is that of
 * a third-party program, confirmed by nobody. It is not the canonical SuperFastHash, which starts from the length:
 * signed and unsigned shifts agree for 2, 4 and 8 links and differ for 3, 5, 6 and 7. The sender is the NetApp, so
 * the source is the LIF.
 */
#include "hashes/vendors.h"

#include "hashes/bytes.h"
#include "hashes/fields.h"
#include "hashes/key.h"
#include "hashes/mix.h"
#include "hashes/trace.h"

enum { PARAM_SHIFT, PARAM_START };

static const struct hash_param superfast_params[] = {
    {.name = "shift",
     .kind = HASH_PARAM_CHOICE,
     .values = HASH_NAMES("signed", "unsigned"),
     .preset = HASH_SHIFT_SIGNED,
     .help = "whether right shifts keep the sign: cannot be told apart with 2, 4 or 8 links"},
    {.name = "start",
     .kind = HASH_PARAM_NUMBER,
     .max = UINT32_MAX,
     .preset = 0,
     .help = "initial value; the canonical SuperFastHash starts from the length, 4"},
};

static struct hash_word last_bytes(const struct hash_selector *sel, const struct hash_key *key,
                                   struct hash_trace *trace)
{
    const size_t last = key->ip_version == 4 ? 3 : HASH_IP_BYTES - 1;
    const bool ip = sel->policy->variant == HASH_READS_IPS && key->ip_version;
    const unsigned a = ip ? key->src[last] : key->smac[HASH_MAC_BYTES - 1];
    const unsigned b = ip ? key->dst[last] : key->dmac[HASH_MAC_BYTES - 1];

    hash_trace_step(trace, "last bytes of the %s %u xor %u = %u", ip ? "addresses" : "MACs", a, b, a ^ b);
    return hash_word(a ^ b);
}

static struct hash_word superfast(const struct hash_selector *sel, const struct hash_key *key, struct hash_trace *trace)
{
    const bool arithmetic = sel->params.value[PARAM_SHIFT] == HASH_SHIFT_SIGNED;
    const size_t last = key->ip_version == 4 ? 2 : HASH_IP_BYTES - 2;
    const uint16_t a = hash_be16(key->ip_version ? key->src + last : key->smac + 4);
    const uint16_t b = hash_be16(key->ip_version ? key->dst + last : key->dmac + 4);
    const uint32_t hash = hash_superfast_pair(a, b, (uint32_t)sel->params.value[PARAM_START], arithmetic);

    hash_trace_step(trace, "SuperFastHash of 0x%04X and 0x%04X with %s shifts = 0x%08X", a, b,
                    arithmetic ? "signed" : "unsigned", (unsigned)hash);
    return hash_word(hash);
}

static struct hash_label old_ip_label(const struct hash_selector *sel, const struct hash_key *key, unsigned n)
{
    (void)sel, (void)n;
    if (key && key->ip_version == 0)
        return (struct hash_label){HASH_APPROXIMATE, "the guide does not say what happens to frames that are not IP"};
    return (struct hash_label){HASH_EXACT, NULL};
}

static const struct hash_policy policies[] = {
    {
        .name = "netapp-7mode-ip",
        .aliases = HASH_NAMES("netapp-vif-ip", "vif-ip", "7mode-ip"),
        .prefix = "netapp",
        .vendor = "NetApp",
        .summary = "Data ONTAP before 7.3.2, vif -b ip: last bytes of both addresses",
        .rule = "(last byte of source xor of destination) mod links; a link that is down passes to the next",
        .source = "Data ONTAP 7.x Network Management Guide, IP address load balancing",
        .reads = HASH_READS_IPS,
        .status = HASH_EXACT,
        .reduction = HASH_REDUCE_MOD,
        .failure = HASH_FAIL_WALK_NEXT,
        .variant = HASH_READS_IPS,
        .value = last_bytes,
        .label = old_ip_label,
    },
    {
        .name = "netapp-7mode-mac",
        .aliases = HASH_NAMES("netapp-vif-mac", "vif-mac", "7mode-mac"),
        .prefix = "netapp",
        .vendor = "NetApp",
        .summary = "Data ONTAP before 7.3.2, vif -b mac: last bytes of both MACs",
        .rule = "(last byte of source xor of destination) mod links; a link that is down passes to the next",
        .source = "Data ONTAP 7.x Network Management Guide, MAC address load balancing",
        .reads = HASH_READS_MACS,
        .status = HASH_EXACT,
        .reduction = HASH_REDUCE_MOD,
        .failure = HASH_FAIL_WALK_NEXT,
        .variant = HASH_READS_MACS,
        .value = last_bytes,
    },
    {
        .name = "netapp-ip",
        .aliases = HASH_NAMES("ontap-ip", "distr-func-ip", "netapp-ifgrp-ip"),
        .prefix = "netapp",
        .vendor = "NetApp",
        .summary = "ONTAP 7.3.2 and later, ifgrp -distr-func ip",
        .rule = "SuperFastHash of the last 16 bits of both addresses, remainder by the number of links",
        .source = "NetApp KB How does load balancing on a VIF work; github.com/qdrddr/ontap-lacp (arithmetic)",
        .caveat =
            "the vendor names the hash and its inputs; arithmetic and member order are a third party's, unconfirmed",
        .reads = HASH_READS_IPS,
        .status = HASH_REVERSE_ENGINEERED,
        .reduction = HASH_REDUCE_SIGNED_MOD,
        .failure = HASH_FAIL_COMPACT,
        .failure_assumed = true,
        HASH_PARAMS(superfast_params),
        .value = superfast,
    },
};

HASH_GROUP(hash_group_netapp, policies);
