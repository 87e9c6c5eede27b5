/* Switches: learning, ageing, flooding, VLANs, LAGs, stacks, MLAG pairs. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "tests/support/fabric_rig.h"

static struct rig r;

/* Three hosts with one NIC each and a NAS on one switch, no LAGs. */
static const char plain[] =
    "version: 1\n"
    "name: plain\n"
    "nodes:\n"
    "  h[1-3]: {kind: linux, nics: [eth0], interfaces: {eth0: {address: \"10.0.0.[1-3]/24\"}}}\n"
    "  sw: {kind: switch, mtu: 1600}\n"
    "  nas: {kind: nas, controllers: {c: {nics: [e0]}}, exports: {/v: {}},\n"
    "        vips: {10.0.0.101/24: {home: c}}}\n"
    "links:\n"
    "  - {ends: [\"h[1-3]:eth0\", \"sw:[1-3]\"], speed: 1G}\n"
    "  - {ends: [\"nas:c.e0\", \"sw:9\"], speed: 1G}\n";

static void first_frame_floods_the_next_does_not(void **state)
{
    int h1, vip;

    (void)state;
    rig_open(&r, plain);
    h1 = rig_iface(&r, "h1", 0);
    vip = rig_vip(&r, "10.0.0.101");
    assert_true(rig_reaches(&r, h1, vip));
    /* ARP went to everybody, the answer and the data only where they belong. */
    assert_int_equal(rig_sent(&r, "sw:9>nas:c.e0"), 1);
    assert_int_equal(rig_sent(&r, "sw:2>h2:eth0"), 0);
    assert_int_equal(rig_counters(&r, "sw").flooded_unicast, 0);
    assert_int_equal(r.ends[rig_iface(&r, "h2", 0)].arp, 1);
    assert_int_equal(rig_counters(&r, "sw").learned, 2);
    /* An address that nobody has: to all but the sender, who throw it away. */
    rig_send(&r, h1, vip, (const uint8_t[]){2, 0, 0, 0, 0, 99}, 5);
    assert_int_equal(rig_counters(&r, "sw").flooded_unicast, 15);
    assert_int_equal(rig_sent(&r, "sw:2>h2:eth0"), 5);
    assert_int_equal(rig_sent(&r, "sw:1>h1:eth0"), 0);
    assert_int_equal(rig_counters(&r, "h2").stray_dropped, 5);
    assert_int_equal(rig_counters(&r, "nas:c").stray_dropped, 5);
    rig_close(&r);
}

static void an_address_is_forgotten_after_its_time(void **state)
{
    int h1, vip;

    (void)state;
    rig_open(&r, plain);
    h1 = rig_iface(&r, "h1", 0);
    vip = rig_vip(&r, "10.0.0.101");
    assert_true(rig_reaches(&r, h1, vip));
    rig_run(&r, 299 * PS_PER_S);
    rig_send(&r, h1, vip, r.ends[h1].arp_last.sender_mac, 1);
    assert_int_equal(rig_counters(&r, "sw").flooded_unicast, 0);
    rig_run(&r, 2 * PS_PER_S);
    rig_send(&r, h1, vip, r.ends[h1].arp_last.sender_mac, 1);
    assert_int_equal(rig_counters(&r, "sw").flooded_unicast, 3);
    /* It still arrives, and the first answer ends it. */
    assert_int_equal(rig_sent(&r, "sw:9>nas:c.e0"), 3);
    rig_answer(&r, h1, vip, 1);
    rig_send(&r, h1, vip, r.ends[h1].arp_last.sender_mac, 1);
    assert_int_equal(rig_counters(&r, "sw").flooded_unicast, 3);
    rig_close(&r);
}

static void an_address_that_moves(void **state)
{
    struct train *t;
    int h1, h2, vip;

    (void)state;
    rig_open(&r, plain);
    h1 = rig_iface(&r, "h1", 0);
    h2 = rig_iface(&r, "h2", 0);
    vip = rig_vip(&r, "10.0.0.101");
    assert_true(rig_reaches(&r, h1, vip));
    for (int i = 0; i < 4; i++) {
        /* h2 and h1 in turn pretend to be h1. */
        t = train_new(r.pool);
        t->kind = TRAIN_NOTIFY;
        t->frames = 1;
        t->last_bytes = t->frame_bytes = 60;
        memcpy(t->src, r.topo->ifaces[h1].mac, 6);
        memset(t->dst, 0xff, 6);
        train_ready(t, rig_now(&r));
        fabric_send(r.fabric, i % 2 ? h1 : h2, -1, t, rig_now(&r));
        rig_run(&r, PS_PER_S);
        assert_int_equal(rig_counters(&r, "sw").mac_moves, i + 1);
    }
    /* The first move left port 1 for good, as far as one can tell; the three others went back at once. */
    assert_int_equal(rig_counters(&r, "sw").mac_flaps, 3);
    rig_close(&r);
}

static void giants_are_dropped_the_last_frame_passes(void **state)
{
    static const char jumbo[] =
        "version: 1\n"
        "name: jumbo\n"
        "nodes:\n"
        "  h1: {kind: linux, nics: [eth0], interfaces: {eth0: {address: 10.0.0.1/24, mtu: 9000}}}\n"
        "  sw: {kind: switch, mtu: 1600}\n"
        "  nas: {kind: nas, controllers: {c: {nics: [e0], mtu: 9000}}, exports: {/v: {}}, vips: {10.0.0.101/24: {home: "
        "c}}}\n"
        "links:\n"
        "  - {ends: [\"h1:eth0\", \"sw:1\"], speed: 1G}\n"
        "  - {ends: [\"nas:c.e0\", \"sw:9\"], speed: 1G}\n";
    struct train *t;
    int h1, vip;

    (void)state;
    rig_open(&r, jumbo);
    h1 = rig_iface(&r, "h1", 0);
    vip = rig_vip(&r, "10.0.0.101");
    assert_true(rig_ask(&r, h1, vip)); /* small frames pass: the mount works and the first write hangs */
    rig_send(&r, h1, vip, r.ends[h1].arp_last.sender_mac, 7);
    assert_int_equal(rig_counters(&r, "sw").giants_dropped, 7);
    assert_int_equal(rig_sent(&r, "sw:9>nas:c.e0"), 0);
    t = train_new(r.pool);
    t->frames = 8;
    t->frame_bytes = 9014;
    t->last_bytes = 1600;
    t->flow = rig_flow(&r, h1, vip, true, 700);
    memset(&t->u, 0, sizeof t->u);
    memcpy(t->src, r.topo->ifaces[h1].mac, 6);
    memcpy(t->dst, r.ends[h1].arp_last.sender_mac, 6);
    train_ready(t, rig_now(&r));
    fabric_send(r.fabric, h1, -1, t, rig_now(&r));
    rig_run(&r, PS_PER_MS);
    assert_int_equal(rig_counters(&r, "sw").giants_dropped, 14);
    assert_int_equal(rig_sent(&r, "sw:9>nas:c.e0"), 1);
    rig_close(&r);
}

static void vlans_are_separate(void **state)
{
    static const char text[] =
        "version: 1\n"
        "name: vlans\n"
        "nodes:\n"
        "  h1: {kind: linux, nics: [eth0], interfaces: {eth0.10: {vlan: 10, address: 10.1.0.1/24},\n"
        "                                               eth0.20: {vlan: 20, address: 10.2.0.1/24}}}\n"
        "  h[2-3]: {kind: linux, nics: [eth0], interfaces: {eth0: {address: \"10.[1-2].0.2/24\"}}}\n"
        "  h4: {kind: linux, nics: [eth0], interfaces: {eth0: {address: 10.1.0.4/24}}}\n"
        "  sw: {kind: switch, mtu: 9216, vlans: [10, 20],\n"
        "       ports: {1: {vlan: trunk}, 2: {vlan: 10}, 3: {vlan: 20}, 4: {vlan: {trunk: [20], native: 10}}, 9: "
        "{vlan: trunk}}}\n"
        "  nas: {kind: nas, controllers: {c: {nics: [e0]}}, exports: {/v: {}},\n"
        "        vips: {10.1.0.101/24: {home: c, vlan: 10}, 10.2.0.101/24: {home: c, vlan: 20}}}\n"
        "links:\n"
        "  - {ends: [\"h[1-4]:eth0\", \"sw:[1-4]\"], speed: 1G}\n"
        "  - {ends: [\"nas:c.e0\", \"sw:9\"], speed: 1G}\n";
    int h1, h2, h3, h4, v10, v20;

    (void)state;
    rig_open(&r, text);
    h1 = rig_iface(&r, "h1", 0);
    h2 = rig_iface(&r, "h2", 0);
    h3 = rig_iface(&r, "h3", 0);
    h4 = rig_iface(&r, "h4", 0);
    v10 = rig_vip(&r, "10.1.0.101");
    v20 = rig_vip(&r, "10.2.0.101");
    assert_true(rig_reaches(&r, h1, v10));
    assert_true(rig_reaches(&r, h1 + 1, v20));
    assert_true(rig_reaches(&r, h2, v10));
    assert_true(rig_reaches(&r, h3, v20));
    assert_true(rig_reaches(&r, h4, v10)); /* untagged on the trunk: its native VLAN */
    /* Broadcasts stay in their VLAN: h3 saw the request of h1's interface in VLAN 20 and no other. */
    assert_int_equal(r.ends[h3].arp, 2);
    assert_int_equal(r.ends[h1 + 1].arp, 2);
    /* The same address from the wrong VLAN doesn't get through. */
    rig_send(&r, h2, v20, r.ends[h3].arp_last.sender_mac, 1);
    assert_int_equal(rig_counters(&r, "nas:c").stray_dropped, 1);
    assert_int_equal(rig_counters(&r, "sw").vlan_dropped, 0);
    /* Tagged frames count with their tag: ARP 64 and data 1518, each with 24 more. */
    {
        struct fabric_counters c;

        fabric_counters(r.fabric, rig_linkdir(&r, "h1:eth0>sw:1"), &c);
        assert_int_equal(c.bytes_in, 2 * (64 + 24) + 2 * (1518 + 24));
        fabric_counters(r.fabric, rig_linkdir(&r, "h3:eth0>sw:3"), &c);
        assert_int_equal(c.bytes_in, 60 + 24 + 1514 + 24);
        rig_send(&r, h3, v20, r.ends[h3].arp_last.sender_mac, 10);
        fabric_counters(r.fabric, rig_linkdir(&r, "sw:9>nas:c.e0"), &c);
        assert_int_equal(c.bytes_in, 5 * (64 + 24) + (6 + 10) * (1518 + 24));
    }
    rig_close(&r);
}

static void a_vlan_that_the_trunk_lacks(void **state)
{
    static const char text[] =
        "version: 1\n"
        "name: vlan-missing\n"
        "nodes:\n"
        "  h1: {kind: linux, nics: [eth0], interfaces: {eth0.20: {vlan: 20, address: 10.2.0.1/24}}}\n"
        "  sw: {kind: switch, mtu: 9216, vlans: [10, 20], ports: {1: {vlan: {trunk: [10]}}, 9: {vlan: trunk}}}\n"
        "  nas: {kind: nas, controllers: {c: {nics: [e0], vlan: 20}}, exports: {/v: {}}, vips: {10.2.0.101/24: {home: "
        "c}}}\n"
        "links:\n"
        "  - {ends: [\"h1:eth0\", \"sw:1\"], speed: 1G}\n"
        "  - {ends: [\"nas:c.e0\", \"sw:9\"], speed: 1G}\n";

    (void)state;
    rig_open(&r, text);
    assert_false(rig_reaches(&r, rig_iface(&r, "h1", 0), rig_vip(&r, "10.2.0.101")));
    assert_int_equal(rig_counters(&r, "sw").vlan_dropped, 1);
    rig_close(&r);
}

/* A host with four uplinks on a LAG, IP hash on both sides, and four VIPs on a NAS with a LAG of two. */
#define LAG(host_lag)                                                                                                  \
    "version: 1\n"                                                                                                     \
    "name: lag\n"                                                                                                      \
    "nodes:\n"                                                                                                         \
    "  esx1: {kind: esxi, version: \"7.0u3\", vswitches: {vSwitch1: {uplinks: \"vmnic[0-3]\", teaming: ip-hash}},\n"   \
    "         vmknics: {vmk1: {vswitch: vSwitch1, address: 10.0.0.16/24}}}\n"                                          \
    "  h2: {kind: linux, nics: [eth0], interfaces: {eth0: {address: 10.0.0.2/24}}}\n"                                  \
    "  sw: {kind: switch, mtu: 9216, hash: xor-src-dst-ip,\n"                                                          \
    "       lags: {" host_lag "po2: {to: \"nas:c.bond0\", mode: lacp}}}\n"                                             \
    "  nas: {kind: nas, controllers: {c: {nics: \"e[0-1]\", lag: {name: bond0, mode: lacp, hash: xor-src-dst-ip}}},\n" \
    "        exports: {/v: {}}, vips: {\"10.0.0.[100-103]/24\": {home: c}}}\n"                                         \
    "links:\n"                                                                                                         \
    "  - {ends: [\"esx1:vmnic[0-3]\", \"sw:[1-4]\"], speed: 1G}\n"                                                     \
    "  - {ends: [\"h2:eth0\", \"sw:5\"], speed: 1G}\n"                                                                 \
    "  - {ends: [\"nas:c.e[0-1]\", \"sw:[9-10]\"], speed: 1G}\n"

static void lag_learns_and_floods_as_one(void **state)
{
    static const char *const vips[] = {"10.0.0.100", "10.0.0.101", "10.0.0.102", "10.0.0.103"};
    uint64_t copies = 0;
    int esx, h2;

    (void)state;
    rig_open(&r, LAG("po1: {to: \"esx1:vSwitch1\", mode: static}, "));
    esx = rig_iface(&r, "esx1", 0);
    h2 = rig_iface(&r, "h2", 0);
    for (int i = 0; i < 4; i++) {
        assert_true(rig_reaches(&r, esx, rig_vip(&r, vips[i])));
        rig_answer(&r, esx, rig_vip(&r, vips[i]), 1);
    }
    /* 10.0.0.16 xor 10.0.0.100 .. 103 = 0x74 .. 0x77: one link each, both ways. */
    for (int i = 0; i < 4; i++) {
        static const char *const out[] = {"esx1:vmnic0>sw:1", "esx1:vmnic1>sw:2", "esx1:vmnic2>sw:3",
                                          "esx1:vmnic3>sw:4"};
        static const char *const in[] = {"sw:1>esx1:vmnic0", "sw:2>esx1:vmnic1", "sw:3>esx1:vmnic2",
                                         "sw:4>esx1:vmnic3"};

        assert_int_equal(rig_sent(&r, out[i]), 1);
        assert_int_equal(rig_sent(&r, in[i]), 1);
    }
    assert_int_equal(rig_sent(&r, "sw:9>nas:c.e0"), 2);
    assert_int_equal(rig_sent(&r, "sw:10>nas:c.e1"), 2);
    assert_int_equal(r.ends[esx].data, 4);
    /* The host's own broadcasts never come back to it, and a flood takes one member of each LAG. */
    assert_int_equal(rig_counters(&r, "esx1").stray_dropped, 0);
    assert_true(rig_reaches(&r, h2, rig_vip(&r, vips[0])));
    for (int i = 0; i < 4; i++) {
        static const char *const in[] = {"sw:1>esx1:vmnic0", "sw:2>esx1:vmnic1", "sw:3>esx1:vmnic2",
                                         "sw:4>esx1:vmnic3"};

        copies += r.sent[1][rig_linkdir(&r, in[i])];
    }
    assert_int_equal(copies, 4 + 1); /* four ARP answers, and one copy of h2's request */
    assert_int_equal(rig_counters(&r, "sw").mac_moves, 0);
    assert_int_equal(rig_counters(&r, "sw").flooded_unicast, 0);
    rig_close(&r);
}

/* IP hash and no LAG on the switch: the vmknic's address jumps from port to port with every VIP it talks to. */
static void ip_hash_without_a_lag_flaps(void **state)
{
    int esx, vip[2];
    uint8_t mac[6];

    (void)state;
    rig_open(&r, LAG(""));
    esx = rig_iface(&r, "esx1", 0);
    vip[0] = rig_vip(&r, "10.0.0.100");
    vip[1] = rig_vip(&r, "10.0.0.101");
    assert_true(rig_ask(&r, esx, vip[0]));
    memcpy(mac, r.ends[esx].arp_last.sender_mac, 6);
    for (int i = 0; i < 100; i++)
        rig_send(&r, esx, vip[i % 2], mac, 1);
    assert_in_range(rig_counters(&r, "sw").mac_moves, 98, 101);
    assert_in_range(rig_counters(&r, "sw").mac_flaps, 97, 101);
    /* Its broadcasts come back by the three other uplinks and are dropped there. */
    assert_int_equal(rig_counters(&r, "esx1").stray_dropped, 3);
    /* One of four copies of somebody else's is taken. */
    {
        uint64_t before = r.ends[esx].arp;

        assert_true(rig_ask(&r, rig_iface(&r, "h2", 0), vip[0]));
        assert_int_equal(r.ends[esx].arp, before + 1);
        assert_int_equal(rig_counters(&r, "esx1").stray_dropped, 6);
    }
    rig_close(&r);
}

static void stack_prefers_its_own_members(void **state)
{
    static const char text[] =
        "version: 1\n"
        "name: stack\n"
        "nodes:\n"
        "  h[1-2]: {kind: linux, nics: [eth0], interfaces: {eth0: {address: \"10.0.0.[2-3]/24\"}}}\n"
        "  sw: {kind: switch, mtu: 9216, members: 2, local-bias: true, hash: xor-src-dst-ip,\n"
        "       lags: {po2: {to: \"nas:c.bond0\", mode: static}}}\n"
        "  nas: {kind: nas, controllers: {c: {nics: \"e[0-1]\", lag: {name: bond0, mode: static, hash: "
        "xor-src-dst-ip}}},\n"
        "        exports: {/v: {}}, vips: {\"10.0.0.[100-101]/24\": {home: c}}}\n"
        "links:\n"
        "  - {ends: [\"h[1-2]:eth0\", \"sw:gi[1-2]/0/1\"], speed: 1G}\n"
        "  - {ends: [\"nas:c.e[0-1]\", \"sw:gi[1-2]/0/9\"], speed: 1G}\n";
    int h1, h2, a, b;

    (void)state;
    rig_open(&r, text);
    h1 = rig_iface(&r, "h1", 0);
    h2 = rig_iface(&r, "h2", 0);
    a = rig_vip(&r, "10.0.0.100");
    b = rig_vip(&r, "10.0.0.101");
    for (int i = 0; i < 2; i++) {
        assert_true(rig_reaches(&r, h1, i ? b : a));
        assert_true(rig_reaches(&r, h2, i ? b : a));
    }
    assert_int_equal(rig_sent(&r, "sw:gi1/0/9>nas:c.e0"), 2);
    assert_int_equal(rig_sent(&r, "sw:gi2/0/9>nas:c.e1"), 2);
    /* Without a local member the other chassis has to do. */
    fabric_link_state(r.fabric, rig_link(&r, "sw:gi1/0/9"), 0, TOPO_LINK_DOWN, rig_now(&r));
    assert_true(rig_reaches(&r, h1, a));
    assert_int_equal(rig_sent(&r, "sw:gi2/0/9>nas:c.e1"), 3);
    rig_close(&r);
}

static const char mlag[] =
    "version: 1\n"
    "name: mlag\n"
    "nodes:\n"
    "  esx1: {kind: esxi, version: \"7.0u3\", vswitches: {vSwitch1: {uplinks: \"vmnic[0-1]\", teaming: ip-hash}},\n"
    "         vmknics: {vmk1: {vswitch: vSwitch1, address: 10.0.0.16/24}}}\n"
    "  h2: {kind: linux, nics: [eth0], interfaces: {eth0: {address: 10.0.0.2/24}}}\n"
    "  sw[A,B]: {kind: switch, mtu: 9216, hash: xor-src-dst-ip, mlag: {peers: \"sw[A,B]\", peer-link: po99},\n"
    "            lags: {po1: {to: \"esx1:vSwitch1\", mode: static}, po2: {to: \"nas:c.bond0\", mode: static},\n"
    "                   po99: {to: \"sw[B,A]:po99\", mode: lacp}}}\n"
    "  nas: {kind: nas, controllers: {c: {nics: \"e[0-1]\", lag: {name: bond0, mode: static, hash: xor-src-dst-ip}}},\n"
    "        exports: {/v: {}}, vips: {\"10.0.0.[100-101]/24\": {home: c}}}\n"
    "links:\n"
    "  - {ends: [\"esx1:vmnic[0-1]\", \"sw[A,B]:1\"], speed: 1G}\n"
    "  - {ends: [\"h2:eth0\", \"swB:2\"], speed: 1G}\n"
    "  - {ends: [\"nas:c.e[0-1]\", \"sw[A,B]:9\"], speed: 1G}\n"
    "  - {ends: [\"swA:[47-48]\", \"swB:[47-48]\"], speed: 10G}\n";

static uint64_t over_peer_link(int kind)
{
    uint64_t n = 0;
    static const char *const dirs[] = {"swA:47>swB:47", "swB:47>swA:47", "swA:48>swB:48", "swB:48>swA:48"};

    for (int i = 0; i < 4; i++)
        n += r.sent[kind][rig_linkdir(&r, dirs[i])];
    return n;
}

static void mlag_stays_local(void **state)
{
    int esx, h2, vip[2];

    (void)state;
    rig_open(&r, mlag);
    esx = rig_iface(&r, "esx1", 0);
    h2 = rig_iface(&r, "h2", 0);
    vip[0] = rig_vip(&r, "10.0.0.100");
    vip[1] = rig_vip(&r, "10.0.0.101");
    for (int i = 0; i < 2; i++) {
        uint64_t before = r.ends[esx].arp;

        assert_true(rig_reaches(&r, esx, vip[i]));
        assert_int_equal(r.ends[esx].arp, before + 1); /* one answer, although there are two ways */
        rig_answer(&r, esx, vip[i], 3);
    }
    assert_int_equal(r.ends[esx].data, 6);
    assert_int_equal(rig_sent(&r, "esx1:vmnic0>swA:1"), 1);
    assert_int_equal(rig_sent(&r, "esx1:vmnic1>swB:1"), 1);
    assert_int_equal(over_peer_link(0), 0);
    assert_int_equal(rig_counters(&r, "swA").mac_moves + rig_counters(&r, "swB").mac_moves, 0);
    /* Nobody got a broadcast twice. */
    assert_int_equal(rig_counters(&r, "esx1").stray_dropped, 0);
    assert_int_equal(r.ends[h2].arp, 2);
    /* A host on one switch only is a hop further from the other. */
    assert_true(rig_reaches(&r, h2, vip[0]));
    assert_int_equal(over_peer_link(0), 0);
    rig_close(&r);
}

static void mlag_uses_the_peer_link_when_it_must(void **state)
{
    int esx, vip;

    (void)state;
    rig_open(&r, mlag);
    esx = rig_iface(&r, "esx1", 0);
    vip = rig_vip(&r, "10.0.0.100");
    assert_true(rig_reaches(&r, esx, vip));
    assert_int_equal(rig_sent(&r, "swA:9>nas:c.e0"), 1);
    fabric_link_state(r.fabric, rig_link(&r, "swA:9"), 0, TOPO_LINK_DOWN, rig_now(&r));
    rig_send(&r, esx, vip, r.ends[esx].arp_last.sender_mac, 1);
    assert_int_equal(over_peer_link(0), 1);
    assert_int_equal(rig_sent(&r, "swB:9>nas:c.e1"), 1);
    assert_int_equal(rig_counters(&r, "swA").flooded_unicast, 0);
    assert_true(rig_reaches(&r, esx, vip));
    rig_close(&r);
}

/* An address that only one of the pair hears stays known to the other. */
static void mlag_shares_what_it_learned(void **state)
{
    int esx, vip;

    (void)state;
    rig_open(&r, mlag);
    esx = rig_iface(&r, "esx1", 0);
    vip = rig_vip(&r, "10.0.0.100");
    assert_true(rig_reaches(&r, esx, vip));
    for (int i = 0; i < 40; i++) {
        rig_run(&r, 10 * PS_PER_S);
        rig_send(&r, esx, vip, r.ends[esx].arp_last.sender_mac, 1);
        rig_answer(&r, esx, vip, 1);
    }
    /* All of that went over swA. Now swB has to forward. */
    assert_int_equal(rig_sent(&r, "esx1:vmnic1>swB:1"), 0);
    fabric_link_state(r.fabric, rig_link(&r, "esx1:vmnic0"), 0, TOPO_LINK_DOWN, rig_now(&r));
    rig_send(&r, esx, vip, r.ends[esx].arp_last.sender_mac, 1);
    assert_int_equal(rig_sent(&r, "swB:9>nas:c.e1"), 1);
    assert_int_equal(rig_counters(&r, "swA").flooded_unicast + rig_counters(&r, "swB").flooded_unicast, 0);
    rig_close(&r);
}

/* Two cables between two switches and no LAG: frames go round until they have passed FABRIC_MAX_BOXES boxes. */
static void a_loop_ends(void **state)
{
    static const char text[] = "version: 1\n"
                               "name: loop\n"
                               "nodes:\n"
                               "  h1: {kind: linux, nics: [eth0], interfaces: {eth0: {address: 10.0.0.1/24}}}\n"
                               "  sw[1-3]: {kind: switch, mtu: 9216}\n"
                               "  nas: {kind: nas, controllers: {c: {nics: [e0]}}, exports: {/v: {}},\n"
                               "        vips: {10.0.0.101/24: {home: c}}}\n"
                               "links:\n"
                               "  - {ends: [\"h1:eth0\", \"sw1:1\"], speed: 1G}\n"
                               "  - {ends: [\"nas:c.e0\", \"sw2:1\"], speed: 1G}\n"
                               "  - {ends: [\"sw1:8\", \"sw2:8\"], speed: 1G}\n"
                               "  - {ends: [\"sw2:9\", \"sw3:9\"], speed: 1G}\n"
                               "  - {ends: [\"sw3:7\", \"sw1:7\"], speed: 1G}\n";

    (void)state;
    rig_open(&r, text);
    rig_ask(&r, rig_iface(&r, "h1", 0), rig_vip(&r, "10.0.0.101"));
    rig_run(&r, PS_PER_S);
    assert_true(rig_counters(&r, "sw1").loop_dropped + rig_counters(&r, "sw2").loop_dropped +
                    rig_counters(&r, "sw3").loop_dropped >
                0);
    assert_int_equal(eventq_count(r.queue), 0);
    rig_close(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(first_frame_floods_the_next_does_not),
        cmocka_unit_test(an_address_is_forgotten_after_its_time),
        cmocka_unit_test(an_address_that_moves),
        cmocka_unit_test(giants_are_dropped_the_last_frame_passes),
        cmocka_unit_test(vlans_are_separate),
        cmocka_unit_test(a_vlan_that_the_trunk_lacks),
        cmocka_unit_test(lag_learns_and_floods_as_one),
        cmocka_unit_test(ip_hash_without_a_lag_flaps),
        cmocka_unit_test(stack_prefers_its_own_members),
        cmocka_unit_test(mlag_stays_local),
        cmocka_unit_test(mlag_uses_the_peer_link_when_it_must),
        cmocka_unit_test(mlag_shares_what_it_learned),
        cmocka_unit_test(a_loop_ends),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
