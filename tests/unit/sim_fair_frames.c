/* needs: release. As sim_fair.c, frame by frame at MTU 1500; a program of its own because it takes its time. */
#include "tests/support/fair.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static void frames_at_1500(void **state)
{
    (void)state;
    fair_check(FAIR_FOUR_HOSTS("1500", "") FAIR_WORK("write", "30s"), SIM_FRAME, true);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(frames_at_1500)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
