/* The checks: every rule of the table has a file below tests/golden/check/rules whose case `bad` triggers it and whose case
 * `good` doesn't; the table itself; ranges in messages; releases; the merging of cases. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "emu/model/check.h"
#include "emu/model/check_rules.h"
#include "emu/model/topology_file.h"

static size_t findings(const struct diag *d, const char *id)
{
    size_t n = 0;
    for (size_t i = 0; i < d->count; i++)
        n += id ? d->entries[i].id && strcmp(d->entries[i].id, id) == 0 : !d->entries[i].id;
    return n;
}

/* The findings of one case of a rule's file. */
static size_t count_in_case(const char *path, const char *case_name, const char *id)
{
    struct diag d;
    struct topo_file *f;
    size_t n;

    diag_init(&d, path);
    f = topo_file_open(path, &d);
    if (!f || !check_file(f, &case_name, 1, &d, NULL) || findings(&d, NULL)) {
        diag_print_text(&d, stdout, true);
        fail_msg("%s, case %s: can't be read", path, case_name);
    }
    n = findings(&d, id);
    topo_file_close(f);
    diag_free(&d);
    return n;
}

static void test_every_rule_fires_and_keeps_silent(void **state)
{
    const struct check_rule *r;
    (void)state;

    for (size_t i = 0; (r = check_rule_at(i)); i++) {
        char path[256];
        snprintf(path, sizeof path, "tests/golden/check/rules/%s.yaml", r->id);
        if (count_in_case(path, "good", r->id) != 0)
            fail_msg("%s: case `good` triggers the rule", path);
        if (count_in_case(path, "bad", r->id) == 0)
            fail_msg("%s: case `bad` does not trigger the rule", path);
    }
}

static void test_table(void **state)
{
    const struct check_rule *r, *other;
    (void)state;

    assert_int_equal(check_rule_count() > 45, true);
    for (size_t i = 0; (r = check_rule_at(i)); i++) {
        size_t column = 0;
        for (size_t k = 0; k < i && (other = check_rule_at(k)); k++)
            assert_string_not_equal(r->id, other->id);
        assert_ptr_equal(check_rule_find(r->id), r);
        if (strchr(r->reason, '\n') || strlen(r->reason) > 90 || r->reason[strlen(r->reason) - 1] == '.')
            fail_msg("%s: the reason is one line without a full stop: %s", r->id, r->reason);
        for (const char *p = r->explanation; *p; p++) {
            column = *p == '\n' ? 0 : column + 1;
            if (column > 120)
                fail_msg("%s: a line of the explanation is too long", r->id);
        }
        assert_int_equal(column, 0); /* ends with a newline */
    }
    assert_null(check_rule_at(check_rule_count()));
    assert_null(check_rule_find("no-such-rule"));
    assert_string_equal(check_rule_nearest("vip-unusd"), "vip-unused");
    assert_null(check_rule_nearest("zzz"));
}

static void test_join(void **state)
{
    struct check c = {.arena = arena_new()};
    static const char *const hosts[] = {"esx1", "esx2", "esx3", "esx5", "esx6", "esx9"};
    static const char *const teams[] = {"esx1:vSwitch0", "esx2:vSwitch0", "esx3:vSwitch0", "a", "b"};
    static const char *const padded[] = {"ds08", "ds09", "ds10", "ds11"};
    static const char *const widening[] = {"ds8", "ds9", "ds10", "ds011"};
    static const char *const addresses[] = {"10.0.0.1", "10.0.0.2", "10.0.0.3", "10.0.1.4"};
    static const char *const two_numbers[] = {"h1:p1", "h1:p2", "h2:p2", "h3:p2", "h4:p2"};
    (void)state;

    assert_string_equal(check_join(&c, two_numbers, 5, 8), "h1:p1, h[1-4]:p2");
    assert_string_equal(check_join(&c, hosts, 6, 8), "esx[1-3], esx5, esx6, esx9");
    assert_string_equal(check_join(&c, hosts, 6, 2), "esx[1-3], esx5 and 2 more");
    assert_string_equal(check_join(&c, hosts, 1, 8), "esx1");
    assert_string_equal(check_join(&c, hosts, 0, 8), "");
    assert_string_equal(check_join(&c, teams, 5, 8), "esx[1-3]:vSwitch0, a, b");
    assert_string_equal(check_join(&c, padded, 4, 8), "ds[08-11]");
    assert_string_equal(check_join(&c, widening, 4, 8), "ds[8-10], ds011");
    assert_string_equal(check_join(&c, addresses, 4, 8), "10.0.0.[1-3], 10.0.1.4");
    arena_free(c.arena);
}

static void test_release(void **state)
{
    (void)state;
    assert_int_equal(check_esxi_release("7.0u3"), CHECK_ESXI(7, 0, 3));
    assert_int_equal(check_esxi_release("7.0 U3k"), CHECK_ESXI(7, 0, 3));
    assert_int_equal(check_esxi_release("8.0.2"), CHECK_ESXI(8, 0, 2));
    assert_int_equal(check_esxi_release("6.7"), CHECK_ESXI(6, 7, 0));
    assert_int_equal(check_esxi_release("5.0"), CHECK_ESXI(5, 0, 0));
    assert_int_equal(check_esxi_release("8"), CHECK_ESXI(8, 0, 0));
    assert_int_equal(check_esxi_release("newest"), 0);
    assert_int_equal(check_esxi_release(NULL), 0);
    assert_true(CHECK_ESXI(6, 7, 3) < CHECK_ESXI(7, 0, 0));
    assert_true(CHECK_ESXI(5, 5, 0) < CHECK_ESXI(6, 0, 0));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_table),
        cmocka_unit_test(test_join),
        cmocka_unit_test(test_release),
        cmocka_unit_test(test_every_rule_fires_and_keeps_silent),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
