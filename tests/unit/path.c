/* The path function over small sites: which links, which label, and why not where there is no way. */
#include "emu/model/path.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "emu/model/topology_file.h"
#include "tests/support/path_site.h"

/* --- the two sites that people brought --- */

static void test_plant_b(void **unused)
{
    struct topo *t = site_load("topologies/examples/plant-b.yaml", NULL);
    struct flow f = site_flow(t, "ds01", "esx1", 0);
    struct path p;

    (void)unused;
    expect_write(t, "ds01", "esx1", LINKS("esx1:vmnic4>stack1:gi2/0/1", "stack1:gi2/0/21>fas:n1.e0e"));
    expect_read(t, "ds01", "esx1", LINKS("fas:n1.e0d>stack1:gi1/0/22", "stack1:gi2/0/1>esx1:vmnic4"));
    path_walk(t, NULL, &f, FLOW_WRITE, true, &p);
    assert_string_equal(p.hops[0].why, "0x0A32000B xor 0x0A320065 = 0x0000006E, mod 4 = 2");
    assert_string_equal(path_label(p.hops[0].status, p.hops[0].inputs), "exact");
    assert_string_equal(path_label(p.hops[1].status, p.hops[1].inputs), "approximate");
    assert_string_equal(label_of(t, "ds01", "esx1", FLOW_READ, 0), "reverse-engineered");
    /* Three uplinks in one subnet: both published readings agree. */
    expect_write(t, "ds01", "esx5", LINKS("esx5:vmnic2>stack1:gi1/0/10", "stack1:gi2/0/21>fas:n1.e0e"));
    topo_free(t);
}

static void test_drawn_ports(void **unused)
{
    struct topo *t = site_load("topologies/examples/pve-truenas.yaml", NULL);
    struct flow f = site_flow(t, "vm-a", "pve1", 0);
    static const uint16_t ports[] = {701, 702, 703, 704};
    static const int answer[] = {0, 1, 1, 0};
    struct path p;

    (void)unused;
    expect_write(t, "vm-a", "pve1", LINKS("-", "-"));
    assert_string_equal(label_of(t, "vm-a", "pve1", FLOW_WRITE, 0), "drawn");
    assert_string_equal(label_of(t, "vm-a", "pve1", FLOW_WRITE, 1), "unknown");
    for (int i = 0; i < 4; i++) {
        f.sport = ports[i];
        f.sport_origin = TOPO_GIVEN;
        path_walk(t, NULL, &f, FLOW_WRITE, false, &p);
        assert_int_equal(p.hops[0].index, answer[i]);
        assert_string_equal(path_label(p.hops[0].status, p.hops[0].inputs), "exact");
        assert_int_equal(p.hops[1].index, -1);
        assert_false(p.hops[1].conditional);
    }
    topo_free(t);
}

/* --- BP1024 figure 9: one uplink under port ID and MAC hash, four under IP hash --- */

static unsigned uplinks_used(const struct topo *t)
{
    struct flow *flows;
    long n = flow_list(t, &flows);
    unsigned used = 0;

    for (long i = 0; i < n; i++) {
        struct path p;

        assert_int_equal(path_walk(t, NULL, &flows[i], FLOW_WRITE, false, &p), PATH_OK);
        assert_int_equal(p.n_hops, 2);
        used |= 1u << p.hops[0].index;
    }
    free(flows);
    return (unsigned)__builtin_popcount(used);
}

static void test_figure_9(void **unused)
{
    static const char *const cases[] = {"port-id", "mac-hash", "ip-hash"};
    static const unsigned want[] = {1, 1, 4};

    (void)unused;
    for (int i = 0; i < 3; i++) {
        struct topo *t = site_load("topologies/fs7500/fig09-teaming.yaml", cases[i]);

        assert_int_equal(uplinks_used(t), want[i]);
        /* The switch's LAG hash spreads reads over all members whatever the host sends by, and the vSwitch takes them in. */
        expect_read(t, "ds2", "esx1", LINKS("fs7500:ctl2.eth3>pc7048:ge18", "pc7048:ge2>esx1:vmnic3"));
        topo_free(t);
    }
}

/* A VIP's traffic arrives on the NIC that answers for it: ordinal mod NICs; a controller sends by the client's address. */
static void test_nas_team(void **unused)
{
    struct topo *t = site_load("topologies/fs7500/fig17-hosts.yaml", NULL);

    (void)unused;
    expect_write(t, "ds1", "esx1", LINKS("esx1:vmnic4>pc7048:ge3", "pc7048:ge11>fs7500:ctl1.eth0"));
    expect_write(t, "ds3", "esx1", LINKS("esx1:vmnic2>pc7048:ge1", "pc7048:ge12>fs7500:ctl1.eth1"));
    expect_read(t, "ds1", "esx1", LINKS("fs7500:ctl1.eth3>pc7048:ge14", "pc7048:ge3>esx1:vmnic4"));
    expect_read(t, "ds3", "esx1", LINKS("fs7500:ctl1.eth3>pc7048:ge14", "pc7048:ge1>esx1:vmnic2"));
    expect_read(t, "ds1", "esx2", LINKS("fs7500:ctl1.eth0>pc7048:ge11", "pc7048:ge6>esx2:vmnic3"));
    topo_free(t);
}

/* --- failures --- */

static void set_link(const struct topo *t, bool *down, const char *name, bool both)
{
    int d = site_linkdir(t, name);

    down[d] = true;
    if (both)
        down[d ^ 1] = true;
}

static void test_failures(void **unused)
{
    struct topo *t = site_load("topologies/examples/plant-b.yaml", NULL);
    bool *down = calloc(2 * t->n_links, sizeof *down);
    struct path_state state = {.linkdir_down = down};
    struct flow f = site_flow(t, "ds01", "esx1", 0);
    int *vip_box = calloc(t->n_vips, sizeof *vip_box);

    (void)unused;
    /* Three uplinks left: 0x6E mod 3 = 2, the third of vmnic2, vmnic3, vmnic5. */
    set_link(t, down, "esx1:vmnic4>stack1:gi2/0/1", true);
    expect_path(t, &state, &f, FLOW_WRITE, PATH_OK, LINKS("esx1:vmnic5>stack1:gi2/0/2", "stack1:gi2/0/21>fas:n1.e0e"));
    /* Bucket 6 of three links is the first of gi1/0/1, gi1/0/2, gi2/0/2. */
    expect_path(t, &state, &f, FLOW_READ, PATH_OK, LINKS("fas:n1.e0d>stack1:gi1/0/22", "stack1:gi1/0/1>esx1:vmnic2"));

    /* One direction only: a static channel goes on sending into it, LACP leaves it. */
    memset(down, 0, 2 * t->n_links * sizeof *down);
    set_link(t, down, "esx1:vmnic4>stack1:gi2/0/1", false);
    expect_path(t, &state, &f, FLOW_WRITE, PATH_BLACKHOLE, LINKS("esx1:vmnic4>stack1:gi2/0/1"));
    memset(down, 0, 2 * t->n_links * sizeof *down);
    set_link(t, down, "stack1:gi2/0/21>fas:n1.e0e", false);
    expect_path(t, &state, &f, FLOW_WRITE, PATH_OK, LINKS("esx1:vmnic4>stack1:gi2/0/1", "stack1:gi1/0/21>fas:n1.e0c"));

    /* No uplink at all. */
    memset(down, 0, 2 * t->n_links * sizeof *down);
    for (int i = 2; i <= 5; i++) {
        char name[32];
        int port;

        snprintf(name, sizeof name, "esx1:vmnic%d", i);
        port = topo_find_port(t, name);
        down[topo_port_out(t, port)] = down[topo_port_out(t, port) ^ 1] = true;
    }
    expect_path(t, &state, &f, FLOW_WRITE, PATH_NO_LINK, NULL, 0);
    topo_free(t);
    free(down);
    free(vip_box);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_plant_b),  cmocka_unit_test(test_drawn_ports), cmocka_unit_test(test_figure_9),
        cmocka_unit_test(test_nas_team), cmocka_unit_test(test_failures),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
