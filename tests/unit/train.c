/* Trains: frame times, splitting, the pool. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "emu/fabric/train.h"

static struct train_pool *pool;

static int set_up(void **state)
{
    (void)state;
    pool = train_pool_new();
    return pool ? 0 : -1;
}

static int tear_down(void **state)
{
    (void)state;
    assert_int_equal(train_pool_used(pool), 0);
    train_pool_free(pool);
    return 0;
}

/* 45 segments of 1448 bytes and one of 376: 64 KiB and 160 of RPC, head first, the rest between 1000 and 45000. */
static struct train *nfs_write(void)
{
    struct train *t = train_new(pool);

    t->frames = 46;
    t->frame_bytes = 1448 + 66;
    t->last_bytes = 376 + 66;
    t->head = 400;
    t->body = 1000;
    t->tail = 46000;
    t->u.tcp = (struct train_tcp){.seq = 100, .length = 45 * 1448 + 376, .mss = 1448};
    return t;
}

static void wire_bytes(void **state)
{
    struct train *t = nfs_write();

    (void)state;
    assert_int_equal(train_wire_bytes(t), 45 * (1448 + 66 + 24) + 376 + 66 + 24);
    assert_int_equal(train_first_bytes(t), 1448 + 66);
    t->frames = 1;
    assert_int_equal(train_wire_bytes(t), 376 + 66 + 24);
    assert_int_equal(train_first_bytes(t), 376 + 66);
    train_release(pool, t);
}

static void frame_times(void **state)
{
    struct train *t = nfs_write();

    (void)state;
    assert_int_equal(train_frame_time(t, 0), 400);
    assert_int_equal(train_frame_time(t, 1), 2000);
    assert_int_equal(train_frame_time(t, 44), 45000);
    assert_int_equal(train_frame_time(t, 45), 46000);
    /* No overflow with a long train on a slow link. */
    t->body = 0;
    t->tail = 100 * PS_PER_S;
    assert_int_equal(train_frame_time(t, 9), 20 * PS_PER_S);
    train_release(pool, t);
}

static void split_keeps_all(void **state)
{
    (void)state;
    for (uint32_t n = 1; n < 46; n++) {
        struct train *t = nfs_write(), *whole = nfs_write();
        struct train *rest = train_split(pool, t, n);

        assert_int_equal(t->frames, n);
        assert_int_equal(rest->frames, 46 - n);
        assert_int_equal(train_wire_bytes(t) + train_wire_bytes(rest), train_wire_bytes(whole));
        assert_int_equal(t->u.tcp.length + rest->u.tcp.length, whole->u.tcp.length);
        assert_int_equal(rest->u.tcp.seq, t->u.tcp.seq + t->u.tcp.length);
        assert_int_equal(t->u.tcp.length, n * 1448);
        for (uint32_t i = 0; i < n; i++)
            assert_in_range(train_frame_time(t, i), train_frame_time(whole, i), train_frame_time(whole, i));
        for (uint32_t i = n; i < 46; i++)
            assert_in_range(train_frame_time(rest, i - n), train_frame_time(whole, i), train_frame_time(whole, i));
        train_release(pool, t);
        train_release(pool, rest);
        train_release(pool, whole);
    }
}

static int hooked[3];
static void on_release(void *context, struct train *t)
{
    assert_ptr_equal(context, hooked);
    assert_non_null(t->u.raw.buffer);
    hooked[0]++;
}
static void on_copy(void *context, const struct train *t, struct train *copy)
{
    (void)context;
    assert_ptr_equal(t->u.raw.buffer, copy->u.raw.buffer);
    hooked[1]++;
}
static void on_split(void *context, struct train *t, struct train *rest)
{
    (void)context;
    assert_int_equal(t->frames + rest->frames, 3);
    hooked[2]++;
}

static void hooks(void **state)
{
    struct train_hooks h = {on_release, on_copy, on_split, hooked};
    struct train *t, *copy, *rest;

    (void)state;
    train_pool_hooks(pool, &h);
    t = train_new(pool);
    t->frames = 3;
    t->u.raw.buffer = t;
    copy = train_copy(pool, t);
    rest = train_split(pool, t, 1);
    assert_int_equal(train_pool_used(pool), 3);
    train_release(pool, t);
    train_release(pool, copy);
    train_release(pool, rest);
    assert_int_equal(hooked[0], 3);
    assert_int_equal(hooked[1], 1);
    assert_int_equal(hooked[2], 1);
}

static void macs(void **state)
{
    const uint8_t mac[6] = {0x01, 0x00, 0x5e, 0x00, 0x00, 0xfb};

    (void)state;
    assert_int_equal(train_mac(mac), 0x01005e0000fb);
    assert_true(train_group_mac(mac));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(wire_bytes, set_up, tear_down),
        cmocka_unit_test_setup_teardown(frame_times, set_up, tear_down),
        cmocka_unit_test_setup_teardown(split_keeps_all, set_up, tear_down),
        cmocka_unit_test_setup_teardown(hooks, set_up, tear_down),
        cmocka_unit_test(macs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
