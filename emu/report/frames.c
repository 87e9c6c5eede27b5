#include "emu/report/frames.h"

#include <string.h>

#include "emu/fabric/discovery.h"

enum {
    ETHERTYPE_IPV4 = 0x0800,
    ETHERTYPE_ARP = 0x0806,
    ETHERTYPE_RARP = 0x8035,
    ETHERTYPE_VLAN = 0x8100,
    ETHERTYPE_IPV6 = 0x86DD,
    ETHERTYPE_BEACON = 0x8922,   /* VMware's beacon probing */
    ETHERTYPE_LOOPBACK = 0x9000, /* learning frames of balance-alb */
    IPPROTO_TCP_NUMBER = 6,
    HEADER_TCP = 20,
    WINDOW_SCALE = 8, /* offered in every SYN: windows up to 16 MB */
};

/* Bytes are appended; what goes beyond the end of the snapshot is counted only.
 */
struct writer {
    uint8_t *bytes;
    uint32_t at;
};

static void put8(struct writer *w, uint8_t value)
{
    if (w->at < FRAME_SNAP)
        w->bytes[w->at] = value;
    w->at++;
}

static void put16(struct writer *w, uint16_t value)
{
    put8(w, (uint8_t)(value >> 8));
    put8(w, (uint8_t)value);
}

static void put32(struct writer *w, uint32_t value)
{
    put16(w, (uint16_t)(value >> 16));
    put16(w, (uint16_t)value);
}

static void put_bytes(struct writer *w, const uint8_t *bytes, size_t n)
{
    while (n--)
        put8(w, *bytes++);
}

static void set16(uint8_t *at, uint16_t value)
{
    at[0] = (uint8_t)(value >> 8);
    at[1] = (uint8_t)value;
}

/* RFC 1071, over an even number of bytes. */
static uint32_t sum_words(uint32_t sum, const uint8_t *bytes, size_t n)
{
    for (size_t i = 0; i < n; i += 2)
        sum += (uint32_t)(bytes[i] << 8 | bytes[i + 1]);
    return sum;
}

static uint16_t checksum(uint32_t sum)
{
    while (sum >> 16)
        sum = (sum & 0xFFFF) + (sum >> 16);
    return (uint16_t)~sum;
}

void frames_of(struct frames *f, const struct train *t)
{
    *f = (struct frames){.train = *t};
    f->train.flow = NULL;
    f->train.next = NULL;
    if (t->kind == TRAIN_DATA && t->flow) {
        const struct hash_key *key = &t->flow->key;
        f->ip_version = key->ip_version;
        memcpy(f->src, key->src, sizeof f->src);
        memcpy(f->dst, key->dst, sizeof f->dst);
        f->sport = key->sport;
        f->dport = key->dport;
    }
}

static bool own_address(const struct train *t) { return !memcmp(t->src, t->dst, sizeof t->src); }

static uint16_t ethertype(const struct frames *f)
{
    switch ((enum train_kind)f->train.kind) {
    case TRAIN_DATA:
        return f->ip_version == 6 ? ETHERTYPE_IPV6 : ETHERTYPE_IPV4;
    case TRAIN_ARP:
        return f->train.u.arp.version == 6 ? ETHERTYPE_IPV6 : ETHERTYPE_ARP;
    case TRAIN_NOTIFY: /* a NIC that teaches a switch its own address sends to
                        itself, a vSwitch to all */
        return own_address(&f->train) ? ETHERTYPE_LOOPBACK : ETHERTYPE_RARP;
    case TRAIN_BEACON:
    case TRAIN_KIND_COUNT:
        break;
    }
    return ETHERTYPE_BEACON;
}

static void put_ethernet(struct writer *w, const struct frames *f)
{
    put_bytes(w, f->train.dst, 6);
    put_bytes(w, f->train.src, 6);
    if (f->train.tagged) {
        put16(w, ETHERTYPE_VLAN);
        put16(w, f->train.vlan & 0xFFF);
    }
    put16(w, ethertype(f));
}

static void put_discovery(struct writer *w, const struct frames *f)
{
    uint8_t packet[DISCOVERY_PACKET];
    discovery_put(&f->train.u.arp, train_group_mac(f->train.dst), packet);
    put_bytes(w, packet, sizeof packet);
}

static void put_arp(struct writer *w, const struct train_arp *arp)
{
    put16(w, 1); /* Ethernet */
    put16(w, ETHERTYPE_IPV4);
    put8(w, 6);
    put8(w, 4);
    put16(w, arp->reply ? 2 : 1);
    put_bytes(w, arp->sender_mac, 6);
    put_bytes(w, arp->sender_ip, 4);
    put_bytes(w, arp->target_mac, 6);
    put_bytes(w, arp->target_ip, 4);
}

/* A reverse ARP request for one's own address, as ESXi sends to move a MAC
 * (VMware KB 1556). */
static void put_rarp(struct writer *w, const uint8_t mac[6])
{
    static const uint8_t nobody[4] = {0};
    put16(w, 1);
    put16(w, ETHERTYPE_IPV4);
    put8(w, 6);
    put8(w, 4);
    put16(w, 3);
    for (int i = 0; i < 2; i++) {
        put_bytes(w, mac, 6);
        put_bytes(w, nobody, 4);
    }
}

/* Skip count 0, then the reply function with a receipt number (Ethernet version
 * 2, configuration testing). */
static void put_loopback(struct writer *w)
{
    put8(w, 0);
    put8(w, 0);
    put8(w, 1);
    put8(w, 0);
    put16(w, 0);
}

static uint8_t tcp_flags(uint8_t flags, bool last)
{
    uint8_t bits = 0;
    if (flags & TRAIN_SYN)
        bits |= 0x02;
    if (flags & TRAIN_ACK)
        bits |= 0x10;
    if (flags & TRAIN_RST)
        bits |= 0x04;
    if (flags & TRAIN_FIN && last)
        bits |= 0x01;
    if (flags & TRAIN_PSH && last)
        bits |= 0x08;
    return bits;
}

/* Milliseconds, as most systems count. */
static void put_timestamps(struct writer *w, const struct train_tcp *tcp)
{
    put8(w, 8);
    put8(w, 10);
    put32(w, (uint32_t)(tcp->tsval / PS_PER_MS));
    put32(w, tcp->tsecr > 0 ? (uint32_t)(tcp->tsecr / PS_PER_MS) : 0);
}

/* Options into exactly `room` bytes: what the train has and there is room for,
 * then NOPs. */
static void put_options(struct writer *w, const struct train_tcp *tcp, uint32_t room)
{
    uint32_t end = w->at + room;
    bool timestamps = tcp->tsval >= 0;
    if (tcp->flags & TRAIN_SYN && room >= 10) {
        put8(w, 2);
        put8(w, 4);
        put16(w, (uint16_t)tcp->mss);
        put16(w, 0x0402); /* SACK permitted */
        put8(w, 3);
        put8(w, 3);
        put8(w, WINDOW_SCALE);
        put8(w, 1);
    } else if (timestamps && room >= 12) {
        put16(w, 0x0101);
    }
    if (timestamps && end - w->at >= 10)
        put_timestamps(w, tcp);
    if (tcp->n_sack && !(tcp->flags & TRAIN_SYN) && end - w->at >= 4 + 8 * (uint32_t)tcp->n_sack) {
        put16(w, 0x0101);
        put8(w, 5);
        put8(w, (uint8_t)(2 + 8 * tcp->n_sack));
        for (int i = 0; i < tcp->n_sack; i++) {
            put32(w, (uint32_t)tcp->sack[i].from);
            put32(w, (uint32_t)tcp->sack[i].to);
        }
    }
    while (w->at < end)
        put8(w, 1);
}

/* IP header for `payload` bytes of TCP with header; returns the sum of the
 * pseudo header. */
static uint32_t put_ip(struct writer *w, const struct frames *f, uint32_t payload, uint16_t ip_id)
{
    size_t bytes = f->ip_version == 6 ? 16 : 4;
    if (f->ip_version == 6) {
        put32(w, 0x60000000);
        put16(w, (uint16_t)payload);
        put8(w, IPPROTO_TCP_NUMBER);
        put8(w, 64);
        put_bytes(w, f->src, 16);
        put_bytes(w, f->dst, 16);
    } else {
        uint8_t *header = w->bytes + w->at;
        put16(w, 0x4500);
        put16(w, (uint16_t)(20 + payload));
        put16(w, ip_id);
        put16(w, 0x4000); /* don't fragment */
        put8(w, 64);
        put8(w, IPPROTO_TCP_NUMBER);
        put16(w, 0);
        put_bytes(w, f->src, 4);
        put_bytes(w, f->dst, 4);
        set16(header + 10, checksum(sum_words(0, header, 20)));
    }
    return sum_words(sum_words(IPPROTO_TCP_NUMBER + payload, f->src, bytes), f->dst, bytes);
}

static void put_tcp(struct writer *w, const struct frames *f, uint32_t i, uint32_t length, uint16_t ip_id)
{
    const struct train_tcp *tcp = &f->train.u.tcp;
    bool last = i + 1 == f->train.frames;
    uint32_t payload = f->train.frames == 1 ? tcp->length : last ? tcp->length - i * tcp->mss : tcp->mss;
    uint32_t fixed = w->at + (f->ip_version == 6 ? 40 : 20) + HEADER_TCP + payload;
    uint32_t options = length > fixed ? (length - fixed) & ~UINT32_C(3) : 0;
    if (options > 40 || (options < 12 && !payload)) /* what is left of a short frame is padding of Ethernet's */
        options = 0;
    uint32_t sum = put_ip(w, f, HEADER_TCP + options + payload, ip_id);
    uint8_t *header = w->bytes + w->at;
    uint32_t window = tcp->flags & TRAIN_SYN ? tcp->window : tcp->window >> WINDOW_SCALE;
    put16(w, f->sport);
    put16(w, f->dport);
    put32(w, (uint32_t)(tcp->seq + (uint64_t)i * tcp->mss));
    put32(w, tcp->flags & TRAIN_ACK ? (uint32_t)tcp->ack : 0);
    put8(w, (uint8_t)((HEADER_TCP + options) / 4 << 4));
    put8(w, tcp_flags(tcp->flags, last));
    put16(w, window > 0xFFFF ? 0xFFFF : (uint16_t)window);
    put32(w, 0); /* checksum, urgent pointer */
    put_options(w, tcp, options);
    set16(header + 16, checksum(sum_words(sum, header, HEADER_TCP + options)));
}

void frames_image(const struct frames *f, uint32_t i, uint16_t ip_id, struct frame_image *out)
{
    struct writer w = {.bytes = out->bytes};
    memset(out->bytes, 0, sizeof out->bytes);
    out->length = i + 1 < f->train.frames ? f->train.frame_bytes : f->train.last_bytes;
    out->captured = out->length < FRAME_SNAP ? out->length : FRAME_SNAP;
    put_ethernet(&w, f);
    switch (ethertype(f)) {
    case ETHERTYPE_ARP:
        put_arp(&w, &f->train.u.arp);
        break;
    case ETHERTYPE_RARP:
        put_rarp(&w, f->train.src);
        break;
    case ETHERTYPE_LOOPBACK:
        put_loopback(&w);
        break;
    case ETHERTYPE_IPV4:
    case ETHERTYPE_IPV6:
        if (f->train.kind == TRAIN_ARP)
            put_discovery(&w, f);
        else
            put_tcp(&w, f, i, out->length, ip_id);
        break;
    default:
        break;
    }
}
