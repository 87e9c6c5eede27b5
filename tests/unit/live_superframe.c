/* needs: full. Super-frames against the frames that they stand for, made one by one. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "emu/live/superframe.h"
#include "emu/model/random.h"
#include "tests/support/seed.h"

enum { ETHERNET = 14, FIN = 1, PSH = 8, ACK = 16, CWR = 128 };

static uint8_t super[SUPERFRAME_MAX];

struct made {
    struct virtio_net_hdr vnet;
    size_t length, l4, header, mss;
    bool v6;
};

static uint32_t get16(const uint8_t *p) { return (uint32_t)p[0] << 8 | p[1]; }
static uint32_t get32(const uint8_t *p) { return get16(p) << 16 | get16(p + 2); }
static void put16(uint8_t *p, size_t v)
{
    p[0] = (uint8_t)(v >> 8);
    p[1] = (uint8_t)v;
}

/* The Internet checksum as RFC 1071 says it, byte by byte. */
static uint32_t fold(uint32_t sum)
{
    while (sum >> 16)
        sum = (sum & 0xffff) + (sum >> 16);
    return sum;
}

static uint32_t add(uint32_t sum, const uint8_t *p, size_t n)
{
    for (size_t i = 0; i < n; i++)
        sum = fold(sum + (i % 2 ? p[i] : (uint32_t)p[i] << 8));
    return sum;
}

static uint32_t pseudo(const uint8_t *frame, bool v6, size_t segment)
{
    uint32_t sum = 6 + (uint32_t)segment;

    return v6 ? add(fold(sum), frame + 14 + 8, 32) : add(fold(sum), frame + 14 + 12, 8);
}

/* As a kernel hands it over: the checksum field holds the sum of the pseudo-header. */
static void make(struct made *m, struct random *r, size_t payload, size_t mss, uint8_t flags)
{
    size_t options = random_below(r, 11) * 4, ip_options = 0;
    uint8_t *ip = super + ETHERNET;

    m->v6 = random_below(r, 2);
    if (!m->v6)
        ip_options = random_below(r, 3) * 4;
    m->l4 = ETHERNET + (m->v6 ? 40 : 20 + ip_options);
    m->header = m->l4 + 20 + options;
    m->mss = mss;
    m->length = m->header + payload;
    for (size_t i = 0; i < m->length; i++)
        super[i] = (uint8_t)random_next(r);
    put16(super + 12, m->v6 ? 0x86dd : 0x0800);
    if (m->v6) {
        ip[0] = 0x60;
        put16(ip + 4, m->length - ETHERNET - 40);
        ip[6] = 6;
    } else {
        ip[0] = (uint8_t)(0x40 | (20 + ip_options) / 4);
        put16(ip + 2, m->length - ETHERNET);
        ip[9] = 6;
        put16(ip + 10, 0);
        put16(ip + 10, ~add(0, ip, 20 + ip_options) & 0xffff);
    }
    super[m->l4 + 12] = (uint8_t)((20 + options) / 4 << 4);
    super[m->l4 + 13] = flags;
    put16(super + m->l4 + 16, pseudo(super, m->v6, m->length - m->l4));
    m->vnet = (struct virtio_net_hdr){
        .flags = VIRTIO_NET_HDR_F_NEEDS_CSUM,
        .gso_type = m->v6 ? VIRTIO_NET_HDR_GSO_TCPV6 : VIRTIO_NET_HDR_GSO_TCPV4,
        .hdr_len = 7, /* nothing may rest on it */
        .gso_size = (uint16_t)mss,
        .csum_start = (uint16_t)m->l4,
        .csum_offset = 16,
    };
}

/* Real frame i, checked field by field. */
static void check_frame(const struct made *m, const struct superframe_cut *cut, size_t i, size_t frames)
{
    static uint8_t frame[SUPERFRAME_MAX];
    size_t offset = i * m->mss, rest = m->length - m->header - offset, payload = rest < m->mss ? rest : m->mss;
    size_t length = m->header + payload;
    const uint8_t *ip = frame + ETHERNET, *tcp = frame + m->l4;
    uint8_t flags = super[m->l4 + 13];

    assert_int_equal(cut->header_bytes, m->header);
    assert_int_equal(cut->payload_bytes, payload);
    memcpy(frame, cut->header, m->header);
    memcpy(frame + m->header, super + cut->payload, payload);
    assert_memory_equal(frame + m->header, super + m->header + offset, payload);
    if (m->v6) {
        assert_int_equal(get16(ip + 4), length - ETHERNET - 40);
    } else {
        assert_int_equal(get16(ip + 2), length - ETHERNET);
        assert_int_equal(get16(ip + 4), (get16(super + ETHERNET + 4) + i) & 0xffff);
        assert_int_equal(add(0, ip, m->l4 - ETHERNET), 0xffff);
    }
    assert_int_equal(get32(tcp + 4), (uint32_t)(get32(super + m->l4 + 4) + offset));
    if (i + 1 < frames)
        flags &= (uint8_t) ~(FIN | PSH);
    if (i > 0)
        flags &= (uint8_t)~CWR;
    assert_int_equal(tcp[13], flags);
    assert_int_equal(add(pseudo(frame, m->v6, length - m->l4), tcp, length - m->l4), 0xffff);
}

static void each_frame_is_what_hardware_would_send(void **state)
{
    struct random r = random_stream(test_seed(), "super-frames");

    (void)state;
    for (int round = 0; round < 2000; round++) {
        size_t mss = 1 + random_below(&r, round % 2 ? 9000 : 200), payload = 1 + random_below(&r, 30 * mss);
        struct superframe s;
        struct made m;

        if (payload > 65000)
            payload = 65000;
        make(&m, &r, payload, mss, (uint8_t)random_next(&r));
        assert_true(superframe_parse(&s, &m.vnet, super, m.length));
        assert_int_equal(s.frames, (payload + mss - 1) / mss);
        for (uint32_t i = 0; i < s.frames; i++) {
            struct superframe_cut cut;

            superframe_cut(&s, super, i, 1, &cut);
            if (s.frames > 1)
                assert_int_equal(cut.vnet.gso_type, VIRTIO_NET_HDR_GSO_NONE);
            superframe_checksum(&cut, super);
            check_frame(&m, &cut, i, s.frames);
        }
    }
}

static size_t join(const struct superframe_cut *cut, const uint8_t *frame, uint8_t *out)
{
    memcpy(out, cut->header, cut->header_bytes);
    memcpy(out + cut->header_bytes, frame + cut->payload, cut->payload_bytes);
    return cut->header_bytes + cut->payload_bytes;
}

/* A piece is a super-frame again, and its frames are those of the whole. */
static void pieces_stand_for_the_same_frames(void **state)
{
    static uint8_t piece[SUPERFRAME_MAX], bytes[SUPERFRAME_MAX], more[SUPERFRAME_MAX];
    struct random r = random_stream(test_seed(), "super-frames");

    (void)state;
    for (int round = 0; round < 1000; round++) {
        size_t mss = 1 + random_below(&r, 1460);
        struct superframe whole, part;
        struct superframe_cut cut, one, same;
        struct made m;
        uint32_t first, n;
        size_t length;

        make(&m, &r, 1 + random_below(&r, 40 * mss), mss, ACK | PSH | FIN);
        assert_true(superframe_parse(&whole, &m.vnet, super, m.length));
        first = (uint32_t)random_below(&r, whole.frames);
        n = 1 + (uint32_t)random_below(&r, whole.frames - first);
        superframe_cut(&whole, super, first, n, &cut);
        assert_true(superframe_parse(&part, &cut.vnet, piece, join(&cut, super, piece)));
        assert_int_equal(part.frames, n);
        for (uint32_t i = 0; i < n; i++) {
            superframe_cut(&part, piece, i, 1, &one);
            superframe_checksum(&one, piece);
            superframe_cut(&whole, super, first + i, 1, &same);
            superframe_checksum(&same, super);
            /* A single one keeps its header up to the open checksum only: whole frames are compared. */
            length = join(&one, piece, bytes);
            assert_int_equal(join(&same, super, more), length);
            assert_memory_equal(bytes, more, length);
        }
    }
}

static void sizes_are_those_on_the_wire(void **state)
{
    struct random r = random_stream(1, "super-frame");
    struct superframe s;
    struct made m;

    (void)state;
    make(&m, &r, 65000, 1448, ACK);
    assert_true(superframe_parse(&s, &m.vnet, super, m.length));
    assert_int_equal(superframe_frame_bytes(&s), m.header + 1448);
    assert_int_equal(superframe_last_bytes(&s), m.header + 65000 % 1448);
    /* An acknowledgement is padded to the smallest frame. */
    m.vnet = (struct virtio_net_hdr){.gso_type = VIRTIO_NET_HDR_GSO_NONE};
    assert_true(superframe_parse(&s, &m.vnet, super, 54));
    assert_int_equal(s.frames, 1);
    assert_int_equal(superframe_frame_bytes(&s), 60);
    assert_int_equal(superframe_last_bytes(&s), 60);
}

static void what_no_card_would_send_is_refused(void **state)
{
    struct random r = random_stream(1, "super-frame");
    struct superframe s;
    struct made good, bad;

    (void)state;
    make(&good, &r, 20000, 1448, ACK);
    assert_true(superframe_parse(&s, &good.vnet, super, good.length));
    assert_false(superframe_parse(&s, &good.vnet, super, good.header)); /* no payload */
    assert_false(superframe_parse(&s, &good.vnet, super, 13));
    bad = good;
    bad.vnet.gso_size = 0;
    assert_false(superframe_parse(&s, &bad.vnet, super, good.length));
    bad = good;
    bad.vnet.gso_type = VIRTIO_NET_HDR_GSO_UDP;
    assert_false(superframe_parse(&s, &bad.vnet, super, good.length));
    bad = good;
    bad.vnet.csum_start++;
    assert_false(superframe_parse(&s, &bad.vnet, super, good.length));
    bad = good;
    bad.vnet.gso_type = good.v6 ? VIRTIO_NET_HDR_GSO_TCPV4 : VIRTIO_NET_HDR_GSO_TCPV6;
    assert_false(superframe_parse(&s, &bad.vnet, super, good.length));
    /* A single frame whose checksum would lie outside. */
    bad.vnet = (struct virtio_net_hdr){.flags = VIRTIO_NET_HDR_F_NEEDS_CSUM, .csum_start = 90, .csum_offset = 16};
    assert_false(superframe_parse(&s, &bad.vnet, super, 100));
    assert_true(superframe_parse(&s, &bad.vnet, super, 108));
}

/* A UDP checksum of 0 says that there is none, so the sum 0 is written as 0xffff. */
static void udp_sum_of_zero(void **state)
{
    uint8_t frame[60] = {0};
    struct virtio_net_hdr vnet = {.flags = VIRTIO_NET_HDR_F_NEEDS_CSUM, .csum_start = 34, .csum_offset = 6};
    struct superframe_cut cut;
    struct superframe s;

    (void)state;
    put16(frame + 40, 0xffff);
    assert_true(superframe_parse(&s, &vnet, frame, sizeof frame));
    superframe_cut(&s, frame, 0, 1, &cut);
    superframe_checksum(&cut, frame);
    assert_int_equal(get16(cut.header + 40), 0xffff);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_frame_is_what_hardware_would_send),
        cmocka_unit_test(pieces_stand_for_the_same_frames),
        cmocka_unit_test(sizes_are_those_on_the_wire),
        cmocka_unit_test(what_no_card_would_send_is_refused),
        cmocka_unit_test(udp_sum_of_zero),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
