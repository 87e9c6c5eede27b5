/* Keys of flows and of ARP packets that exist only as values: what hash_key_from_frame() would say about their
 * frames. */
#include "hashes/key.h"

#include <string.h>

#include "hashes/bytes.h"
#include "hashes/headers.h"

static void set_ethernet(struct hash_key *key, const uint8_t *smac, const uint8_t *dmac, uint16_t ethertype)
{
    memset(key, 0, sizeof *key);
    memcpy(key->smac, smac, HASH_MAC_BYTES);
    memcpy(key->dmac, dmac, HASH_MAC_BYTES);
    key->wire_ethertype = key->ethertype = ethertype;
}

static void set_tag(struct hash_key *key, const struct hash_flow *flow)
{
    if (flow->tag == HASH_TAG_NONE)
        return;
    key->tag = flow->tag;
    key->tci = flow->tci;
    if (flow->tag == HASH_TAG_INLINE) {
        key->wire_ethertype = ETHERTYPE_VLAN;
        key->inline_tags = 1;
        key->inline_tci = flow->tci;
    }
}

static void set_addresses(struct hash_key *key, const struct hash_flow *flow)
{
    key->ip_version = flow->ip_version;
    key->proto = flow->proto;
    key->window_bytes = HASH_WINDOW_BYTES;
    if (flow->ip_version == 4) {
        memcpy(key->src, flow->src, 4);
        memcpy(key->dst, flow->dst, 4);
        memcpy(key->window, flow->src, 4);
        memcpy(key->window + 4, flow->dst, 4);
        memcpy(key->fragment_id, flow->fragment_id, 2);
        key->next_header = flow->ah ? PROTO_AH : flow->proto;
    } else {
        memcpy(key->src, flow->src, HASH_IP_BYTES);
        memcpy(key->dst, flow->dst, HASH_IP_BYTES);
        memcpy(key->window, flow->src + 4, HASH_WINDOW_BYTES); /* the address starts at byte 22 */
        key->flow_label = flow->flow_label & 0xfffff;
        if (flow->fragment != HASH_FRAGMENT_NONE) {
            memcpy(key->fragment_id, flow->fragment_id, 4);
            key->next_header = PROTO_FRAGMENT;
        } else {
            key->next_header = flow->ah ? PROTO_AH : flow->proto;
        }
    }
    key->fragment = flow->fragment;
}

/* What stands at the transport offset. A later fragment has payload there, and its protocol is the fragment header's
 * word for it. */
static void set_transport(struct hash_key *key, const struct hash_flow *flow)
{
    if (flow->fragment == HASH_FRAGMENT_LATER) {
        key->proto = flow->ah ? PROTO_AH : flow->proto;
        memcpy(key->l4, flow->payload, 4);
        key->l4_bytes = 4;
        return;
    }
    if (flow->ah) {
        key->has_ah = true;
        key->ah_spi = flow->ah_spi;
    }
    if (hash_proto_has_ports(flow->proto)) {
        key->has_ports = true;
        key->sport = flow->sport;
        key->dport = flow->dport;
        hash_put_be16(key->l4, flow->sport);
        hash_put_be16(key->l4 + 2, flow->dport);
        key->l4_bytes = 4;
    } else if (flow->proto == PROTO_ICMP || flow->proto == PROTO_ICMPV6) {
        key->has_icmp = true;
        key->icmp_type = key->l4[0] = flow->icmp_type;
        key->icmp_code = key->l4[1] = flow->icmp_code;
        key->icmp_id = flow->icmp_id;
        key->l4_bytes = 4;
    } else if (flow->proto == PROTO_ESP) {
        hash_put_be32(key->l4, flow->esp_spi);
        key->l4_bytes = 4;
    }
}

/* The one case of a flow in which a walk sees more than the plain fields: it stops at the authentication header. */
static void set_walk(struct hash_key *key)
{
    if (key->ip_version == 0) {
        bool known = key->ethertype == ETHERTYPE_ARP || key->ethertype == ETHERTYPE_RARP ||
                     key->ethertype == ETHERTYPE_MPLS || key->ethertype == ETHERTYPE_MPLS_MULTICAST;

        key->walk = known ? HASH_WALK_FOLLOWED : HASH_WALK_BROKEN;
    } else if (key->has_ah && key->fragment == HASH_FRAGMENT_NONE) {
        key->walk = HASH_WALK_FOLLOWED;
        key->tunnel.ip_version = key->ip_version;
        memcpy(key->tunnel.src, key->src, HASH_IP_BYTES);
        memcpy(key->tunnel.dst, key->dst, HASH_IP_BYTES);
        key->tunnel.proto = PROTO_AH;
        hash_put_be32(key->tunnel.word, key->ah_spi);
    }
}

void hash_key_flow(struct hash_key *key, const struct hash_flow *flow)
{
    uint16_t ethertype = flow->ethertype;

    if (ethertype == 0 && flow->ip_version)
        ethertype = flow->ip_version == 4 ? ETHERTYPE_IPV4 : ETHERTYPE_IPV6;
    set_ethernet(key, flow->smac, flow->dmac, ethertype);
    set_tag(key, flow);
    if (flow->ip_version) {
        set_addresses(key, flow);
        set_transport(key, flow);
    }
    set_walk(key);
    key->port_id = flow->port_id;
    key->ingress_port = flow->ingress_port;
    key->ingress_module = flow->ingress_module;
}

void hash_key_arp(struct hash_key *key, const struct hash_arp *arp)
{
    set_ethernet(key, arp->smac, arp->dmac, ETHERTYPE_ARP);
    key->arp_op = arp->op;
    memcpy(key->src, arp->sender_ip, 4);
    memcpy(key->dst, arp->target_ip, 4);
    memcpy(key->window, arp->sender_mac + 4, 2); /* the sender's MAC fills bytes 22 to 27 */
    memcpy(key->window + 2, arp->sender_ip, 4);
    memcpy(key->window + 6, arp->target_mac, 2);
    key->window_bytes = HASH_WINDOW_BYTES;
    set_walk(key);
}
