/* From key to member: list order after failures, buckets, ranges, draws, and explanations that cannot drift from what
 * is picked. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "hashes/key.h"
#include "hashes/pick.h"
#include "hashes/policy.h"
#include "hashes/range.h"
#include "tests/support/hash_random.h"
#include "tests/support/hash_text.h"

static struct hash_selector selector(const char *policy, const char *params)
{
    struct hash_selector sel;

    assert_true(hash_text_selector(policy, params, &sel));
    return sel;
}

static struct hash_key key_of(const char *flow)
{
    struct hash_key key;

    assert_true(hash_text_key(flow, &key));
    return key;
}

static void assert_order(const struct hash_members *members, const char *expected)
{
    char text[200] = "";

    for (unsigned i = 0; i < members->usable; i++)
        snprintf(text + strlen(text), sizeof text - strlen(text), i ? " %u" : "%u", members->order[i]);
    assert_string_equal(text, expected);
}

/* What each vendor's list looks like after member 1 of 4 fails and comes back. */
static void test_list_order(void **state)
{
    static const struct {
        const char *policy, *down, *back;
    } rules[] = {
        {"linux-layer2", "0 2 3", "0 1 2 3"}, {"team", "0 2 3", "0 2 3 1"},         {"illumos", "0 3 2", "0 3 2 1"},
        {"ovs-slb", "0 2 3", "0 2 3 1"},      {"esxi-ip-hash", "0 2 3", "0 1 2 3"},
    };

    (void)state;
    for (unsigned i = 0; i < sizeof rules / sizeof *rules; i++) {
        const struct hash_selector sel = selector(rules[i].policy, "-");
        struct hash_members members;

        hash_members_init(&members, 4);
        hash_members_down(&sel, &members, 1);
        hash_members_down(&sel, &members, 1);
        assert_int_equal(members.usable, 3);
        assert_order(&members, rules[i].down);
        hash_members_up(&sel, &members, 1);
        hash_members_up(&sel, &members, 1);
        hash_members_up(&sel, &members, 64);
        assert_order(&members, rules[i].back);
    }
}

/* Bonding compacts: losing one member of three moves flows of the survivors; FreeBSD's loadbalance moves only the
 * dead one's. */
static void test_who_moves(void **state)
{
    const struct hash_selector compact = selector("xor-src-ip", "-");
    const struct hash_selector walk = selector("netapp-7mode-ip", "-");
    struct hash_members all, less;
    unsigned moved = 0;

    (void)state;
    hash_members_init(&all, 3);
    hash_members_init(&less, 3);
    hash_members_down(&compact, &less, 0);
    for (unsigned i = 0; i < 60; i++) {
        char flow[60];
        struct hash_key key;
        int before;

        snprintf(flow, sizeof flow, "src=10.0.0.%u dst=10.0.0.0", i);
        key = key_of(flow);
        before = hash_pick(&compact, &key, &all);
        moved += before != 0 && hash_pick(&compact, &key, &less) != before;
        before = hash_pick(&walk, &key, &all);
        assert_int_equal(hash_pick(&walk, &key, &less), before ? before : 1);
    }
    assert_int_equal(moved, 20); /* of the 40 flows whose member is alive */
}

static void test_explicit_order(void **state)
{
    const struct hash_selector back = selector("esxi-explicit", "-");
    const struct hash_selector stay = selector("esxi-explicit", "failback=no");
    const struct hash_key key = key_of("@P1");
    const struct hash_selector *const both[] = {&back, &stay};

    (void)state;
    for (int i = 0; i < 2; i++) {
        struct hash_members m;

        hash_members_init(&m, 3);
        assert_int_equal(hash_pick(both[i], &key, &m), 0);
        hash_members_down(both[i], &m, 2); /* of no consequence */
        hash_members_up(both[i], &m, 2);
        assert_int_equal(hash_pick(both[i], &key, &m), 0);
        hash_members_down(both[i], &m, 0);
        assert_int_equal(hash_pick(both[i], &key, &m), 1);
        hash_members_up(both[i], &m, 0);
        assert_int_equal(hash_pick(both[i], &key, &m), i); /* failback or not */
        hash_members_down(both[i], &m, 1);
        assert_int_equal(hash_pick(both[i], &key, &m), 0);
    }
}

static void test_active_backup(void **state)
{
    const struct hash_selector none = selector("linux-active-backup", "-");
    const struct hash_selector always = selector("linux-active-backup", "primary=2");
    const struct hash_selector failure = selector("linux-active-backup", "primary=2 reselect=failure");
    const struct hash_key key = key_of("@P1");
    struct hash_members m;

    (void)state;
    hash_members_init(&m, 3);
    assert_int_equal(hash_pick(&none, &key, &m), 0);
    hash_members_down(&none, &m, 0);
    hash_members_up(&none, &m, 0);
    assert_int_equal(hash_pick(&none, &key, &m), 1); /* no primary: the one in use stays */

    hash_members_init(&m, 3);
    assert_int_equal(hash_pick(&always, &key, &m), 2);
    hash_members_down(&always, &m, 2);
    assert_int_equal(hash_pick(&always, &key, &m), 0);
    hash_members_up(&always, &m, 2);
    assert_int_equal(hash_pick(&always, &key, &m), 2);

    hash_members_init(&m, 3);
    hash_members_down(&failure, &m, 2);
    hash_members_up(&failure, &m, 2);
    assert_int_equal(hash_pick(&failure, &key, &m), 0);
    hash_members_down(&failure, &m, 0);
    assert_int_equal(hash_pick(&failure, &key, &m), 2);
}

/* Open vSwitch: buckets take members in turn on first use, keep them, and move only when their member dies. */
static void test_ovs_buckets(void **state)
{
    const struct hash_selector sel = selector("ovs-slb", "-");
    struct hash_members m;
    int first[5];

    (void)state;
    hash_members_init(&m, 3);
    for (unsigned i = 0; i < 5; i++) {
        char flow[40];
        struct hash_key key;

        snprintf(flow, sizeof flow, "smac=00:50:56:00:00:%02x", i);
        key = key_of(flow);
        first[i] = hash_pick(&sel, &key, &m);
        assert_int_equal(first[i], i % 3);
        assert_int_equal(hash_pick(&sel, &key, &m), first[i]);
    }
    hash_members_down(&sel, &m, 1);
    for (unsigned i = 0; i < 5; i++) {
        char flow[40];
        struct hash_key key;
        int now;

        snprintf(flow, sizeof flow, "smac=00:50:56:00:00:%02x", i);
        key = key_of(flow);
        now = hash_pick(&sel, &key, &m);
        if (first[i] != 1)
            assert_int_equal(now, first[i]);
        else
            assert_true(now == 0 || now == 2);
    }
    hash_members_up(&sel, &m, 1);
    for (unsigned i = 0; i < 5; i++)
        if (first[i] == 1) {
            char flow[40];
            struct hash_key key;

            snprintf(flow, sizeof flow, "smac=00:50:56:00:00:%02x", i);
            key = key_of(flow);
            assert_true(hash_pick(&sel, &key, &m) != 1); /* no way back without a rebalance */
        }
}

/* balance-alb: the entry is exact, its member is what the caller bound; broadcasts leave by the active member. */
static void test_alb(void **state)
{
    const struct hash_selector sel = selector("linux-alb", "-");
    const struct hash_key key = key_of("@P1"), arp = key_of("@P1 ip=0 ethertype=0x0806");
    struct hash_members m;

    (void)state;
    hash_members_init(&m, 2);
    assert_int_equal(hash_bucket(&sel, hash_value(&sel, &key)), 30);
    assert_int_equal(hash_pick(&sel, &key, &m), -HASH_UNBOUND);
    assert_int_equal(hash_pick(&sel, &arp, &m), 0);
    hash_members_bind(&m, 30, 1);
    assert_int_equal(hash_pick(&sel, &key, &m), 1);
    hash_members_down(&sel, &m, 1);
    assert_int_equal(hash_pick(&sel, &key, &m), -HASH_UNBOUND);
    hash_members_up(&sel, &m, 1);
    hash_members_unbind(&m);
    assert_int_equal(hash_pick(&sel, &key, &m), -HASH_UNBOUND);
}

static void test_no_index_where_none_is_known(void **state)
{
    const struct hash_selector unknown = selector("unknown", "fields=src-ip,dst-ip");
    const struct hash_selector esxi = selector("esxi-ip-hash", "-");
    const struct hash_key v4 = key_of("@P1"), v6 = key_of("@P7");
    struct hash_members m;

    (void)state;
    hash_members_init(&m, 4);
    assert_int_equal(hash_pick(&unknown, &v4, &m), -HASH_UNKNOWN);
    assert_int_equal(hash_reduce(&unknown, hash_value(&unknown, &v4), 4), -HASH_UNKNOWN);
    assert_int_equal(hash_pick(&esxi, &v6, &m), -HASH_UNKNOWN);
    for (unsigned id = 0; id < 4; id++)
        hash_members_down(&esxi, &m, id);
    assert_int_equal(hash_pick(&esxi, &v4, &m), -HASH_NO_MEMBER);
}

/* One field is its value as a number mod n, however wide the number. */
static void test_one_field_is_its_value(void **state)
{
    const struct hash_selector dst = selector("xor-dst-ip", "-"), mac = selector("xor-src-mac", "-");
    const struct hash_key v4 = key_of("src=10.0.0.1 dst=192.168.100.120 smac=00:50:56:6a:11:01");
    const struct hash_key v6 = key_of("src=fd00::1 dst=ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff");
    char text[40];

    (void)state;
    assert_int_equal(hash_reduce(&dst, hash_value(&dst, &v4), 7), 0xc0a86478u % 7);
    assert_int_equal(hash_reduce(&mac, hash_value(&mac, &v4), 7), 0x0050566a1101u % 7);
    /* 2^128 - 1 is 255 mod 2^8, 0 mod 3, 5 and 17, and 3 mod 7, since 2^3 = 1 mod 7 */
    assert_int_equal(hash_reduce(&dst, hash_value(&dst, &v6), 3), 0);
    assert_int_equal(hash_reduce(&dst, hash_value(&dst, &v6), 5), 0);
    assert_int_equal(hash_reduce(&dst, hash_value(&dst, &v6), 17), 0);
    assert_int_equal(hash_reduce(&dst, hash_value(&dst, &v6), 7), 3);
    assert_int_equal(hash_reduce(&dst, hash_value(&dst, &v6), 64), 63);
    hash_word_text(hash_value(&dst, &v6), text, sizeof text);
    assert_string_equal(text, "0xFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFF");
    hash_word_text(hash_value(&dst, &v4), text, sizeof text);
    assert_string_equal(text, "0xC0A86478");
}

static void assert_explained(const char *policy, const char *params, const char *flow, unsigned n, const char *expected)
{
    const struct hash_selector sel = selector(policy, params);
    const struct hash_key key = key_of(flow);
    struct hash_members m;
    char text[512];

    hash_members_init(&m, n);
    hash_explain(&sel, &key, &m, text, sizeof text);
    assert_string_equal(text, expected);
}

static void test_explanations(void **state)
{
    (void)state;
    assert_explained("esxi-ip-hash", "-", "src=10.10.5.11 dst=10.10.5.101", 4,
                     "0x0A0A050B xor 0x0A0A0565 = 0x0000006E, mod 4 = 2");
    assert_explained("esxi-ip-hash", "reading=last-octet", "src=10.10.5.11 dst=10.10.6.101", 3,
                     "0x0B xor 0x65 = 0x6E, mod 3 = 2");
    assert_explained("xor-dst-ip", "-", "src=10.0.0.1 dst=10.0.0.7", 3, "dst-ip 0x0A000007, mod 3 = 2");
    assert_explained("cisco-src-dst-ip", "-", "src=10.50.0.11 dst=10.50.0.101", 4,
                     "src-ip 0x00000003 xor dst-ip 0x00000005 = 0x00000006, 4 links: bucket 6 -> 2");
    assert_explained("linux-layer3+4", "-", "@P1", 3,
                     "ports 0x01082003, xor source 0x0A00000A xor destination 0x1400000A = 0x1F082003, "
                     "xor itself >> 16 = 0x1F083F0B, xor itself >> 8 = 0x1F173734, shifted right by one = 0x0F8B9B9A, "
                     "mod 3 = 1");
    assert_explained("unknown", "-", "@P1", 3, "the rule is not published");
    assert_explained("esxi-port-id", "-", "@P1 portid=7", 4, "virtual port 7, mod 4 = 3");
}

/* For every policy and random frames: what is explained is what is picked, and the last number of the text is the
 * place. */
static void test_explained_is_picked(void **state)
{
    struct hash_random random = {5};
    const struct hash_policy *policy;

    (void)state;
    for (unsigned i = 0; (policy = hash_policy_at(i)); i++) {
        struct hash_selector sel;

        hash_selector_init(&sel, policy);
        for (int round = 0; round < 60; round++) {
            const unsigned n = 1 + hash_random_below(&random, 64), dead = hash_random_below(&random, n);
            uint8_t frame[HASH_FRAME_MAX];
            struct hash_members m;
            struct hash_key key;
            char text[2048];
            int32_t tci;
            const size_t length = hash_random_frame(&random, frame, &tci);
            int explained;

            hash_key_from_frame(&key, frame, length, tci);
            hash_members_init(&m, n);
            if (round % 2)
                hash_members_down(&sel, &m, dead);
            explained = hash_explain(&sel, &key, &m, text, sizeof text);
            assert_int_equal(hash_pick(&sel, &key, &m), explained);
            assert_true(*text);
            assert_true(explained < (int)n && explained >= -HASH_UNBOUND);
            if (explained >= 0)
                assert_true(hash_members_is_up(&m, (unsigned)explained));
            assert_int_equal(hash_explain(&sel, &key, &m, text, 1), explained); /* no room is no harm */
            assert_string_equal(text, "");
        }
    }
}

/* --- ranges --- */

static void assert_near(double value, double expected)
{
    if (fabs(value - expected) > 1e-9)
        fail_msg("%.12f instead of %.12f", value, expected);
}

/* Every way to throw `flows` flows on n members, one by one. */
static void count_all(unsigned n, unsigned flows, const double *share, struct hash_range *out)
{
    unsigned throw[12] = {0};

    memset(out, 0, sizeof *out);
    for (;;) {
        unsigned load[8] = {0}, used = 0, busiest = 0, i;
        double chance = 1;

        for (i = 0; i < flows; i++) {
            load[throw[i]]++;
            chance *= share[throw[i]];
        }
        for (i = 0; i < n; i++) {
            used += load[i] > 0;
            busiest = load[i] > busiest ? load[i] : busiest;
        }
        out->expected_used += chance * used;
        out->expected_busiest += chance * busiest;
        out->chance_idle += used < n ? chance : 0;
        for (i = 0; i < flows && ++throw[i] == n; i++)
            throw[i] = 0;
        if (i == flows)
            return;
    }
}

static void test_range_counts_every_way(void **state)
{
    static const char *const policies[] = {"unknown", "cisco-src-dst-ip", "team", "hp-bl-xor", "linux-layer2"};

    (void)state;
    for (unsigned p = 0; p < 5; p++) {
        const struct hash_selector sel = selector(policies[p], "-");

        for (unsigned n = 1; n <= 4; n++)
            for (unsigned flows = 1; flows <= 7; flows++) {
                double share[4], sum = 0;
                struct hash_range range, counted;

                for (unsigned i = 0; i < n; i++)
                    sum += share[i] = hash_share(&sel, n, i);
                assert_near(sum, 1);
                count_all(n, flows, share, &counted);
                assert_true(hash_range(&sel, n, flows, &range));
                assert_true(range.busiest_exact);
                assert_near(range.expected_used, counted.expected_used);
                assert_near(range.expected_busiest, counted.expected_busiest);
                assert_near(range.chance_idle, counted.chance_idle);
                assert_int_equal(range.worst_used, 1);
                assert_int_equal(range.best_used, flows < n ? flows : n);
                assert_int_equal(range.best_busiest, (flows + n - 1) / n);
                assert_int_equal(range.worst_busiest, flows);
            }
    }
}

static void test_range_known_numbers(void **state)
{
    const struct hash_selector sel = selector("unknown", "-");
    struct hash_range range;

    (void)state;
    /* 4 connections on 2 members: both used 87.5 % */
    assert_true(hash_range(&sel, 2, 4, &range));
    assert_near(range.chance_idle, 0.125);
    assert_near(range.expected_used, 2 * (1 - 0.0625));
    assert_near(hash_share(&sel, 4, 3), 0.25);
    assert_true(hash_range(&sel, 8, 0, &range));
    assert_near(range.expected_used, 0);
    assert_false(hash_range(&sel, 0, 5, &range));
    assert_false(hash_range(&sel, 65, 5, &range));
    /* Where the exact sum ends an estimate goes on: no jump beyond what one more flow brings. */
    for (unsigned n = 2; n <= 16; n *= 2) {
        double before;

        assert_true(hash_range(&sel, n, 256, &range));
        assert_true(range.busiest_exact);
        before = range.expected_busiest;
        assert_true(hash_range(&sel, n, 257, &range));
        assert_false(range.busiest_exact);
        assert_true(fabs(range.expected_busiest - before - 1.0 / n) < 0.1);
    }
    /* A million flows: mean 250,000, and the largest of four normal draws is 1.0294 times sqrt(250,000) above. */
    assert_true(hash_range(&sel, 4, 1000000, &range));
    assert_true(fabs(range.expected_busiest - (250000 + 1.0294 * 500)) < 2);
    /* All flows on eight buckets of twelve links: four links carry nothing. */
    {
        const struct hash_selector cisco = selector("cisco-src-ip", "-");

        assert_true(hash_range(&cisco, 12, 100, &range));
        assert_int_equal(range.best_used, 8);
        assert_near(range.chance_idle, 1);
    }
}

static void test_same_fields_and_draws(void **state)
{
    const struct hash_selector pair = selector("unknown", "fields=src-dst-ip");
    const struct hash_selector five = selector("unknown", "fields=src-dst-ip,l4,proto");
    const struct hash_key a = key_of("@P1"), b = key_of("@P1 sport=801"), c = key_of("@P2");
    struct hash_members m;
    unsigned hits[4] = {0};

    (void)state;
    assert_true(hash_same_fields(&pair, &a, &b));
    assert_false(hash_same_fields(&five, &a, &b));
    assert_false(hash_same_fields(&pair, &a, &c));
    hash_members_init(&m, 4);
    for (uint64_t seed = 0; seed < 4000; seed++) {
        const int drawn = hash_draw(&pair, &a, seed, &m);

        assert_int_equal(hash_draw(&pair, &b, seed, &m), drawn); /* they share a link in every world */
        hits[drawn]++;
    }
    for (int i = 0; i < 4; i++)
        assert_true(hits[i] > 850 && hits[i] < 1150);
    for (unsigned id = 0; id < 4; id++)
        hash_members_down(&pair, &m, id);
    assert_int_equal(hash_draw(&pair, &a, 1, &m), -HASH_NO_MEMBER);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_list_order),
        cmocka_unit_test(test_who_moves),
        cmocka_unit_test(test_explicit_order),
        cmocka_unit_test(test_active_backup),
        cmocka_unit_test(test_ovs_buckets),
        cmocka_unit_test(test_alb),
        cmocka_unit_test(test_no_index_where_none_is_known),
        cmocka_unit_test(test_one_field_is_its_value),
        cmocka_unit_test(test_explanations),
        cmocka_unit_test(test_explained_is_picked),
        cmocka_unit_test(test_range_counts_every_way),
        cmocka_unit_test(test_range_known_numbers),
        cmocka_unit_test(test_same_fields_and_draws),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
