/* The path function at each thing that can stand between a host and its NAS: VLANs, learned MACs, MLAG pairs, stacks, routers,
 * standby uplinks, takeover, answers of the real box. */
#include "emu/model/path.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "emu/model/topology_file.h"
#include "tests/support/path_site.h"

/* One host with two uplinks, one switch, one controller with two NICs; each piece may be replaced. */
#define HOST(teaming)                                                              \
    "  esx1: {kind: esxi, vswitches: {v: {uplinks: 'vmnic[0-1]', " teaming "}},\n" \
    "    portgroups: {nfs: {vswitch: v, vlan: 50}},\n"                             \
    "    vmknics: {vmk1: {portgroup: nfs, address: 10.0.0.11/24, mac: '00:50:56:00:00:01', port-id: 7}}}\n"
#define NAS                                                                                                   \
    "  nas: {kind: nas, controllers: {c: {nics: 'e[0-1]', vlan: 50, lag: {mode: lacp, hash: linux-layer2+3, " \
    "mac: '00:a0:98:00:00:01'}}}, vips: {10.0.0.101/24: {}, 10.0.0.102/24: {}}, exports: {/a: {}}}\n"
#define ONE_SWITCH_LINKS                                               \
    "links:\n  - {ends: ['esx1:vmnic[0-1]', 'sw:[1-2]'], speed: 1G}\n" \
    "  - {ends: ['nas:c.e[0-1]', 'sw:[3-4]'], speed: 1G}\n"
#define MOUNTS            "datastores: {ds1: {export: 'nas:/a', mounted: 10.0.0.101}}\n"
#define SITE(nodes, rest) "version: 1\nname: site\nnodes:\n" nodes rest

static void expect_end(const struct topo *t, enum flow_direction d, enum path_end end, const char *words)
{
    struct flow f = site_flow(t, "ds1", "esx1", 0);
    struct path p;

    assert_int_equal(path_walk(t, NULL, &f, d, false, &p), end);
    if (!strstr(p.problem, words))
        fail_msg("\"%s\" doesn't say \"%s\"", p.problem, words);
}

static void test_vlan(void **unused)
{
    struct topo *t;

    (void)unused;
    t = site_parse(
        SITE(HOST("teaming: ip-hash") "  sw: {kind: switch, hash: xor-src-dst-ip, vlans: [50, 60], lags: {po1: "
                                      "{to: 'esx1:v', mode: static, vlan: trunk}, po2: {to: 'nas:c', mode: lacp, vlan: "
                                      "trunk}}}\n" NAS,
             ONE_SWITCH_LINKS MOUNTS),
        NULL);
    expect_write(t, "ds1", "esx1", LINKS("esx1:vmnic0>sw:1", "sw:3>nas:c.e0"));
    topo_free(t);

    /* Not on the trunk towards the host, then not on that towards the NAS. */
    t = site_parse(
        SITE(HOST("teaming: ip-hash") "  sw: {kind: switch, hash: xor-src-dst-ip, vlans: [50, 60], lags: {po1: "
                                      "{to: 'esx1:v', mode: static, vlan: {trunk: [60]}}, po2: {to: 'nas:c', mode: "
                                      "lacp, vlan: trunk}}}\n" NAS,
             ONE_SWITCH_LINKS MOUNTS),
        NULL);
    expect_end(t, FLOW_WRITE, PATH_NO_ROUTE, "sw:1 doesn't pass VLAN 50 (trunk of 60)");
    expect_end(t, FLOW_READ, PATH_NO_ROUTE, "doesn't pass VLAN 50 out (trunk of 60)");
    topo_free(t);

    /* An access port takes the tag off, and the NAS expects one. */
    t = site_parse(SITE(HOST("teaming: ip-hash") "  sw: {kind: switch, hash: xor-src-dst-ip, vlans: [50], lags: {po1: "
                                                 "{to: 'esx1:v', mode: static, vlan: trunk}, po2: {to: 'nas:c', mode: "
                                                 "lacp, vlan: 50}}}\n" NAS,
                        ONE_SWITCH_LINKS MOUNTS),
                   NULL);
    expect_end(t, FLOW_WRITE, PATH_NO_ROUTE, "untagged");
    topo_free(t);
}

/* Without a LAG the switch has the vmknic's MAC where its team sends: virtual port 7 mod 2 is vmnic1. */
static void test_learned(void **unused)
{
    struct topo *t =
        site_parse(SITE(HOST("teaming: port-id") "  sw: {kind: switch, hash: xor-src-dst-ip, lags: {po2: {to: "
                                                 "'nas:c', mode: lacp}}}\n" NAS,
                        ONE_SWITCH_LINKS MOUNTS),
                   NULL);

    (void)unused;
    expect_write(t, "ds1", "esx1", LINKS("esx1:vmnic1>sw:2", "sw:3>nas:c.e0"));
    expect_read(t, "ds1", "esx1", LINKS("nas:c.e0>sw:3", "sw:2>esx1:vmnic1"));
    /* port ID is an approximation, and so is what the switch has learned from it. */
    assert_string_equal(label_of(t, "ds1", "esx1", FLOW_READ, 1), "approximate");
    topo_free(t);

    /* Under mac-hash by the MAC: 0x...01 mod 2 = 1. */
    t = site_parse(SITE(HOST("teaming: mac-hash") "  sw: {kind: switch, hash: xor-src-dst-ip, lags: {po2: {to: "
                                                  "'nas:c', mode: lacp}}}\n" NAS,
                        ONE_SWITCH_LINKS MOUNTS),
                   NULL);
    expect_read(t, "ds1", "esx1", LINKS("nas:c.e0>sw:3", "sw:2>esx1:vmnic1"));
    topo_free(t);
}

/* Explicit order: the first active uplink; with its link gone the standby one, and then reads arrive there too. */
static void test_standby(void **unused)
{
    struct topo *t = site_parse(
        SITE(HOST("teaming: explicit, active: [vmnic1], standby: [vmnic0]") "  sw: {kind: switch, hash: "
                                                                            "xor-src-dst-ip, lags: {po2: {to: 'nas:c', "
                                                                            "mode: lacp}}}\n" NAS,
             ONE_SWITCH_LINKS MOUNTS),
        NULL);
    bool down[8] = {false};
    struct path_state state = {.linkdir_down = down};
    struct flow f = site_flow(t, "ds1", "esx1", 0);
    int d = site_linkdir(t, "esx1:vmnic1>sw:2");

    (void)unused;
    assert_int_equal(t->n_links, 4);
    expect_write(t, "ds1", "esx1", LINKS("esx1:vmnic1>sw:2", "sw:3>nas:c.e0"));
    expect_read(t, "ds1", "esx1", LINKS("nas:c.e0>sw:3", "sw:2>esx1:vmnic1"));
    down[d] = down[d ^ 1] = true;
    expect_path(t, &state, &f, FLOW_WRITE, PATH_OK, LINKS("esx1:vmnic0>sw:1", "sw:3>nas:c.e0"));
    expect_path(t, &state, &f, FLOW_READ, PATH_OK, LINKS("nas:c.e0>sw:3", "sw:1>esx1:vmnic0"));
    topo_free(t);

    /* A LAG over a standby uplink: what the switch hashes there is not taken in. */
    t = site_parse(
        SITE(HOST("teaming: explicit, active: [vmnic1], standby: [vmnic0]") "  sw: {kind: switch, hash: "
                                                                            "xor-src-dst-ip, lags: {po1: {to: "
                                                                            "'esx1:v', mode: static}, po2: {to: "
                                                                            "'nas:c', mode: lacp}}}\n" NAS,
             ONE_SWITCH_LINKS MOUNTS),
        NULL);
    expect_end(t, FLOW_READ, PATH_BLACKHOLE, "doesn't take in frames for vmk1 on vmnic0");
    topo_free(t);
}

static void test_mlag(void **unused)
{
    struct topo *t = site_load("topologies/examples/mlag-pair.yaml", NULL);
    struct flow f = site_flow(t, "ds1", "esx1", 0);
    bool *down = calloc(2 * t->n_links, sizeof *down);
    struct path_state state = {.linkdir_down = down};
    struct path p;
    int d;

    (void)unused;
    /* 0x0B xor 0x65 = 0x6E, even: vmnic4, so switch A, and A's own link to n1. */
    expect_write(t, "ds1", "esx1", LINKS("esx1:vmnic4>swA:e1/1", "swA:e1/21>nas:n1.e1a"));
    path_walk(t, NULL, &f, FLOW_WRITE, false, &p);
    assert_int_equal(p.hops[1].via, PATH_VIA_MLAG_LOCAL);
    /* A's own link to n1 is down: over the peer link, by its hash (0x6E mod 2 = 0), to B's. */
    d = site_linkdir(t, "swA:e1/21>nas:n1.e1a");
    down[d] = down[d ^ 1] = true;
    expect_path(t, &state, &f, FLOW_WRITE, PATH_OK,
                LINKS("esx1:vmnic4>swA:e1/1", "swA:e1/47>swB:e1/47", "swB:e1/21>nas:n1.e1b"));
    path_walk(t, &state, &f, FLOW_WRITE, false, &p);
    assert_int_equal(p.hops[1].via, PATH_VIA_PEER_LINK);
    topo_free(t);
    free(down);
}

struct sum {
    double share[64];
};

static void add_share(void *context, int linkdir, double share)
{
    struct sum *s = context;

    assert_true(linkdir < 64);
    s->share[linkdir] += share;
}

/* A host that draws its uplink into an MLAG pair: the next hop depends on it, and the shares follow. */
static void test_conditional(void **unused)
{
    struct topo *t = site_parse(
        "version: 1\nname: pair\nnodes:\n"
        "  pve: {kind: linux, kernel: '6.8', bonds: {bond0: {members: 'eno[0-1]', mode: 802.3ad, hash: "
        "linux-layer3+4}}, "
        "interfaces: {bond0: {address: 10.0.0.11/24}}}\n"
        "  sw[A,B]: {kind: switch, hash: xor-src-dst-ip, mlag: {peers: 'sw[A,B]', peer-link: po9}, lags: {po1: {to: "
        "'pve:bond0', mode: lacp}, po2: {to: 'nas:c', mode: lacp}, po9: {to: 'sw[B,A]:po9', mode: lacp}}}\n"
        "  nas: {kind: nas, controllers: {c: {nics: 'e[0-1]', lag: {mode: lacp, hash: linux-layer2+3}}}, vips: "
        "{10.0.0.101/24: {}}, exports: {/a: {}}}\n"
        "links:\n"
        "  - {ends: ['pve:eno[0-1]', 'sw[A,B]:1'], speed: 10G}\n"
        "  - {ends: ['nas:c.e[0-1]', 'sw[A,B]:2'], speed: 10G}\n"
        "  - {ends: ['swA:[8-9]', 'swB:[8-9]'], speed: 10G}\n"
        "datastores: {ds1: {export: 'nas:/a', mounted: 10.0.0.101}}\n",
        NULL);
    struct flow f = site_flow(t, "ds1", "pve", 0);
    struct path p;
    struct sum s = {{0}};

    (void)unused;
    expect_path(t, NULL, &f, FLOW_WRITE, PATH_OK, LINKS("-", "-"));
    path_walk(t, NULL, &f, FLOW_WRITE, false, &p);
    assert_false(p.hops[0].conditional);
    assert_true(p.hops[1].conditional);
    path_shares(t, NULL, &f, FLOW_WRITE, add_share, &s);
    assert_true(fabs(s.share[site_linkdir(t, "pve:eno0>swA:1")] - 0.5) < 1e-12);
    assert_true(fabs(s.share[site_linkdir(t, "swA:2>nas:c.e0")] - 0.5) < 1e-12);
    assert_true(fabs(s.share[site_linkdir(t, "swB:2>nas:c.e1")] - 0.5) < 1e-12);
    topo_free(t);
}

/* Two switches with a cable between: the frame goes where the MAC is, over the other switch if need be. */
static void test_two_switches(void **unused)
{
    struct topo *t = site_load("topologies/examples/two-switches-no-mlag.yaml", NULL);

    (void)unused;
    expect_write(t, "ds1", "esx1", LINKS("esx1:vmnic4>sw1:1", "sw1:11>nas:ctl1.eth0"));
    expect_write(t, "ds2", "esx1", LINKS("esx1:vmnic4>sw1:1", "sw1:24>sw2:24", "sw2:11>nas:ctl2.eth0"));
    expect_read(t, "ds2", "esx1", LINKS("nas:ctl2.eth1>sw2:12", "sw2:24>sw1:24", "sw1:1>esx1:vmnic4"));
    topo_free(t);
}

/* A VIP in another subnet: to the router and on, with the router's MACs in between. */
static void test_router(void **unused)
{
    struct topo *t = site_load("topologies/examples/backup-proxy.yaml", NULL);
    struct flow f = site_flow(t, "backup1", "proxy", 0);
    struct path p;

    (void)unused;
    /* 10.91.0.50 xor 10.90.0.110 = 0x0001005C, even: the first of each pair. */
    expect_write(t, "backup1", "proxy",
                 LINKS("proxy:eno1>sw1:21", "sw1:22>r1:eth0", "r1:eth0>sw1:22", "sw1:11>nas:head.e0a"));
    expect_read(t, "backup1", "proxy",
                LINKS("nas:head.e0a>sw1:11", "sw1:22>r1:eth0", "r1:eth0>sw1:22", "sw1:21>proxy:eno1"));
    path_walk(t, NULL, &f, FLOW_WRITE, false, &p);
    assert_int_equal(p.hops[2].via, PATH_VIA_ROUTE);
    topo_free(t);
}

/* Takeover: the VIP lives on the partner now, or nowhere. */
static void test_takeover(void **unused)
{
    struct topo *t = site_load("topologies/examples/two-switches-no-mlag.yaml", NULL);
    struct flow f = site_flow(t, "ds1", "esx1", 0);
    int vip_box[4];
    struct path_state state = {.vip_box = vip_box};

    (void)unused;
    assert_int_equal(t->n_vips, 4);
    for (int i = 0; i < 4; i++)
        vip_box[i] = topo_find_box(t, "nas:ctl2");
    expect_path(t, &state, &f, FLOW_WRITE, PATH_OK,
                LINKS("esx1:vmnic4>sw1:1", "sw1:24>sw2:24", "sw2:11>nas:ctl2.eth0"));
    vip_box[f.vip] = -1;
    expect_path(t, &state, &f, FLOW_WRITE, PATH_VIP_DOWN, NULL, 0);
    topo_free(t);
}

/* What the real box answered beats the rule, in that direction and for that pair only. */
static void test_observed(void **unused)
{
    struct topo *t = site_parse(SITE(HOST("teaming: ip-hash") "  sw: {kind: switch, hash: xor-src-dst-ip, lags: {po1: "
                                                              "{to: 'esx1:v', mode: static}, po2: "
                                                              "{to: 'nas:c', mode: lacp}}, observed: [{src: 10.0.0.11, "
                                                              "dst: 10.0.0.101, lag: po2, port: '4', date: "
                                                              "2024-05-06}]}\n" NAS,
                                     ONE_SWITCH_LINKS MOUNTS),
                                NULL);
    struct flow f = site_flow(t, "ds1", "esx1", 0);
    struct path p;

    (void)unused;
    expect_write(t, "ds1", "esx1", LINKS("esx1:vmnic0>sw:1", "sw:4>nas:c.e1"));
    path_walk(t, NULL, &f, FLOW_WRITE, true, &p);
    assert_true(p.hops[1].observed);
    assert_string_equal(p.hops[1].why, "observed on 2024-05-06");
    assert_string_equal(path_label(p.hops[1].status, p.hops[1].inputs), "exact");
    topo_free(t);
}

/* A stack hashes over all its members, or over those of the chassis where the frame came in. */
static void test_local_bias(void **unused)
{
    static const char *const biases[] = {"false", "true"};
    char text[2048];

    (void)unused;
    for (int i = 0; i < 2; i++) {
        struct topo *t;

        snprintf(text, sizeof text,
                 "version: 1\nname: stack\nnodes:\n" HOST(
                     "teaming: ip-hash") "  sw: {kind: switch, members: 2, local-bias: %s, hash: xor-src-dst-ip, lags: "
                                         "{po1: {to: 'esx1:v', mode: static}, "
                                         "po2: {to: 'nas:c', mode: lacp}}}\n"
                                         "  nas: {kind: nas, controllers: {c: {nics: 'e[0-3]', vlan: 50, lag: {mode: "
                                         "lacp, hash: netapp-ip}}}, vips: "
                                         "{10.0.0.101/24: {}}, exports: {/a: {}}}\n"
                                         "links:\n  - {ends: ['esx1:vmnic[0-1]', 'sw:gi[1-2]/0/1'], speed: 1G}\n"
                                         "  - {ends: ['nas:c.e[0-1]', 'sw:gi1/0/[2-3]'], speed: 1G}\n"
                                         "  - {ends: ['nas:c.e[2-3]', 'sw:gi2/0/[2-3]'], speed: 1G}\n" MOUNTS,
                 biases[i]);
        t = site_parse(text, NULL);
        /* 0x6E: vmnic0 into chassis 1; mod 4 = 2 is a port of chassis 2, mod 2 = 0 of chassis 1. */
        if (i == 0)
            expect_write(t, "ds1", "esx1", LINKS("esx1:vmnic0>sw:gi1/0/1", "sw:gi2/0/2>nas:c.e2"));
        else
            expect_write(t, "ds1", "esx1", LINKS("esx1:vmnic0>sw:gi1/0/1", "sw:gi1/0/2>nas:c.e0"));
        topo_free(t);
    }
}

/* The host's NIC straight into the NAS. */
static void test_direct(void **unused)
{
    struct topo *t =
        site_parse("version: 1\nname: direct\nnodes:\n"
                   "  pve: {kind: linux, interfaces: {eno1: {address: 10.0.0.11/24}}}\n"
                   "  nas: {kind: nas, controllers: {c: {nics: [e0]}}, vips: {10.0.0.101/24: {}}, exports: {/a: {}}}\n"
                   "links:\n  - {ends: ['pve:eno1', 'nas:c.e0'], speed: 10G}\n" MOUNTS,
                   NULL);

    (void)unused;
    expect_write(t, "ds1", "pve", LINKS("pve:eno1>nas:c.e0"));
    expect_read(t, "ds1", "pve", LINKS("nas:c.e0>pve:eno1"));
    assert_string_equal(label_of(t, "ds1", "pve", FLOW_READ, 0), "exact");
    topo_free(t);
}

#define ENDS                                                              \
    "  pve: {kind: linux, interfaces: {eno1: {address: 10.0.0.11/24}}}\n" \
    "  nas: {kind: nas, controllers: {c: {nics: [e0]}}, vips: {10.0.0.101/24: {}}, exports: {/a: {}}}\n"

/* A ring of four: two ways are equally short, and nobody says which one spanning tree leaves open. */
static void test_ring(void **unused)
{
    struct topo *t = site_parse("version: 1\nname: ring\nnodes:\n" ENDS "  sw[0-3]: {kind: switch}\n"
                                "links:\n  - {ends: ['pve:eno1', 'sw0:1'], speed: 10G}\n"
                                "  - {ends: ['nas:c.e0', 'sw2:1'], speed: 10G}\n"
                                "  - {ends: ['sw[0-3]:up', 'sw[1,2,3,0]:down'], speed: 10G}\n" MOUNTS,
                                NULL);
    struct flow f = site_flow(t, "ds1", "pve", 0);
    struct path p;

    (void)unused;
    assert_int_equal(path_walk(t, NULL, &f, FLOW_WRITE, true, &p), PATH_OK);
    assert_int_equal(p.n_hops, 4);
    assert_string_equal(label_of(t, "ds1", "pve", FLOW_WRITE, 1), "assumed");
    assert_non_null(strstr(p.hops[1].why, "spanning tree"));
    assert_string_equal(label_of(t, "ds1", "pve", FLOW_WRITE, 2), "exact");
    topo_free(t);
}

/* A path ends after as many hops as it can hold. */
static void test_too_long(void **unused)
{
    struct topo *t = site_parse("version: 1\nname: chain\nnodes:\n" ENDS "  sw[01-18]: {kind: switch}\n"
                                "links:\n  - {ends: ['pve:eno1', 'sw01:1'], speed: 10G}\n"
                                "  - {ends: ['nas:c.e0', 'sw18:1'], speed: 10G}\n"
                                "  - {ends: ['sw[01-17]:up', 'sw[02-18]:down'], speed: 10G}\n" MOUNTS,
                                NULL);
    struct flow f = site_flow(t, "ds1", "pve", 0);
    struct path p;

    (void)unused;
    assert_int_equal(path_walk(t, NULL, &f, FLOW_WRITE, false, &p), PATH_LOOP);
    assert_int_equal(p.n_hops, PATH_MAX_HOPS);
    topo_free(t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_vlan),       cmocka_unit_test(test_learned),     cmocka_unit_test(test_standby),
        cmocka_unit_test(test_mlag),       cmocka_unit_test(test_conditional), cmocka_unit_test(test_two_switches),
        cmocka_unit_test(test_router),     cmocka_unit_test(test_takeover),    cmocka_unit_test(test_observed),
        cmocka_unit_test(test_local_bias), cmocka_unit_test(test_direct),      cmocka_unit_test(test_ring),
        cmocka_unit_test(test_too_long),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
