#include "tests/support/hash_frame.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#include "hashes/key.h"

enum { ICMP = 1, TCP = 6, ESP = 50, AH = 51, ICMPV6 = 58, IPV6_FRAGMENT = 44 };

struct writer {
    uint8_t *out;
    size_t length;
};

static void put(struct writer *w, const void *bytes, size_t count)
{
    assert_true(w->length + count <= HASH_FRAME_MAX);
    memcpy(w->out + w->length, bytes, count);
    w->length += count;
}

static void put_number(struct writer *w, uint64_t value, unsigned bytes)
{
    for (unsigned i = bytes; i-- > 0;) {
        const uint8_t byte = (uint8_t)(value >> 8 * i);

        put(w, &byte, 1);
    }
}

static void put_zeros(struct writer *w, size_t count)
{
    static const uint8_t zeros[64];

    for (; count > sizeof zeros; count -= sizeof zeros)
        put(w, zeros, sizeof zeros);
    put(w, zeros, count);
}

static void put_transport(struct writer *w, const struct hash_flow *flow)
{
    if (flow->fragment == HASH_FRAGMENT_LATER) {
        put(w, flow->payload, 4);
        put_zeros(w, 24);
        return;
    }
    if (flow->ah) {
        put_number(w, flow->proto, 1);
        put_number(w, 4, 1); /* 24 bytes */
        put_number(w, 0, 2);
        put_number(w, flow->ah_spi, 4);
        put_number(w, 1, 4);
        put_zeros(w, 12);
    }
    if (hash_proto_has_ports(flow->proto)) {
        put_number(w, flow->sport, 2);
        put_number(w, flow->dport, 2);
    } else if (flow->proto == ICMP || flow->proto == ICMPV6) {
        put_number(w, flow->icmp_type, 1);
        put_number(w, flow->icmp_code, 1);
        put_number(w, 0xc5c5, 2);
        put_number(w, flow->icmp_id, 2);
        put_number(w, 1, 2);
    } else if (flow->proto == ESP) {
        put_number(w, flow->esp_spi, 4);
    }
    put_zeros(w, 24);
}

static void put_ipv4(struct writer *w, const struct hash_flow *flow, unsigned options)
{
    unsigned where = 0;

    if (flow->fragment == HASH_FRAGMENT_FIRST)
        where = 0x2000;
    else if (flow->fragment == HASH_FRAGMENT_LATER)
        where = 185;
    put_number(w, 0x40 + 5 + options / 4, 1);
    put_number(w, 0, 3);
    put(w, flow->fragment_id, 2);
    put_number(w, where, 2);
    put_number(w, 64, 1);
    put_number(w, flow->ah ? AH : flow->proto, 1);
    put_number(w, 0xbeef, 2);
    put(w, flow->src, 4);
    put(w, flow->dst, 4);
    for (unsigned i = 0; i < options; i++)
        put_number(w, 1, 1);
}

static void put_ipv6(struct writer *w, const struct hash_flow *flow, unsigned options)
{
    const uint8_t transport = flow->ah ? AH : flow->proto;
    const uint8_t behind = flow->fragment == HASH_FRAGMENT_NONE ? transport : IPV6_FRAGMENT;

    put_number(w, 0x60000000u | flow->flow_label, 4);
    put_number(w, 100, 2);
    put_number(w, options ? 0 : behind, 1);
    put_number(w, 64, 1);
    put(w, flow->src, 16);
    put(w, flow->dst, 16);
    if (options) {
        put_number(w, behind, 1);
        put_number(w, options / 8 - 1, 1);
        put_number(w, 1, 1);
        put_number(w, options - 4, 1);
        put_zeros(w, options - 4);
    }
    if (behind == IPV6_FRAGMENT) {
        put_number(w, transport, 1);
        put_number(w, 0, 1);
        put_number(w, flow->fragment == HASH_FRAGMENT_FIRST ? 1 : 1480, 2);
        put(w, flow->fragment_id, 4);
    }
}

size_t hash_frame_build(const struct hash_flow *flow, unsigned options, uint8_t out[HASH_FRAME_MAX])
{
    struct writer w = {out, 0};
    uint16_t ethertype = flow->ethertype;

    memset(out, 0, HASH_FRAME_MAX);
    if (ethertype == 0 && flow->ip_version)
        ethertype = flow->ip_version == 4 ? 0x0800 : 0x86dd;
    put(&w, flow->dmac, 6);
    put(&w, flow->smac, 6);
    if (flow->tag == HASH_TAG_INLINE) {
        put_number(&w, 0x8100, 2);
        put_number(&w, flow->tci, 2);
    }
    put_number(&w, ethertype, 2);
    if (flow->ip_version == 4)
        put_ipv4(&w, flow, options);
    else if (flow->ip_version == 6)
        put_ipv6(&w, flow, options);
    if (flow->ip_version)
        put_transport(&w, flow);
    return w.length;
}

size_t hash_frame_build_arp(const struct hash_arp *arp, uint8_t out[HASH_FRAME_MAX])
{
    struct writer w = {out, 0};

    memset(out, 0, HASH_FRAME_MAX);
    put(&w, arp->dmac, 6);
    put(&w, arp->smac, 6);
    put_number(&w, 0x0806, 2);
    put_number(&w, 0x0001080006040000u | arp->op, 8);
    put(&w, arp->sender_mac, 6);
    put(&w, arp->sender_ip, 4);
    put(&w, arp->target_mac, 6);
    put(&w, arp->target_ip, 4);
    put_zeros(&w, 18);
    return w.length;
}

int32_t hash_frame_tci(const struct hash_flow *flow)
{
    return flow->tag == HASH_TAG_OFFLOADED ? flow->tci : HASH_NO_TCI;
}

static void same_inner(const struct hash_inner *a, const struct hash_inner *b)
{
    assert_int_equal(a->ip_version, b->ip_version);
    assert_int_equal(a->proto, b->proto);
    assert_memory_equal(a->src, b->src, sizeof a->src);
    assert_memory_equal(a->dst, b->dst, sizeof a->dst);
    assert_memory_equal(a->word, b->word, sizeof a->word);
}

void hash_frame_assert_same_key(const struct hash_key *a, const struct hash_key *b)
{
    assert_memory_equal(a->dmac, b->dmac, sizeof a->dmac);
    assert_memory_equal(a->smac, b->smac, sizeof a->smac);
    assert_int_equal(a->wire_ethertype, b->wire_ethertype);
    assert_int_equal(a->ethertype, b->ethertype);
    assert_int_equal(a->tag, b->tag);
    assert_int_equal(a->inline_tags, b->inline_tags);
    assert_int_equal(a->tci, b->tci);
    assert_int_equal(a->inline_tci, b->inline_tci);
    assert_int_equal(a->ip_version, b->ip_version);
    assert_memory_equal(a->src, b->src, sizeof a->src);
    assert_memory_equal(a->dst, b->dst, sizeof a->dst);
    assert_int_equal(a->next_header, b->next_header);
    assert_int_equal(a->proto, b->proto);
    assert_int_equal(a->fragment, b->fragment);
    assert_memory_equal(a->fragment_id, b->fragment_id, sizeof a->fragment_id);
    assert_int_equal(a->has_ports, b->has_ports);
    assert_int_equal(a->has_icmp, b->has_icmp);
    assert_int_equal(a->has_ah, b->has_ah);
    assert_int_equal(a->sport, b->sport);
    assert_int_equal(a->dport, b->dport);
    assert_memory_equal(a->l4, b->l4, sizeof a->l4);
    assert_int_equal(a->l4_bytes, b->l4_bytes);
    assert_int_equal(a->icmp_type, b->icmp_type);
    assert_int_equal(a->icmp_code, b->icmp_code);
    assert_int_equal(a->icmp_id, b->icmp_id);
    assert_int_equal(a->arp_op, b->arp_op);
    assert_int_equal(a->ah_spi, b->ah_spi);
    assert_int_equal(a->flow_label, b->flow_label);
    assert_int_equal(a->window_bytes, b->window_bytes);
    assert_memory_equal(a->window, b->window, sizeof a->window);
    assert_int_equal(a->walk, b->walk);
    same_inner(&a->tunnel, &b->tunnel);
    same_inner(&a->quoted, &b->quoted);
}
