/* The members of a team that fail and come back, against a list of their names in the order in which they are counted.
 * TEST_SEED=N repeats or varies a run; the seed is printed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "hashes/key.h"
#include "hashes/pick.h"
#include "hashes/policy.h"
#include "tests/support/hash_random.h"
#include "tests/support/hash_text.h"
#include "tests/support/seed.h"

enum { MEMBERS_ROUNDS = 400 };

/* A list of names in the order in which they are counted. */
struct list {
    unsigned name[64], length;
};

static void remove_name(struct list *l, unsigned name, enum hash_failure rule)
{
    unsigned i = 0;

    while (l->name[i] != name)
        i++;
    if (rule == HASH_FAIL_SWAP_LAST) {
        l->name[i] = l->name[--l->length];
        return;
    }
    for (l->length--; i < l->length; i++)
        l->name[i] = l->name[i + 1];
}

static void add_name(struct list *l, unsigned name, enum hash_failure rule)
{
    unsigned i = l->length++;

    if (rule == HASH_FAIL_COMPACT)
        for (; i > 0 && l->name[i - 1] > name; i--)
            l->name[i] = l->name[i - 1];
    l->name[i] = name;
}

static void run_members(const char *policy, const char *params, enum hash_failure rule, struct hash_random *random)
{
    const unsigned n = 1 + hash_random_below(random, 64);
    struct hash_members members;
    struct hash_selector sel;
    struct list list = {.length = n};
    bool up[64];

    assert_true(hash_text_selector(policy, params, &sel));
    assert_int_equal(hash_failure_rule(&sel), rule);
    hash_members_init(&members, n);
    for (unsigned i = 0; i < n; i++) {
        list.name[i] = i;
        up[i] = true;
    }
    for (int step = 0; step < 60; step++) {
        const unsigned id = hash_random_below(random, n);
        struct hash_key key;
        struct hash_flow flow;
        unsigned place;

        if (up[id]) {
            hash_members_down(&sel, &members, id);
            remove_name(&list, id, rule);
        } else {
            hash_members_up(&sel, &members, id);
            add_name(&list, id, rule);
        }
        up[id] = !up[id];
        hash_random_flow(random, &flow);
        hash_key_flow(&key, &flow);
        if (list.length == 0) {
            assert_int_equal(hash_pick(&sel, &key, &members), -HASH_NO_MEMBER);
            continue;
        }
        if (rule == HASH_FAIL_WALK_NEXT) {
            for (place = (unsigned)hash_reduce(&sel, hash_value(&sel, &key), n); !up[place];)
                place = (place + 1) % n;
            assert_int_equal(hash_pick(&sel, &key, &members), place);
        } else {
            place = (unsigned)hash_reduce(&sel, hash_value(&sel, &key), list.length);
            assert_int_equal(hash_pick(&sel, &key, &members), list.name[place]);
        }
    }
}

static void test_members(void **state)
{
    struct hash_random random = {test_seed() + 2};

    (void)state;
    for (int i = 0; i < MEMBERS_ROUNDS; i++) {
        run_members("linux-layer3+4", "-", HASH_FAIL_COMPACT, &random);
        run_members("team", "-", HASH_FAIL_APPEND, &random);
        run_members("illumos", "policy=L2,L3,L4", HASH_FAIL_SWAP_LAST, &random);
        run_members("freebsd-lagg", "proto=loadbalance seed=7", HASH_FAIL_WALK_NEXT, &random);
        run_members("freebsd-lagg", "seed=7", HASH_FAIL_COMPACT, &random);
        run_members("netapp-7mode-ip", "-", HASH_FAIL_WALK_NEXT, &random);
        run_members("cisco-src-dst-ip", "map=contiguous", HASH_FAIL_COMPACT, &random);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_members)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
