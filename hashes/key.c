/* From the bytes of a frame to a key.
 *
 * Theory of operation. Every access to the frame goes through hash_frame_at(), which hands out an address only when
 * all bytes asked for are inside, so a cut or hostile frame can make fields absent and nothing else. Parsing never
 * looks at a length field that the sender chose to decide what is inside; the one bound is the frame's own length.
 * Two views of a frame are kept: the plain one, fixed headers and the transport behind them, which nearly every
 * policy reads; and the result of hash_walk(), which looks through tunnels and which only the encap policies of Linux
 * read. The walk is skipped for the frames, nearly all, where it would find what the plain view holds already.
 */
#include "hashes/key.h"

#include <string.h>

#include "hashes/bytes.h"
#include "hashes/headers.h"

const uint8_t *hash_frame_at(const uint8_t *frame, size_t length, size_t offset, size_t size)
{
    return offset <= length && size <= length - offset ? frame + offset : NULL;
}

bool hash_proto_has_ports(uint8_t proto)
{
    return proto == PROTO_TCP || proto == PROTO_UDP || proto == PROTO_SCTP || proto == PROTO_DCCP ||
           proto == PROTO_UDPLITE;
}

bool hash_icmp_has_id(uint8_t type)
{
    return type == 0 || type == 8 || type == 13 || type == 14 || type == 128 || type == 129;
}

bool hash_icmp_quotes(uint8_t proto, uint8_t type)
{
    if (proto == PROTO_ICMP)
        return type == 3 || type == 4 || type == 5 || type == 11 || type == 12;
    return proto == PROTO_ICMPV6 && type >= 1 && type <= 4;
}

static const uint8_t *at(const struct hash_frame *frame, size_t offset, size_t size)
{
    return hash_frame_at(frame->bytes, frame->length, offset, size);
}

static bool is_icmp(uint8_t proto) { return proto == PROTO_ICMP || proto == PROTO_ICMPV6; }

/* The packet inside an ICMP error: of the same IP version as the outer one, ports only behind its fixed header. */
static void parse_quoted(struct hash_key *key, const struct hash_frame *frame, size_t offset)
{
    struct hash_inner *quoted = &key->quoted;
    const uint8_t *h, *word;
    uint8_t proto;
    bool whole = true;

    if (key->ip_version == 4) {
        h = at(frame, offset, IPV4_HEADER);
        if (!h)
            return;
        memcpy(quoted->src, h + 12, 4);
        memcpy(quoted->dst, h + 16, 4);
        proto = h[9];
        whole = (hash_be16(h + 6) & 0x3fff) == 0;
        offset += (size_t)(h[0] & 15) * 4;
    } else {
        h = at(frame, offset, IPV6_HEADER);
        if (!h)
            return;
        memcpy(quoted->src, h + 8, HASH_IP_BYTES);
        memcpy(quoted->dst, h + 24, HASH_IP_BYTES);
        proto = h[6];
        offset += IPV6_HEADER;
    }
    quoted->ip_version = key->ip_version;
    quoted->proto = proto;
    if (proto == PROTO_AH)
        offset += 4;
    word = at(frame, offset, 4);
    if (whole && word && (hash_proto_has_ports(proto) || proto == PROTO_ESP || proto == PROTO_AH))
        memcpy(quoted->word, word, 4);
}

static void parse_icmp(struct hash_key *key, const struct hash_frame *frame, size_t offset)
{
    const uint8_t *h = at(frame, offset, ICMP_HEADER);

    if (!h)
        return;
    key->has_icmp = true;
    key->icmp_type = h[0];
    key->icmp_code = h[1];
    key->icmp_id = hash_be16(h + 4);
    key->l4[0] = h[0];
    key->l4[1] = h[1];
    key->l4_bytes = 4;
    if (key->fragment == HASH_FRAGMENT_NONE && hash_icmp_quotes(key->proto, h[0]))
        parse_quoted(key, frame, offset + ICMP_HEADER);
}

/* `proto` starts at `offset`, with an authentication header perhaps before it. */
static void parse_transport(struct hash_key *key, const struct hash_frame *frame, uint8_t proto, size_t offset)
{
    const uint8_t *h;

    while (proto == PROTO_AH && key->fragment != HASH_FRAGMENT_LATER) {
        h = at(frame, offset, 8);
        if (!h)
            break;
        if (!key->has_ah)
            key->ah_spi = hash_be32(h + 4);
        key->has_ah = true;
        proto = h[0];
        offset += ((size_t)h[1] + 2) * 4;
    }
    key->proto = proto;
    if (key->fragment != HASH_FRAGMENT_LATER && is_icmp(proto)) {
        parse_icmp(key, frame, offset);
        return;
    }
    h = at(frame, offset, 4);
    if (!h || !(key->fragment == HASH_FRAGMENT_LATER || hash_proto_has_ports(proto) || proto == PROTO_ESP))
        return;
    memcpy(key->l4, h, 4);
    key->l4_bytes = 4;
    if (key->fragment != HASH_FRAGMENT_LATER && hash_proto_has_ports(proto)) {
        key->has_ports = true;
        key->sport = hash_be16(h);
        key->dport = hash_be16(h + 2);
    }
}

static void parse_ipv4(struct hash_key *key, const struct hash_frame *frame, size_t offset)
{
    const uint8_t *h = at(frame, offset, IPV4_HEADER);
    unsigned header, where;

    if (!h || h[0] >> 4 != 4 || (h[0] & 15) < 5)
        return;
    header = (h[0] & 15u) * 4;
    where = hash_be16(h + 6);
    key->ip_version = 4;
    memcpy(key->src, h + 12, 4);
    memcpy(key->dst, h + 16, 4);
    memcpy(key->fragment_id, h + 4, 2);
    key->next_header = h[9];
    if (where & 0x1fff)
        key->fragment = HASH_FRAGMENT_LATER;
    else if (where & 0x2000)
        key->fragment = HASH_FRAGMENT_FIRST;
    parse_transport(key, frame, h[9], offset + header);
    if (key->fragment == HASH_FRAGMENT_NONE && (key->has_ah || h[9] == PROTO_AH || h[9] == PROTO_IPIP ||
                                                h[9] == PROTO_IPV6 || h[9] == PROTO_GRE || h[9] == PROTO_MPLS))
        hash_walk(key, frame, ETHERTYPE_IPV4, offset);
}

static void parse_ipv6(struct hash_key *key, const struct hash_frame *frame, size_t offset)
{
    const uint8_t *h = at(frame, offset, IPV6_HEADER);
    size_t start = offset;
    uint8_t next;

    if (!h || h[0] >> 4 != 6)
        return;
    key->ip_version = 6;
    key->flow_label = hash_be32(h) & 0xfffff;
    memcpy(key->src, h + 8, HASH_IP_BYTES);
    memcpy(key->dst, h + 24, HASH_IP_BYTES);
    key->next_header = next = h[6];
    offset += IPV6_HEADER;
    while (key->fragment != HASH_FRAGMENT_LATER) {
        if (next == PROTO_HOP_OPTIONS || next == PROTO_ROUTING || next == PROTO_DST_OPTIONS) {
            h = at(frame, offset, 2);
            if (!h)
                break;
            offset += ((size_t)h[1] + 1) * 8;
        } else if (next == PROTO_FRAGMENT) {
            h = at(frame, offset, FRAGMENT_HEADER);
            if (!h)
                break;
            memcpy(key->fragment_id, h + 4, 4);
            key->fragment = hash_be16(h + 2) >> 3 ? HASH_FRAGMENT_LATER : HASH_FRAGMENT_FIRST;
            offset += FRAGMENT_HEADER;
        } else {
            break;
        }
        next = h[0];
    }
    parse_transport(key, frame, next, offset);
    if (key->fragment == HASH_FRAGMENT_NONE &&
        (key->next_header != key->proto || key->has_ah || next == PROTO_AH || next == PROTO_IPIP ||
         next == PROTO_IPV6 || next == PROTO_GRE || next == PROTO_MPLS || next == PROTO_FRAGMENT ||
         next == PROTO_HOP_OPTIONS || next == PROTO_ROUTING || next == PROTO_DST_OPTIONS))
        hash_walk(key, frame, ETHERTYPE_IPV6, start);
}

static void parse_arp(struct hash_key *key, const struct hash_frame *frame, size_t offset)
{
    static const uint8_t ethernet_ipv4[] = {0, 1, 8, 0, 6, 4};
    const uint8_t *h = at(frame, offset, 28);

    if (!h || memcmp(h, ethernet_ipv4, sizeof ethernet_ipv4) != 0)
        return;
    key->arp_op = hash_be16(h + 6);
    memcpy(key->src, h + 14, 4);
    memcpy(key->dst, h + 24, 4);
}

static void parse_window(struct hash_key *key, const struct hash_frame *frame)
{
    size_t start = HASH_ARP_WINDOW + (size_t)TAG_BYTES * key->inline_tags;
    size_t there = frame->length > start ? frame->length - start : 0;

    key->window_bytes = (uint8_t)(there < HASH_WINDOW_BYTES ? there : HASH_WINDOW_BYTES);
    if (key->window_bytes)
        memcpy(key->window, frame->bytes + start, key->window_bytes);
}

bool hash_key_from_frame(struct hash_key *key, const uint8_t *frame, size_t length, int32_t tci)
{
    const struct hash_frame f = {frame, length};
    size_t offset = ETHERNET_HEADER;
    const uint8_t *h;

    memset(key, 0, sizeof *key);
    h = at(&f, 0, ETHERNET_HEADER);
    if (!h)
        return false;
    memcpy(key->dmac, h, HASH_MAC_BYTES);
    memcpy(key->smac, h + 6, HASH_MAC_BYTES);
    key->wire_ethertype = key->ethertype = hash_be16(h + 12);
    if (tci != HASH_NO_TCI) {
        key->tag = HASH_TAG_OFFLOADED;
        key->tci = (uint16_t)tci;
    }
    while ((key->ethertype == ETHERTYPE_VLAN || key->ethertype == ETHERTYPE_QINQ) && key->inline_tags < UINT8_MAX) {
        h = at(&f, offset, TAG_BYTES);
        if (!h)
            break;
        if (key->inline_tags == 0)
            key->inline_tci = hash_be16(h);
        if (key->tag == HASH_TAG_NONE) {
            key->tag = HASH_TAG_INLINE;
            key->tci = key->inline_tci;
        }
        key->inline_tags++;
        key->ethertype = hash_be16(h + 2);
        offset += TAG_BYTES;
    }
    parse_window(key, &f);
    if (key->ethertype == ETHERTYPE_IPV4)
        parse_ipv4(key, &f, offset);
    else if (key->ethertype == ETHERTYPE_IPV6)
        parse_ipv6(key, &f, offset);
    else
        hash_walk(key, &f, key->ethertype, offset);
    if (key->ethertype == ETHERTYPE_ARP)
        parse_arp(key, &f, offset);
    return true;
}
