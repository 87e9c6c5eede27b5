/* A slow, obvious second implementation of every rule that has one, against hashes/ on random frames and flows.
 *
 * It shares no code with the library and works differently: fields are fetched from the frame where they are needed,
 * words are kept as arrays of bytes or of bits, remainders are taken by long division over bits, CRCs by dividing
 * polynomials of bits. TEST_SEED=N repeats or varies a run; the seed is printed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "hashes/key.h"
#include "hashes/pick.h"
#include "hashes/policy.h"
#include "tests/support/hash_random.h"
#include "tests/support/hash_text.h"
#include "tests/support/seed.h"
#include "tests/twin/hash_view.h"

/* A number of up to 128 bits, most significant bit first. */
struct number {
    bool bit[128];
};

static struct number of_bytes(const uint8_t *bytes, size_t count)
{
    struct number n = {{0}};

    for (size_t i = 0; i < 8 * count; i++)
        n.bit[128 - 8 * count + i] = bytes[i / 8] >> (7 - i % 8) & 1;
    return n;
}

static struct number of_value(uint64_t value)
{
    struct number n = {{0}};

    for (int i = 0; i < 64; i++)
        n.bit[127 - i] = value >> i & 1;
    return n;
}

static struct number xor_numbers(struct number a, struct number b)
{
    for (int i = 0; i < 128; i++)
        a.bit[i] ^= b.bit[i];
    return a;
}

static unsigned long_division(const struct number *n, unsigned divisor)
{
    unsigned rest = 0;

    for (int i = 0; i < 128; i++)
        rest = (rest * 2 + n->bit[i]) % divisor;
    return rest;
}

static uint64_t low_bits(const struct number *n, int count)
{
    uint64_t value = 0;

    for (int i = 128 - count; i < 128; i++)
        value = value * 2 + n->bit[i];
    return value;
}

/* --- the library's side --- */

static void same_number(const char *policy, const char *params, const struct hash_key *key, const struct number *value)
{
    struct hash_selector sel;
    struct hash_word got;
    struct number as_bits;

    assert_true(hash_text_selector(policy, params, &sel));
    got = hash_value(&sel, key);
    as_bits = of_value(got.low);
    for (int i = 0; i < 64; i++)
        as_bits.bit[63 - i] = got.high >> i & 1;
    if (memcmp(&as_bits, value, sizeof as_bits) != 0)
        fail_msg("%s %s: %llx, twin %llx", policy, params, (unsigned long long)got.low,
                 (unsigned long long)low_bits(value, 64));
    if (sel.policy->reduction == HASH_REDUCE_MOD)
        for (unsigned n = 1; n <= HASH_MEMBERS_MAX; n++)
            assert_int_equal(hash_reduce(&sel, got, n), long_division(value, n));
}

static void same_value(const char *policy, const char *params, const struct hash_key *key, uint64_t value)
{
    const struct number n = of_value(value);

    same_number(policy, params, key, &n);
}

/* --- ESXi and the generic family --- */

static void twin_esxi(const struct view *v, const struct hash_key *key)
{
    uint8_t a[4] = {0}, b[4] = {0};
    struct number full;

    if (v->version == 6)
        return;
    if (v->version == 4) {
        memcpy(a, v->src, 4);
        memcpy(b, v->dst, 4);
    } else {
        for (size_t i = 0; i < 4; i++) {
            a[i] = view_byte(v, 26 + 4 * v->tags + i);
            b[i] = view_byte(v, 30 + 4 * v->tags + i);
        }
    }
    full = xor_numbers(of_bytes(a, 4), of_bytes(b, 4));
    same_number("esxi-ip-hash", "reading=full", key, &full);
    same_value("esxi-ip-hash", "reading=last-octet", key, a[3] ^ b[3]);
    full = of_bytes(v->smac, 6);
    same_number("esxi-mac-hash", "-", key, &full);
    same_value("esxi-mac-hash", "use=last-byte", key, v->smac[5]);
}

static void twin_xor(const struct view *v, const struct hash_key *key)
{
    const bool ip = v->version;
    const struct number src = ip ? of_bytes(v->src, v->address) : of_bytes(v->smac, 6);
    const struct number dst = ip ? of_bytes(v->dst, v->address) : of_bytes(v->dmac, 6);
    const struct number both = xor_numbers(src, dst);
    struct number ports = both;

    if (ip)
        ports = of_value(v->ports ? (uint64_t)(v->sport ^ v->dport) : 0);
    same_number("xor-src-ip", "-", key, &src);
    same_number("xor-dst-ip", "-", key, &dst);
    same_number("xor-src-dst-ip", "-", key, &both);
    same_number("xor-l4", "-", key, &ports);
    if (ip) {
        const struct number all = xor_numbers(both, ports);

        same_number("xor-src-dst-ip-l4", "-", key, &all);
        same_number("xor-fields", "fields=src-dst-ip,l4", key, &all);
    }
}

/* --- Linux --- */

/* A 32-bit word as a little-endian host keeps it: byte 0 is the lowest. */
struct word {
    uint8_t b[4];
};

static void fold_address(struct word *h, const uint8_t *address, size_t size)
{
    for (size_t i = 0; i < size; i++)
        h->b[i % 4] ^= address[i];
}

static uint32_t fold_word(struct word h, bool shift)
{
    bool bits[32];
    uint32_t value = 0;

    h.b[0] ^= h.b[2];
    h.b[1] ^= h.b[3];
    for (int i = 0; i < 3; i++)
        h.b[i] ^= h.b[i + 1];
    for (int i = 0; i < 32; i++)
        bits[i] = h.b[i / 8] >> i % 8 & 1;
    for (int i = shift; i < 32; i++)
        if (bits[i])
            value |= 1u << (i - shift);
    return value;
}

enum { MIXED = 1, PORTS = 2, THROUGH_TUNNELS = 4 };

static uint32_t linux_layer2(const struct view *v, unsigned gen)
{
    unsigned value = v->dmac[5] ^ v->smac[5];

    if (gen >= 5)
        value ^= v->wire_type;
    else if (gen >= 3)
        value ^= (v->wire_type & 255) * 256 + v->wire_type / 256;
    return value;
}

/* gen counts g1 g2 g3 g4 g4b g5 g6 as 1 2 3 4 4 5 6, g4b marked. */
static uint32_t linux_hash(const struct view *v, unsigned gen, bool g4b, bool icmp, int what)
{
    const bool l4 = what & PORTS;
    struct view_end end;
    struct word h = {{0}};
    uint32_t layer2 = linux_layer2(v, gen);
    bool shift = l4 ? gen >= 4 : (gen == 4 && !g4b) || gen == 5;

    if (what & THROUGH_TUNNELS ? !view_walk(v, gen >= 4, icmp, &end) : !view_plain(v, icmp, &end))
        return layer2;
    if (l4)
        memcpy(h.b, end.word, 4);
    else
        for (int i = 0; i < 4; i++)
            h.b[i] = (uint8_t)(layer2 >> 8 * i);
    fold_address(&h, end.src, end.size);
    fold_address(&h, end.dst, end.size);
    return fold_word(h, shift);
}

static uint32_t linux_first(const struct view *v, bool l4)
{
    struct view_end end;
    uint32_t hash = l4 ? 0 : linux_layer2(v, 1), addresses = 0;
    uint32_t words[4] = {0};

    if (!view_plain(v, false, &end))
        return linux_layer2(v, 1);
    if (l4)
        hash = (unsigned)((end.word[0] << 8 | end.word[1]) ^ (end.word[2] << 8 | end.word[3]));
    if (v->version == 4) {
        addresses = (unsigned)((v->src[2] ^ v->dst[2]) << 8 | (v->src[3] ^ v->dst[3]));
        return hash ^ addresses;
    }
    for (int i = 0; i < 16; i++)
        words[i / 4] |= (uint32_t)(v->src[i] ^ v->dst[i]) << 8 * (i % 4);
    addresses = words[1] ^ words[2] ^ words[3] ^ (l4 ? hash : 0);
    addresses = addresses ^ addresses >> 24 ^ addresses >> 16 ^ addresses >> 8;
    return l4 ? addresses : addresses ^ hash;
}

static void twin_linux(const struct view *v, const struct hash_key *key)
{
    static const char *const gens[] = {"g2", "g3", "g4", "g4b", "g5", "g6"};
    static const struct {
        const char *name;
        int what;
    } policies[] = {{"linux-layer2+3", 0},
                    {"linux-layer3+4", PORTS},
                    {"linux-encap2+3", THROUGH_TUNNELS},
                    {"linux-encap3+4", THROUGH_TUNNELS | PORTS}};
    char params[40];

    same_value("linux-layer2", "gen=g1", key, linux_layer2(v, 1));
    same_value("linux-layer2+3", "gen=g1", key, linux_first(v, false));
    same_value("linux-layer3+4", "gen=g1", key, linux_first(v, true));
    for (unsigned g = 0; g < 6; g++) {
        const unsigned gen = (unsigned)gens[g][1] - '0';
        const bool g4b = gens[g][2] == 'b';

        snprintf(params, sizeof params, "gen=%s", gens[g]);
        same_value("linux-layer2", params, key, linux_layer2(v, gen));
        for (unsigned icmp = 0; icmp < 2; icmp++) {
            snprintf(params, sizeof params, "gen=%s icmp=%s", gens[g], icmp ? "yes" : "no");
            for (unsigned p = 0; p < 4; p++)
                same_value(policies[p].name, params, key, linux_hash(v, gen, g4b, icmp, policies[p].what));
        }
    }
    same_value("linux-vlan+srcmac", "-", key,
               (v->offloaded ? v->offloaded_tci : 0) ^ (unsigned)(v->smac[0] << 16 | v->smac[1] << 8 | v->smac[2]) ^
                   (unsigned)(v->smac[3] << 16 | v->smac[4] << 8 | v->smac[5]));
}

static void twin_alb(const struct view *v, const struct hash_key *key)
{
    uint8_t sum = 0;

    if (!v->version)
        return;
    for (size_t i = 0; i < v->address; i++)
        sum ^= v->dst[i];
    same_value("linux-alb", "-", key, sum);
}

/* --- team --- */

static void twin_team(const struct view *v, const struct hash_key *key, struct hash_random *random)
{
    static const char *const names[] = {"eth", "vlan", "ipv4", "ipv6", "tcp", "udp", "sctp"};
    static const unsigned protos[] = {6, 17, 132};
    const unsigned chosen = 1 + hash_random_below(random, 127);
    char params[80] = "tx_hash=";
    bool ends_early = false, first = true;
    uint8_t sum = 0;

    for (unsigned i = 0; i < 7; i++) {
        if (chosen >> i & 1) {
            snprintf(params + strlen(params), sizeof params - strlen(params), "%s%s", first ? "" : ",", names[i]);
            first = false;
        }
    }
    /* all four bytes of the program's result end up xored, so the bytes can be taken one by one */
    for (int i = 0; chosen & 1 && i < 6; i++)
        sum ^= (uint8_t)(v->dmac[i] ^ v->smac[i]);
    if (chosen & 2 && v->wire_type == 0x8100 && v->tags)
        sum ^= (uint8_t)(view_byte(v, 15) ^ (view_byte(v, 14) & 15));
    else if (chosen & 2 && v->wire_type != 0x8100 && v->offloaded)
        sum ^= (uint8_t)(v->offloaded_tci ^ v->offloaded_tci >> 8);
    if (v->version && v->tags == (v->wire_type == 0x8100)) {
        for (size_t i = 0; chosen & (v->version == 4 ? 4 : 8) && i < v->address; i++)
            sum ^= v->src[i] ^ v->dst[i];
        for (int i = 0; i < 3; i++) {
            const size_t at = v->l3 + (v->version == 4 ? (size_t)(view_byte(v, v->l3) & 15) * 4 : 40);

            if (!(chosen >> (4 + i) & 1) || v->first_proto != protos[i] || (v->version == 4 && v->later))
                continue;
            ends_early = v->length < at + 4;
            for (size_t b = v->version == 4 ? 0 : 2; b < 4; b++)
                sum ^= view_byte(v, at + b);
        }
    }
    same_value("team", params, key, ends_early ? 0 : sum);
}

/* --- Open vSwitch --- */

static uint32_t slow_rotate(uint32_t x, int k)
{
    for (; k; k--)
        x = x * 2 + (x >> 31);
    return x;
}

static uint32_t mul(uint32_t a, uint32_t b) { return (uint32_t)((uint64_t)a * b); }

/* The register of a reflected CRC after dividing bit by bit. */
static uint32_t slow_crc(uint32_t polynomial, uint32_t crc, const uint8_t *bytes, size_t count)
{
    for (size_t i = 0; i < 8 * count; i++) {
        const bool in = bytes[i / 8] >> i % 8 & 1;
        const bool out = (crc & 1) ^ in;

        crc >>= 1;
        if (out)
            crc ^= polynomial;
    }
    return crc;
}

static uint32_t ovs_add(bool crc, uint32_t hash, const uint8_t little[4])
{
    const uint32_t word = little[0] + little[1] * 256u + little[2] * 65536u + little[3] * 16777216u;

    if (crc)
        return slow_crc(0x82f63b78, hash, little, 4);
    hash ^= mul(slow_rotate(mul(word, 0xcc9e2d51), 15), 0x1b873593);
    return slow_rotate(hash, 13) * 5 + 0xe6546b64;
}

static uint32_t ovs_finish(bool crc, uint32_t hash, uint8_t constant)
{
    const uint8_t eight[8] = {constant};

    if (crc) {
        hash = mul(slow_crc(0x82f63b78, hash, eight, 8), 0x805204f3);
        return hash ^ hash / 65536;
    }
    hash ^= constant;
    hash = mul(hash ^ hash / 65536, 0x85ebca6b);
    hash = mul(hash ^ hash / 8192, 0xc2b2ae35);
    return hash ^ hash / 65536;
}

static void twin_ovs(const struct view *v, const struct hash_key *key, struct hash_random *random)
{
    const uint32_t basis = hash_random_below(random, UINT32_MAX);
    const unsigned vid = (v->offloaded ? v->offloaded_tci : v->tags ? v->first_tci : 0) % 4096;
    const uint8_t low[4] = {v->smac[5], v->smac[4], v->smac[3], v->smac[2]};
    const uint8_t high[4] = {v->smac[1], v->smac[0], (uint8_t)vid, (uint8_t)(vid >> 8)};
    char params[60];

    for (int crc = 0; crc < 2; crc++) {
        uint32_t hash = ovs_add(crc, ovs_add(crc, basis, low), high);
        uint8_t proto[4] = {v->version == 4 ? (uint8_t)v->first_proto : (uint8_t)v->last_proto}, word[4] = {0};
        const bool has_word = proto[0] == 1 || proto[0] == 6 || proto[0] == 17 || proto[0] == 58 || proto[0] == 132;

        snprintf(params, sizeof params, "build=%s basis=%u", crc ? "sse42" : "generic", (unsigned)basis);
        same_value("ovs-slb", params, key, ovs_finish(crc, hash, crc ? 23 : 8));
        if (!v->version)
            continue;
        hash = basis;
        for (size_t i = 0; i < v->address; i += 4)
            hash = ovs_add(crc, hash, v->src + i);
        for (size_t i = 0; i < v->address; i += 4)
            hash = ovs_add(crc, hash, v->dst + i);
        hash = ovs_add(crc, hash, proto);
        if (v->icmp && (v->version == 6 || v->first_proto == v->last_proto)) {
            word[1] = v->l4[0];
            word[3] = v->l4[1];
        } else if (v->ports && (v->version == 6 || v->first_proto == v->last_proto)) {
            memcpy(word, v->l4, 4);
        }
        if (has_word)
            hash = ovs_add(crc, hash, word);
        same_value("ovs-tcp", params, key, ovs_finish(crc, hash, 42));
    }
}

/* --- switches --- */

static void twin_switches(const struct view *v, const struct hash_key *key)
{
    const uint8_t src = v->version ? v->src[v->address - 1] : v->smac[5];
    const uint8_t dst = v->version ? v->dst[v->address - 1] : v->dmac[5];
    const uint8_t macs = v->smac[5] ^ v->dmac[5];
    struct hash_selector sel;

    same_value("cisco-src-dst-ip", "-", key, (v->version ? src ^ dst : macs) % 8);
    same_value("cisco-dst-ip", "-", key, (v->version ? dst : macs) % 8);
    same_value("cisco-src-mac", "-", key, v->smac[5] % 8);
    same_value("hp-bl-xor", "-", key, macs % 8);
    same_value("hp-gbe2c-ip", "-", key, (src ^ dst) % 8);
    same_value("at9000-src-ip", "-", key, src % 8);
    same_value("netapp-7mode-ip", "-", key, src ^ dst);
    same_value("netapp-7mode-mac", "-", key, macs);
    assert_true(hash_text_selector("cisco-src-dst-ip", "map=contiguous", &sel));
    for (unsigned n = 1; n <= 16; n++) {
        /* deal eight cards: n hands, the first ones one more when it does not come out even */
        unsigned hand = 0, left = 8 / n + (8 % n > 0);

        for (uint64_t bucket = 0; bucket < 8; bucket++) {
            if (left == 0)
                left = 8 / n + (++hand < 8 % n);
            assert_int_equal(hash_reduce(&sel, (struct hash_word){0, bucket}, n), hand);
            left--;
        }
    }
}

/* All of it in signed 64-bit numbers, wrapped to 32 bits by hand. */
static int64_t wrap32(int64_t x)
{
    x &= 0xffffffffLL;
    return x >= 0x80000000LL ? x - 0x100000000LL : x;
}

static int64_t floor_shift(int64_t x, int64_t divisor, bool is_signed)
{
    if (!is_signed)
        x &= 0xffffffffLL;
    return x >= 0 ? x / divisor : -((-x + divisor - 1) / divisor);
}

static void twin_netapp(const struct view *v, const struct hash_key *key)
{
    const uint8_t *src = v->version ? v->src + v->address - 2 : v->smac + 4;
    const uint8_t *dst = v->version ? v->dst + v->address - 2 : v->dmac + 4;
    struct hash_selector sel;

    for (int is_signed = 0; is_signed < 2; is_signed++) {
        const int64_t a = src[0] * 256 + src[1], b = dst[0] * 256 + dst[1];
        int64_t h = wrap32((a * 65536) ^ (b * 2048) ^ a);

        h = wrap32(h + floor_shift(h, 2048, is_signed));
        h = wrap32(h ^ h * 8);
        h = wrap32(h + floor_shift(h, 32, is_signed));
        h = wrap32(h ^ h * 16);
        h = wrap32(h + floor_shift(h, 131072, is_signed));
        h = wrap32(h ^ h * 33554432);
        h = wrap32(h + floor_shift(h, 64, is_signed));
        same_value("netapp-ip", is_signed ? "-" : "shift=unsigned", key, (uint64_t)(h & 0xffffffffLL));
        assert_true(hash_text_selector("netapp-ip", is_signed ? "-" : "shift=unsigned", &sel));
        for (int64_t n = 1; n <= 64; n++) {
            const int64_t rest = is_signed ? (h % n + n) % n : (h & 0xffffffffLL) % n;

            assert_int_equal(hash_reduce(&sel, hash_value(&sel, key), (unsigned)n), rest);
        }
    }
}

static void twin_rtag7(const struct view *v, const struct hash_key *key, struct hash_random *random)
{
    static const char *const names[] = {"sip", "dip", "vlan", "sport", "dport", "proto", "port", "module"};
    static const char *const functions[] = {"crc16",     "ccitt",     "crc32lo",   "crc32hi",  "xor16",
                                            "crc16xor8", "crc16xor4", "crc16xor2", "crc16xor1"};
    const unsigned vid = (v->offloaded ? v->offloaded_tci : v->tags ? v->first_tci : 0) % 4096;
    const uint32_t seed = hash_random_below(random, UINT32_MAX);
    const unsigned function = hash_random_below(random, 9), chosen = 1 + hash_random_below(random, 255);
    const bool pre = hash_random_below(random, 2), low = hash_random_below(random, 2);
    uint32_t sip = 0, dip = 0, value = 0, crc, sum = 0;
    uint8_t stream[28] = {0};
    char fields[60] = "", params[400];

    if (!v->version)
        return;
    for (size_t i = low ? v->address - 4 : 0; i < v->address; i++) {
        sip ^= (uint32_t)v->src[i] << (24 - 8 * (i % 4));
        dip ^= (uint32_t)v->dst[i] << (24 - 8 * (i % 4));
    }
    for (unsigned i = 0; i < 8; i++)
        if (chosen >> i & 1)
            snprintf(fields + strlen(fields), sizeof fields - strlen(fields), "%s%s", *fields ? "," : "", names[i]);
    snprintf(params, sizeof params, "function=%s seed=%u preprocess=%s ipv6=%s fields=%s fields-equal=%s fields-ip=%s",
             functions[function], (unsigned)seed, pre ? "yes" : "no", low ? "low" : "xor", fields, fields, fields);
    {
        const unsigned bins[12] = {0,
                                   0,
                                   chosen & 128 ? key->ingress_module & 255u : 0,
                                   chosen & 64 ? key->ingress_port : 0,
                                   chosen & 32 ? v->last_proto : 0,
                                   chosen & 16 && v->ports ? v->dport : 0,
                                   chosen & 8 && v->ports ? v->sport : 0,
                                   chosen & 4 ? vid : 0,
                                   chosen & 2 ? dip % 65536 : 0,
                                   chosen & 2 ? dip / 65536 : 0,
                                   chosen & 1 ? sip % 65536 : 0,
                                   chosen & 1 ? sip / 65536 : 0};

        for (size_t i = 0; i < 12; i++) {
            const unsigned bin = pre ? (bins[i] ^ bins[i] / 8 ^ bins[i] * 4) % 65536 : bins[i];

            stream[2 * i] = (uint8_t)(bin % 256);
            stream[2 * i + 1] = (uint8_t)(bin / 256);
        }
    }
    for (int i = 0; i < 4; i++)
        stream[24 + i] = (uint8_t)(seed >> 8 * i);
    for (int i = 0; i < 28; i++)
        sum ^= (uint32_t)stream[i] << 8 * (i % 2);
    crc = function == 1 ? slow_crc(0x8408, 0, stream, 28) : slow_crc(0xa001, 0, stream, 28);
    for (int i = 0; i < 16; i++)
        value |= (crc >> i & 1) << (15 - i);
    if (function == 2 || function == 3) {
        crc = slow_crc(0x82f63b78, 0, stream, 28);
        value = 0;
        for (int i = 0; i < 16; i++)
            value |= (crc >> (function == 2 ? 31 - i : 15 - i) & 1) << i;
    } else if (function == 4) {
        value = sum;
    } else if (function > 4) {
        const unsigned width = 8u >> (function - 5);
        unsigned folded = 0;

        for (unsigned i = 0; i < 16; i += width)
            folded ^= sum >> i & ((1u << width) - 1);
        value = value / 256 * 256 + folded;
    }
    same_value("rtag7", params, key, value | (v->dmac[0] % 2 ? 65536u : 0));
}

/* --- illumos, FreeBSD, RSS --- */

static void twin_illumos(const struct view *v, const struct hash_key *key, struct hash_random *random)
{
    const unsigned layers = 1 + hash_random_below(random, 7);
    const bool readable = v->version && v->tags == (v->wire_type == 0x8100);
    const bool piece = v->version == 6 ? v->first || v->later : v->later;
    const bool l4 = v->last_proto == 6 || v->last_proto == 17 || v->last_proto == 132 || v->last_proto == 50;
    char params[60];

    for (int old = 0; old < 2; old++) {
        uint8_t sum = 0;

        for (int i = 0; layers & 1 && i < 6; i++)
            sum ^= v->smac[i] ^ v->dmac[i];
        for (size_t i = 1; readable && ((piece && !old && layers > 1) || layers & 2) && i <= 4; i++)
            sum ^= v->src[v->address - i] ^ v->dst[v->address - i];
        if (readable && piece && !old && layers > 1)
            for (int i = 0; i < (v->version == 4 ? 2 : 4); i++)
                sum ^= v->id[i];
        else if (readable && layers & 4 && l4)
            for (int i = 0; i < 4; i++)
                sum ^= v->l4[i];
        snprintf(params, sizeof params, "gen=%s policy=%s%s%s", old ? "2008" : "crossbow", layers & 1 ? "L2" : "",
                 layers & 2 ? (layers & 1 ? ",L3" : "L3") : "", layers & 4 ? (layers & 3 ? ",L4" : "L4") : "");
        same_value("illumos", params, key, sum);
    }
}

static void twin_freebsd(const struct view *v, const struct hash_key *key, struct hash_random *random)
{
    const unsigned layers = 1 + hash_random_below(random, 7);
    const uint32_t seed = hash_random_below(random, UINT32_MAX);
    const bool one_tag = v->wire_type == 0x8100 && v->tags == 1 && !(v->offloaded && layers & 1);
    const bool ports = v->first_proto == 6 || v->first_proto == 17 || v->first_proto == 132;
    uint8_t input[80];
    size_t n;
    char params[80];

    for (int old = 0; old < 2; old++) {
        uint64_t hash = seed;

        n = 0;
        if (layers & 1) {
            memcpy(input, v->smac, 6);
            memcpy(input + 6, v->dmac, 6);
            n = 12;
            if (v->offloaded) {
                input[n++] = (uint8_t)v->offloaded_tci;
                input[n++] = (uint8_t)(v->offloaded_tci >> 8);
            } else if (v->wire_type == 0x8100 && v->tags) {
                input[n++] = view_byte(v, 14);
                input[n++] = view_byte(v, 15);
            }
        }
        if (v->version && (v->tags == 0 || one_tag)) {
            if (layers & 2) {
                memcpy(input + n, v->src, v->address);
                memcpy(input + n + v->address, v->dst, v->address);
                n += 2 * v->address;
            }
            if (v->version == 6 && layers & (old ? 2 : 4)) {
                input[n++] = 0;
                input[n++] = view_byte(v, v->l3 + 1) & 15;
                input[n++] = view_byte(v, v->l3 + 2);
                input[n++] = view_byte(v, v->l3 + 3);
            }
            if (v->version == 4 && layers & 4 && ports && v->l4_there) {
                memcpy(input + n, v->l4, 4);
                n += 4;
            }
        }
        for (size_t i = 0; i < n; i++)
            hash = old ? (hash * 33 + input[i]) % 4294967296 : (hash * 16777619 % 4294967296) ^ input[i];
        snprintf(params, sizeof params, "gen=%s seed=%u lagghash=%s%s%s", old ? "9" : "10+", (unsigned)seed,
                 layers & 1 ? "l2" : "", layers & 2 ? (layers & 1 ? ",l3" : "l3") : "",
                 layers & 4 ? (layers & 3 ? ",l4" : "l4") : "");
        same_value("freebsd-lagg", params, key, hash);
    }
}

static void twin_rss(const struct view *v, const struct hash_key *key, struct hash_random *random)
{
    uint8_t secret[40], input[36];
    bool bits[320];
    uint32_t hash = 0;
    size_t n;
    char params[128] = "key=";
    const bool four = v->ports && !v->first && (v->last_proto == 6 || v->last_proto == 17);

    hash_random_bytes(random, secret, sizeof secret);
    for (int i = 0; i < 40; i++)
        snprintf(params + strlen(params), 3, "%02x", secret[i]);
    for (int i = 0; i < 320; i++)
        bits[i] = secret[i / 8] >> (7 - i % 8) & 1;
    memcpy(input, v->src, v->address);
    memcpy(input + v->address, v->dst, v->address);
    memcpy(input + 2 * v->address, v->l4, 4);
    n = v->version ? 2 * v->address + (four ? 4 : 0) : 0;
    for (size_t i = 0; i < 8 * n; i++)
        for (size_t j = 0; input[i / 8] >> (7 - i % 8) & 1 && j < 32; j++)
            hash ^= (uint32_t)bits[i + j] << (31 - j);
    same_value("rss-toeplitz", params, key, hash);
}

static void compare(const struct view *v, const struct hash_key *key, struct hash_random *random)
{
    twin_esxi(v, key);
    twin_xor(v, key);
    twin_linux(v, key);
    twin_alb(v, key);
    twin_team(v, key, random);
    twin_ovs(v, key, random);
    twin_switches(v, key);
    twin_netapp(v, key);
    twin_rtag7(v, key, random);
    twin_illumos(v, key, random);
    twin_freebsd(v, key, random);
    twin_rss(v, key, random);
}

enum { FRAMES = 2000, FLOWS = 1000 };

static void test_frames(void **state)
{
    struct hash_random random = {test_seed()};
    uint8_t frame[HASH_FRAME_MAX];
    struct hash_key key;
    struct view v;

    (void)state;
    for (int i = 0; i < FRAMES; i++) {
        int32_t tci;
        const size_t length = hash_random_frame(&random, frame, &tci);

        if (hash_key_from_frame(&key, frame, length, tci) != view_open(&v, frame, length, tci))
            fail_msg("frame %d: one says it has no Ethernet header", i);
        if (length < 14)
            continue;
        key.ingress_port = (uint16_t)hash_random_below(&random, 48);
        key.ingress_module = (uint16_t)hash_random_below(&random, 4);
        compare(&v, &key, &random);
    }
}

/* The key that comes from fields, against a twin that sees the frame of that flow. */
static void test_flows(void **state)
{
    struct hash_random random = {test_seed() + 1};
    uint8_t frame[HASH_FRAME_MAX];
    struct hash_flow flow;
    struct hash_key key;
    struct view v;

    (void)state;
    for (int i = 0; i < FLOWS; i++) {
        size_t length;

        hash_random_flow(&random, &flow);
        flow.fragment = flow.ip_version ? flow.fragment : 0;
        if (!flow.ip_version)
            continue; /* a flow that is not IP has no payload to compare */
        hash_key_flow(&key, &flow);
        length = hash_frame_build(&flow, 0, frame);
        assert_true(view_open(&v, frame, length, hash_frame_tci(&flow)));
        compare(&v, &key, &random);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_frames),
        cmocka_unit_test(test_flows),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
