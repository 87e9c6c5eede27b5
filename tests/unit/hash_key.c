/* The key: what the parser sees in frames of every kind, and that nothing cut or hostile takes it past the end. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "hashes/key.h"
#include "tests/support/hash_frame.h"
#include "tests/support/hash_random.h"
#include "tests/support/hash_text.h"

static struct hash_flow flow_of(const char *text)
{
    struct hash_flow flow;

    assert_true(hash_text_flow(text, &flow));
    return flow;
}

/* Parsed from a copy of exactly its length, so that a sanitizer sees every step too far. */
static struct hash_key parse(const uint8_t *frame, size_t length, int32_t tci)
{
    uint8_t *copy = malloc(length ? length : 1);
    struct hash_key key;

    assert_non_null(copy);
    memcpy(copy, frame, length);
    assert_int_equal(hash_key_from_frame(&key, copy, length, tci), length >= 14);
    free(copy);
    return key;
}

static struct hash_key key_of(const char *text, unsigned options)
{
    const struct hash_flow flow = flow_of(text);
    uint8_t frame[HASH_FRAME_MAX];
    const size_t length = hash_frame_build(&flow, options, frame);

    return parse(frame, length, hash_frame_tci(&flow));
}

static void test_access_is_bounded(void **state)
{
    static const uint8_t frame[10];

    (void)state;
    assert_ptr_equal(hash_frame_at(frame, 10, 0, 10), frame);
    assert_ptr_equal(hash_frame_at(frame, 10, 9, 1), frame + 9);
    assert_ptr_equal(hash_frame_at(frame, 10, 10, 0), frame + 10);
    assert_null(hash_frame_at(frame, 10, 0, 11));
    assert_null(hash_frame_at(frame, 10, 10, 1));
    assert_null(hash_frame_at(frame, 10, 11, 0));
    assert_null(hash_frame_at(frame, 10, SIZE_MAX, 2));
    assert_null(hash_frame_at(frame, 10, 2, SIZE_MAX));
}

/* A flow and the frame of that flow give the same key, whatever the flow. */
static void test_flow_equals_frame(void **state)
{
    struct hash_random random = {4711};
    uint8_t frame[HASH_FRAME_MAX];

    (void)state;
    for (int i = 0; i < 20000; i++) {
        struct hash_key from_flow, from_frame;
        struct hash_flow flow;
        size_t length;

        hash_random_flow(&random, &flow);
        if (!flow.ip_version)
            continue;
        hash_key_flow(&from_flow, &flow);
        length = hash_frame_build(&flow, 0, frame);
        assert_true(hash_key_from_frame(&from_frame, frame, length, hash_frame_tci(&flow)));
        hash_frame_assert_same_key(&from_flow, &from_frame);
    }
}

static void test_arp_equals_frame(void **state)
{
    const struct hash_arp arp = {.smac = {0, 0x50, 0x56, 0x6a, 0x11, 1},
                                 .dmac = {0xff, 0xff, 0xff, 0xff, 0xff, 0xff},
                                 .op = 1,
                                 .sender_mac = {0, 0x50, 0x56, 0x6a, 0x11, 1},
                                 .sender_ip = {10, 0, 0, 10},
                                 .target_ip = {10, 0, 0, 20}};
    struct hash_key from_arp, from_frame;
    uint8_t frame[HASH_FRAME_MAX];
    const size_t length = hash_frame_build_arp(&arp, frame);

    (void)state;
    hash_key_arp(&from_arp, &arp);
    from_frame = parse(frame, length, HASH_NO_TCI);
    hash_frame_assert_same_key(&from_arp, &from_frame);
    assert_int_equal(from_frame.arp_op, 1);
    assert_int_equal(from_frame.ip_version, 0);
    frame[15] = 6; /* not Ethernet: no ARP for us */
    assert_int_equal(parse(frame, length, HASH_NO_TCI).arp_op, 0);
}

/* IPv4 options and IPv6 extension headers move the transport and hide nothing. */
static void test_options(void **state)
{
    static const char *const flows[] = {"@P1", "@P6", "@P7"};

    (void)state;
    for (unsigned i = 0; i < 3; i++) {
        const struct hash_key plain = key_of(flows[i], 0);
        const struct hash_key more = key_of(flows[i], 16);

        assert_int_equal(more.proto, plain.proto);
        assert_int_equal(more.sport, plain.sport);
        assert_int_equal(more.dport, plain.dport);
        assert_true(more.has_ports);
        assert_memory_equal(more.src, plain.src, 16);
    }
    assert_int_equal(key_of("@P7", 16).next_header, 0); /* hop-by-hop */
}

static void test_tags(void **state)
{
    const struct hash_flow flow = flow_of("@P1 tag=inline vlan=0x6064");
    uint8_t frame[HASH_FRAME_MAX];
    static const uint8_t provider[] = {0x88, 0xa8, 0x20, 0x07};
    size_t length = hash_frame_build(&flow, 0, frame);
    struct hash_key key = parse(frame, length, HASH_NO_TCI);

    (void)state;
    assert_int_equal(key.tag, HASH_TAG_INLINE);
    assert_int_equal(key.tci, 0x6064);
    assert_int_equal(key.wire_ethertype, 0x8100);
    assert_int_equal(key.ethertype, 0x0800);
    assert_int_equal(key.sport, 800);

    /* The NIC took one tag off: it is the outer one. */
    key = parse(frame, length, 0x0123);
    assert_int_equal(key.tag, HASH_TAG_OFFLOADED);
    assert_int_equal(key.tci, 0x0123);
    assert_int_equal(key.inline_tci, 0x6064);

    memmove(frame + 16, frame + 12, length - 12);
    memcpy(frame + 12, provider, sizeof provider);
    length += sizeof provider;
    key = parse(frame, length, HASH_NO_TCI);
    assert_int_equal(key.inline_tags, 2);
    assert_int_equal(key.tci, 0x2007);
    assert_int_equal(key.wire_ethertype, 0x88a8);
    assert_int_equal(key.dport, 2049);

    /* Cut in the second tag: the outer one is known, the packet is not. */
    key = parse(frame, 20, HASH_NO_TCI);
    assert_int_equal(key.inline_tags, 1);
    assert_int_equal(key.ethertype, 0x8100);
    assert_int_equal(key.ip_version, 0);
}

static void test_fragments(void **state)
{
    struct hash_key key = key_of("@P6 fragment=first id=beef", 0);

    (void)state;
    assert_int_equal(key.fragment, HASH_FRAGMENT_FIRST);
    assert_true(key.has_ports);
    assert_int_equal(key.fragment_id[0], 0xbe);

    key = key_of("@P6 fragment=later id=beef payload=11223344", 0);
    assert_int_equal(key.fragment, HASH_FRAGMENT_LATER);
    assert_false(key.has_ports);
    assert_int_equal(key.sport, 0);
    assert_int_equal(key.l4[3], 0x44); /* payload where the ports would be */

    key = key_of("@P7 fragment=later id=01020304 payload=11223344", 8);
    assert_int_equal(key.fragment, HASH_FRAGMENT_LATER);
    assert_int_equal(key.proto, 6);
    assert_false(key.has_ports);
    assert_int_equal(key.fragment_id[3], 4);
}

static void test_icmp(void **state)
{
    const struct hash_key echo = key_of("@P1 proto=1 icmp=8/0/0x1234", 0);

    (void)state;
    assert_true(echo.has_icmp);
    assert_int_equal(echo.icmp_id, 0x1234);
    assert_false(echo.has_ports);
    assert_int_equal(echo.l4[2], 0); /* the checksum is no part of a flow */
}

/* IP in IP, and an ICMP error: the packet inside is found, the outer one stays what it is. */
static void test_inner_packets(void **state)
{
    const struct hash_flow inner = flow_of("src=10.9.9.1 dst=10.9.9.2 proto=17 sport=7 dport=9");
    const struct hash_flow tunnel = flow_of("@P1 proto=4");
    const struct hash_flow error = flow_of("@P1 proto=1 icmp=3/1/0");
    uint8_t frame[HASH_FRAME_MAX], packet[HASH_FRAME_MAX];
    const size_t size = hash_frame_build(&inner, 0, packet) - 14;
    struct hash_key key;

    (void)state;
    hash_frame_build(&tunnel, 0, frame);
    memcpy(frame + 34, packet + 14, size);
    key = parse(frame, 34 + size, HASH_NO_TCI);
    assert_int_equal(key.walk, HASH_WALK_FOLLOWED);
    assert_int_equal(key.tunnel.ip_version, 4);
    assert_memory_equal(key.tunnel.src, inner.src, 4);
    assert_int_equal(key.tunnel.word[3], 9);
    assert_memory_equal(key.src, tunnel.src, 4);
    assert_int_equal(parse(frame, 34 + 19, HASH_NO_TCI).walk, HASH_WALK_BROKEN);

    hash_frame_build(&error, 0, frame);
    memcpy(frame + 42, packet + 14, size);
    key = parse(frame, 42 + size, HASH_NO_TCI);
    assert_int_equal(key.quoted.ip_version, 4);
    assert_memory_equal(key.quoted.dst, inner.dst, 4);
    assert_int_equal(key.quoted.word[1], 7);
    assert_int_equal(parse(frame, 42 + 19, HASH_NO_TCI).quoted.ip_version, 0);
}

/* Every length of many frames: nothing is read past the end, no field appears that the whole frame does not have. */
static void test_cut_frames(void **state)
{
    struct hash_random random = {99};
    uint8_t frame[HASH_FRAME_MAX];

    (void)state;
    for (int i = 0; i < 300; i++) {
        int32_t tci;
        const size_t length = hash_random_frame(&random, frame, &tci);
        struct hash_key whole;

        if (length < 14)
            continue;
        whole = parse(frame, length, tci);
        for (size_t cut = 0; cut < length; cut++) {
            const struct hash_key key = parse(frame, cut, tci);

            if (key.ip_version) {
                assert_int_equal(key.ip_version, whole.ip_version);
                assert_memory_equal(key.src, whole.src, 16);
            }
            if (key.has_ports)
                assert_int_equal(key.sport, whole.sport);
            if (cut < 14)
                assert_int_equal(key.wire_ethertype, 0);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_access_is_bounded),
        cmocka_unit_test(test_flow_equals_frame),
        cmocka_unit_test(test_arp_equals_frame),
        cmocka_unit_test(test_options),
        cmocka_unit_test(test_tags),
        cmocka_unit_test(test_fragments),
        cmocka_unit_test(test_icmp),
        cmocka_unit_test(test_inner_packets),
        cmocka_unit_test(test_cut_frames),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
