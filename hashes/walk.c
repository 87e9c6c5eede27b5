/* Looking through tunnels, as Linux's flow dissector does for the encap policies of bonding.
 *
 * Theory of operation. One loop over layers; a layer says what comes next (an EtherType or an IP protocol) and where.
 * Addresses are overwritten at each IP layer, so what remains at the end is the innermost pair; the port word is of
 * the last transport. Any fragment stops the walk with no ports, the first one included. At most WALK_LAYERS steps,
 * as in the kernel, so no frame can make it long. Followed: 802.1Q and 802.1ad, IPv4, IPv6 with its extension
 * headers, IP in IP, GRE of version 0, PPPoE sessions. ARP, RARP and MPLS end it well without addresses. Not
 * followed: PPTP (GRE version 1), TIPC, batman-adv, HSR, FCoE, PTP; UDP tunnels such as VXLAN are not followed by the
 * kernel either. Source: Linux 6.1 net/core/flow_dissector.c.
 */
#include "hashes/headers.h"

#include <string.h>

#include "hashes/bytes.h"
#include "hashes/key.h"

enum {
    WALK_LAYERS = 15,
    GRE_CHECKSUM = 0x8000,
    GRE_ROUTING = 0x4000,
    GRE_KEY = 0x2000,
    GRE_SEQUENCE = 0x1000,
    GRE_VERSION = 0x0007,
};

enum step { STEP_BROKEN, STEP_DONE, STEP_ETHERTYPE, STEP_PROTO };

struct walk {
    const struct hash_frame *frame;
    size_t offset;
    uint16_t ethertype; /* of what starts at offset, at STEP_ETHERTYPE; else of the IP layer that it is in */
    uint8_t proto;      /* likewise at STEP_PROTO */
    struct hash_inner *out;
};

static const uint8_t *here(const struct walk *w, size_t size)
{
    return hash_frame_at(w->frame->bytes, w->frame->length, w->offset, size);
}

static enum step walk_ipv4(struct walk *w)
{
    const uint8_t *h = here(w, IPV4_HEADER);

    if (!h || (h[0] & 15) < 5)
        return STEP_BROKEN;
    memset(w->out, 0, sizeof *w->out);
    w->out->ip_version = 4;
    memcpy(w->out->src, h + 12, 4);
    memcpy(w->out->dst, h + 16, 4);
    w->offset += (size_t)(h[0] & 15) * 4;
    w->proto = h[9];
    return hash_be16(h + 6) & 0x3fff ? STEP_DONE : STEP_PROTO;
}

static enum step walk_ipv6(struct walk *w)
{
    const uint8_t *h = here(w, IPV6_HEADER);

    if (!h)
        return STEP_BROKEN;
    memset(w->out, 0, sizeof *w->out);
    w->out->ip_version = 6;
    memcpy(w->out->src, h + 8, HASH_IP_BYTES);
    memcpy(w->out->dst, h + 24, HASH_IP_BYTES);
    w->offset += IPV6_HEADER;
    w->proto = h[6];
    return STEP_PROTO;
}

static enum step walk_pppoe(struct walk *w)
{
    const uint8_t *h = here(w, 8);
    uint16_t inside;

    if (!h || h[0] != 0x11 || h[1] != 0)
        return STEP_BROKEN;
    inside = hash_be16(h + 6);
    w->offset += 8;
    if (inside == 0x0021)
        w->ethertype = ETHERTYPE_IPV4;
    else if (inside == 0x0057)
        w->ethertype = ETHERTYPE_IPV6;
    else
        return (inside & 0x0101) == 0x0001 ? STEP_DONE : STEP_BROKEN;
    return STEP_ETHERTYPE;
}

static enum step walk_ethertype(struct walk *w)
{
    const uint8_t *h;

    switch (w->ethertype) {
    case ETHERTYPE_IPV4:
        return walk_ipv4(w);
    case ETHERTYPE_IPV6:
        return walk_ipv6(w);
    case ETHERTYPE_VLAN:
    case ETHERTYPE_QINQ:
        h = here(w, TAG_BYTES);
        if (!h)
            return STEP_BROKEN;
        w->ethertype = hash_be16(h + 2);
        w->offset += TAG_BYTES;
        return STEP_ETHERTYPE;
    case ETHERTYPE_PPPOE:
        return walk_pppoe(w);
    case ETHERTYPE_ARP:
    case ETHERTYPE_RARP:
    case ETHERTYPE_MPLS:
    case ETHERTYPE_MPLS_MULTICAST:
        return STEP_DONE;
    default:
        return STEP_BROKEN;
    }
}

static enum step walk_gre(struct walk *w)
{
    const uint8_t *h = here(w, 4);
    uint16_t flags;
    size_t header = 4;

    if (!h)
        return STEP_BROKEN;
    flags = hash_be16(h);
    if (flags & (GRE_ROUTING | GRE_VERSION))
        return STEP_DONE;
    w->ethertype = hash_be16(h + 2);
    if (flags & GRE_CHECKSUM)
        header += 4;
    if (flags & GRE_KEY) {
        header += 4;
        if (!here(w, header))
            return STEP_BROKEN;
    }
    if (flags & GRE_SEQUENCE)
        header += 4;
    w->offset += header;
    if (w->ethertype == ETHERTYPE_TEB) {
        h = here(w, ETHERNET_HEADER);
        if (!h)
            return STEP_BROKEN;
        w->ethertype = hash_be16(h + 12);
        w->offset += ETHERNET_HEADER;
    }
    return STEP_ETHERTYPE;
}

/* The transport at which the walk ends. */
static enum step walk_word(struct walk *w)
{
    const uint8_t *h;

    w->out->proto = w->proto;
    if (w->proto == PROTO_ICMP || w->proto == PROTO_ICMPV6) {
        h = here(w, ICMP_HEADER);
        if (h && hash_icmp_has_id(h[0])) {
            bool zero = h[4] == 0 && h[5] == 0;

            w->out->word[0] = h[0];
            w->out->word[1] = h[1];
            w->out->word[2] = zero ? 1 : h[5];
            w->out->word[3] = h[4];
        }
        return STEP_DONE;
    }
    if (w->proto == PROTO_AH)
        w->offset += 4;
    else if (!hash_proto_has_ports(w->proto) && w->proto != PROTO_ESP)
        return STEP_DONE;
    h = here(w, 4);
    if (h)
        memcpy(w->out->word, h, 4);
    return STEP_DONE;
}

static enum step walk_proto(struct walk *w)
{
    const uint8_t *h;

    switch (w->proto) {
    case PROTO_HOP_OPTIONS:
    case PROTO_ROUTING:
    case PROTO_DST_OPTIONS:
        if (w->ethertype != ETHERTYPE_IPV6)
            return STEP_DONE;
        h = here(w, 2);
        if (!h)
            return STEP_BROKEN;
        w->proto = h[0];
        w->offset += ((size_t)h[1] + 1) * 8;
        return STEP_PROTO;
    case PROTO_FRAGMENT:
        if (w->ethertype != ETHERTYPE_IPV6)
            return STEP_DONE;
        return here(w, FRAGMENT_HEADER) ? STEP_DONE : STEP_BROKEN;
    case PROTO_IPIP:
        w->ethertype = ETHERTYPE_IPV4;
        return STEP_ETHERTYPE;
    case PROTO_IPV6:
        w->ethertype = ETHERTYPE_IPV6;
        return STEP_ETHERTYPE;
    case PROTO_GRE:
        return walk_gre(w);
    case PROTO_MPLS:
        return STEP_DONE;
    default:
        return walk_word(w);
    }
}

void hash_walk(struct hash_key *key, const struct hash_frame *frame, uint16_t ethertype, size_t offset)
{
    struct walk w = {.frame = frame, .offset = offset, .ethertype = ethertype, .out = &key->tunnel};
    enum step step = STEP_ETHERTYPE;

    for (int again = 0; again <= WALK_LAYERS && step > STEP_DONE; again++) {
        if (step == STEP_ETHERTYPE)
            step = walk_ethertype(&w);
        if (step == STEP_PROTO)
            step = walk_proto(&w);
    }
    key->walk = step == STEP_BROKEN ? HASH_WALK_BROKEN : HASH_WALK_FOLLOWED;
}
