/* The twin's own look at a frame: one pass, byte by byte, no code of the library.
 */
#ifndef TESTS_TWIN_HASH_VIEW_H
#define TESTS_TWIN_HASH_VIEW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct view {
    const uint8_t *frame;
    size_t length;
    bool offloaded;
    unsigned offloaded_tci, first_tci;
    uint8_t dmac[6], smac[6];
    unsigned wire_type, type; /* behind the addresses; behind the tags */
    unsigned tags;            /* in the frame */
    size_t l3;
    int version; /* 4, 6, else 0 */
    size_t address;
    uint8_t src[16], dst[16];
    unsigned first_proto, last_proto;
    bool first, later; /* fragment */
    uint8_t id[4];
    uint8_t l4[4]; /* what stands behind all headers, zeros where that is cut */
    bool l4_there, ports, icmp;
    unsigned sport, dport;
    size_t l4_at;
    bool ah;
    size_t ah_at; /* of the first authentication header */
};

/* Where a Linux dissector ends. */
struct view_end {
    uint8_t src[16], dst[16], word[4];
    size_t size;
};

/* 0 past the end. */
static inline uint8_t view_byte(const struct view *v, size_t at) { return at < v->length ? v->frame[at] : 0; }

static inline unsigned view_two(const struct view *v, size_t at)
{
    return view_byte(v, at) * 256u + view_byte(v, at + 1);
}

static inline bool view_has(const struct view *v, size_t end) { return end <= v->length; }

static inline bool view_port_proto(unsigned proto)
{
    return proto == 6 || proto == 17 || proto == 33 || proto == 132 || proto == 136;
}

static inline bool view_echo(unsigned type)
{
    return type == 0 || type == 8 || type == 13 || type == 14 || type == 128 || type == 129;
}

static void view_transport(struct view *v, size_t at, unsigned proto)
{
    while (proto == 51 && !v->later && view_has(v, at + 8)) {
        if (!v->ah)
            v->ah_at = at;
        v->ah = true;
        proto = view_byte(v, at);
        at += ((size_t)view_byte(v, at + 1) + 2) * 4;
    }
    v->last_proto = proto;
    v->l4_at = at;
    v->l4_there = view_has(v, at + 4);
    v->icmp = !v->later && (proto == 1 || proto == 58) && view_has(v, at + 8);
    v->ports = !v->later && view_port_proto(proto) && v->l4_there;
    for (size_t i = 0; i < 4 && v->l4_there; i++)
        v->l4[i] = view_byte(v, at + i);
    if (v->ports) {
        v->sport = view_two(v, at);
        v->dport = view_two(v, at + 2);
    }
}

static void view_ip(struct view *v)
{
    size_t at = v->l3;
    unsigned proto;

    if (v->type == 0x0800 && view_has(v, at + 20) && view_byte(v, at) / 16 == 4 && view_byte(v, at) % 16 >= 5) {
        const unsigned where = view_two(v, at + 6);

        v->version = 4;
        v->address = 4;
        memcpy(v->src, v->frame + at + 12, 4);
        memcpy(v->dst, v->frame + at + 16, 4);
        memcpy(v->id, v->frame + at + 4, 2);
        v->later = where % 8192 != 0;
        v->first = !v->later && where / 8192 % 2;
        v->first_proto = view_byte(v, at + 9);
        view_transport(v, at + (size_t)(view_byte(v, at) % 16) * 4, v->first_proto);
    } else if (v->type == 0x86dd && view_has(v, at + 40) && view_byte(v, at) / 16 == 6) {
        v->version = 6;
        v->address = 16;
        memcpy(v->src, v->frame + at + 8, 16);
        memcpy(v->dst, v->frame + at + 24, 16);
        v->first_proto = proto = view_byte(v, at + 6);
        at += 40;
        for (;;) {
            if ((proto == 0 || proto == 43 || proto == 60) && !v->later && view_has(v, at + 2)) {
                proto = view_byte(v, at);
                at += ((size_t)view_byte(v, at + 1) + 1) * 8;
            } else if (proto == 44 && !v->later && view_has(v, at + 8)) {
                proto = view_byte(v, at);
                v->later = view_two(v, at + 2) / 8 != 0;
                v->first = !v->later;
                memcpy(v->id, v->frame + at + 4, 4);
                at += 8;
            } else {
                break;
            }
        }
        view_transport(v, at, proto);
    }
}

static bool view_open(struct view *v, const uint8_t *frame, size_t length, int32_t tci)
{
    memset(v, 0, sizeof *v);
    v->frame = frame;
    v->length = length;
    if (length < 14)
        return false;
    memcpy(v->dmac, frame, 6);
    memcpy(v->smac, frame + 6, 6);
    v->offloaded = tci >= 0;
    v->offloaded_tci = tci >= 0 ? (unsigned)tci : 0;
    v->wire_type = v->type = view_two(v, 12);
    v->l3 = 14;
    while ((v->type == 0x8100 || v->type == 0x88a8) && view_has(v, v->l3 + 4)) {
        if (v->tags++ == 0)
            v->first_tci = view_two(v, v->l3);
        v->type = view_two(v, v->l3 + 2);
        v->l3 += 4;
    }
    view_ip(v);
    return true;
}

/* The port word that belongs to `proto` at `at`, as Linux fetches it. */
static void view_port_word(const struct view *v, unsigned proto, size_t at, uint8_t word[4])
{
    if (proto == 51)
        at += 4;
    else if (!view_port_proto(proto) && proto != 50)
        return;
    for (size_t i = 0; i < 4 && view_has(v, at + 4); i++)
        word[i] = view_byte(v, at + i);
}

static void view_echo_word(const struct view *v, size_t at, uint8_t word[4])
{
    word[0] = view_byte(v, at);
    word[1] = view_byte(v, at + 1);
    word[2] = view_byte(v, at + 5);
    word[3] = view_byte(v, at + 4);
    if (word[2] == 0 && word[3] == 0)
        word[2] = 1;
}

/* bond_flow_dissect() for the plain policies. */
static bool view_plain(const struct view *v, bool icmp, struct view_end *end)
{
    const size_t behind = v->l3 + (v->version == 4 ? (size_t)(view_byte(v, v->l3) % 16) * 4 : 40u);
    const bool whole = v->version == 6 || (!v->first && !v->later);
    const unsigned proto = v->first_proto, type = view_byte(v, behind);
    bool error;
    size_t at;

    memset(end, 0, sizeof *end);
    if (!v->version || v->tags)
        return false;
    memcpy(end->src, v->src, 16);
    memcpy(end->dst, v->dst, 16);
    end->size = v->address;
    if (!whole)
        return true;
    view_port_word(v, proto, behind, end->word);
    if (!icmp || (proto != 1 && proto != 58) || !view_has(v, behind + 8))
        return true;
    if (view_echo(type)) {
        view_echo_word(v, behind, end->word);
        return true;
    }
    error = proto == 1 ? type == 3 || type == 4 || type == 5 || type == 11 || type == 12 : type >= 1 && type <= 4;
    if (!error)
        return true;
    at = behind + 8;
    if (!view_has(v, at + (v->version == 4 ? 20 : 40)))
        return false;
    memcpy(end->src, v->frame + at + (v->version == 4 ? 12 : 8), v->address);
    memcpy(end->dst, v->frame + at + (v->version == 4 ? 16 : 24), v->address);
    memset(end->word, 0, 4);
    if (v->version == 6)
        view_port_word(v, view_byte(v, at + 6), at + 40, end->word);
    else if (view_two(v, at + 6) % 16384 == 0)
        view_port_word(v, view_byte(v, at + 9), at + (size_t)(view_byte(v, at) % 16) * 4, end->word);
    return true;
}

/* The flow dissector, one function that calls itself for each layer. `ip`: type is an IP protocol inside IP version
 * `version`. */
static bool view_layer(const struct view *v, bool arp, bool icmp, unsigned type, bool ip, int version, size_t at,
                       struct view_end *end)
{
    if (!ip && type == 0x0800) {
        if (!view_has(v, at + 20) || view_byte(v, at) % 16 < 5)
            return false;
        memset(end, 0, sizeof *end);
        end->size = 4;
        memcpy(end->src, v->frame + at + 12, 4);
        memcpy(end->dst, v->frame + at + 16, 4);
        if (view_two(v, at + 6) % 16384 != 0)
            return true;
        return view_layer(v, arp, icmp, view_byte(v, at + 9), true, 4, at + (size_t)(view_byte(v, at) % 16) * 4, end);
    }
    if (!ip && type == 0x86dd) {
        if (!view_has(v, at + 40))
            return false;
        memset(end, 0, sizeof *end);
        end->size = 16;
        memcpy(end->src, v->frame + at + 8, 16);
        memcpy(end->dst, v->frame + at + 24, 16);
        return view_layer(v, arp, icmp, view_byte(v, at + 6), true, 6, at + 40, end);
    }
    if (!ip && (type == 0x8100 || type == 0x88a8))
        return view_has(v, at + 4) && view_layer(v, arp, icmp, view_two(v, at + 2), false, 0, at + 4, end);
    if (!ip)
        return (arp && (type == 0x0806 || type == 0x8035)) || ((type == 0x8847 || type == 0x8848) && arp);
    if (version == 6 && (type == 0 || type == 43 || type == 60))
        return view_has(v, at + 2) &&
               view_layer(v, arp, icmp, view_byte(v, at), true, 6, at + ((size_t)view_byte(v, at + 1) + 1) * 8, end);
    if (version == 6 && type == 44)
        return view_has(v, at + 8);
    if (type == 4 || type == 41)
        return view_layer(v, arp, icmp, type == 4 ? 0x0800 : 0x86dd, false, 0, at, end);
    if (type == 47) {
        const unsigned flags = view_two(v, at);
        size_t next = at + 4;

        if (!view_has(v, at + 4))
            return false;
        if (flags & 0x4007)
            return true;
        next += (flags & 0x8000 ? 4u : 0u) + (flags & 0x2000 ? 4u : 0u);
        if (flags & 0x2000 && !view_has(v, next))
            return false;
        next += flags & 0x1000 ? 4u : 0u;
        return view_layer(v, arp, icmp, view_two(v, at + 2), false, 0, next, end);
    }
    if ((type == 1 || type == 58) && icmp && view_has(v, at + 8) && view_echo(view_byte(v, at)))
        view_echo_word(v, at, end->word);
    else
        view_port_word(v, type, at, end->word);
    return true;
}

/* For the encap policies. `arp`: this generation's dissector knows ARP. A frame that says IP and isn't is not IP. */
static bool view_walk(const struct view *v, bool arp, bool icmp, struct view_end *end)
{
    memset(end, 0, sizeof *end);
    if ((v->type == 0x0800 || v->type == 0x86dd) && !v->version)
        return false;
    return view_layer(v, arp, icmp, v->type, false, 0, v->l3, end);
}

#endif
