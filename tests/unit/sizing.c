/* The formula of BP1018, pages 34-35, with its test bed's numbers. */
#include "emu/model/sizing.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#define GB UINT64_C(1000000000)

static void bp1018(void **state)
{
    (void)state;
    struct sizing s = {.capacity = 2480 * GB,
                       .image = 25 * GB,
                       .images = 1,
                       .memory = GB,
                       .write_cache = 2 * GB,
                       .reserve = SIZING_RESERVE,
                       .headroom = SIZING_HEADROOM};
    assert_int_equal(sizing_desktops(&s), 555); /* (2480 - 372 - 25) / 3.75 = 555.5 */
    s.capacity = 2539500000000;
    assert_int_equal(sizing_desktops(&s), 568); /* 568.95 */
    s.capacity = 2480 * GB;
    s.headroom = 0;
    assert_int_equal(sizing_desktops(&s), 694);
    s.headroom = SIZING_HEADROOM;
    s.reserve = 0;
    assert_int_equal(sizing_desktops(&s), 654);
    s.images = 100; /* more images than fit */
    assert_int_equal(sizing_desktops(&s), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(bp1018)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
