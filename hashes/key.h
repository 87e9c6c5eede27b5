/* Everything a link-selection policy can read from one frame.
 *
 * A key is filled once per frame (or once per flow) and then handed to any number of policies. It
 * holds raw fields and no derived hash, so it does not depend on the policy. Two ways in, which
 * give equal answers for whole frames: hash_key_from_frame() parses bytes, hash_key_flow() takes
 * addresses, ports and MACs.
 */
#ifndef HASHES_KEY_H
#define HASHES_KEY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum hash_fragment {
    HASH_FRAGMENT_NONE,  /* a whole datagram */
    HASH_FRAGMENT_FIRST, /* offset 0, more to come: has a transport header */
    HASH_FRAGMENT_LATER, /* offset > 0: payload where the transport header would be */
};

enum hash_tag {
    HASH_TAG_NONE,
    HASH_TAG_INLINE,    /* 802.1Q or 802.1ad header in the frame */
    HASH_TAG_OFFLOADED, /* taken off by the NIC and handed over beside the frame */
};

enum {
    HASH_MAC_BYTES = 6,
    HASH_IP_BYTES = 16,
    HASH_ARP_WINDOW = 26, /* where an untagged IPv4 frame holds its addresses: bytes 26 to 33 */
    HASH_WINDOW_BYTES = 8,
    HASH_NO_TCI = -1,
};

/* What a header walker that looks through extension headers and tunnels makes of a frame. */
enum hash_walk {
    HASH_WALK_PLAIN,    /* nothing to look through: the outer fields are the answer */
    HASH_WALK_FOLLOWED, /* see `tunnel`; ip_version 0 there: understood, but without addresses (ARP, MPLS) */
    HASH_WALK_BROKEN,   /* cut off or malformed on the way */
};

/* A packet inside another one: what a tunnel carries, or what an ICMP error quotes. */
struct hash_inner {
    uint8_t ip_version; /* 4, 6, or 0: none */
    uint8_t src[HASH_IP_BYTES];
    uint8_t dst[HASH_IP_BYTES];
    uint8_t proto;
    uint8_t word[4]; /* ports as on the wire, an ESP or AH SPI, or ICMP type, code and id (low byte
                        first, 0 replaced by 1); else zeros */
};

struct hash_key {
    uint8_t dmac[HASH_MAC_BYTES];
    uint8_t smac[HASH_MAC_BYTES];
    uint16_t wire_ethertype;    /* bytes 12 and 13: the tag's type where a tag is inline */
    uint16_t ethertype;         /* after all tags */
    uint8_t tag;                /* enum hash_tag of the outer tag */
    uint8_t inline_tags;        /* how many tags stand in the frame */
    uint16_t tci;               /* outer tag: priority, DEI and VLAN id; 0 without a tag */
    uint16_t inline_tci;        /* first tag that stands in the frame; differs from tci when the NIC took one off */
    uint8_t ip_version;         /* 4, 6, or 0: not IP, or too short to hold its header */
    uint8_t src[HASH_IP_BYTES]; /* IPv4 in the first four bytes, rest zero; ARP: the sender's address */
    uint8_t dst[HASH_IP_BYTES]; /* ARP: the target's address */
    uint8_t next_header;        /* IPv4 protocol, or next header of the fixed IPv6 header */
    uint8_t proto;              /* transport, after IPv6 extension headers and AH; equals next_header without them */
    uint8_t fragment;           /* enum hash_fragment; an IPv6 fragment header with offset 0 counts as first */
    uint8_t fragment_id[4];     /* IPv4: identification in the first two bytes; IPv6: of the fragment header */
    bool has_ports;             /* sport and dport are real: never in a later fragment */
    bool has_icmp;              /* the eight bytes of an ICMP or ICMPv6 header are there */
    bool has_ah;                /* an authentication header stands before the transport */
    uint16_t sport;
    uint16_t dport;
    uint8_t
        l4[4]; /* the four bytes at the transport offset: ports, ESP's SPI, the payload of a later fragment; ICMP: type,
                         code and zeros; other protocols and cut frames: zeros */
    uint8_t l4_bytes; /* 4, or 0 where l4 says nothing */
    uint8_t icmp_type;
    uint8_t icmp_code;
    uint16_t icmp_id; /* bytes 4 and 5 of the ICMP header */
    uint16_t arp_op;  /* 0: not ARP for IPv4 over Ethernet */
    uint32_t ah_spi;
    uint32_t flow_label;               /* IPv6, 20 bits */
    uint8_t window[HASH_WINDOW_BYTES]; /* bytes 26 to 33 counted without inline tags; zeros past the end */
    uint8_t window_bytes;              /* how many of them the frame has */
    uint8_t walk;                      /* enum hash_walk */
    struct hash_inner tunnel;          /* where the walk ended */
    struct hash_inner quoted;          /* packet quoted by an ICMP error; ip_version 0: none */

    /* Not in the frame: the caller fills these in where a policy reads them. Zero means not known. */
    uint32_t port_id;      /* virtual port of the vNIC or vmknic */
    uint16_t ingress_port; /* physical port where the frame entered the switch */
    uint16_t ingress_module;
};

/* A flow as people and planners write it. Zero everything, then set what is known. */
struct hash_flow {
    uint8_t smac[HASH_MAC_BYTES];
    uint8_t dmac[HASH_MAC_BYTES];
    uint8_t tag; /* enum hash_tag */
    uint16_t tci;
    uint8_t ip_version; /* 4, 6, or 0: not IP, ethertype says what */
    uint16_t ethertype; /* 0: by ip_version */
    uint8_t src[HASH_IP_BYTES];
    uint8_t dst[HASH_IP_BYTES];
    uint8_t proto;
    uint8_t fragment; /* enum hash_fragment */
    uint8_t fragment_id[4];
    uint16_t sport; /* used when proto has ports and the fragment is not a later one */
    uint16_t dport;
    uint8_t payload[4]; /* later fragments: the four bytes where the ports would be */
    uint8_t icmp_type;  /* used when proto is ICMP or ICMPv6 */
    uint8_t icmp_code;
    uint16_t icmp_id;
    uint32_t esp_spi; /* used when proto is ESP */
    bool ah;          /* an authentication header stands before the transport */
    uint32_t ah_spi;
    uint32_t flow_label;
    uint32_t port_id;
    uint16_t ingress_port;
    uint16_t ingress_module;
};

/* An ARP packet for IPv4 over Ethernet. op: 1 request, 2 reply. */
struct hash_arp {
    uint8_t smac[HASH_MAC_BYTES]; /* of the Ethernet header */
    uint8_t dmac[HASH_MAC_BYTES];
    uint16_t op;
    uint8_t sender_mac[HASH_MAC_BYTES];
    uint8_t sender_ip[4];
    uint8_t target_mac[HASH_MAC_BYTES];
    uint8_t target_ip[4];
};

/* Bounds-checked access: the address of frame[offset], or NULL unless all of `size` bytes from
 * there are inside. */
const uint8_t *hash_frame_at(const uint8_t *frame, size_t length, size_t offset, size_t size);

/* Parses an Ethernet frame without its FCS. `tci`: the tag that the NIC took off, or HASH_NO_TCI.
 * Any bytes are accepted: what is cut off or malformed is simply absent from the key. False only
 * when there is no whole Ethernet header; the key is then all zeros. */
bool hash_key_from_frame(struct hash_key *key, const uint8_t *frame, size_t length, int32_t tci);

/* The key that a whole frame of this flow would give: no IP options, no tunnel, the tag of type 0x8100. A field that
 * does not fit the rest (a port of an ICMP flow) is left out. */
void hash_key_flow(struct hash_key *key, const struct hash_flow *flow);

/* The key of an untagged ARP frame. */
void hash_key_arp(struct hash_key *key, const struct hash_arp *arp);

/* True for the protocols whose header starts with two ports: TCP, UDP, DCCP, SCTP, UDP-Lite. */
bool hash_proto_has_ports(uint8_t proto);

#endif
