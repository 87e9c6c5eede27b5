/* Why a flow is on a link, links as they are now, and a queue that changes its size. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "tests/support/fabric_rig.h"

static struct rig r;

/* A host with four uplinks on a LAG, IP hash on both sides, and a NAS whose four NICs balance by themselves. */
#define SITE(teaming, lag)                                                                                       \
    "version: 1\n"                                                                                               \
    "name: reason\n"                                                                                             \
    "nodes:\n"                                                                                                   \
    "  esx1: {kind: esxi, version: \"7.0u3\", vswitches: {vSwitch1: {uplinks: \"vmnic[0-3]\", teaming: " teaming \
    "}},\n"                                                                                                      \
    "         vmknics: {vmk1: {vswitch: vSwitch1, address: 10.0.0.16/24, port-id: 6}}}\n"                        \
    "  sw: {kind: switch, mtu: 9216, hash: xor-src-dst-ip" lag "}\n"                                             \
    "  nas: {kind: nas, controllers: {c: {nics: \"e[0-3]\", team: {receive: vip, transmit: xor-dst-ip}}},\n"     \
    "        exports: {/v: {}}, vips: {\"10.0.0.[100-103]/24\": {home: c}}}\n"                                   \
    "links:\n"                                                                                                   \
    "  - {ends: [\"esx1:vmnic[0-3]\", \"sw:[1-4]\"], speed: 1G, delay: 3us}\n"                                   \
    "  - {ends: [\"nas:c.e[0-3]\", \"sw:[5-8]\"], speed: 1G, buffer: 20000B}\n"

#define LAG ", lags: {po1: {to: \"esx1:vSwitch1\", mode: static}}"

static struct {
    struct hash_key key;
    uint16_t tag;
    bool seen;
} last[64]; /* by link direction */

static void tap(void *context, int linkdir, const struct train *t, ps_t start)
{
    (void)context;
    (void)start;
    if (t->kind != TRAIN_DATA)
        return;
    last[linkdir].key = t->flow->key;
    memcpy(last[linkdir].key.smac, t->src, 6);
    memcpy(last[linkdir].key.dmac, t->dst, 6);
    last[linkdir].tag = t->tagged ? t->vlan : 0;
    last[linkdir].seen = true;
}

static struct fabric_reason why(const char *linkdir)
{
    struct fabric_reason reason;
    int d = rig_linkdir(&r, linkdir);

    if (!last[d].seen)
        fail_msg("nothing was sent on %s", linkdir);
    fabric_reason(r.fabric, d, &last[d].key, last[d].tag, &reason);
    return reason;
}

static void open_site(const char *yaml)
{
    memset(last, 0, sizeof last);
    rig_open(&r, yaml);
    r.watch = tap;
}

static void talk(unsigned vip)
{
    char address[32];
    int esx = rig_iface(&r, "esx1", 0), v;

    snprintf(address, sizeof address, "10.0.0.%u", vip);
    v = rig_vip(&r, address);
    assert_true(rig_reaches(&r, esx, v));
    rig_answer(&r, esx, v, 1);
}

static void says_the_rule_of_every_team(void **state)
{
    struct fabric_reason reason;

    (void)state;
    open_site(SITE("ip-hash", LAG));
    talk(101);
    /* 10.0.0.16 xor 10.0.0.101 = 0x75, mod 4 = 1 */
    reason = why("esx1:vmnic1>sw:2");
    assert_string_equal(reason.policy->policy->name, "esxi-ip-hash");
    assert_int_equal(reason.n, 4);
    assert_int_equal(reason.index, 1);
    assert_true(reason.agrees);
    assert_string_equal(reason.why, "0x0A000010 xor 0x0A000065 = 0x00000075, mod 4 = 1");
    assert_int_equal(reason.inputs, TOPO_GIVEN);
    /* The VIP's number decides where it receives: the switch has one port there. */
    reason = why("sw:6>nas:c.e1");
    assert_null(reason.policy);
    assert_true(reason.agrees);
    assert_string_equal(reason.why, "one port");
    /* 10.0.0.16 mod 4 = 0 */
    reason = why("nas:c.e0>sw:5");
    assert_string_equal(reason.policy->policy->name, "xor-dst-ip");
    assert_int_equal(reason.index, 0);
    assert_true(reason.agrees);
    reason = why("sw:2>esx1:vmnic1");
    assert_string_equal(reason.policy->policy->name, "xor-src-dst-ip");
    assert_int_equal(reason.status, HASH_APPROXIMATE);
    assert_int_equal(reason.index, 1);
    assert_true(reason.agrees);
    rig_close(&r);
}

/* A link that goes takes its flows with it: the rule no longer gives it, and says so. */
static void says_when_the_rule_has_changed(void **state)
{
    struct fabric_reason reason;

    (void)state;
    open_site(SITE("ip-hash", LAG));
    talk(101);
    fabric_link_state(r.fabric, rig_link(&r, "esx1:vmnic1"), 0, TOPO_LINK_DOWN, rig_now(&r));
    rig_run(&r, PS_PER_S);
    reason = why("esx1:vmnic1>sw:2");
    assert_int_equal(reason.n, 3);
    assert_int_equal(reason.index, -1);
    assert_false(reason.agrees);
    fabric_link_state(r.fabric, rig_link(&r, "esx1:vmnic1"), 0, TOPO_LINK_UP, rig_now(&r));
    rig_run(&r, PS_PER_S);
    reason = why("esx1:vmnic1>sw:2");
    assert_int_equal(reason.n, 4);
    assert_true(reason.agrees);
    rig_close(&r);
}

static void knows_port_id_and_the_port_in_use(void **state)
{
    struct fabric_reason reason;

    (void)state;
    open_site(SITE("port-id", ""));
    talk(100);
    reason = why("esx1:vmnic2>sw:3"); /* 6 mod 4 */
    assert_string_equal(reason.policy->policy->name, "esxi-port-id");
    assert_int_equal(reason.inputs, TOPO_GIVEN);
    assert_int_equal(reason.index, 2);
    assert_true(reason.agrees);
    for (int i = 0; i < 4; i++) {
        char name[32];

        snprintf(name, sizeof name, "esx1:vmnic%d", i);
        if (i != 2)
            fabric_link_state(r.fabric, rig_link(&r, name), 0, TOPO_LINK_DOWN, rig_now(&r));
    }
    rig_run(&r, PS_PER_S);
    reason = why("esx1:vmnic2>sw:3");
    assert_null(reason.policy);
    assert_int_equal(reason.n, 1);
    assert_true(reason.agrees);
    assert_string_equal(reason.why, "the port in use");
    rig_close(&r);
}

/* A hash over MACs that the file doesn't give is exact here, and nothing to go by elsewhere. */
static void knows_what_is_assumed(void **state)
{
    (void)state;
    open_site(SITE("mac-hash", ""));
    talk(100);
    for (int i = 0; i < 4; i++) {
        char name[40];
        int d;
        struct fabric_reason reason;

        snprintf(name, sizeof name, "esx1:vmnic%d>sw:%d", i, i + 1);
        d = rig_linkdir(&r, name);
        if (!last[d].seen)
            continue;
        fabric_reason(r.fabric, d, &last[d].key, last[d].tag, &reason);
        assert_string_equal(reason.policy->policy->name, "esxi-mac-hash");
        assert_int_equal(reason.inputs, TOPO_ASSUMED);
        assert_true(reason.agrees);
    }
    rig_close(&r);
}

static void tells_how_a_link_is(void **state)
{
    int d, link;
    struct fabric_link l;

    (void)state;
    open_site(SITE("ip-hash", LAG));
    d = rig_linkdir(&r, "sw:5>nas:c.e0");
    link = d / 2;
    fabric_link(r.fabric, d, rig_now(&r), &l);
    assert_int_equal(l.state, TOPO_LINK_UP);
    assert_true(l.carrier);
    assert_int_equal(l.rate, 1000000000);
    assert_int_equal(l.buffer, 20000);
    assert_int_equal(l.queued, 0);
    fabric_link(r.fabric, d ^ 1, rig_now(&r), &l);
    assert_true(l.buffer == UINT64_MAX); /* a controller holds its senders back */

    fabric_link_rate(r.fabric, link, 250000000, rig_now(&r));
    fabric_link_delay(r.fabric, link, 7 * PS_PER_US, rig_now(&r));
    fabric_link_loss(r.fabric, link, 0.25, rig_now(&r));
    fabric_link_buffer(r.fabric, link, 5000, rig_now(&r));
    fabric_link_state(r.fabric, link, 1, TOPO_LINK_ONE_WAY, rig_now(&r));
    for (int i = 0; i < 2; i++) {
        fabric_link(r.fabric, d ^ i, rig_now(&r), &l);
        assert_int_equal(l.rate, 250000000);
        assert_int_equal(l.delay, 7 * PS_PER_US);
        assert_true(l.loss == 0.25);
        assert_true(l.buffer == (i ? UINT64_MAX : 5000));
        assert_int_equal(l.state, TOPO_LINK_ONE_WAY);
        assert_int_equal(l.from_end, 1);
        assert_true(l.carrier);
    }
    fabric_link_state(r.fabric, link, 0, TOPO_LINK_DOWN, rig_now(&r));
    fabric_link(r.fabric, d, rig_now(&r), &l);
    assert_false(l.carrier);
    rig_close(&r);
}

/* Frames at once into the queue of the switch, so many come out; the rest is dropped. */
static uint64_t passed(uint64_t buffer, int before)
{
    struct fabric_counters c;
    struct fabric_link l;
    int esx, vip, d;

    open_site(SITE("ip-hash", LAG));
    d = rig_linkdir(&r, "sw:5>nas:c.e0");
    esx = rig_iface(&r, "esx1", 0);
    vip = rig_vip(&r, "10.0.0.100");
    assert_true(rig_ask(&r, esx, vip));
    fabric_link_rate(r.fabric, d / 2, 1000000, rig_now(&r)); /* a frame takes 12 ms */
    rig_send(&r, esx, vip, r.ends[esx].arp_last.sender_mac, (uint32_t)before);
    rig_run(&r, PS_PER_MS);
    fabric_link(r.fabric, d, rig_now(&r), &l);
    assert_in_range(l.queued, (uint64_t)(before - 1) * 1538, (uint64_t)before * 1538);
    fabric_link_buffer(r.fabric, d / 2, buffer, rig_now(&r));
    rig_send(&r, esx, vip, r.ends[esx].arp_last.sender_mac, 40);
    rig_run(&r, 2 * PS_PER_S);
    fabric_counters(r.fabric, d, &c);
    assert_int_equal(c.frames_in_flight, 0);
    assert_int_equal(c.frames_out + c.frames_tail_dropped, c.frames_in);
    rig_close(&r);
    return c.frames_out;
}

static void a_queue_changes_its_size(void **state)
{
    uint64_t wide, same, narrow, none;

    (void)state;
    same = passed(20000, 5);
    wide = passed(1000000, 5);
    narrow = passed(9000, 5);
    none = passed(2000, 5); /* less than what waits already: that stays, what comes is dropped */
    assert_true(wide >= 45);
    assert_in_range(same, 5 + 8, 5 + 10 + 2);
    assert_in_range(narrow, 5 + 1, 5 + 3);
    assert_in_range(none, 5, 6);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(says_the_rule_of_every_team),
        cmocka_unit_test(says_when_the_rule_has_changed),
        cmocka_unit_test(knows_port_id_and_the_port_in_use),
        cmocka_unit_test(tells_how_a_link_is),
        cmocka_unit_test(knows_what_is_assumed),
        cmocka_unit_test(a_queue_changes_its_size),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
