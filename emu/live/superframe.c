#include "emu/live/superframe.h"

#include <string.h>

enum {
    ETHERNET = 14,
    IPV4_MIN = 20,
    IPV6 = 40,
    TCP_MIN = 20,
    TCP_PROTO = 6,
    FRAME_MIN = 60,
    TCP_SEQ = 4,
    TCP_FLAGS = 13,
    TCP_CHECKSUM = 16,
    UDP_CHECKSUM = 6,
    FLAG_FIN = 1,
    FLAG_PSH = 8,
    FLAG_CWR = 128,
};

static uint16_t get16(const uint8_t *p) { return (uint16_t)(p[0] << 8 | p[1]); }
static uint32_t get32(const uint8_t *p) { return (uint32_t)get16(p) << 16 | get16(p + 2); }

static void put16(uint8_t *p, uint32_t value)
{
    p[0] = (uint8_t)(value >> 8);
    p[1] = (uint8_t)value;
}

static void put32(uint8_t *p, uint32_t value)
{
    put16(p, value >> 16);
    put16(p + 2, value);
}

/* ---- reading ---- */

/* Where the TCP header starts; 0: it is none. */
static size_t tcp_header(const uint8_t *frame, size_t length, uint8_t gso)
{
    const uint8_t *ip = frame + ETHERNET;
    size_t header;

    if (gso == VIRTIO_NET_HDR_GSO_TCPV4) {
        if (length < ETHERNET + IPV4_MIN || get16(frame + 12) != 0x0800 || ip[0] >> 4 != 4 || ip[9] != TCP_PROTO)
            return 0;
        header = (size_t)(ip[0] & 15) * 4;
        return header < IPV4_MIN ? 0 : ETHERNET + header;
    }
    if (length < ETHERNET + IPV6 || get16(frame + 12) != 0x86dd || ip[0] >> 4 != 6 || ip[6] != TCP_PROTO)
        return 0;
    return ETHERNET + IPV6;
}

static bool parse_gso(struct superframe *s, const uint8_t *frame)
{
    uint8_t type = s->vnet.gso_type & (uint8_t)~VIRTIO_NET_HDR_GSO_ECN;
    size_t l4, tcp, payload;

    if ((type != VIRTIO_NET_HDR_GSO_TCPV4 && type != VIRTIO_NET_HDR_GSO_TCPV6) || s->vnet.gso_size == 0 ||
        !(s->vnet.flags & VIRTIO_NET_HDR_F_NEEDS_CSUM))
        return false;
    l4 = tcp_header(frame, s->length, type);
    if (l4 == 0 || l4 + TCP_MIN > s->length)
        return false;
    tcp = (size_t)(frame[l4 + 12] >> 4) * 4;
    if (tcp < TCP_MIN || l4 + tcp >= s->length || l4 + tcp > SUPERFRAME_HEADER_MAX)
        return false;
    if (s->vnet.csum_start != l4 || s->vnet.csum_offset != TCP_CHECKSUM)
        return false;
    payload = s->length - (l4 + tcp);
    s->l3 = ETHERNET;
    s->l4 = (uint16_t)l4;
    s->header = (uint16_t)(l4 + tcp);
    s->mss = s->vnet.gso_size;
    s->gso = s->vnet.gso_type;
    s->frames = (uint32_t)((payload + s->mss - 1) / s->mss);
    return true;
}

bool superframe_parse(struct superframe *s, const struct virtio_net_hdr *vnet, const uint8_t *frame, size_t length)
{
    if (length < ETHERNET || length > SUPERFRAME_MAX)
        return false;
    *s = (struct superframe){.length = (uint32_t)length, .frames = 1, .header = ETHERNET, .vnet = *vnet};
    if (vnet->gso_type != VIRTIO_NET_HDR_GSO_NONE)
        return parse_gso(s, frame);
    if (vnet->flags & VIRTIO_NET_HDR_F_NEEDS_CSUM) {
        size_t end = (size_t)vnet->csum_start + vnet->csum_offset + 2;

        if (end > length || end > SUPERFRAME_HEADER_MAX)
            return false;
        s->header = (uint16_t)(end > ETHERNET ? end : ETHERNET); /* so that the checksum can be completed */
    }
    return true;
}

static uint32_t padded(uint32_t bytes) { return bytes < FRAME_MIN ? FRAME_MIN : bytes; }

uint32_t superframe_frame_bytes(const struct superframe *s)
{
    return padded(s->frames > 1 ? (uint32_t)s->header + s->mss : s->length);
}

uint32_t superframe_last_bytes(const struct superframe *s) { return padded(s->length - (s->frames - 1) * s->mss); }

/* ---- cutting ---- */

static uint32_t sum(const uint8_t *bytes, size_t n, uint32_t start)
{
    uint64_t total = start;

    for (; n > 1; n -= 2, bytes += 2)
        total += get16(bytes);
    if (n)
        total += (uint32_t)bytes[0] << 8;
    while (total >> 16)
        total = (total & 0xffff) + (total >> 16);
    return (uint32_t)total;
}

/* Of the pseudo-header: addresses, protocol, length of the TCP segment. */
static uint32_t pseudo_sum(const struct superframe *s, const uint8_t *header, uint32_t segment)
{
    const uint8_t *ip = header + s->l3;
    uint32_t start = TCP_PROTO + (segment >> 16) + (segment & 0xffff);

    return ip[0] >> 4 == 4 ? sum(ip + 12, 8, start) : sum(ip + 8, 32, start);
}

static void patch_ip(const struct superframe *s, uint8_t *header, uint32_t first, size_t payload)
{
    uint8_t *ip = header + s->l3;

    if (ip[0] >> 4 == 6) {
        put16(ip + 4, (uint32_t)(s->header - s->l4 + payload));
        return;
    }
    put16(ip + 2, (uint32_t)(s->header - s->l3 + payload));
    put16(ip + 4, get16(ip + 4) + first);
    put16(ip + 10, 0);
    put16(ip + 10, ~sum(ip, (size_t)(s->l4 - s->l3), 0) & 0xffff);
}

void superframe_cut(const struct superframe *s, const uint8_t *frame, uint32_t first, uint32_t n,
                    struct superframe_cut *out)
{
    size_t offset = (size_t)first * s->mss;
    bool last = first + n == s->frames;
    uint8_t *tcp;

    memcpy(out->header, frame, s->header);
    out->header_bytes = s->header;
    out->vnet = s->vnet;
    out->payload = s->header + offset;
    out->payload_bytes = last ? s->length - out->payload : (size_t)n * s->mss;
    if (s->mss == 0)
        return;
    out->vnet.hdr_len = s->header;
    if (n == s->frames)
        return;
    out->vnet.gso_type = n > 1 ? s->gso : VIRTIO_NET_HDR_GSO_NONE;
    out->vnet.gso_size = n > 1 ? s->mss : 0;
    tcp = out->header + s->l4;
    patch_ip(s, out->header, first, out->payload_bytes);
    put32(tcp + TCP_SEQ, get32(tcp + TCP_SEQ) + (uint32_t)offset);
    if (!last)
        tcp[TCP_FLAGS] &= (uint8_t) ~(FLAG_FIN | FLAG_PSH);
    if (first > 0)
        tcp[TCP_FLAGS] &= (uint8_t)~FLAG_CWR;
    put16(tcp + TCP_CHECKSUM, pseudo_sum(s, out->header, (uint32_t)(s->header - s->l4 + out->payload_bytes)));
}

void superframe_checksum(struct superframe_cut *cut, const uint8_t *frame)
{
    size_t start = cut->vnet.csum_start, at = start + cut->vnet.csum_offset;
    uint32_t total;

    if (!(cut->vnet.flags & VIRTIO_NET_HDR_F_NEEDS_CSUM) || at + 2 > cut->header_bytes)
        return;
    total = sum(cut->header + start, cut->header_bytes - start, 0);
    if ((cut->header_bytes - start) % 2) { /* the payload starts in the middle of a word */
        uint32_t rest = sum(frame + cut->payload, cut->payload_bytes, 0);

        rest = (rest & 0xff) << 8 | rest >> 8;
        total += rest;
        total = (total & 0xffff) + (total >> 16);
    } else {
        total = sum(frame + cut->payload, cut->payload_bytes, total);
    }
    total = ~total & 0xffff;
    if (total == 0 && cut->vnet.csum_offset == UDP_CHECKSUM) /* 0 says that there is none */
        total = 0xffff;
    put16(cut->header + at, total);
    cut->vnet.flags = 0;
}
