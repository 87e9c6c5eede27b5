/* Bytes of iSCSI commands, added up by hand from RFC 7143. */
#include "emu/model/iscsi.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

static void sizes(void **state)
{
    (void)state;
    assert_int_equal(iscsi_there(false, 32768), 48);
    assert_int_equal(iscsi_back(false, 32768), 48 + 32768); /* one Data-In, with status */
    assert_int_equal(iscsi_there(true, 5120), 48 + 5120);   /* immediate data */
    assert_int_equal(iscsi_back(true, 5120), 48);
    assert_int_equal(iscsi_there(true, 513), 48 + 516);
    assert_int_equal(iscsi_back(false, 1 << 20), 8 * 48 + (1 << 20)); /* eight segments of 128 KiB */
    assert_int_equal(iscsi_there(true, 1 << 20), 8 * 48 + (1 << 20));
    assert_int_equal(iscsi_back(true, 1 << 20), 4 * 48); /* three bursts are asked for, and the response */
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(sizes)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
