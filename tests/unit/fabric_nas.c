/* NAS controllers: who answers for a VIP and with which address, which NIC sends, takeover; routers. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "tests/support/fabric_rig.h"

static struct rig r;

/* Two controllers with a switch-independent team of four NICs each, VIPs .100-.107 alternating between them; two hosts. */
#define TEAM(more)                                                                                  \
    "version: 1\n"                                                                                  \
    "name: team\n"                                                                                  \
    "nodes:\n"                                                                                      \
    "  h[1-2]: {kind: linux, nics: [eth0], interfaces: {eth0: {address: \"10.0.0.[12-13]/24\"}}}\n" \
    "  sw: {kind: switch, mtu: 9216}\n"                                                             \
    "  fs: {kind: nas, controllers: {\"ctl[1-2]\": {nics: \"eth[0-3]\",\n"                          \
    "       team: {receive: vip, transmit: xor-dst-ip" more "}, takeover: \"ctl[2,1]\"}},\n"        \
    "       vips: {\"10.0.0.[100-107]/24\": {home: round-robin}}, exports: {/v: {}}}\n"             \
    "links:\n"                                                                                      \
    "  - {ends: [\"h[1-2]:eth0\", \"sw:[1-2]\"], speed: 1G}\n"                                      \
    "  - {ends: [\"fs:ctl[1-2].eth[0-3]\", \"sw:[11-18]\"], speed: 1G}\n"

static const uint8_t *mac_of(const char *port) { return r.topo->ports[topo_find_port(r.topo, port)].mac; }

#define assert_mac(a, b) assert_memory_equal(a, b, 6)

/* The address that h1 gets for a VIP, and that a frame to it arrives. */
static const uint8_t *told(const char *vip)
{
    int h1 = rig_iface(&r, "h1", 0);

    assert_true(rig_reaches(&r, h1, rig_vip(&r, vip)));
    return r.ends[h1].arp_last.sender_mac;
}

static void each_vip_receives_on_its_nic(void **state)
{
    (void)state;
    rig_open(&r, TEAM(""));
    assert_mac(told("10.0.0.100"), mac_of("fs:ctl1.eth0"));
    /* The request came in on all eight NICs, and one answer went out. */
    assert_int_equal(rig_counters(&r, "fs:ctl1").arp_answered, 1);
    assert_int_equal(r.ends[rig_iface(&r, "h1", 0)].arp, 1);
    assert_mac(told("10.0.0.101"), mac_of("fs:ctl2.eth0"));
    assert_mac(told("10.0.0.102"), mac_of("fs:ctl1.eth1"));
    assert_mac(told("10.0.0.107"), mac_of("fs:ctl2.eth3"));
    assert_int_equal(rig_sent(&r, "sw:11>fs:ctl1.eth0"), 1);
    assert_int_equal(rig_sent(&r, "sw:12>fs:ctl1.eth1"), 1);
    assert_int_equal(rig_sent(&r, "sw:18>fs:ctl2.eth3"), 1);
    rig_close(&r);
}

static void the_client_decides_which_nic_sends(void **state)
{
    int h1, h2, vip;

    (void)state;
    rig_open(&r, TEAM(""));
    h1 = rig_iface(&r, "h1", 0);
    h2 = rig_iface(&r, "h2", 0);
    vip = rig_vip(&r, "10.0.0.102");
    assert_true(rig_reaches(&r, h1, vip));
    assert_true(rig_reaches(&r, h2, vip));
    /* 10.0.0.12 and .13 mod 4 = 0 and 1, whatever the VIP; with the sending NIC's address. */
    rig_answer(&r, h1, vip, 2);
    assert_int_equal(rig_sent(&r, "fs:ctl1.eth0>sw:11"), 2);
    assert_mac(r.ends[h1].last.src, mac_of("fs:ctl1.eth0"));
    rig_answer(&r, h2, vip, 3);
    assert_int_equal(rig_sent(&r, "fs:ctl1.eth1>sw:12"), 3);
    assert_mac(r.ends[h2].last.src, mac_of("fs:ctl1.eth1"));
    assert_int_equal(rig_counters(&r, "sw").mac_moves, 0);
    rig_close(&r);
}

/* 20 virtual minutes of one-way traffic to NICs that never send any: with learning frames no unicast frame is flooded and no
 * address moves; without, the switch forgets them after five minutes and floods. */
static void learning_frames_prevent_flooding(void **state)
{
    static const char *const texts[] = {TEAM(""), TEAM(", learning: off")};

    (void)state;
    for (int i = 0; i < 2; i++) {
        struct fabric_box_counters c;
        uint8_t to[4][6];
        static const char *const vips[] = {"10.0.0.100", "10.0.0.102", "10.0.0.104", "10.0.0.106"};
        int h1;

        rig_open(&r, texts[i]);
        h1 = rig_iface(&r, "h1", 0);
        for (int k = 0; k < 4; k++)
            memcpy(to[k], told(vips[k]), 6);
        while (rig_now(&r) < 1200 * PS_PER_S) {
            for (int k = 0; k < 4; k++)
                rig_send(&r, h1, rig_vip(&r, vips[k]), to[k], 4);
            rig_run(&r, PS_PER_S);
        }
        c = rig_counters(&r, "sw");
        assert_int_equal(c.mac_moves, 0);
        if (i == 0)
            assert_int_equal(c.flooded_unicast, 0);
        else
            assert_true(c.flooded_unicast > 10000);
        rig_close(&r);
    }
}

static void a_nic_fails(void **state)
{
    int h1, ctl1, vip;
    uint8_t old[6];

    (void)state;
    rig_open(&r, TEAM(""));
    h1 = rig_iface(&r, "h1", 0);
    ctl1 = rig_iface(&r, "fs:ctl1", 0);
    vip = rig_vip(&r, "10.0.0.102");
    memcpy(old, told("10.0.0.102"), 6);
    fabric_link_state(r.fabric, rig_link(&r, "fs:ctl1.eth1"), 0, TOPO_LINK_DOWN, rig_now(&r));
    rig_run(&r, PS_PER_MS);
    /* Everybody is told: ordinal 1 of three NICs left is eth2. */
    assert_false(r.ends[h1].arp_last.reply);
    assert_mac(r.ends[h1].arp_last.sender_mac, mac_of("fs:ctl1.eth2"));
    assert_memory_equal(r.ends[h1].arp_last.sender_ip, r.topo->vips[vip].addr.bytes, 4);
    rig_send(&r, h1, vip, old, 1); /* who doesn't listen sends into the void */
    assert_int_equal(r.ends[ctl1].data, 1);
    rig_send(&r, h1, vip, r.ends[h1].arp_last.sender_mac, 1);
    assert_int_equal(r.ends[ctl1].data, 2);
    fabric_link_state(r.fabric, rig_link(&r, "fs:ctl1.eth1"), 0, TOPO_LINK_UP, rig_now(&r));
    rig_run(&r, PS_PER_MS);
    assert_mac(r.ends[h1].arp_last.sender_mac, old);
    rig_close(&r);
}

static void takeover(void **state)
{
    (void)state;
    for (int garp = 0; garp < 2; garp++) {
        int h1, vip, there;
        uint8_t old[6];
        uint64_t arps;

        rig_open(&r, TEAM(""));
        h1 = rig_iface(&r, "h1", 0);
        vip = rig_vip(&r, "10.0.0.102");
        there = rig_iface(&r, "fs:ctl2", 0);
        memcpy(old, told("10.0.0.102"), 6);
        arps = r.ends[h1].arp;
        fabric_vip_move(r.fabric, vip, rig_box(&r, "fs:ctl2"), garp, rig_now(&r));
        assert_int_equal(fabric_vip_box(r.fabric, vip), rig_box(&r, "fs:ctl2"));
        rig_run(&r, PS_PER_MS);
        assert_int_equal(r.ends[h1].arp, arps + (unsigned)garp);
        /* The old controller takes nothing for it any more. */
        rig_send(&r, h1, vip, old, 1);
        assert_int_equal(rig_counters(&r, "fs:ctl1").stray_dropped, 1);
        assert_int_equal(r.ends[there].data, 0);
        if (garp)
            assert_mac(r.ends[h1].arp_last.sender_mac, mac_of("fs:ctl2.eth1"));
        /* Who asks again gets there. */
        assert_mac(told("10.0.0.102"), mac_of("fs:ctl2.eth1"));
        assert_int_equal(r.ends[there].data, 1);
        rig_answer(&r, h1, vip, 1);
        assert_int_equal(rig_sent(&r, "fs:ctl2.eth0>sw:15"), 1);
        rig_close(&r);
    }
}

static void a_vip_goes_down(void **state)
{
    int h1, vip;
    uint8_t mac[6];

    (void)state;
    rig_open(&r, TEAM(""));
    h1 = rig_iface(&r, "h1", 0);
    vip = rig_vip(&r, "10.0.0.100");
    memcpy(mac, told("10.0.0.100"), 6);
    fabric_vip_state(r.fabric, vip, false, rig_now(&r));
    assert_int_equal(fabric_vip_box(r.fabric, vip), -1);
    assert_false(rig_ask(&r, h1, vip));
    rig_send(&r, h1, vip, mac, 1);
    assert_int_equal(rig_counters(&r, "fs:ctl1").stray_dropped, 1);
    fabric_vip_state(r.fabric, vip, true, rig_now(&r));
    assert_mac(told("10.0.0.100"), mac);
    rig_close(&r);
}

static void a_controller_loses_power(void **state)
{
    int h1, vip, ctl1, ctl2;

    (void)state;
    rig_open(&r, TEAM(""));
    h1 = rig_iface(&r, "h1", 0);
    vip = rig_vip(&r, "10.0.0.100");
    ctl1 = rig_box(&r, "fs:ctl1");
    ctl2 = rig_box(&r, "fs:ctl2");
    told("10.0.0.100");
    fabric_box_state(r.fabric, ctl1, false, rig_now(&r));
    assert_false(rig_reaches(&r, h1, vip));
    fabric_vip_move(r.fabric, vip, ctl2, true, rig_now(&r));
    assert_true(rig_reaches(&r, h1, vip));
    fabric_box_state(r.fabric, ctl1, true, rig_now(&r));
    fabric_vip_move(r.fabric, vip, ctl1, true, rig_now(&r));
    assert_true(rig_reaches(&r, h1, vip));
    assert_int_equal(rig_sent(&r, "sw:11>fs:ctl1.eth0"), 2);
    rig_close(&r);
}

/* On a LAG every VIP has the LAG's address; one of its own moves with it, and the switch has to learn that. */
static void lag_and_addresses_of_their_own(void **state)
{
    static const char text[] =
        "version: 1\n"
        "name: lag\n"
        "nodes:\n"
        "  h[1-2]: {kind: linux, nics: [eth0], interfaces: {eth0: {address: \"10.0.0.[12-13]/24\"}}}\n"
        "  sw: {kind: switch, mtu: 9216, vlans: [5], hash: xor-src-dst-ip,\n"
        "       lags: {\"po[1-2]\": {to: \"fas:n[1-2].a0a\", mode: lacp, vlan: trunk}}, ports: {\"[1-2]\": {vlan: "
        "5}}}\n"
        "  fas: {kind: nas, controllers: {\"n[1-2]\": {nics: \"e[0-1]\", vlan: 5, lag: {name: a0a, mode: lacp, hash: "
        "netapp-ip}}},\n"
        "        vips: {10.0.0.100/24: {home: n1}, 10.0.0.101/24: {home: n1, mac: \"02:00:00:00:00:77\"}, "
        "10.0.0.102/24: {home: n2}},\n"
        "        exports: {/v: {}}}\n"
        "links:\n"
        "  - {ends: [\"h[1-2]:eth0\", \"sw:[1-2]\"], speed: 1G}\n"
        "  - {ends: [\"fas:n[1-2].e[0-1]\", \"sw:[11-14]\"], speed: 1G}\n";
    static const uint8_t own[6] = {2, 0, 0, 0, 0, 0x77};
    int h1, vip, n2;

    (void)state;
    rig_open(&r, text);
    h1 = rig_iface(&r, "h1", 0);
    vip = rig_vip(&r, "10.0.0.101");
    n2 = rig_iface(&r, "fas:n2", 0);
    assert_mac(told("10.0.0.100"), r.topo->ifaces[rig_iface(&r, "fas:n1", 0)].mac);
    assert_mac(told("10.0.0.101"), own);
    rig_answer(&r, h1, vip, 1);
    assert_mac(r.ends[h1].last.src, own);
    assert_int_equal(rig_counters(&r, "sw").mac_moves, 0);
    /* Quietly: the address is the same and h1 goes on, but the switch sends to the old place until n2 has sent. */
    fabric_vip_move(r.fabric, vip, rig_box(&r, "fas:n2"), false, rig_now(&r));
    rig_send(&r, h1, vip, own, 1);
    assert_int_equal(r.ends[n2].data, 0);
    rig_answer(&r, h1, vip, 1);
    assert_int_equal(rig_counters(&r, "sw").mac_moves, 1);
    rig_send(&r, h1, vip, own, 1);
    assert_int_equal(r.ends[n2].data, 1);
    /* With gratuitous ARP it learns at once. */
    fabric_vip_move(r.fabric, vip, rig_box(&r, "fas:n1"), true, rig_now(&r));
    rig_run(&r, PS_PER_MS);
    rig_send(&r, h1, vip, own, 1);
    assert_int_equal(r.ends[n2].data, 1);
    assert_int_equal(rig_counters(&r, "sw").mac_moves, 2);
    rig_close(&r);
}

/* A host and a VIP in different subnets: the router forwards, rewrites addresses and asks on the far side. */
static void routed_vip(void **state)
{
    static const char text[] =
        "version: 1\n"
        "name: routed\n"
        "nodes:\n"
        "  h1: {kind: linux, nics: [eth0], interfaces: {eth0: {address: 10.1.0.11/24, gateway: 10.1.0.1}}}\n"
        "  sw: {kind: switch, mtu: 9216, vlans: [1, 2], ports: {1: {vlan: 1}, 2: {vlan: trunk}, 9: {vlan: 2}}}\n"
        "  gw: {kind: router, nics: [te1], interfaces: {te1.1: {vlan: 1, address: 10.1.0.1/24},\n"
        "                                               te1.2: {vlan: 2, address: 10.2.0.1/24}}}\n"
        "  nas: {kind: nas, controllers: {c: {nics: [e0], gateway: 10.2.0.1}}, exports: {/v: {}},\n"
        "        vips: {10.2.0.100/24: {home: c}}}\n"
        "links:\n"
        "  - {ends: [\"h1:eth0\", \"sw:1\"], speed: 1G}\n"
        "  - {ends: [\"gw:te1\", \"sw:2\"], speed: 1G}\n"
        "  - {ends: [\"nas:c.e0\", \"sw:9\"], speed: 1G}\n";
    struct train *t;
    int h1, c, vip, near;

    (void)state;
    rig_open(&r, text);
    h1 = rig_iface(&r, "h1", 0);
    near = rig_iface(&r, "gw", 0);
    c = rig_iface(&r, "nas:c", 0);
    vip = rig_vip(&r, "10.2.0.100");
    /* Who has the gateway? */
    t = train_new(r.pool);
    t->kind = TRAIN_ARP;
    t->frames = 1;
    t->frame_bytes = t->last_bytes = 60;
    memset(&t->u, 0, sizeof t->u);
    memcpy(t->src, r.topo->ifaces[h1].mac, 6);
    memset(t->dst, 0xff, 6);
    t->u.arp.version = 4;
    memcpy(t->u.arp.sender_mac, t->src, 6);
    memcpy(t->u.arp.sender_ip, r.topo->ifaces[h1].addr.bytes, 4);
    memcpy(t->u.arp.target_ip, r.topo->ifaces[near].addr.bytes, 4);
    train_ready(t, 0);
    fabric_send(r.fabric, h1, -1, t, 0);
    rig_run(&r, PS_PER_MS);
    assert_int_equal(r.ends[h1].arp, 1);
    assert_mac(r.ends[h1].arp_last.sender_mac, r.topo->ifaces[near].mac);
    /* The first train waits for the router's own ARP, with its time. */
    rig_send(&r, h1, vip, r.ends[h1].arp_last.sender_mac, 3);
    assert_int_equal(r.ends[c].data, 3);
    assert_mac(r.ends[c].last.src, r.topo->ifaces[near + 1].mac);
    assert_int_equal(rig_counters(&r, "gw").arp_answered, 1);
    /* Back: the NAS answers to where it came from. */
    rig_answer(&r, h1, vip, 2);
    assert_int_equal(r.ends[h1].data, 2);
    assert_mac(r.ends[h1].last.src, r.topo->ifaces[near].mac);
    assert_int_equal(rig_sent(&r, "sw:2>gw:te1"), 5);
    /* A VIP that is gone: three questions, then what waits is dropped. */
    fabric_vip_state(r.fabric, vip, false, rig_now(&r));
    rig_run(&r, 4 * 3600 * PS_PER_S);
    rig_send(&r, h1, vip, r.ends[h1].arp_last.sender_mac, 1);
    rig_run(&r, 10 * PS_PER_S);
    assert_int_equal(rig_counters(&r, "gw").no_route_dropped, 1);
    rig_close(&r);
}

/* The same with IPv6: who asks by neighbour discovery is answered once, and an advertisement to all tells of a takeover. Under a
 * LAG the solicitation is hashed as the IPv6 packet that it is. */
static void neighbour_discovery(void **state)
{
    static const uint8_t to_all[6] = {0x33, 0x33, 0, 0, 0, 1};
    int h1, vip, there;
    uint8_t old[6];

    (void)state;
    rig_open(&r, "version: 1\n"
                 "name: six\n"
                 "nodes:\n"
                 "  h1: {kind: linux, nics: [eth0], interfaces: {eth0: {address: \"fd00::12/64\"}}}\n"
                 "  sw: {kind: switch}\n"
                 "  fs: {kind: nas, controllers: {\"ctl[1-2]\": {nics: \"eth[0-3]\", team: {receive: vip, transmit: "
                 "xor-dst-ip}}},\n"
                 "       vips: {\"fd00::[100-103]/64\": {home: round-robin}}, exports: {/v: {}}}\n"
                 "links:\n"
                 "  - {ends: [\"h1:eth0\", \"sw:1\"], speed: 1G}\n"
                 "  - {ends: [\"fs:ctl[1-2].eth[0-3]\", \"sw:[11-18]\"], speed: 1G}\n");
    h1 = rig_iface(&r, "h1", 0);
    vip = rig_vip(&r, "fd00::102");
    there = rig_iface(&r, "fs:ctl2", 0);
    memcpy(old, told("fd00::102"), 6);
    assert_mac(old, mac_of("fs:ctl1.eth1"));
    assert_int_equal(rig_counters(&r, "fs:ctl1").arp_answered, 1);
    assert_int_equal(r.ends[h1].arp, 1);
    assert_memory_equal(r.ends[h1].arp_last.sender_ip, r.topo->vips[vip].addr.bytes, 16);
    fabric_vip_move(r.fabric, vip, rig_box(&r, "fs:ctl2"), true, rig_now(&r));
    rig_run(&r, PS_PER_MS);
    assert_int_equal(r.ends[h1].arp, 2);
    assert_false(r.ends[h1].arp_last.reply);
    assert_mac(r.ends[h1].last.dst, to_all);
    assert_mac(r.ends[h1].arp_last.sender_mac, mac_of("fs:ctl2.eth1"));
    rig_send(&r, h1, vip, r.ends[h1].arp_last.sender_mac, 1);
    assert_int_equal(r.ends[there].data, 1);
    rig_close(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_vip_receives_on_its_nic),
        cmocka_unit_test(the_client_decides_which_nic_sends),
        cmocka_unit_test(learning_frames_prevent_flooding),
        cmocka_unit_test(a_nic_fails),
        cmocka_unit_test(takeover),
        cmocka_unit_test(a_vip_goes_down),
        cmocka_unit_test(a_controller_loses_power),
        cmocka_unit_test(lag_and_addresses_of_their_own),
        cmocka_unit_test(routed_vip),
        cmocka_unit_test(neighbour_discovery),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
