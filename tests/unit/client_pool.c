/* The memory for what programs wrote: bounded as a whole, and nobody starves. needs: full */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "nfsbal/client/pool.h"

enum { MB = 1 << 20 };

static struct buffer *held[1024];
static size_t n_held;

static uint64_t take_all(struct pool *p)
{
    struct buffer *b;
    uint64_t bytes = 0;

    while (n_held < 1024 && (b = pool_get(p, MB)) != NULL) {
        bytes += b->size;
        held[n_held++] = b;
    }
    return bytes;
}

static void release_all(void)
{
    while (n_held > 0)
        buffer_release(held[--n_held]);
}

static void one_cannot_starve_others(void **state)
{
    struct pool *whole = pool_new(96 * MB), *share[4];
    uint64_t total;

    (void)state;
    for (int i = 0; i < 4; i++)
        share[i] = pool_share(whole, 4);
    assert_int_equal(pool_limit(share[0]), 60 * MB);
    assert_int_equal(pool_fair(share[0]), 24 * MB);
    assert_int_equal(pool_room(share[0]), 60 * MB);
    total = take_all(share[0]);
    assert_int_equal(total, 60 * MB);
    assert_int_equal(pool_room(share[0]), 0);
    for (int i = 1; i < 4; i++) {
        assert_int_equal(pool_room(share[i]), 12 * MB);
        total += take_all(share[i]);
    }
    assert_int_equal(total, 96 * MB);
    release_all();
    for (int i = 0; i < 4; i++) {
        assert_int_equal(pool_used(share[i]), 0);
        assert_int_equal(pool_room(share[i]), 60 * MB);
        pool_free(share[i]);
    }
    pool_free(whole);
}

static void a_single_share_is_the_whole(void **state)
{
    struct pool *whole = pool_new(96 * MB), *share = pool_share(whole, 1);

    (void)state;
    assert_int_equal(pool_limit(share), 96 * MB);
    assert_int_equal(pool_fair(share), 96 * MB);
    assert_int_equal(take_all(share), 96 * MB);
    release_all();
    pool_free(share);
    pool_free(whole);
}

static void many_shares_are_not_too_small_to_work(void **state)
{
    struct pool *whole = pool_new(96 * MB), *share[64];
    uint64_t total = 0;

    (void)state;
    for (int i = 0; i < 64; i++)
        share[i] = pool_share(whole, 64);
    take_all(share[0]);
    for (int i = 1; i < 64; i++)
        assert_int_equal(take_all(share[i]), POOL_SHARE_LEAST);
    release_all();
    for (int i = 0; i < 64; i++)
        total += pool_limit(share[i]) - 48 * MB;
    assert_int_equal(total, 64 * POOL_SHARE_LEAST);
    for (int i = 0; i < 64; i++)
        pool_free(share[i]);
    pool_free(whole);
}

static void woken(void *context) { ++*(int *)context; }

/* Memory beyond its part that one gives back wakes all who wait, memory of its part itself only. */
static void who_waits_is_woken(void **state)
{
    struct pool *whole = pool_new(32 * MB), *a = pool_share(whole, 2), *b = pool_share(whole, 2);
    struct pool_waiter first = {.link = NULL}, second = {.link = NULL};
    int n = 0, m = 0;

    (void)state;
    assert_int_equal(take_all(a), 24 * MB);
    assert_int_equal(take_all(b), 8 * MB);
    pool_wait(a, &first, woken, &n);
    pool_wait(b, &second, woken, &m);
    buffer_release(held[--n_held]); /* of b's part */
    assert_int_equal(n, 0);
    assert_int_equal(m, 1);
    pool_wait(b, &second, woken, &m);
    buffer_release(held[0]); /* of what a has beyond its own */
    assert_int_equal(n, 1);
    assert_int_equal(m, 2);
    held[0] = held[--n_held];
    release_all();
    pool_free(a);
    pool_free(b);
    pool_free(whole);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_cannot_starve_others),
        cmocka_unit_test(a_single_share_is_the_whole),
        cmocka_unit_test(many_shares_are_not_too_small_to_work),
        cmocka_unit_test(who_waits_is_woken),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
