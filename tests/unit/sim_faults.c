/* Faults and changes during a run: who stops, for how long, and who does not notice. At train and frame detail. */
#include "emu/sim/run.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/support/runs.h"

/* Two uplinks, two controllers with one NIC each, two VIPs on the first; 1 Gbit/s, MTU 1500. */
#define SITE_WITH(host, lag, storage, events)                              \
    "version: 1\n"                                                         \
    "name: faults\n"                                                       \
    "nodes:\n"                                                             \
    "  h1: " host "\n"                                                     \
    "  sw: {kind: switch, mtu: 9216, hash: xor-src-dst-ip" lag "}\n"       \
    "  nas:\n"                                                             \
    "    kind: nas\n"                                                      \
    "    controllers: {'c[1-2]': {nics: e0}}\n"                            \
    "    vips: {10.0.0.101/24: {home: c1}, 10.0.0.102/24: {home: c1}}\n"   \
    "    exports: {/x: {}, /y: {}}\n" storage "links:\n"                   \
    "  - {ends: ['h1:n[0-1]', 'sw:p[1-2]'], speed: 1G, delay: 5us}\n"      \
    "  - {ends: ['nas:c[1-2].e0', 'sw:p[3-4]'], speed: 10G, delay: 5us}\n" \
    "datastores:\n"                                                        \
    "  ds1: {export: 'nas:/x', mounted: 10.0.0.101}\n"                     \
    "  ds2: {export: 'nas:/y', mounted: 10.0.0.102}\n"                     \
    "events:\n" events
#define SITE(host, lag, events) SITE_WITH(host, lag, "", events)
#define ESXI(teaming)                                                                   \
    "{kind: esxi, version: '8.0', vswitches: {v: {uplinks: 'n[0-1]', teaming: " teaming \
    "}}, vmknics: {vmk1: {vswitch: v, address: 10.0.0.12/24}}}"
#define BOND                                                                                                         \
    "{kind: linux, kernel: '6.1', bonds: {b: {members: 'n[0-1]', mode: 802.3ad, hash: layer2+3, lacp-rate: fast}}, " \
    "interfaces: {b: {address: 10.0.0.12/24}}}"
#define LAG          ", lags: {po1: {to: 'h1:v', mode: static}}"
#define WRITES(time) "workloads: {w: {op: write, block: 64KiB, outstanding: 16, for: " time "}}\n"
#define READS(time)  "workloads: {w: {op: read, block: 64KiB, outstanding: 16, for: " time "}}\n"

/* Mean use of a link direction between two moments (slices within them). */
static double use(const struct result *r, const char *link, double from, double to)
{
    const struct result_link *l = runs_link(r, link);
    double sum = 0;
    int n = 0;
    for (size_t i = 0; i < r->n_slices; i++) {
        if ((double)i * (double)r->slice < from * 1e12 || (double)(i + 1) * (double)r->slice > to * 1e12)
            continue;
        sum += (double)l->over_time[i];
        n++;
    }
    assert_true(n > 0);
    return sum / n;
}

#define BOTH_DETAILS(r, text)                                   \
    for (int detail = SIM_TRAIN; detail <= SIM_FRAME; detail++) \
        for (struct result *r = runs_text(text, NULL, detail, 1); r; result_free(r), r = NULL)

static void uplink_fails_and_comes_back(void **state)
{
    (void)state;
    /* Port ID puts the vmknic on one of the two; both fail in turn, so whichever it is. */
    BOTH_DETAILS(r, SITE(ESXI("port-id"), "",
                         "  - {at: 2s, link: 'h1:n0', state: down}\n"
                         "  - {at: 4s, link: 'h1:n0', state: up}\n"
                         "  - {at: 6s, link: 'h1:n1', state: down}\n") WRITES("8s"))
    {
        double n0 = use(r, "h1:n0>sw:p1", 1, 2), n1 = use(r, "h1:n1>sw:p2", 1, 2);
        runs_near(n0 + n1, 1, 0.01, "one of them carries all");
        assert_true(use(r, "h1:n0>sw:p1", 2.1, 4) < 0.001);
        runs_near(use(r, "h1:n1>sw:p2", 2.5, 4), 1, 0.01, "the other takes over");
        runs_near(use(r, "h1:n0>sw:p1", 6.5, 8), 1, 0.01, "and back");
        assert_true(use(r, "h1:n1>sw:p2", 6.1, 8) < 0.001);
        assert_true(r->timeouts <= 8);
    }
}

static void static_lag_loses_a_member(void **state)
{
    (void)state;
    BOTH_DETAILS(r, SITE(ESXI("ip-hash"), LAG, "  - {at: 2s, link: 'h1:n1', state: down}\n") WRITES("6s"))
    {
        runs_near(use(r, "h1:n0>sw:p1", 1, 2) + use(r, "h1:n1>sw:p2", 1, 2), 2, 0.01, "both links");
        runs_near(use(r, "h1:n0>sw:p1", 3, 6), 1, 0.01, "one link for both flows");
        assert_true(use(r, "h1:n1>sw:p2", 2.1, 6) == 0);
        for (int i = 0; i < 2; i++) /* a second before, then half of one link */
            assert_true(r->datastores[i].write.rate > 117e6 / 5 + 40e6);
    }
}

static void black_hole_in_a_static_lag(void **state)
{
    (void)state;
    BOTH_DETAILS(r, SITE(ESXI("ip-hash"), LAG, "  - {at: 2s, link: 'h1:n1', state: blackhole}\n") WRITES("6s"))
    {
        /* The flow on n1 stops for good; the other does not notice. */
        runs_near(use(r, "h1:n0>sw:p1", 1, 6), 1, 0.001, "the flow on the good member");
        assert_true(use(r, "h1:n1>sw:p2", 3, 6) < 0.001);
        int dead = runs_datastore(r, "ds1")->timeouts ? 0 : 1;
        assert_true(r->datastores[dead].timeouts >= 3);
        assert_int_equal(r->datastores[!dead].timeouts, 0);
        assert_int_equal(r->datastores[!dead].retransmissions, 0);
        runs_near(r->datastores[!dead].write.rate, 117.4e6, 0.01, "the flow on the good member");
    }
}

static void lacp_leaves_a_black_hole(void **state)
{
    (void)state;
    /* Fast LACP gives up after 3 s; then the dead flow tries again within its backoff (under 3.2 s). */
    BOTH_DETAILS(r, SITE(BOND, ", lags: {po1: {to: 'h1:b', mode: lacp, lacp-rate: fast}}",
                         "  - {at: 2s, link: 'h1:n1', state: blackhole}\n") WRITES("12s"))
    {
        assert_true(use(r, "h1:n1>sw:p2", 3, 4.9) < 0.001);
        runs_near(use(r, "h1:n0>sw:p1", 9, 12), 1, 0.01, "both flows on what is left");
        double ds1 = r->datastores[0].write.rate, ds2 = r->datastores[1].write.rate;
        assert_true(ds1 > 20e6 && ds2 > 20e6);
    }
}

static void one_way_failure(void **state)
{
    (void)state;
    /* What the host sends on n1 is lost; what it gets there arrives: a static LAG does not notice. */
    BOTH_DETAILS(r, SITE(ESXI("ip-hash"), LAG, "  - {at: 2s, link: 'h1:n1', state: one-way}\n") WRITES("6s"))
    {
        assert_true(runs_link(r, "h1:n1>sw:p2")->lost_frames > 10);
        assert_int_equal(runs_link(r, "sw:p2>h1:n1")->lost_frames, 0);
        runs_near(use(r, "h1:n0>sw:p1", 1, 6), 1, 0.001, "the other flow");
    }
}

static void rate_and_delay_change(void **state)
{
    (void)state;
    BOTH_DETAILS(r, SITE(ESXI("port-id"), "",
                         "  - {at: 2s, link: 'nas:c1.e0', speed: 100M}\n"
                         "  - {at: 5s, link: 'nas:c1.e0', speed: 1G}\n"
                         "  - {at: 7s, link: 'nas:c1.e0', delay: 20ms}\n") WRITES("10s"))
    {
        const char *up = use(r, "h1:n0>sw:p1", 1, 2) > 0.5 ? "h1:n0>sw:p1" : "h1:n1>sw:p2";
        runs_near(use(r, up, 1, 2), 1, 0.01, "before");
        runs_near(use(r, up, 3, 5), 0.1, 0.02, "a tenth");
        runs_near(use(r, up, 6, 7), 1, 0.02, "again");
        /* Two windows of 256 KiB in 40 ms: 13.1 MB/s of payload, 13.9 on the wire, of 125. */
        runs_near(use(r, up, 8, 10), 2 * 262144 / 0.040 / 125e6 * 1538 / 1448, 0.03, "windows over a long way");
    }
}

static void vip_moves_with_gratuitous_arp(void **state)
{
    (void)state;
    BOTH_DETAILS(r, SITE(ESXI("port-id"), "", "  - {at: 2s, vip: 10.0.0.101, to: c2}\n") WRITES("6s"))
    {
        runs_near(use(r, "sw:p3>nas:c1.e0", 1, 2), 0.1, 0.01, "both VIPs on the first controller");
        /* Within a timeout or so the new controller resets the connection, and the client makes a new one. */
        runs_near(use(r, "sw:p3>nas:c1.e0", 3, 6), 0.05, 0.03, "one VIP each");
        runs_near(use(r, "sw:p4>nas:c2.e0", 3, 6), 0.05, 0.03, "one VIP each");
        assert_true(r->controllers[1].write.bytes > 0);
        assert_true(runs_datastore(r, "ds1")->timeouts <= 3);
        assert_int_equal(runs_datastore(r, "ds2")->timeouts, 0);
    }
}

static void vip_moves_while_a_read_waits(void **state)
{
    (void)state;
    /* The storage takes 0.66 s for a read: the request has been acknowledged, only the reply is missing, and the client has
     * nothing to send again. Its heartbeat, 12 s later, meets a controller that knows nothing of the connection. */
    BOTH_DETAILS(r,
                 SITE_WITH(ESXI("port-id"), "", "    storage: {limit: {read: 100kB/s}}\n",
                           "  - {at: 2300ms, vip: 10.0.0.101, to: c2}\n") "workloads: {w: {op: read, datastores: ds1, "
                                                                          "block: 64KiB, outstanding: 1, for: 20s}}\n")
    {
        assert_true(use(r, "nas:c1.e0>sw:p3", 1, 2) > 6e-5);
        assert_true(use(r, "nas:c2.e0>sw:p4", 3, 13.8) < 1e-7);
        assert_true(use(r, "nas:c2.e0>sw:p4", 15.4, 20) > 6e-5);
        assert_int_equal(r->timeouts, 0);
    }
}

static void vip_moves_silently(void **state)
{
    (void)state;
    /* Nobody announces the move. Linux believes its entry for 30 s without a sign of life and looks only when it sends: the
     * connection's timeouts come 0.2, 0.6, 1.4, ... 51 s after the move. 5 s later it asks the old address three times, then
     * everybody; the next timeout, 102 s after the move, finds the new one. */
    BOTH_DETAILS(r,
                 SITE("{kind: linux, interfaces: {n0: {address: 10.0.0.12/24}}, nics: 'n[0-1]'}", "",
                      "  - {at: 2s, vip: 10.0.0.101, to: c2, gratuitous-arp: false}\n") "workloads: {w: {op: write, "
                                                                                        "block: 4KiB, outstanding: 1, "
                                                                                        "rate: 1MB/s, for: 120s}}\n")
    {
        assert_true(use(r, "sw:p4>nas:c2.e0", 3, 100) < 1e-6);
        assert_true(use(r, "sw:p4>nas:c2.e0", 106, 120) > 0.0008);
        runs_near(runs_datastore(r, "ds2")->write.rate, 1e6, 0.01, "the VIP that stayed");
    }
}

static void controller_loses_power(void **state)
{
    (void)state;
    BOTH_DETAILS(r, SITE(ESXI("port-id"), "",
                         "  - {at: 2s, node: 'nas:c1', state: down}\n"
                         "  - {at: 3s, vip: 10.0.0.101, to: c2}\n"
                         "  - {at: 3s, vip: 10.0.0.102, to: c2}\n") WRITES("8s"))
    {
        assert_true(use(r, "sw:p3>nas:c1.e0", 2.1, 8) == 0);
        runs_near(use(r, "sw:p4>nas:c2.e0", 5, 8), 0.1, 0.01, "all on the partner");
    }
}

/* Jobs that end by bytes, and a way that is gone for good: the run ends all the same, and says so. */
static void no_way_left(void **state)
{
    (void)state;
    const char *text =
        SITE(ESXI("port-id"), "",
             "  - {at: 100ms, node: 'nas:c1', state: down}\n") "workloads: {w: {op: write, block: 64KiB, outstanding: "
                                                               "4, bytes: 1000MB}}\n";
    for (int detail = SIM_FLUID; detail <= SIM_FRAME; detail++) {
        struct result *r = runs_text(text, NULL, detail, 1);
        assert_non_null(r->notes);
        assert_non_null(strstr(r->notes, "2 jobs"));
        assert_true(r->write.bytes > 5000000 && r->write.bytes < 20000000);
        for (int i = 0; i < 2; i++)
            assert_int_equal(r->jobs[i].finished, -1);
        result_free(r);
    }
}

/* Reads only, from two controllers whose NICs answer for VIPs by a switch-independent team: frames to the NICs are rare, and
 * without learning frames the switch would forget the NIC that only receives. 20 virtual minutes. */
#define TEAM_SITE(learning)                                                                             \
    "version: 1\n"                                                                                      \
    "name: learning\n"                                                                                  \
    "nodes:\n"                                                                                          \
    "  h1: {kind: esxi, version: '8.0', vswitches: {v: {uplinks: n0, teaming: port-id}}, "              \
    "vmknics: {vmk1: {vswitch: v, address: 10.0.0.12/24}}}\n"                                           \
    "  h2: {kind: esxi, version: '8.0', vswitches: {v: {uplinks: n0, teaming: port-id}}, "              \
    "vmknics: {vmk1: {vswitch: v, address: 10.0.0.13/24}}}\n"                                           \
    "  sw: {kind: switch, mtu: 9216}\n"                                                                 \
    "  nas:\n"                                                                                          \
    "    kind: nas\n"                                                                                   \
    "    controllers: {c1: {nics: 'e[0-3]', team: {receive: vip, transmit: xor-dst-ip" learning "}}}\n" \
    "    vips: {'10.0.0.[101-104]/24': {}}\n"                                                           \
    "    exports: {/x: {}}\n"                                                                           \
    "links:\n"                                                                                          \
    "  - {ends: ['h[1-2]:n0', 'sw:p[1-2]'], speed: 1G, delay: 5us}\n"                                   \
    "  - {ends: ['nas:c1.e[0-3]', 'sw:p[11-14]'], speed: 1G, delay: 5us}\n"                             \
    "datastores:\n"                                                                                     \
    "  'ds[1-4]': {export: 'nas:/x', mounted: '10.0.0.[101-104]'}\n"                                    \
    "allow: {alias-mount: test}\n"                                                                      \
    "workloads: {w: {op: write, block: 4KiB, outstanding: 1, rate: 20000B/s, for: 20min}}\n"

static void learning_frames_keep_the_switch_informed(void **state)
{
    (void)state;
    struct result *r = runs_text(TEAM_SITE(""), NULL, SIM_TRAIN, 1);
    assert_int_equal(r->duration, 1200 * PS_PER_S);
    assert_int_equal(r->flooded_unicast, 0);
    assert_int_equal(r->mac_flaps, 0);
    runs_near(r->write.rate, 160000, 0.01, "rate");
    result_free(r);
    r = runs_text(TEAM_SITE(", learning: off"), NULL, SIM_TRAIN, 1);
    assert_true(r->flooded_unicast > 1000);
    result_free(r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(uplink_fails_and_comes_back),
        cmocka_unit_test(static_lag_loses_a_member),
        cmocka_unit_test(black_hole_in_a_static_lag),
        cmocka_unit_test(lacp_leaves_a_black_hole),
        cmocka_unit_test(one_way_failure),
        cmocka_unit_test(rate_and_delay_change),
        cmocka_unit_test(vip_moves_with_gratuitous_arp),
        cmocka_unit_test(vip_moves_while_a_read_waits),
        cmocka_unit_test(vip_moves_silently),
        cmocka_unit_test(controller_loses_power),
        cmocka_unit_test(no_way_left),
        cmocka_unit_test(learning_frames_keep_the_switch_informed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
