/* Boxes whose rule is not published. Each has a name, the fields it is known to read, and no arithmetic: the answer
 * is a range, and the one fact that flows equal in these fields share a link.
 */
#include "hashes/vendors.h"

#include "hashes/fields.h"

#define TUPLE_4 (HASH_READS_IPS | HASH_READS_PORTS)
#define TUPLE_5 (TUPLE_4 | HASH_READS_PROTO)

static uint32_t reads_now(const struct hash_selector *sel) { return hash_fields_expand(sel->params.value[0]); }

/* Each has a parameter of its own, since the default set differs. */
#define FIELDS(default_fields)                                                                                         \
    .params =                                                                                                          \
        (const struct hash_param[]){{.name = "fields",                                                                 \
                                     .kind = HASH_PARAM_SET,                                                           \
                                     .values = hash_field_names,                                                       \
                                     .preset = (default_fields),                                                       \
                                     .help = "fields that the box is set to hash: flows equal in them share a link"}}, \
    .param_count = 1, .reads = (1u << HASH_FIELD_COUNT) - 1, .reads_now = reads_now

#define UNKNOWN(canonical, vendor_prefix, vendor_name, text, where, why, default_fields, ...)                    \
    {                                                                                                            \
        .name = canonical, .aliases = HASH_NAMES(__VA_ARGS__), .prefix = vendor_prefix, .vendor = vendor_name,   \
        .summary = text, .rule = "not published", .source = where, .caveat = why, .status = HASH_STATUS_UNKNOWN, \
        .reduction = HASH_REDUCE_NONE, .failure = HASH_FAIL_UNKNOWN, FIELDS(default_fields),                     \
    }

static const struct hash_policy policies[] = {
    UNKNOWN("unknown", "unknown", "any", "rule not known, fields given", "none", "only the fields are known", TUPLE_4,
            NULL),
    UNKNOWN("nexus-5500", "nexus", "Cisco", "Nexus 5500: one of eight CRC-8 polynomials",
            "Cisco Nexus 5500 port-channel load-balance", "the values of the polynomials are not published", TUPLE_4,
            "nexus-5000", "nexus5500"),
    UNKNOWN("nexus-7000", "nexus", "Cisco",
            "Nexus 7000 and 9000: hash and remainder or result bundle hash by line card",
            "Cisco Nexus 7000 port-channel load-balance", "the hash is not published", TUPLE_4, "nexus-9000",
            "nexus7000", "nexus9000", "nexus-3000"),
    UNKNOWN("juniper-ex", "juniper", "Juniper", "EX2200 to EX8200: three packet classes, internal port and device ids",
            "Juniper KB22943, KB22976", "the bit tables are not published as text",
            TUPLE_5 | HASH_READS_MACS | HASH_READS_FLOW_LABEL, "juniper", "ex4200"),
    UNKNOWN("juniper-qfx", "juniper", "Juniper", "EX4300 and QFX5100: layer2-payload",
            "Juniper EX4300 and QFX5100 enhanced-hash-key", "the bits are not published", TUPLE_5, "ex4300", "qfx5100"),
    UNKNOWN("arista", "arista", "Arista", "EOS: selectable fields, older releases with the ingress interface",
            "Arista EOS port-channel load-balance", "the bits are not published", TUPLE_5 | HASH_READS_INGRESS, "eos"),
    UNKNOWN("force10", "force10", "Dell Force10",
            "FTOS S-, C-, E-series and Z9000: named functions, seed from the chassis MAC",
            "FTOS 8.4.1.5 ExaScale guide; S4820T 9.5 guide",
            "register settings are not published; rtag7 where they are known", TUPLE_5, "ftos", "force10-s",
            "force10-e", "z9000"),
    UNKNOWN("procurve", "procurve", "HP ProCurve", "classic SA/DA trunks", "HP ProCurve management guides",
            "the formula was not found", HASH_READS_MACS | HASH_READS_IPS, "hp-procurve", "sa-da"),
    UNKNOWN("netapp-mac", "netapp", "NetApp", "ONTAP 7.3.2 and later, ifgrp -distr-func mac",
            "NetApp KB How does load balancing on a VIF work", "how the MACs are packed for the hash is not published",
            HASH_READS_MACS, "ontap-mac", "distr-func-mac"),
    UNKNOWN("netapp-port", "netapp", "NetApp", "ONTAP 7.3.2 and later, ifgrp -distr-func port",
            "NetApp KB How does load balancing on a VIF work", "how addresses and ports are packed is not published",
            TUPLE_4, "ontap-port", "distr-func-port"),
};

HASH_GROUP(hash_group_unknown, policies);
