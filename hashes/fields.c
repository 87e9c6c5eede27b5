#include "hashes/fields.h"

#include <assert.h>

#include "hashes/bytes.h"
#include "hashes/headers.h"
#include "hashes/key.h"
#include "hashes/mix.h"
#include "hashes/pick.h"
#include "hashes/trace.h"

const char *const hash_field_names[] = {
    "src-mac",  "dst-mac",  "ethertype",   "vlan",       "src-ip",       "dst-ip",  "proto",
    "src-port", "dst-port", "flow-label",  "spi",        "fragment-id",  "port-id", "ingress",
    "window",   "icmp",     "src-dst-mac", "src-dst-ip", "src-dst-port", "l4",      NULL,
};
static_assert(sizeof hash_field_names / sizeof *hash_field_names == HASH_FIELD_COUNT + 5, "a name per field");

uint32_t hash_fields_expand(uint64_t fields)
{
    uint32_t single = (uint32_t)fields & ((1u << HASH_FIELD_COUNT) - 1);

    if (fields & HASH_FIELDS_SRC_DST_MAC)
        single |= HASH_READS_MACS;
    if (fields & HASH_FIELDS_SRC_DST_IP)
        single |= HASH_READS_IPS;
    if (fields & (HASH_FIELDS_SRC_DST_PORT | HASH_FIELDS_L4))
        single |= HASH_READS_PORTS;
    return single;
}

static struct hash_word address(const struct hash_key *key, const uint8_t *bytes)
{
    if (key->ip_version == 6)
        return (struct hash_word){hash_be64(bytes), hash_be64(bytes + 8)};
    return (struct hash_word){0, key->ip_version ? hash_be32(bytes) : 0};
}

static uint64_t small_field(const struct hash_key *key, enum hash_field field)
{
    switch (field) {
    case HASH_READS_SRC_MAC:
        return hash_be48(key->smac);
    case HASH_READS_DST_MAC:
        return hash_be48(key->dmac);
    case HASH_READS_ETHERTYPE:
        return key->ethertype;
    case HASH_READS_VLAN:
        return key->tci & 0xfff;
    case HASH_READS_PROTO:
        return key->proto;
    case HASH_READS_SRC_PORT:
        return key->sport;
    case HASH_READS_DST_PORT:
        return key->dport;
    case HASH_READS_FLOW_LABEL:
        return key->flow_label;
    case HASH_READS_SPI:
        if (key->has_ah)
            return key->ah_spi;
        return key->proto == PROTO_ESP ? hash_be32(key->l4) : 0;
    case HASH_READS_FRAGMENT_ID:
        return key->ip_version == 4 ? hash_be16(key->fragment_id) : hash_be32(key->fragment_id);
    case HASH_READS_PORT_ID:
        return key->port_id;
    case HASH_READS_INGRESS:
        return (uint64_t)key->ingress_module << 16 | key->ingress_port;
    case HASH_READS_WINDOW:
        return key->ip_version ? 0 : hash_be64(key->window);
    case HASH_READS_ICMP:
        return key->has_icmp ? (uint64_t)key->icmp_type << 24 | (uint64_t)key->icmp_code << 16 | key->icmp_id : 0;
    case HASH_READS_SRC_IP:
    case HASH_READS_DST_IP:
        break;
    }
    return 0;
}

struct hash_word hash_field_value(const struct hash_key *key, uint32_t field)
{
    if (field == HASH_READS_SRC_IP)
        return address(key, key->src);
    if (field == HASH_READS_DST_IP)
        return address(key, key->dst);
    return (struct hash_word){0, small_field(key, (enum hash_field)field)};
}

uint32_t hash_fields_for(const struct hash_key *key, uint32_t fields)
{
    const uint32_t of_ip = HASH_READS_IPS | HASH_READS_PROTO | HASH_READS_PORTS;

    if (key->ip_version || !(fields & of_ip))
        return fields;
    if (fields & (HASH_READS_SRC_IP | HASH_READS_SRC_PORT))
        fields |= HASH_READS_SRC_MAC;
    if (fields & (HASH_READS_DST_IP | HASH_READS_DST_PORT))
        fields |= HASH_READS_DST_MAC;
    return fields & ~of_ip;
}

static struct hash_word cut(struct hash_word word, unsigned width)
{
    if (width == 32)
        return (struct hash_word){0, (uint32_t)(word.low ^ word.low >> 32 ^ word.high ^ word.high >> 32)};
    if (width < 32)
        return (struct hash_word){0, word.low & ((1u << width) - 1)};
    return word;
}

struct hash_word hash_fields_xor(const struct hash_key *key, uint32_t fields, unsigned width, struct hash_trace *trace)
{
    struct hash_word sum = {0, 0};
    unsigned count = 0;
    char text[40];

    for (unsigned i = 0; i < HASH_FIELD_COUNT; i++) {
        struct hash_word one;

        if (!(fields >> i & 1))
            continue;
        one = cut(hash_field_value(key, 1u << i), width);
        sum.high ^= one.high;
        sum.low ^= one.low;
        if (trace) {
            hash_word_text(one, text, sizeof text);
            if (count == 0)
                hash_trace_step(trace, "%s %s", hash_field_names[i], text);
            else
                hash_trace_more(trace, " xor %s %s", hash_field_names[i], text);
        }
        count++;
    }
    if (trace && count != 1) {
        hash_word_text(sum, text, sizeof text);
        if (count == 0)
            hash_trace_step(trace, "no field: %s", text);
        else
            hash_trace_more(trace, " = %s", text);
    }
    return sum;
}

uint64_t hash_fields_digest(const struct hash_key *key, uint32_t fields, uint64_t seed)
{
    uint64_t digest = hash_mix64(seed + fields);

    for (unsigned i = 0; i < HASH_FIELD_COUNT; i++) {
        struct hash_word one;

        if (!(fields >> i & 1))
            continue;
        one = hash_field_value(key, 1u << i);
        digest = hash_mix64(digest ^ one.low);
        digest = hash_mix64(digest + one.high);
    }
    return digest;
}
