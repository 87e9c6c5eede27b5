/* Neighbour discovery of IPv6 (RFC 4861): the packets that a TRAIN_ARP train of version 6 stands for.
 *
 * A request is a solicitation, a reply a solicited advertisement. A request for one's own address, which under IPv4 is gratuitous
 * ARP, is an advertisement to all nodes that nobody has asked for: it is what moves an address to another Ethernet address.
 */
#ifndef EMU_FABRIC_DISCOVERY_H
#define EMU_FABRIC_DISCOVERY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "emu/fabric/train.h"

enum {
    DISCOVERY_PACKET = 40 + 24 + 8, /* IPv6, ICMPv6 with the address asked for, the Ethernet address as an option */
    DISCOVERY_FRAME = 14 + DISCOVERY_PACKET,
    DISCOVERY_PROTO = 58, /* ICMPv6 */
};

bool discovery_unsolicited(const struct train_arp *a);
uint8_t discovery_type(const struct train_arp *a); /* of ICMPv6: 135 or 136 */
/* Where a request or an announcement goes that is not for one receiver: the group's Ethernet address. */
void discovery_group(const struct train_arp *a, uint8_t mac[6]);
/* Source and destination of the packet; `group`: its frame goes to a group. */
void discovery_ends(const struct train_arp *a, bool group, uint8_t src[16], uint8_t dst[16]);

/* The packet, with its checksum. */
void discovery_put(const struct train_arp *a, bool group, uint8_t packet[DISCOVERY_PACKET]);
/* Reads the packet of a frame from `mac`; false: it is none of these. */
bool discovery_read(const uint8_t *packet, size_t size, const uint8_t mac[6], struct train_arp *out);

#endif
