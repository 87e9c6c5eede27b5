/* Counters between two readings: what went by, wraps, resets, and what cannot be. */
#include "nfsbal/site/counters.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

static const bps_t GBIT = 1000000000;

static void check(uint64_t before, uint64_t after, double seconds, enum counter_state state, double bytes)
{
    double got;

    assert_int_equal(counter_delta(before, after, GBIT, seconds, &got), state);
    if (state != COUNTER_IMPOSSIBLE)
        assert_true(got == bytes);
}

static void goes_up(void **unused)
{
    (void)unused;
    check(5, 5, 10, COUNTER_STEADY, 0);
    check(5, 1000000005, 10, COUNTER_STEADY, 1e9); /* 10 s of 1 Gbit/s are 1.25e9 bytes */
    check(5, 1000000005, (double)NAN, COUNTER_STEADY, 1e9);
    check(5, 2000000005, 10, COUNTER_IMPOSSIBLE, 0);
}

static void wraps_at_32_bits(void **unused)
{
    (void)unused;
    check(UINT32_MAX - 99, 900, 10, COUNTER_WRAPPED, 1000);
    check(UINT32_MAX - 99, 900, (double)NAN, COUNTER_WRAPPED, 1000);
    /* The wrap would be 4.2 GB: not in 10 s, but in 40. */
    check(100000000, 50000000, 10, COUNTER_RESET, 5e7);
    check(100000000, 50000000, 40, COUNTER_WRAPPED, 4244967296.0);
    check(100000000, 50000000, (double)NAN, COUNTER_RESET, 5e7);
}

static void wraps_at_64_bits(void **unused)
{
    (void)unused;
    check(UINT64_MAX - 99, 900, 10, COUNTER_WRAPPED, 1000);
    check(UINT64_MAX - 99, 900, (double)NAN, COUNTER_WRAPPED, 1000);
}

static void begins_again(void **unused)
{
    (void)unused;
    check(UINT64_C(900000000000), 7000, 10, COUNTER_RESET, 7000);
    check(UINT64_C(900000000000), 7000, (double)NAN, COUNTER_RESET, 7000);
    check(UINT64_C(900000000000), UINT64_C(5000000000), 10, COUNTER_IMPOSSIBLE, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(goes_up),
        cmocka_unit_test(wraps_at_32_bits),
        cmocka_unit_test(wraps_at_64_bits),
        cmocka_unit_test(begins_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
