/* Units: what is read, what is refused, and that the locale has no say. */
#include "emu/model/units.h"

#include <locale.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <cmocka.h>

static void rates(void **state)
{
    (void)state;
    bps_t r = 7;
    assert_null(unit_parse_rate("1G", &r));
    assert_int_equal(r, 1000000000);
    assert_null(unit_parse_rate("2.5Gbit/s", &r));
    assert_int_equal(r, 2500000000);
    assert_null(unit_parse_rate("100M", &r));
    assert_int_equal(r, 100000000);
    assert_null(unit_parse_rate("1500 bit/s", &r));
    assert_int_equal(r, 1500);
    r = 7;
    static const char *const refused[] = {"",    "G",    "1",   "1GB", "1GB/s",    "-1G",          "1,5G",
                                          "1e9", "1 G ", "1.G", ".5G", "0.5bit/s", "99999999999G", "1Gbps"};
    for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++) {
        assert_non_null(unit_parse_rate(refused[i], &r));
        assert_int_equal(r, 7);
    }
}

static void sizes_and_times(void **state)
{
    (void)state;
    uint64_t n;
    assert_null(unit_parse_size("64KiB", &n));
    assert_int_equal(n, 65536);
    assert_null(unit_parse_size("9000", &n));
    assert_int_equal(n, 9000);
    assert_null(unit_parse_size("1.5MB", &n));
    assert_int_equal(n, 1500000);
    assert_non_null(unit_parse_size("1G", &n));
    assert_non_null(unit_parse_size("1.5B", &n));
    ps_t t;
    assert_null(unit_parse_time("2.5ms", &t));
    assert_int_equal(t, 2500 * PS_PER_US);
    assert_null(unit_parse_time("12.3456789012s", &t));
    assert_int_equal(t, INT64_C(12345678901200));
    assert_null(unit_parse_time("10min", &t));
    assert_int_equal(t, 600 * PS_PER_S);
    assert_null(unit_parse_time("0", &t));
    assert_int_equal(t, 0);
    assert_non_null(unit_parse_time("30", &t));
    assert_non_null(unit_parse_time("200d", &t));
}

static void reals(void **state)
{
    (void)state;
    double v;
    assert_null(unit_parse_byte_rate("600MB/s", &v));
    assert_true(v == 6e8);
    assert_null(unit_parse_byte_rate("1.5MiB/s", &v));
    assert_true(v == 1572864);
    assert_non_null(unit_parse_byte_rate("600M", &v));
    assert_null(unit_parse_count("20k", &v));
    assert_true(v == 20000);
    assert_null(unit_parse_count("0.25", &v));
    assert_true(v == 0.25);
    assert_null(unit_parse_percent("8%", &v));
    assert_true(v == 0.08);
    assert_non_null(unit_parse_percent("0.08", &v));
}

static void printing(void **state)
{
    (void)state;
    char b[32];
    assert_string_equal(unit_print_rate(b, sizeof(b), 1000000000), "1 Gbit/s");
    assert_string_equal(unit_print_rate(b, sizeof(b), 2500000000), "2.5 Gbit/s");
    assert_string_equal(unit_print_rate(b, sizeof(b), 941483000), "941.483 Mbit/s");
    assert_string_equal(unit_print_rate(b, sizeof(b), 0), "0 bit/s");
    assert_string_equal(unit_print_rate(b, sizeof(b), 999999999), "1000 Mbit/s");
    assert_string_equal(unit_print_mbps(b, sizeof(b), 117.68e6), "117.7");
    assert_string_equal(unit_print_mbps(b, sizeof(b), -0.04e6), "0.0");
    assert_string_equal(unit_print_mbps(b, sizeof(b), -1.25e6), "-1.3");
    assert_string_equal(unit_print_size(b, sizeof(b), 65536), "64 KiB");
    assert_string_equal(unit_print_size(b, sizeof(b), 9000), "8.789 KiB");
    assert_string_equal(unit_print_time(b, sizeof(b), 5 * PS_PER_US), "5 us");
    assert_string_equal(unit_print_time(b, sizeof(b), 1250 * PS_PER_MS), "1.25 s");
    assert_string_equal(unit_print_time(b, sizeof(b), -3), "-3 ps");
    char tiny[4];
    assert_string_equal(unit_print_rate(tiny, sizeof(tiny), 1000000000), "1 G");
}

/* The same with a comma as the decimal point; where that locale is not installed nothing new is tested. */
static void comma_locale(void **state)
{
    setlocale(LC_NUMERIC, "de_DE.UTF-8");
    rates(state);
    sizes_and_times(state);
    reals(state);
    printing(state);
    setlocale(LC_NUMERIC, "C");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rates),    cmocka_unit_test(sizes_and_times), cmocka_unit_test(reals),
        cmocka_unit_test(printing), cmocka_unit_test(comma_locale),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
