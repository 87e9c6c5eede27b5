#include "tests/support/hash_random.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

uint32_t hash_random_below(struct hash_random *random, uint32_t below)
{
    uint64_t z = random->state += 0x9e3779b97f4a7c15u; /* splitmix64 */

    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return (uint32_t)((z ^ z >> 31) >> 32) % below;
}

void hash_random_bytes(struct hash_random *random, void *out, size_t count)
{
    uint8_t *bytes = out;

    for (size_t i = 0; i < count; i++)
        bytes[i] = (uint8_t)hash_random_below(random, 256);
}

static uint32_t one_in(struct hash_random *random, uint32_t n) { return hash_random_below(random, n) == 0; }

static void random_mac(struct hash_random *random, uint8_t mac[6])
{
    hash_random_bytes(random, mac, 6);
    mac[0] &= 0xfe;
    if (one_in(random, 12))
        memset(mac, 0xff, 6);
}

static void random_address(struct hash_random *random, uint8_t out[16], uint8_t version)
{
    hash_random_bytes(random, out, version == 4 ? 4 : 16);
    if (one_in(random, 2))
        out[0] = version == 4 ? 10 : 0xfd;
    if (one_in(random, 40))
        memset(out, version == 4 ? 0xff : 0, version == 4 ? 4 : 16);
}

void hash_random_flow(struct hash_random *random, struct hash_flow *flow)
{
    static const uint8_t protos[] = {6, 6, 6, 17, 17, 132, 33, 136, 1, 58, 50, 2, 89};
    static const uint8_t icmp_types[] = {8, 0, 13, 128, 129, 135, 136, 9, 200};
    static const uint16_t ethertypes[] = {0x0806, 0x8035, 0x8847, 0x88cc, 0x0026, 0x8863};

    memset(flow, 0, sizeof *flow);
    random_mac(random, flow->smac);
    random_mac(random, flow->dmac);
    flow->tag = (uint8_t)hash_random_below(random, 3);
    if (flow->tag != HASH_TAG_NONE)
        flow->tci = (uint16_t)hash_random_below(random, 65536);
    flow->port_id = hash_random_below(random, 1000);
    flow->ingress_port = (uint16_t)hash_random_below(random, 48);
    flow->ingress_module = (uint16_t)hash_random_below(random, 4);
    if (one_in(random, 10)) {
        flow->ethertype = ethertypes[hash_random_below(random, 6)];
        return;
    }
    flow->ip_version = one_in(random, 2) ? 4 : 6;
    random_address(random, flow->src, flow->ip_version);
    random_address(random, flow->dst, flow->ip_version);
    flow->proto = protos[hash_random_below(random, sizeof protos)];
    flow->sport = (uint16_t)hash_random_below(random, 65536);
    flow->dport = one_in(random, 4) ? flow->sport : 2049;
    if (one_in(random, 4)) {
        flow->fragment = (uint8_t)hash_random_below(random, 3);
        hash_random_bytes(random, flow->fragment_id, flow->ip_version == 4 ? 2 : 4);
        hash_random_bytes(random, flow->payload, 4);
    }
    if (flow->ip_version == 4)
        hash_random_bytes(random, flow->fragment_id, 2); /* every IPv4 packet has one */
    flow->icmp_type = icmp_types[hash_random_below(random, sizeof icmp_types)];
    flow->icmp_code = (uint8_t)hash_random_below(random, 3);
    flow->icmp_id = (uint16_t)(one_in(random, 4) ? 0 : hash_random_below(random, 65536));
    flow->esp_spi = hash_random_below(random, UINT32_MAX);
    flow->ah = one_in(random, 12);
    flow->ah_spi = hash_random_below(random, UINT32_MAX);
    if (flow->ip_version == 6)
        flow->flow_label = hash_random_below(random, 1 << 20);
}

/* Opens a gap of `count` bytes at `offset`. */
static void insert(uint8_t *out, size_t *length, size_t offset, const uint8_t *bytes, size_t count)
{
    memmove(out + offset + count, out + offset, *length - offset);
    memcpy(out + offset, bytes, count);
    *length += count;
}

/* Puts the packet at `offset`, of `version`, behind an IPv4 or IPv6 header with protocol `proto`; returns the outer
 * EtherType. */
static uint16_t wrap(struct hash_random *random, uint8_t *out, size_t *length, size_t offset, uint8_t proto)
{
    uint8_t header[40] = {0x45};
    const uint8_t version = one_in(random, 3) ? 6 : 4;

    if (version == 4) {
        hash_random_bytes(random, header + 4, 2);
        header[8] = 64;
        header[9] = proto;
        hash_random_bytes(random, header + 12, 8);
        insert(out, length, offset, header, 20);
    } else {
        header[0] = 0x60;
        header[6] = proto;
        hash_random_bytes(random, header + 8, 32);
        insert(out, length, offset, header, 40);
    }
    return version == 4 ? 0x0800 : 0x86dd;
}

static void set_type(uint8_t *out, size_t at, uint16_t type)
{
    out[at] = (uint8_t)(type >> 8);
    out[at + 1] = (uint8_t)type;
}

/* `at`: where the EtherType of the packet stands. */
static void tunnel(struct hash_random *random, uint8_t *out, size_t *length, size_t at, uint16_t type)
{
    uint8_t gre[16] = {0};
    size_t header = 4;

    if (one_in(random, 2)) {
        set_type(out, at, wrap(random, out, length, at + 2, type == 0x0800 ? 4 : 41));
        return;
    }
    gre[0] = (uint8_t)(hash_random_below(random, 16) << 4);
    if (one_in(random, 10))
        gre[1] = (uint8_t)hash_random_below(random, 8);
    set_type(gre, 2, type);
    header += (gre[0] & 0x80 ? 4u : 0u) + (gre[0] & 0x20 ? 4u : 0u) + (gre[0] & 0x10 ? 4u : 0u);
    insert(out, length, at + 2, gre, header);
    set_type(out, at, wrap(random, out, length, at + 2, 47));
}

/* An ICMP error of the right version that quotes the packet. */
static void quote(struct hash_random *random, uint8_t *out, size_t *length, size_t at, uint16_t type)
{
    static const uint8_t v4_types[] = {3, 4, 5, 11, 12};
    uint8_t icmp[8] = {0}, header[40] = {0x45};

    if (type == 0x0800) {
        icmp[0] = v4_types[hash_random_below(random, 5)];
        header[9] = 1;
        hash_random_bytes(random, header + 12, 8);
    } else {
        icmp[0] = (uint8_t)(1 + hash_random_below(random, 4));
        header[0] = 0x60;
        header[6] = 58;
        hash_random_bytes(random, header + 8, 32);
    }
    insert(out, length, at + 2, icmp, sizeof icmp);
    insert(out, length, at + 2, header, type == 0x0800 ? 20 : 40);
}

size_t hash_random_frame(struct hash_random *random, uint8_t out[HASH_FRAME_MAX], int32_t *tci)
{
    struct hash_flow flow;
    uint8_t more[4];
    unsigned options = 0;
    size_t length, at;
    uint16_t type;

    hash_random_flow(random, &flow);
    *tci = hash_frame_tci(&flow);
    if (one_in(random, 30)) {
        length = hash_random_below(random, 100);
        hash_random_bytes(random, out, length);
        if (length > 14)
            set_type(out, 12, one_in(random, 2) ? 0x0800 : 0x86dd);
        return length;
    }
    if (one_in(random, 4))
        options = 8 * (1 + hash_random_below(random, 4));
    length = hash_frame_build(&flow, options, out);
    at = flow.tag == HASH_TAG_INLINE ? 16 : 12;
    type = (uint16_t)(out[at] << 8 | out[at + 1]);
    if (flow.ip_version && one_in(random, 6))
        tunnel(random, out, &length, at, type);
    else if (flow.ip_version && one_in(random, 8))
        quote(random, out, &length, at, type);
    if (one_in(random, 10)) {
        set_type(more, 0, one_in(random, 2) ? 0x8100 : 0x88a8);
        hash_random_bytes(random, more + 2, 2);
        insert(out, &length, 12, more, sizeof more);
    }
    if (one_in(random, 12))
        length = hash_random_below(random, (uint32_t)length + 1);
    return length;
}
