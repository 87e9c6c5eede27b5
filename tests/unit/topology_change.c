/* Changes of a file in words: the topology that comes of them. */
#include "emu/model/topology_change.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "emu/model/topology.h"
#include "emu/model/topology_file.h"

/* The topology of a file after changes (NULL-terminated); NULL when one is refused. */
static struct topo *changed(const char *path, const char *const *changes)
{
    struct diag d;
    diag_init(&d, path);
    struct topo_file *f = topo_file_open(path, &d);
    bool ok = f != NULL;
    assert_true(ok);
    for (; ok && *changes; changes++)
        ok = topo_file_change(f, *changes, &d);
    struct topo *t = ok ? topo_load(f, NULL, &d) : NULL;
    if (ok && !t)
        diag_print_text(&d, stderr, true);
    assert_true(ok == (t != NULL));
    assert_true(ok == (diag_count(&d, DIAG_ERROR) == 0));
    topo_file_close(f);
    diag_free(&d);
    return t;
}

#define CHANGED(path, ...) changed(path, (const char *const[]){__VA_ARGS__, NULL})
#define PLANT_B            "topologies/examples/plant-b.yaml"
#define PVE                "topologies/examples/pve-truenas.yaml"

static const struct topo_team *team_of(const struct topo *t, const char *box, const char *name)
{
    for (size_t i = 0; i < t->n_teams; i++)
        if (!strcmp(t->teams[i].name, name) && !strcmp(t->boxes[t->teams[i].box].name, box))
            return &t->teams[i];
    fail_msg("%s has no team %s", box, name);
    return NULL;
}

static void test_add_host(void **unused)
{
    struct topo *t = CHANGED(PLANT_B, "add-host esx9 10.50.0.19", "add-host esx10 10.50.0.20");
    int box = topo_find_box(t, "esx10"), like = topo_find_box(t, "esx6");
    (void)unused;
    assert_true(box >= 0);
    assert_int_equal(t->boxes[box].n_ports, t->boxes[like].n_ports);
    assert_int_equal(t->n_mounts, 8 * 12);
    assert_int_equal(team_of(t, "esx10", "vSwitch1")->n_ports, 3);
    assert_int_equal(team_of(t, "stack1", "po6-esx9")->n_ports, 3);
    /* The drift of the host that was copied is copied as well. */
    const struct topo_datastore *ds = &t->datastores[topo_find_datastore(t, "ds11")];
    assert_string_equal(t->mounts[ds->first_mount + 7].server, "10.50.0.101");
    topo_free(t);
    t = CHANGED(PVE, "add-host pve3 10.50.0.13");
    assert_true(topo_find_box(t, "pve3") >= 0);
    topo_free(t);
}

static void test_uplinks(void **unused)
{
    static const struct {
        const char *change;
        size_t n;
    } rows[] = {{"uplinks 1", 1}, {"uplinks 2", 2}, {"uplinks 4", 4}, {"uplinks 7", 7}};
    (void)unused;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct topo *t = CHANGED(PLANT_B, rows[i].change);
        assert_int_equal(team_of(t, "esx1", "vSwitch1")->n_ports, rows[i].n);
        assert_int_equal(team_of(t, "esx5", "vSwitch1")->n_ports, rows[i].n);
        assert_int_equal(team_of(t, "stack1", "po5")->n_ports, rows[i].n);
        assert_int_equal(t->n_links, 8 + 6 * rows[i].n);
        topo_free(t);
    }
    struct topo *t = CHANGED(PVE, "uplinks 4");
    assert_int_equal(team_of(t, "pve1", "bond0")->n_ports, 4);
    topo_free(t);
}

static void test_speed_and_failure(void **unused)
{
    struct topo *t = CHANGED(PLANT_B, "speed 25G", "speed fas 10G", "fail esx1:vmnic3", "fail esx6");
    size_t down = 0, ten = 0;
    (void)unused;
    for (size_t i = 0; i < t->n_links; i++) {
        down += t->links[i].down;
        ten += t->links[i].rate == UINT64_C(10000000000);
        assert_true(t->links[i].rate >= UINT64_C(10000000000));
    }
    assert_int_equal(down, 4);
    assert_int_equal(ten, 8);
    topo_free(t);
}

static void test_refused(void **unused)
{
    static const char *const rows[] = {
        "",
        "uplinks",
        "uplinks 0",
        "uplinks 99",
        "uplinks two",
        "speed",
        "speed big",
        "speed esx9 1G",
        "fail",
        "fail esx1:vmn9",
        "fail esx1 esx2",
        "add-host esx9",
        "add-host esx1 10.50.0.19",
        "add-host esx9 10.50.0.19/24",
        "add-host esx9 10.1.0.1",
        "add host esx9 10.50.0.19",
    };
    (void)unused;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        if (CHANGED(PLANT_B, rows[i]))
            fail_msg("`%s` was accepted", rows[i]);
}

static const struct topo_vip *vip_of(const struct topo *t, const char *text)
{
    struct topo_addr a;
    assert_true(topo_addr_parse(&a, text));
    return &t->vips[topo_find_vip(t, &a)];
}

/* What a plan changes besides mounts. */
static void test_levers(void **unused)
{
    struct topo *t = CHANGED(PLANT_B, "address esx5 vmk1 10.50.0.40", "home 10.50.0.103 n2", "owner fas:/ds03 n2",
                             "hash stack1 cisco-dst-ip", "name ds07 ds07.corp.example");
    char text[64];
    (void)unused;
    for (size_t i = 0; i < t->n_ifaces; i++)
        if (!strcmp(t->boxes[t->ifaces[i].box].name, "esx5"))
            assert_string_equal(topo_addr_print(text, sizeof text, &t->ifaces[i].addr, true), "10.50.0.40/24");
    assert_string_equal(t->boxes[vip_of(t, "10.50.0.103")->home].name, "fas:n2");
    assert_string_equal(t->boxes[vip_of(t, "10.50.0.101")->home].name, "fas:n1");
    for (size_t e = 0; e < t->n_exports; e++)
        if (!strcmp(t->exports[e].path, "/ds03"))
            assert_string_equal(t->boxes[t->exports[e].owner].name, "fas:n2");
    assert_string_equal(team_of(t, "stack1", "po11")->teaming.policy.policy->name, "cisco-dst-ip");
    assert_string_equal(t->datastores[topo_find_datastore(t, "ds07")].server, "ds07.corp.example");
    topo_free(t);
}

static void test_levers_refused(void **unused)
{
    static const char *const all[] = {"address esx5 vmk9 10.50.0.40",
                                      "address esx5 vmk1 10.51.0.40",
                                      "address nobody vmk1 10.50.0.40",
                                      "address esx5 vmk1 10.50.0.x",
                                      "address esx5 vmk1",
                                      "home 10.50.0.199 n2",
                                      "home 10.50.0.103 n3",
                                      "owner fas:/none n2",
                                      "owner /ds03 n2",
                                      "owner fas:/ds03 n9",
                                      "hash esx1 cisco-dst-ip",
                                      "name nothing a.example"};
    (void)unused;
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        struct topo *t = CHANGED(PLANT_B, all[i]);
        if (t)
            fail_msg("`%s` is not refused", all[i]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_levers),  cmocka_unit_test(test_levers_refused),    cmocka_unit_test(test_add_host),
        cmocka_unit_test(test_uplinks), cmocka_unit_test(test_speed_and_failure), cmocka_unit_test(test_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
