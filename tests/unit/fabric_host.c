/* Hosts: teaming, failover, detection, beacons, load-based teaming; Linux bonds. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "tests/support/fabric_rig.h"

static struct rig r;

/* A host whose vSwitch is as `vswitch` says, four uplinks, single ports on the switch; a NAS with one NIC and two VIPs. */
#define HOST(vswitch) CABLED(vswitch, "vmnic[0-3]", "[1-4]")
#define CABLED(vswitch, uplinks, ports)                                               \
    "version: 1\n"                                                                    \
    "name: host\n"                                                                    \
    "nodes:\n"                                                                        \
    "  esx1: {kind: esxi, version: \"7.0u3\", link-down-delay: 100ms, " vswitch "}\n" \
    "  sw: {kind: switch, mtu: 9216}\n"                                               \
    "  nas: {kind: nas, controllers: {c: {nics: [e0]}}, exports: {/v: {}},\n"         \
    "        vips: {\"10.0.0.[100-101]/24\": {home: c}}}\n"                           \
    "links:\n"                                                                        \
    "  - {ends: [\"esx1:" uplinks "\", \"sw:" ports "\"], speed: 1G}\n"               \
    "  - {ends: [\"nas:c.e0\", \"sw:9\"], speed: 10G}\n"

#define VMK "vmknics: {vmk1: {vswitch: vSwitch1, address: 10.0.0.16/24, port-id: 1}}"

static uint64_t up_by(unsigned uplink)
{
    static const char *const names[] = {"esx1:vmnic0>sw:1", "esx1:vmnic1>sw:2", "esx1:vmnic2>sw:3", "esx1:vmnic3>sw:4"};

    return rig_sent(&r, names[uplink]);
}

static uint64_t down_by(unsigned uplink)
{
    static const char *const names[] = {"sw:1>esx1:vmnic0", "sw:2>esx1:vmnic1", "sw:3>esx1:vmnic2", "sw:4>esx1:vmnic3"};

    return rig_sent(&r, names[uplink]);
}

static void link_of(unsigned uplink, enum topo_link_state state)
{
    static const char *const names[] = {"esx1:vmnic0", "esx1:vmnic1", "esx1:vmnic2", "esx1:vmnic3"};
    int link = rig_link(&r, names[uplink]);

    fabric_link_state(r.fabric, link, 0, state, rig_now(&r));
}

/* A failed uplink: frames are lost until the host has noticed, then they take another way, and a RARP tells the switch, so
 * that answers follow at once. Back: the same the other way round. */
static void failover(void **state)
{
    int esx, vip;
    uint8_t mac[6];

    (void)state;
    rig_open(&r, HOST("vswitches: {vSwitch1: {uplinks: \"vmnic[0-3]\", teaming: port-id}}, " VMK));
    esx = rig_iface(&r, "esx1", 0);
    vip = rig_vip(&r, "10.0.0.100");
    assert_true(rig_reaches(&r, esx, vip));
    memcpy(mac, r.ends[esx].arp_last.sender_mac, 6);
    assert_int_equal(up_by(1), 1); /* port 1 mod 4 */
    rig_answer(&r, esx, vip, 1);
    assert_int_equal(down_by(1), 1);

    link_of(1, TOPO_LINK_DOWN);
    rig_send(&r, esx, vip, mac, 2);
    assert_int_equal(rig_sent(&r, "sw:9>nas:c.e0"), 1); /* not noticed yet */
    rig_run(&r, 100 * PS_PER_MS);
    rig_send(&r, esx, vip, mac, 1);
    assert_int_equal(rig_sent(&r, "sw:9>nas:c.e0"), 2);
    rig_answer(&r, esx, vip, 1);
    assert_int_equal(r.ends[esx].data, 2);
    assert_int_equal(rig_counters(&r, "sw").flooded_unicast, 0);

    link_of(1, TOPO_LINK_UP);
    rig_run(&r, PS_PER_MS);
    rig_answer(&r, esx, vip, 1);
    assert_int_equal(down_by(1), 2);
    rig_send(&r, esx, vip, mac, 1);
    assert_int_equal(up_by(1), 2);
    rig_close(&r);
}

/* 900 KB at once, more than any `buffer:`: a host's own queue holds the socket back and drops nothing. */
static void a_host_does_not_drop_its_own(void **state)
{
    int esx, vip;

    (void)state;
    rig_open(&r, HOST("vswitches: {vSwitch1: {uplinks: \"vmnic[0-3]\", teaming: port-id}}, " VMK));
    esx = rig_iface(&r, "esx1", 0);
    vip = rig_vip(&r, "10.0.0.100");
    assert_true(rig_reaches(&r, esx, vip));
    rig_send(&r, esx, vip, r.ends[esx].arp_last.sender_mac, 600);
    rig_run(&r, 10 * PS_PER_MS);
    assert_int_equal(rig_sent(&r, "sw:9>nas:c.e0"), 601);
    rig_close(&r);
}

/* Without notification answers go on to the old port until the host sends something. */
static void failover_without_notification(void **state)
{
    int esx, vip;

    (void)state;
    rig_open(&r, HOST("vswitches: {vSwitch1: {uplinks: \"vmnic[0-3]\", teaming: port-id, notify: false}}, " VMK));
    esx = rig_iface(&r, "esx1", 0);
    vip = rig_vip(&r, "10.0.0.100");
    assert_true(rig_reaches(&r, esx, vip));
    link_of(1, TOPO_LINK_BLACKHOLE);
    rig_answer(&r, esx, vip, 1);
    assert_int_equal(r.ends[esx].data, 0);
    link_of(1, TOPO_LINK_DOWN);
    rig_run(&r, PS_PER_S);
    link_of(1, TOPO_LINK_UP);
    rig_run(&r, PS_PER_S);
    /* The switch has forgotten the address with the link: it floods. */
    rig_answer(&r, esx, vip, 1);
    assert_int_equal(rig_counters(&r, "sw").flooded_unicast, 4);
    assert_int_equal(r.ends[esx].data, 4); /* an active uplink takes in what is for a vmknic */
    rig_close(&r);
}

static void standby_and_failback(void **state)
{
    static const bool failback[] = {true, false};
    static const char *const texts[] = {
        HOST("vswitches: {vSwitch1: {uplinks: \"vmnic[0-3]\", teaming: explicit, active: [vmnic2], standby: [vmnic3],\n"
             "                       unused: [vmnic0, vmnic1]}}, " VMK),
        HOST("vswitches: {vSwitch1: {uplinks: \"vmnic[0-3]\", teaming: explicit, active: [vmnic2], standby: [vmnic3],\n"
             "                       unused: [vmnic0, vmnic1], failback: false}}, " VMK)};

    (void)state;
    for (int i = 0; i < 2; i++) {
        int esx, vip;

        rig_open(&r, texts[i]);
        esx = rig_iface(&r, "esx1", 0);
        vip = rig_vip(&r, "10.0.0.100");
        assert_true(rig_reaches(&r, esx, vip));
        assert_int_equal(up_by(2), 1);
        link_of(2, TOPO_LINK_DOWN);
        rig_run(&r, PS_PER_S);
        assert_true(rig_reaches(&r, esx, vip));
        assert_int_equal(up_by(3), 1);
        link_of(2, TOPO_LINK_UP);
        rig_run(&r, PS_PER_S);
        assert_true(rig_reaches(&r, esx, vip));
        assert_int_equal(up_by(2), failback[i] ? 2 : 1);
        link_of(3, TOPO_LINK_DOWN);
        rig_run(&r, PS_PER_S);
        assert_true(rig_reaches(&r, esx, vip));
        assert_int_equal(up_by(2), failback[i] ? 3 : 2);
        link_of(2, TOPO_LINK_DOWN);
        rig_run(&r, PS_PER_S);
        assert_false(rig_reaches(&r, esx, vip)); /* unused ones stay unused */
        assert_int_equal(up_by(0) + up_by(1), 0);
        assert_true(rig_counters(&r, "esx1").no_port_dropped > 0);
        rig_close(&r);
    }
}

/* Broadcasts arrive on all four uplinks; one copy is taken, none is passed on. */
static void broadcast_once(void **state)
{
    static const char text[] =
        "version: 1\n"
        "name: broadcast\n"
        "nodes:\n"
        "  esx1: {kind: esxi, version: \"7.0u3\", vswitches: {vSwitch1: {uplinks: \"vmnic[0-3]\", teaming: "
        "mac-hash}},\n"
        "         vmknics: {vmk1: {vswitch: vSwitch1, address: 10.0.0.16/24}}}\n"
        "  h2: {kind: linux, nics: [eth0], interfaces: {eth0: {address: 10.0.0.2/24}}}\n"
        "  sw: {kind: switch, mtu: 9216}\n"
        "  nas: {kind: nas, controllers: {c: {nics: [e0]}}, exports: {/v: {}}, vips: {10.0.0.100/24: {home: c}}}\n"
        "links:\n"
        "  - {ends: [\"esx1:vmnic[0-3]\", \"sw:[1-4]\"], speed: 1G}\n"
        "  - {ends: [\"h2:eth0\", \"sw:5\"], speed: 1G}\n"
        "  - {ends: [\"nas:c.e0\", \"sw:9\"], speed: 1G}\n";
    int esx;

    (void)state;
    rig_open(&r, text);
    esx = rig_iface(&r, "esx1", 0);
    assert_true(rig_ask(&r, rig_iface(&r, "h2", 0), rig_vip(&r, "10.0.0.100")));
    assert_int_equal(r.ends[esx].arp, 1);
    assert_int_equal(rig_counters(&r, "esx1").stray_dropped, 3);
    for (unsigned i = 0; i < 4; i++)
        assert_int_equal(r.sent[1][rig_linkdir(&r, i == 0   ? "esx1:vmnic0>sw:1"
                                                   : i == 1 ? "esx1:vmnic1>sw:2"
                                                   : i == 2 ? "esx1:vmnic2>sw:3"
                                                            : "esx1:vmnic3>sw:4")],
                         0);
    /* Its own request comes back on the three others. */
    assert_true(rig_ask(&r, esx, rig_vip(&r, "10.0.0.100")));
    assert_int_equal(r.ends[esx].arp, 2);
    assert_int_equal(rig_counters(&r, "esx1").stray_dropped, 6);
    rig_close(&r);
}

/* The other way round: with its own uplink dead, the interface gets no broadcast, although copies come in on the others. */
static void broadcasts_come_by_the_own_uplink(void **state)
{
    static const char text[] =
        "version: 1\n"
        "name: own-uplink\n"
        "nodes:\n"
        "  esx1: {kind: esxi, version: \"7.0u3\", vswitches: {vSwitch1: {uplinks: \"vmnic[0-1]\", teaming: port-id}},\n"
        "         vmknics: {vmk1: {vswitch: vSwitch1, address: 10.0.0.16/24, port-id: 1}}}\n"
        "  h2: {kind: linux, nics: [eth0], interfaces: {eth0: {address: 10.0.0.2/24}}}\n"
        "  sw: {kind: switch, mtu: 9216}\n"
        "  nas: {kind: nas, controllers: {c: {nics: [e0]}}, exports: {/v: {}}, vips: {10.0.0.100/24: {home: c}}}\n"
        "links:\n"
        "  - {ends: [\"esx1:vmnic[0-1]\", \"sw:[1-2]\"], speed: 1G}\n"
        "  - {ends: [\"h2:eth0\", \"sw:5\"], speed: 1G}\n"
        "  - {ends: [\"nas:c.e0\", \"sw:9\"], speed: 1G}\n";
    int esx, h2, vip;

    (void)state;
    rig_open(&r, text);
    esx = rig_iface(&r, "esx1", 0);
    h2 = rig_iface(&r, "h2", 0);
    vip = rig_vip(&r, "10.0.0.100");
    link_of(0, TOPO_LINK_BLACKHOLE);
    assert_true(rig_ask(&r, h2, vip));
    assert_int_equal(r.ends[esx].arp, 1);
    link_of(0, TOPO_LINK_UP);
    link_of(1, TOPO_LINK_BLACKHOLE);
    assert_true(rig_ask(&r, h2, vip));
    assert_int_equal(r.ends[esx].arp, 1);
    rig_close(&r);
}

#define BLACKHOLE(mode, hash, extra)                                                                                  \
    "version: 1\n"                                                                                                    \
    "name: blackhole\n"                                                                                               \
    "nodes:\n"                                                                                                        \
    "  pve1: {kind: linux, kernel: \"6.8\", bonds: {bond0: {members: \"eno[1-2]\", mode: " mode ", hash: " hash extra \
    "}},\n"                                                                                                           \
    "         interfaces: {bond0: {address: 10.0.0.16/24}}}\n"                                                        \
    "  sw: {kind: switch, mtu: 9216, hash: xor-src-dst-ip,\n"                                                         \
    "       lags: {po1: {to: \"pve1:bond0\", mode: " LAG_MODE extra "}}}\n"                                           \
    "  nas: {kind: nas, controllers: {c: {nics: [e0]}}, exports: {/v: {}},\n"                                         \
    "        vips: {\"10.0.0.[100-101]/24\": {home: c}}}\n"                                                           \
    "links:\n"                                                                                                        \
    "  - {ends: [\"pve1:eno[1-2]\", \"sw:[1-2]\"], speed: 1G}\n"                                                      \
    "  - {ends: [\"nas:c.e0\", \"sw:9\"], speed: 1G}\n"

/* How many of the two VIPs pve1 can work with. */
static int reached(void)
{
    int host = rig_iface(&r, "pve1", 0), n = 0;
    static const char *const vips[] = {"10.0.0.100", "10.0.0.101"};

    for (int i = 0; i < 2; i++) {
        uint64_t before = r.ends[host].data;

        if (!rig_reaches(&r, host, rig_vip(&r, vips[i])))
            continue;
        rig_answer(&r, host, rig_vip(&r, vips[i]), 1);
        n += r.ends[host].data > before;
    }
    return n;
}

/* A cable that has carrier and carries nothing: a static LAG loses the flows of that member for good. */
static void blackholed_member_of_a_static_lag(void **state)
{
#define LAG_MODE "static"
    (void)state;
    rig_open(&r, BLACKHOLE("balance-xor", "layer2+3", ""));
    assert_int_equal(reached(), 2);
    fabric_link_state(r.fabric, rig_link(&r, "pve1:eno2"), 0, TOPO_LINK_BLACKHOLE, rig_now(&r));
    rig_run(&r, 1000 * PS_PER_S);
    assert_int_equal(reached(), 1);
    fabric_link_state(r.fabric, rig_link(&r, "pve1:eno2"), 0, TOPO_LINK_UP, rig_now(&r));
    assert_int_equal(reached(), 2);
    rig_close(&r);
#undef LAG_MODE
}

/* LACP notices after three missed LACPDUs: 3 s fast, 90 s slow. */
static void blackholed_member_with_lacp(void **state)
{
#define LAG_MODE "lacp"
    static const char *const texts[] = {BLACKHOLE("802.3ad", "layer2+3", ", lacp-rate: fast"),
                                        BLACKHOLE("802.3ad", "layer2+3", "")};
#undef LAG_MODE
    static const ps_t missed[] = {3 * PS_PER_S, 90 * PS_PER_S}, back[] = {3 * PS_PER_S, 32 * PS_PER_S};

    (void)state;
    for (int i = 0; i < 2; i++) {
        rig_open(&r, texts[i]);
        assert_int_equal(reached(), 2);
        fabric_link_state(r.fabric, rig_link(&r, "pve1:eno2"), 0, TOPO_LINK_BLACKHOLE, rig_now(&r));
        rig_run(&r, missed[i] - 100 * PS_PER_MS);
        assert_int_equal(reached(), 1);
        rig_run(&r, 100 * PS_PER_MS);
        assert_int_equal(reached(), 2); /* all on eno1 */
        fabric_link_state(r.fabric, rig_link(&r, "pve1:eno2"), 0, TOPO_LINK_UP, rig_now(&r));
        rig_run(&r, back[i]);
        {
            uint64_t before = rig_sent(&r, "pve1:eno2>sw:2");

            assert_int_equal(reached(), 2);
            assert_int_equal(rig_sent(&r, "pve1:eno2>sw:2"), before + 1);
        }
        rig_close(&r);
    }
}

/* One direction fails: the end that hears nothing gives up, and the other one learns it from that one. */
static void one_way_with_lacp(void **state)
{
#define LAG_MODE "lacp"
    (void)state;
    rig_open(&r, BLACKHOLE("802.3ad", "layer2+3", ", lacp-rate: fast"));
#undef LAG_MODE
    fabric_link_state(r.fabric, rig_link(&r, "pve1:eno2"), 0, TOPO_LINK_ONE_WAY, rig_now(&r));
    rig_run(&r, 2900 * PS_PER_MS);
    assert_int_equal(reached(), 1);
    rig_run(&r, 100 * PS_PER_MS);
    assert_int_equal(reached(), 2);
    rig_close(&r);
}

/* LACP on one side only: no member comes up. */
static void lacp_needs_both_ends(void **state)
{
#define LAG_MODE "static"
    (void)state;
    rig_open(&r, BLACKHOLE("802.3ad", "layer2+3", ""));
#undef LAG_MODE
    assert_int_equal(reached(), 0);
    assert_true(rig_counters(&r, "pve1").no_port_dropped > 0);
    rig_close(&r);
}

/* Beacons with three uplinks: the switch behind one of them is cut off, its link is up. */
static void beacons_find_the_broken_one(void **state)
{
    int esx, vip;

    (void)state;
    rig_open(&r, CABLED("vswitches: {vSwitch1: {uplinks: \"vmnic[0-2]\", teaming: port-id, detection: beacon}}, " VMK,
                        "vmnic[0-2]", "[1-3]"));
    esx = rig_iface(&r, "esx1", 0);
    vip = rig_vip(&r, "10.0.0.100");
    rig_run(&r, 10 * PS_PER_S);
    assert_true(rig_reaches(&r, esx, vip));
    assert_int_equal(up_by(1), 1);
    link_of(1, TOPO_LINK_BLACKHOLE);
    rig_run(&r, 2 * PS_PER_S);
    assert_false(rig_reaches(&r, esx, vip));
    rig_run(&r, 4 * PS_PER_S);
    assert_true(rig_reaches(&r, esx, vip));
    assert_int_equal(up_by(1), 1);
    /* Nothing was sent twice. */
    assert_int_equal(rig_sent(&r, "sw:9>nas:c.e0"), 2);
    link_of(1, TOPO_LINK_UP);
    rig_run(&r, 5 * PS_PER_S);
    assert_true(rig_reaches(&r, esx, vip));
    assert_int_equal(up_by(1), 2);
    /* Broken in one direction: it hears the others, they don't hear it. */
    fabric_link_state(r.fabric, rig_link(&r, "esx1:vmnic1"), 0, TOPO_LINK_ONE_WAY, rig_now(&r));
    rig_run(&r, 5 * PS_PER_S);
    assert_true(rig_reaches(&r, esx, vip));
    assert_int_equal(up_by(1), 2);
    rig_close(&r);
}

/* With two uplinks it can't be told which one: both carry everything. */
static void two_beacons_can_not_tell(void **state)
{
    int esx, vip;
    uint8_t mac[6];

    (void)state;
    rig_open(&r, CABLED("vswitches: {vSwitch1: {uplinks: \"vmnic[0-1]\", teaming: port-id, detection: beacon}}, " VMK,
                        "vmnic[0-1]", "[1-2]"));
    esx = rig_iface(&r, "esx1", 0);
    vip = rig_vip(&r, "10.0.0.100");
    rig_run(&r, 10 * PS_PER_S);
    assert_true(rig_reaches(&r, esx, vip));
    memcpy(mac, r.ends[esx].arp_last.sender_mac, 6);
    link_of(1, TOPO_LINK_BLACKHOLE); /* the one in use */
    rig_run(&r, 6 * PS_PER_S);
    rig_send(&r, esx, vip, mac, 1);
    assert_int_equal(up_by(0), 1);
    assert_int_equal(up_by(1), 2);
    assert_int_equal(rig_sent(&r, "sw:9>nas:c.e0"), 2);
    assert_true(rig_reaches(&r, esx, vip));
    link_of(1, TOPO_LINK_UP);
    rig_run(&r, 6 * PS_PER_S);
    rig_send(&r, esx, vip, mac, 1);
    assert_int_equal(up_by(0), 2);
    rig_close(&r);
}

/* Two vmknics on one uplink that is full: after 30 s the busier one moves, and the switch knows. */
static void load_based_teaming(void **state)
{
    static const char text[] =
        "version: 1\n"
        "name: lbt\n"
        "nodes:\n"
        "  esx1: {kind: esxi, version: \"7.0u3\", dvswitches: {dvs1: {uplinks: \"vmnic[0-1]\", teaming: lbt}},\n"
        "         vmknics: {vmk1: {vswitch: dvs1, address: 10.0.0.16/24, port-id: 2},\n"
        "                   vmk2: {vswitch: dvs1, address: 10.1.0.16/24, port-id: 4}}}\n"
        "  sw: {kind: switch, mtu: 9216}\n"
        "  nas: {kind: nas, controllers: {c: {nics: [e0]}}, exports: {/v: {}},\n"
        "        vips: {\"10.[0-1].0.100/24\": {home: c}}}\n"
        "links:\n"
        "  - {ends: [\"esx1:vmnic[0-1]\", \"sw:[1-2]\"], speed: 100M}\n"
        "  - {ends: [\"nas:c.e0\", \"sw:9\"], speed: 1G}\n";
    uint8_t mac[2][6];
    int vmk[2], vip[2];
    uint64_t before;

    (void)state;
    rig_open(&r, text);
    for (unsigned i = 0; i < 2; i++) {
        vmk[i] = rig_iface(&r, "esx1", i);
        vip[i] = rig_vip(&r, i ? "10.1.0.100" : "10.0.0.100");
        assert_true(rig_reaches(&r, vmk[i], vip[i]));
        memcpy(mac[i], r.ends[vmk[i]].arp_last.sender_mac, 6);
    }
    assert_int_equal(rig_sent(&r, "esx1:vmnic0>sw:1"), 2);
    /* 14 frames in 2 ms are 86 % of 100 Mbit/s: 10 of vmk2, 4 of vmk1. */
    while (rig_now(&r) < 31 * PS_PER_S) {
        rig_send(&r, vmk[0], vip[0], mac[0], 4);
        rig_send(&r, vmk[1], vip[1], mac[1], 10);
    }
    before = rig_sent(&r, "esx1:vmnic1>sw:2");
    rig_send(&r, vmk[1], vip[1], mac[1], 1);
    rig_send(&r, vmk[0], vip[0], mac[0], 1);
    assert_int_equal(rig_sent(&r, "esx1:vmnic1>sw:2"), before + 1);
    assert_true(before > 0);
    rig_answer(&r, vmk[1], vip[1], 1);
    assert_int_equal(rig_sent(&r, "sw:2>esx1:vmnic1"), 1);
    rig_close(&r);
}

#define BOND(mode)                                                                                      \
    "version: 1\n"                                                                                      \
    "name: bond\n"                                                                                      \
    "nodes:\n"                                                                                          \
    "  pve1: {kind: linux, kernel: \"6.8\", bonds: {bond0: {members: \"eno[1-2]\", mode: " mode "}},\n" \
    "         interfaces: {bond0: {address: 10.0.0.16/24}}}\n"                                          \
    "  sw: {kind: switch, mtu: 9216}\n"                                                                 \
    "  nas: {kind: nas, controllers: {c: {nics: [e0]}}, exports: {/v: {}},\n"                           \
    "        vips: {\"10.0.0.[100-103]/24\": {home: c}}}\n"                                             \
    "links:\n"                                                                                          \
    "  - {ends: [\"pve1:eno[1-2]\", \"sw:[1-2]\"], speed: 1G}\n"                                        \
    "  - {ends: [\"nas:c.e0\", \"sw:9\"], speed: 1G}\n"

static void active_backup(void **state)
{
    int host, vip;

    (void)state;
    rig_open(&r, BOND("active-backup"));
    host = rig_iface(&r, "pve1", 0);
    vip = rig_vip(&r, "10.0.0.100");
    assert_true(rig_reaches(&r, host, vip));
    assert_int_equal(rig_sent(&r, "pve1:eno1>sw:1"), 1);
    fabric_link_state(r.fabric, rig_link(&r, "pve1:eno1"), 0, TOPO_LINK_DOWN, rig_now(&r));
    rig_run(&r, PS_PER_S);
    assert_true(rig_reaches(&r, host, vip));
    assert_int_equal(rig_sent(&r, "pve1:eno2>sw:2"), 1);
    rig_answer(&r, host, vip, 1);
    assert_int_equal(r.ends[host].data, 1);
    assert_int_equal(rig_counters(&r, "sw").flooded_unicast, 0);
    rig_close(&r);
}

/* Each frame carries its NIC's address; clients, here VIPs, spread over the buckets, the emptier NIC first. */
static void balance_alb(void **state)
{
    int host;
    static const char *const vips[] = {"10.0.0.100", "10.0.0.101", "10.0.0.102", "10.0.0.103"};

    (void)state;
    rig_open(&r, BOND("balance-alb"));
    host = rig_iface(&r, "pve1", 0);
    for (int i = 0; i < 4; i++)
        assert_true(rig_reaches(&r, host, rig_vip(&r, vips[i])));
    assert_int_equal(rig_sent(&r, "pve1:eno1>sw:1"), 2);
    assert_int_equal(rig_sent(&r, "pve1:eno2>sw:2"), 2);
    assert_int_equal(rig_counters(&r, "sw").mac_moves, 0);
    for (int i = 0; i < 4; i++)
        rig_answer(&r, host, rig_vip(&r, vips[i]), 1);
    assert_int_equal(r.ends[host].data, 4);
    rig_close(&r);
}

/* balance-tlb reads the MAC addresses: one NAS, one NIC; and the switch sees no address on two ports, whichever it is. */
static void balance_tlb(void **state)
{
    static const char *const vips[] = {"10.0.0.100", "10.0.0.101", "10.0.0.102", "10.0.0.103"};
    uint64_t sent[2];
    int host;

    (void)state;
    rig_open(&r, BOND("balance-tlb"));
    host = rig_iface(&r, "pve1", 0);
    for (int k = 0; k < 4; k++)
        assert_true(rig_reaches(&r, host, rig_vip(&r, vips[k])));
    sent[0] = rig_sent(&r, "pve1:eno1>sw:1");
    sent[1] = rig_sent(&r, "pve1:eno2>sw:2");
    assert_int_equal(sent[0] + sent[1], 4);
    assert_int_equal(sent[0] * sent[1], 0);
    assert_int_equal(rig_counters(&r, "sw").mac_moves, 0);
    /* The NIC with less load takes the bucket when it is bound anew. */
    rig_send(&r, host, rig_vip(&r, vips[0]), r.ends[host].arp_last.sender_mac, 100);
    rig_run(&r, 10 * PS_PER_S);
    assert_true(rig_reaches(&r, host, rig_vip(&r, vips[0])));
    assert_int_equal(rig_counters(&r, "sw").mac_moves, 0);
    rig_close(&r);
}

/* A LAG of a distributed switch: the same as a bond's, with a rule that isn't published. */
static void dvs_lag(void **state)
{
    static const char text[] =
        "version: 1\n"
        "name: dvs\n"
        "nodes:\n"
        "  esx1: {kind: esxi, version: \"7.0u3\",\n"
        "         dvswitches: {dvs1: {uplinks: \"vmnic[0-1]\", lag: {name: lag1, mode: lacp, hash: "
        "esxi-lacp-src-dst-ip}}},\n"
        "         vmknics: {vmk1: {vswitch: dvs1, address: 10.0.0.16/24}}}\n"
        "  sw: {kind: switch, mtu: 9216, hash: xor-src-dst-ip, lags: {po1: {to: \"esx1:dvs1\", mode: lacp}}}\n"
        "  nas: {kind: nas, controllers: {c: {nics: [e0]}}, exports: {/v: {}}, vips: {\"10.0.0.[100-107]/24\": {home: "
        "c}}}\n"
        "links:\n"
        "  - {ends: [\"esx1:vmnic[0-1]\", \"sw:[1-2]\"], speed: 1G}\n"
        "  - {ends: [\"nas:c.e0\", \"sw:9\"], speed: 1G}\n";
    char vip[24];

    (void)state;
    rig_open(&r, text);
    for (int k = 0; k < 8; k++) {
        snprintf(vip, sizeof vip, "10.0.0.10%d", k);
        assert_true(rig_reaches(&r, rig_iface(&r, "esx1", 0), rig_vip(&r, vip)));
    }
    assert_int_equal(rig_sent(&r, "esx1:vmnic0>sw:1") + rig_sent(&r, "esx1:vmnic1>sw:2"), 8);
    assert_int_equal(rig_counters(&r, "sw").mac_moves, 0);
    fabric_link_state(r.fabric, rig_link(&r, "sw:1"), 0, TOPO_LINK_DOWN, rig_now(&r));
    assert_true(rig_reaches(&r, rig_iface(&r, "esx1", 0), rig_vip(&r, "10.0.0.100")));
    rig_close(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(failover),
        cmocka_unit_test(a_host_does_not_drop_its_own),
        cmocka_unit_test(failover_without_notification),
        cmocka_unit_test(standby_and_failback),
        cmocka_unit_test(broadcast_once),
        cmocka_unit_test(broadcasts_come_by_the_own_uplink),
        cmocka_unit_test(blackholed_member_of_a_static_lag),
        cmocka_unit_test(blackholed_member_with_lacp),
        cmocka_unit_test(one_way_with_lacp),
        cmocka_unit_test(lacp_needs_both_ends),
        cmocka_unit_test(beacons_find_the_broken_one),
        cmocka_unit_test(two_beacons_can_not_tell),
        cmocka_unit_test(load_based_teaming),
        cmocka_unit_test(active_backup),
        cmocka_unit_test(balance_alb),
        cmocka_unit_test(balance_tlb),
        cmocka_unit_test(dvs_lag),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
