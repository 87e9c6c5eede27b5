/* Numbers of the protocols that keys are made of, and what the parser and the flow builder share. */
#ifndef HASHES_HEADERS_H
#define HASHES_HEADERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct hash_key;

enum {
    ETHERTYPE_IPV4 = 0x0800,
    ETHERTYPE_ARP = 0x0806,
    ETHERTYPE_TEB = 0x6558,
    ETHERTYPE_RARP = 0x8035,
    ETHERTYPE_VLAN = 0x8100,
    ETHERTYPE_IPV6 = 0x86dd,
    ETHERTYPE_MPLS = 0x8847,
    ETHERTYPE_MPLS_MULTICAST = 0x8848,
    ETHERTYPE_PPPOE = 0x8864,
    ETHERTYPE_QINQ = 0x88a8,
};

enum {
    PROTO_HOP_OPTIONS = 0,
    PROTO_ICMP = 1,
    PROTO_IPIP = 4,
    PROTO_TCP = 6,
    PROTO_UDP = 17,
    PROTO_DCCP = 33,
    PROTO_IPV6 = 41,
    PROTO_ROUTING = 43,
    PROTO_FRAGMENT = 44,
    PROTO_GRE = 47,
    PROTO_ESP = 50,
    PROTO_AH = 51,
    PROTO_ICMPV6 = 58,
    PROTO_DST_OPTIONS = 60,
    PROTO_SCTP = 132,
    PROTO_UDPLITE = 136,
    PROTO_MPLS = 137,
};

enum {
    ETHERNET_HEADER = 14,
    TAG_BYTES = 4,
    IPV4_HEADER = 20,
    IPV6_HEADER = 40,
    FRAGMENT_HEADER = 8,
    ICMP_HEADER = 8,
};

/* A piece of memory with its length: what every parser here is handed. */
struct hash_frame {
    const uint8_t *bytes;
    size_t length;
};

/* ICMP types that carry an identifier, in either IP version: echo, timestamp and their replies. */
bool hash_icmp_has_id(uint8_t type);

/* ICMP errors: types that quote the packet they are about. `proto` is ICMP or ICMPv6. */
bool hash_icmp_quotes(uint8_t proto, uint8_t type);

/* Follows the layers from `offset`, where a packet of `ethertype` starts, through tags, extension headers and tunnels
 * as Linux's flow dissector does for bonding; fills in key->walk and key->tunnel. */
void hash_walk(struct hash_key *key, const struct hash_frame *frame, uint16_t ethertype, size_t offset);

#endif
