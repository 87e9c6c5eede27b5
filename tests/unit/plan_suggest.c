/* Suggested addresses, counted again flow by flow: every team with a known rule is even. */
#include "nfsbal/plan/suggest.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "emu/model/topology_file.h"
#include "nfsbal/plan/suggest_vmk.h"
#include "tests/support/path_site.h"

enum { FIRST = 105, COUNT = 150 };

/* plant-b with twelve VIPs, one datastore on each. */
static void test_plant_b(void **unused)
{
    struct topo *t = site_load("topologies/examples/plant-b.yaml", NULL);
    struct topo_addr from[COUNT];
    struct plan_suggestion s;
    char problem[256], text[64];
    unsigned counts[6][4] = {{0}};
    (void)unused;
    for (int i = 0; i < COUNT; i++) {
        snprintf(text, sizeof text, "10.50.0.%d", FIRST + i);
        assert_true(topo_addr_parse(&from[i], text));
    }
    assert_true(plan_suggest(t, 12, from, COUNT, NULL, 0, &s, problem, sizeof problem));
    assert_int_equal(s.n_existing, 4);
    assert_int_equal(s.n_added, 8);
    assert_int_equal(s.n_uneven, 0);
    /* IP hash by hand: (host xor VIP) mod uplinks; the last octets are all that differs. */
    for (unsigned h = 0; h < 6; h++) {
        unsigned uplinks = h < 4 ? 4 : 3;
        for (unsigned v = 0; v < 12; v++) {
            uint32_t vip = v < 4 ? 0x0a320065 + v : 0x0a320000u + s.added[v - 4].addr.bytes[3];
            counts[h][(vip ^ (0x0a32000b + h)) % uplinks]++;
        }
        for (unsigned u = 0; u < uplinks; u++)
            assert_int_equal(counts[h][u], 12 / uplinks);
    }
    unsigned homes = 0;
    for (size_t i = 0; i < s.n_added; i++)
        homes += s.added[i].home == topo_find_box(t, "fas:n1");
    assert_int_equal(homes, 4);
    plan_suggestion_free(&s);
    topo_free(t);
}

/* Nothing that is in use, reserved, or no host address. */
static void test_taken(void **unused)
{
    struct topo *t = site_load("topologies/examples/plant-b.yaml", NULL);
    static const char *const words[] = {"10.50.0.0", "10.50.0.255", "10.50.0.11", "10.50.0.103",
                                        "10.51.0.7", "10.50.0.77",  "10.50.0.78", "10.50.0.79"};
    struct topo_addr from[8], reserved;
    struct plan_suggestion s;
    char problem[256];
    (void)unused;
    for (int i = 0; i < 8; i++)
        assert_true(topo_addr_parse(&from[i], words[i]));
    assert_true(topo_addr_parse(&reserved, "10.50.0.78"));
    assert_true(plan_suggest(t, 6, from, 8, &reserved, 1, &s, problem, sizeof problem));
    assert_int_equal(s.n_candidates, 2);
    assert_int_equal(s.added[0].addr.bytes[3], 77);
    assert_int_equal(s.added[1].addr.bytes[3], 79);
    plan_suggestion_free(&s);
    assert_false(plan_suggest(t, 7, from, 8, &reserved, 1, &s, problem, sizeof problem));
    assert_non_null(strstr(problem, "too few"));
    plan_suggestion_free(&s);
    assert_false(plan_suggest(t, 4, from, 8, &reserved, 1, &s, problem, sizeof problem));
    plan_suggestion_free(&s);
    topo_free(t);
}

/* Four hosts with even addresses are on one of two links: two of them re-addressed halve its load. */
static void test_vmk(void **unused)
{
    struct topo *t = site_load("tests/golden/plan/vmk.yaml", NULL);
    const struct plan_options options = {0};
    struct topo_addr from[30], reserved;
    struct plan_readdressed before, *all;
    char problem[256], text[64];
    struct plan *p = plan_make(t, &options, problem, sizeof problem);
    (void)unused;
    assert_non_null(p);
    for (int i = 0; i < 30; i++) {
        snprintf(text, sizeof text, "10.0.0.%d", 10 + i);
        assert_true(topo_addr_parse(&from[i], text));
    }
    assert_true(topo_addr_parse(&reserved, "10.0.0.11"));
    /* No other VIPs help. */
    assert_int_equal(p->best, 0);
    assert_int_equal(plan_suggest_vmk(p, &p->rows[0], from, 30, &reserved, 1, &before, &all), 2);
    assert_true(all[1].max_load > 0.499 * before.max_load && all[1].max_load < 0.501 * before.max_load);
    for (int i = 0; i < 2; i++) {
        assert_true(all[i].addr.bytes[3] & 1);
        assert_true(all[i].addr.bytes[3] > 11);
    }
    assert_int_not_equal(all[0].iface, all[1].iface);
    free(all);
    plan_free(p);
    topo_free(t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_plant_b),
        cmocka_unit_test(test_taken),
        cmocka_unit_test(test_vmk),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
