#include "emu/fabric/discovery.h"

#include <string.h>

enum {
    IPV6 = 40,
    ICMP = 24,
    TARGET = IPV6 + 8, /* where the address asked for stands */
    SOLICIT = 135,
    ADVERTISE = 136,
    FLAG_SOLICITED = 0x40,
    FLAG_OVERRIDE = 0x20,
    OPTION_SOURCE = 1,
    OPTION_TARGET = 2,
};

static const uint8_t all_nodes[16] = {0xff, 0x02, [15] = 1}, any[16];

bool discovery_unsolicited(const struct train_arp *a)
{
    return !a->reply && memcmp(a->sender_ip, a->target_ip, 16) == 0;
}

static bool advertises(const struct train_arp *a) { return a->reply || discovery_unsolicited(a); }

uint8_t discovery_type(const struct train_arp *a) { return advertises(a) ? ADVERTISE : SOLICIT; }

static void group_address(const struct train_arp *a, uint8_t ip[16])
{
    if (advertises(a)) {
        memcpy(ip, all_nodes, 16);
        return;
    }
    memset(ip, 0, 16); /* ff02::1:ff, and the last three bytes */
    ip[0] = 0xff;
    ip[1] = 0x02;
    ip[11] = 1;
    ip[12] = 0xff;
    memcpy(ip + 13, a->target_ip + 13, 3);
}

void discovery_group(const struct train_arp *a, uint8_t mac[6])
{
    uint8_t ip[16];

    group_address(a, ip);
    mac[0] = mac[1] = 0x33;
    memcpy(mac + 2, ip + 12, 4);
}

void discovery_ends(const struct train_arp *a, bool group, uint8_t src[16], uint8_t dst[16])
{
    memcpy(src, a->sender_ip, 16);
    /* Who has no address yet hears the answer as one of all nodes. */
    if (group || memcmp(a->target_ip, any, 16) == 0)
        group_address(a, dst);
    else
        memcpy(dst, a->target_ip, 16);
}

static uint16_t checksum(const uint8_t *packet)
{
    uint32_t sum = DISCOVERY_PROTO + DISCOVERY_PACKET - IPV6;

    for (size_t i = 8; i < DISCOVERY_PACKET; i += 2) /* the addresses, and what follows */
        sum += (uint32_t)(packet[i] << 8 | packet[i + 1]);
    while (sum >> 16)
        sum = (sum & 0xffff) + (sum >> 16);
    return (uint16_t)~sum;
}

void discovery_put(const struct train_arp *a, bool group, uint8_t packet[DISCOVERY_PACKET])
{
    uint8_t *icmp = packet + IPV6;
    uint16_t sum;

    memset(packet, 0, DISCOVERY_PACKET);
    packet[0] = 0x60;
    packet[5] = DISCOVERY_PACKET - IPV6;
    packet[6] = DISCOVERY_PROTO;
    packet[7] = 255; /* none that came through a router is believed */
    discovery_ends(a, group, packet + 8, packet + 24);
    icmp[0] = discovery_type(a);
    if (advertises(a))
        icmp[4] = FLAG_OVERRIDE | (a->reply && memcmp(a->target_ip, any, 16) ? FLAG_SOLICITED : 0);
    memcpy(packet + TARGET, advertises(a) ? a->sender_ip : a->target_ip, 16);
    /* Who asks without an address must not say where he is; then the option only fills the place. */
    icmp[ICMP] = advertises(a) ? OPTION_TARGET : memcmp(a->sender_ip, any, 16) ? OPTION_SOURCE : 0xff;
    icmp[ICMP + 1] = 1;
    memcpy(icmp + ICMP + 2, a->sender_mac, 6);
    sum = checksum(packet);
    icmp[2] = (uint8_t)(sum >> 8);
    icmp[3] = (uint8_t)sum;
}

/* The Ethernet address that an option gives. */
static void read_option(const uint8_t *option, size_t size, uint8_t type, uint8_t mac[6])
{
    while (size >= 8 && option[1] && 8u * option[1] <= size) {
        if (option[0] == type) {
            memcpy(mac, option + 2, 6);
            return;
        }
        size -= 8u * option[1];
        option += 8u * option[1];
    }
}

bool discovery_read(const uint8_t *packet, size_t size, const uint8_t mac[6], struct train_arp *out)
{
    const uint8_t *icmp = packet + IPV6;
    bool solicits;

    if (size < IPV6 + ICMP || packet[0] >> 4 != 6 || packet[6] != DISCOVERY_PROTO || packet[7] != 255 || icmp[1] != 0 ||
        (icmp[0] != SOLICIT && icmp[0] != ADVERTISE))
        return false;
    solicits = icmp[0] == SOLICIT;
    *out = (struct train_arp){.version = 6};
    memcpy(out->sender_mac, mac, 6);
    read_option(icmp + ICMP, size - IPV6 - ICMP, solicits ? OPTION_SOURCE : OPTION_TARGET, out->sender_mac);
    if (solicits) {
        memcpy(out->sender_ip, packet + 8, 16);
        memcpy(out->target_ip, packet + TARGET, 16);
        return true;
    }
    out->reply = packet[24] != 0xff; /* to all: not for anybody's question */
    memcpy(out->sender_ip, packet + TARGET, 16);
    memcpy(out->target_ip, out->reply ? packet + 24 : packet + TARGET, 16);
    return true;
}
