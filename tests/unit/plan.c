/* The planner on little sites whose answers are known by hand. */
#include "nfsbal/plan/plan.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "nfsbal/plan/layout.h"
#include "nfsbal/plan/search.h"
#include "emu/model/topology_file.h"
#include "tests/support/path_site.h"

/* Hosts esx1 .. with four uplinks each at a switch, a NAS with one fat port, VIPs from .101 on; LINES are the datastores. */
#define HOSTS(n)                                                                                             \
    "  'esx[1-" #n                                                                                           \
    "]': {kind: esxi, vswitches: {v: {uplinks: 'vmnic[0-3]', teaming: ip-hash}}, vmknics: {vmk1: {vswitch: " \
    "v, address: '10.0.0.[11-1" #n "]/24'}}}\n"
#define SWITCH(n) \
    "  sw: {kind: switch, hash: xor-src-dst-ip, lags: {'po[1-" #n "]': {to: 'esx[1-" #n "]:v', mode: static}}}\n"
#define NAS(vips)                                                                                           \
    "  nas: {kind: nas, controllers: {c: {nics: [e0]}}, vips: {'10.0.0.[101-1" vips "]/24': {}}, exports: " \
    "{'/d[1-8]': {}}}\n"
#define CABLES(n, ports)                                                                 \
    "links:\n  - {ends: ['esx[1-" #n "]:vmnic[0-3]', 'sw:p[1-" ports "]'], speed: 1G}\n" \
    "  - {ends: ['nas:c.e0', 'sw:q'], speed: 40G}\n"
#define ONE_HOST(vips)  "version: 1\nname: a\nnodes:\n" HOSTS(1) SWITCH(1) NAS(vips) CABLES(1, "4") "datastores:\n"
#define TWO_HOSTS(vips) "version: 1\nname: a\nnodes:\n" HOSTS(2) SWITCH(2) NAS(vips) CABLES(2, "8") "datastores:\n"

static struct plan *make(const struct topo *t, struct plan_options options)
{
    char problem[1024];
    struct plan *p = plan_make(t, &options, problem, sizeof problem);
    if (!p)
        fail_msg("%s", problem);
    return p;
}

static const char *vip_of(const struct plan *p, const char *datastore, int host)
{
    const struct plan_row *row = &p->rows[p->chosen];
    for (size_t u = 0; u < p->n_units; u++)
        if (!strcmp(p->t->datastores[p->units[u].datastore].name, datastore) &&
            (p->units[u].host < 0 || p->units[u].host == host)) {
            int vip = plan_vip(p, row, u, host);
            return vip < 0 ? "none" : p->t->vips[vip].text;
        }
    return "no such datastore";
}

static const char *server_of(const struct plan *p, const char *datastore, const char *host)
{
    static char server[128];
    struct topo_assignment *all;
    long n = plan_assignments(p, &p->rows[p->chosen], &all);
    server[0] = '\0';
    for (long i = 0; i < n; i++)
        if (!strcmp(all[i].datastore, datastore) && !strcmp(all[i].host, host))
            snprintf(server, sizeof server, "%s", all[i].server);
    free(all);
    return server;
}

/* Four datastores, four VIPs, four uplinks: each uplink once. Eight VIPs, two hosts: each uplink of both twice. */
static void test_documents(void **unused)
{
    static const struct {
        const char *text;
        double each;
    } rows[] = {
        {ONE_HOST("04") "  'd[1-4]': {export: 'nas:/{name}'}\n", 1},
        {ONE_HOST("04") "  'd[1-4]': {export: 'nas:/{name}', mounted: 10.0.0.101}\n", 1},
        {TWO_HOSTS("08") "  'd[1-8]': {export: 'nas:/{name}'}\n", 2},
        {TWO_HOSTS("08") "  'd[1-8]': {export: 'nas:/{name}', mounted: 10.0.0.105}\n", 2},
    };
    (void)unused;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct topo *t = site_parse(rows[i].text, NULL);
        struct plan *p = make(t, (struct plan_options){.best = true});
        const struct plan_layout *l = p->rows[p->chosen].layout;
        size_t seen = 0;
        for (size_t r = 0; r < p->problem->n_resources; r++)
            if (p->problem->resources[r].host >= 0 && p->problem->resources[r].direction == FLOW_WRITE) {
                assert_true(plan_compare_real(plan_layout_flows(l, (int)r), rows[i].each) == 0);
                seen++;
            }
        assert_int_equal(seen, 4 * p->problem->n_hosts);
        assert_true(plan_compare_real(p->rows[p->chosen].max_load, p->rows[p->chosen].bound) == 0);
        plan_free(p);
        topo_free(t);
    }
}

/* Nothing beyond today's row unless it is asked for, and then no more than that. */
static void test_asking(void **unused)
{
    struct topo *t = site_parse(ONE_HOST("04") "  'd[1-4]': {export: 'nas:/{name}', mounted: 10.0.0.101}\n", NULL);
    static const struct {
        struct plan_options options;
        size_t changes;
    } rows[] = {
        {{0}, 0},
        {{.max_changes = 1}, 1},
        {{.max_changes = 2}, 2},
        {{.max_changes = 9}, 3},
        {{.best = true}, 3},
        {{.worth = 0.25}, 3}, /* 4 to 3: a quarter, 3 to 2: a third, 2 to 1: a half */
        {{.worth = 0.6}, 0},
    };
    (void)unused;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct plan *p = make(t, rows[i].options);
        assert_int_equal(p->rows[p->chosen].changes, rows[i].changes);
        assert_int_equal(p->rows[0].changes, 0);
        plan_free(p);
    }
    topo_free(t);
}

/* Hosts that disagree about the VIP are one change from agreeing; who stays keeps every string. */
static void test_drift(void **unused)
{
    struct topo *t =
        site_parse(TWO_HOSTS("04") "  d1: {export: 'nas:/d1', mounted: {default: 10.0.0.101, esx2: 10.0.0.102}}\n"
                                   "  d2: {export: 'nas:/d2', mounted: '10.0.0.102:/d2'}\n",
                   NULL);
    struct plan *p = make(t, (struct plan_options){0});
    (void)unused;
    assert_true(p->units[0].mixed);
    assert_string_equal(server_of(p, "d1", "esx1"), "10.0.0.101");
    assert_string_equal(server_of(p, "d1", "esx2"), "10.0.0.102");
    assert_string_equal(server_of(p, "d2", "esx1"), "10.0.0.102:/d2");
    plan_free(p);
    p = make(t, (struct plan_options){.best = true});
    assert_string_equal(server_of(p, "d1", "esx1"), server_of(p, "d1", "esx2"));
    assert_string_equal(server_of(p, "d2", "esx1"), "10.0.0.102:/d2");
    plan_free(p);
    topo_free(t);
}

static void test_demands(void **unused)
{
    /* d1 must be where d2 would like to be; d3 shares with nobody. */
    struct topo *t = site_parse(ONE_HOST("04") "  d1: {export: 'nas:/d1', pin: 10.0.0.103}\n"
                                               "  d2: {export: 'nas:/d2', vip: 10.0.0.103}\n"
                                               "  d3: {export: 'nas:/d3', exclusive: true}\n"
                                               "  'd[4-8]': {export: 'nas:/{name}'}\n",
                                NULL);
    struct plan *p = make(t, (struct plan_options){.best = true});
    (void)unused;
    assert_string_equal(vip_of(p, "d1", 0), "10.0.0.103");
    assert_string_equal(vip_of(p, "d2", 0), "10.0.0.103");
    for (int i = 1; i <= 8; i++) {
        char name[8];
        snprintf(name, sizeof name, "d%d", i);
        if (i != 3)
            assert_string_not_equal(vip_of(p, name, 0), vip_of(p, "d3", 0));
    }
    plan_free(p);
    topo_free(t);
}

/* A host's mount may move by itself; a name of its own is re-pointed, not remounted. */
static void test_units(void **unused)
{
    struct topo *t =
        site_parse(TWO_HOSTS("04") "  d1: {export: 'nas:/d1', mounted: 10.0.0.101, identity: per-host, vms: 3}\n"
                                   "  d2: {export: 'nas:/d2', mounted: d2.example, server: d2.example, vip: "
                                   "10.0.0.101, vms: 4}\n",
                   NULL);
    struct plan *p = make(t, (struct plan_options){0});
    (void)unused;
    assert_int_equal(p->n_units, 3);
    assert_int_equal(p->units[0].cost, PLAN_OUTAGE);
    assert_int_equal(p->units[0].vms, 3);
    assert_int_equal(p->units[2].cost, PLAN_ROLLING);
    assert_int_equal(p->units[2].vms, 0);
    plan_free(p);
    p = make(t, (struct plan_options){.best = true});
    assert_string_equal(server_of(p, "d2", "esx1"), "d2.example");
    assert_string_not_equal(vip_of(p, "d2", topo_find_box(t, "esx1")), "10.0.0.101");
    assert_string_equal(vip_of(p, "d1", topo_find_box(t, "esx1")), "10.0.0.101");
    assert_string_equal(vip_of(p, "d1", topo_find_box(t, "esx2")), "10.0.0.101");
    plan_free(p);
    topo_free(t);
}

/* A VIP that is down is left, whatever it costs. */
static void test_down(void **unused)
{
    struct topo *t = site_parse(
        "version: 1\nname: a\nnodes:\n" HOSTS(1)
            SWITCH(1) "  nas: {kind: nas, controllers: {c: {nics: [e0]}}, vips: {10.0.0.101/24: {state: down}, "
                      "10.0.0.102/24: {}}, exports: {/d1: {}}}\n" CABLES(
                          1, "4") "datastores:\n  d1: {export: 'nas:/d1', mounted: 10.0.0.101}\n",
        NULL);
    struct plan *p = make(t, (struct plan_options){.max_changes = 1});
    (void)unused;
    assert_int_equal(p->rows[0].wrong, 1);
    assert_string_equal(vip_of(p, "d1", 0), "10.0.0.102");
    plan_free(p);
    topo_free(t);
}

/* From everything on one VIP, local search alone finds an even layout of a class of many. */
static void test_from_the_worst(void **unused)
{
    struct topo *t = site_parse(TWO_HOSTS("08") "  'd[1-8]': {export: 'nas:/{name}', mounted: 10.0.0.101}\n", NULL);
    struct plan *p = make(t, (struct plan_options){.best = true});
    struct plan_layout *l = plan_layout_new(p->problem);
    (void)unused;
    assert_true(plan_layout_max(l) > 3.9 * p->rows[p->best].max_load);
    plan_search_improve(l, SIZE_MAX, false, true);
    assert_true(plan_compare_real(plan_layout_max(l), p->rows[p->best].max_load) == 0);
    plan_layout_free(l);
    plan_free(p);
    topo_free(t);
}

/* Nine datastores of different weights have too many layouts for plan_make() to look at all of them: local search and integer program
 * find what looking at all of them does, for every number of changes. */
static void test_search_is_right(void **unused)
{
    struct topo *t = site_parse(
        "version: 1\nname: a\nnodes:\n" HOSTS(3)
            SWITCH(3) "  nas: {kind: nas, controllers: {c: {nics: 'e[0-2]', lag: {name: a, mode: static, hash: "
                      "xor-src-dst-ip}}}, vips: {'10.0.0.[101,106,112,119]/24': {}}, exports: {'/d[1-9]': {}}}\n"
                      "links:\n  - {ends: ['esx[1-3]:vmnic[0-3]', 'sw:p[1-12]'], speed: 1G}\n"
                      "  - {ends: ['nas:c.e[0-2]', 'sw:q[1-3]'], speed: 1G}\n"
                      "datastores:\n"
                      "  d1: {export: 'nas:/d1', mounted: 10.0.0.101, weight: 1}\n"
                      "  d2: {export: 'nas:/d2', mounted: 10.0.0.101, weight: 1.5}\n"
                      "  d3: {export: 'nas:/d3', mounted: 10.0.0.101, weight: 2.25}\n"
                      "  d4: {export: 'nas:/d4', mounted: 10.0.0.106, weight: 3.1}\n"
                      "  d5: {export: 'nas:/d5', mounted: 10.0.0.106, weight: 0.7}\n"
                      "  d6: {export: 'nas:/d6', mounted: 10.0.0.106, weight: {read: 4, write: 1}}\n"
                      "  d7: {export: 'nas:/d7', mounted: 10.0.0.112, weight: {read: 1, write: 5}}\n"
                      "  d8: {export: 'nas:/d8', mounted: 10.0.0.101, weight: 2.9}\n"
                      "  d9: {export: 'nas:/d9', mounted: 10.0.0.101, weight: 0.3}\n",
        NULL);
    struct plan *p = make(t, (struct plan_options){0});
    struct plan_found found[10] = {{{NULL}, {NULL}}};
    double least = 1e9;
    (void)unused;
    assert_int_equal(p->problem->n_classes, 9);
    assert_true(plan_search_all(p->problem, 9, found));
    for (size_t m = 0; m <= 9; m++) {
        double planned = 1e9;
        if (found[m].layout[0] && plan_layout_max(found[m].layout[0]) < least)
            least = plan_layout_max(found[m].layout[0]);
        for (size_t r = 0; r < p->n_rows; r++)
            if (p->rows[r].changes <= m && !p->rows[r].uneven && p->rows[r].max_load < planned)
                planned = p->rows[r].max_load;
        if (planned > least * (1 + 1e-6) || planned < least * (1 - 1e-6))
            fail_msg("%zu changes: %.9g, not %.9g", m, planned, least);
    }
    for (size_t m = 0; m <= 9; m++)
        plan_found_free(&found[m]);
    plan_free(p);
    topo_free(t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_documents),      cmocka_unit_test(test_asking),          cmocka_unit_test(test_drift),
        cmocka_unit_test(test_demands),        cmocka_unit_test(test_units),           cmocka_unit_test(test_down),
        cmocka_unit_test(test_from_the_worst), cmocka_unit_test(test_search_is_right),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
