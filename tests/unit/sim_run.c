/* Whole runs: figure 9 by arithmetic, workloads, storage limits, sharing of connections, what ends a run. */
#include "emu/sim/run.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "emu/model/nfs.h"
#include "emu/model/topology.h"
#include "tests/support/runs.h"

/* One Linux or ESXi host, one switch, one controller with one NIC, everything 1 Gbit/s and MTU 1500. */
#define SITE(host, datastore, storage)                                                                             \
    "version: 1\n"                                                                                                 \
    "name: one\n"                                                                                                  \
    "nodes:\n"                                                                                                     \
    "  h1: " host "\n"                                                                                             \
    "  sw: {kind: switch, mtu: 9216}\n"                                                                            \
    "  nas: {kind: nas, controllers: {c1: {nics: e0}}, vips: {10.0.0.101/24: {}}, exports: {/x: {}}" storage "}\n" \
    "links:\n"                                                                                                     \
    "  - {ends: ['h1:n0', 'sw:p1'], speed: 1G, delay: 5us}\n"                                                      \
    "  - {ends: ['nas:c1.e0', 'sw:p2'], speed: 1G, delay: 5us}\n"                                                  \
    "datastores:\n"                                                                                                \
    "  ds1: {export: 'nas:/x', mounted: 10.0.0.101" datastore "}\n"
#define ESXI                                                                         \
    "{kind: esxi, version: '8.0', vswitches: {v: {uplinks: n0, teaming: port-id}}, " \
    "vmknics: {vmk1: {vswitch: v, address: 10.0.0.11/24}}}"

/* Payload bytes/s of a saturated 1 Gbit/s link: MSS of what the wire carries, RPC headers on top. */
static double wire_rate(double mtu, double block, double message)
{
    return 125e6 * (mtu - 52) / (mtu + 38) * block / message;
}

static void figure_9(void **state)
{
    (void)state;
    char *text = runs_read("topologies/fs7500/fig09-teaming.yaml");
    double line = wire_rate(9000, 65536, (double)nfs_call_bytes(NFS_WRITE, 65536));
    for (int detail = SIM_FLUID; detail <= SIM_FRAME; detail++) {
        struct result *one = runs_text(text, "port-id", detail, 1), *mac = runs_text(text, "mac-hash", detail, 1),
                      *four = runs_text(text, "ip-hash", detail, 1);
        runs_near(one->write.rate, line, 0.01, "port-id");
        runs_near(mac->write.rate, line, 0.01, "mac-hash");
        runs_near(four->write.rate / one->write.rate, 4, 0.01, "four to one");
        for (int i = 2; i <= 5; i++) {
            char name[64];
            snprintf(name, sizeof(name), "esx1:vmnic%d>pc7048:ge%d", i, i - 1);
            const struct result_link *l = runs_link(four, name);
            runs_near(l->utilisation, 1, 0.01, name);
            runs_near((double)l->bulk_bytes / 27, 125e6 * 8948 / 9038, 0.01, name);
            assert_int_equal(l->flows_write, 1);
        }
        assert_int_equal(four->timeouts + one->timeouts + mac->timeouts, 0);
        assert_int_equal(four->retransmissions, 0);
        assert_int_equal(four->flooded_unicast + four->mac_flaps, 0);
        result_free(one);
        result_free(mac);
        result_free(four);
    }
    free(text);
}

/* IPv6: 20 bytes more a frame, neighbour discovery instead of ARP; a takeover by an unsolicited advertisement is followed. */
static void ipv6(void **state)
{
    static const char site[] = "version: 1\n"
                               "name: six\n"
                               "nodes:\n"
                               "  h1: {kind: linux, interfaces: {n0: {address: 'fd00::11/64'}}}\n"
                               "  sw: {kind: switch}\n"
                               "  nas: {kind: nas, controllers: {'c[1-2]': {nics: e0}}, vips: {'fd00::101/64': {home: "
                               "c1}}, exports: {/x: {}}}\n"
                               "links:\n"
                               "  - {ends: ['h1:n0', 'sw:p1'], speed: 1G, delay: 5us}\n"
                               "  - {ends: ['nas:c[1-2].e0', 'sw:p[2-3]'], speed: 1G, delay: 5us}\n"
                               "datastores: {ds1: {export: 'nas:/x', mounted: '[fd00::101]'}}\n"
                               "workloads: {w: {op: write, block: 64KiB, outstanding: 8, for: 2s}}\n";
    char moved[sizeof site + 100];
    double rate = 125e6 * (1500 - 72) / 1538 * 65536 / (double)nfs_call_bytes(NFS_WRITE, 65536);

    (void)state;
    for (int detail = SIM_FLUID; detail <= SIM_FRAME; detail++) {
        struct result *r = runs_text(site, NULL, detail, 1);
        runs_near(r->write.rate, rate, 0.01, "one link");
        result_free(r);
    }
    snprintf(moved, sizeof moved, "%sevents: [{at: 1s, vip: 'fd00::101', to: c2}]\n", site);
    struct result *r = runs_text(moved, NULL, SIM_TRAIN, 1);
    assert_true(r->write.rate > 0.7 * rate);
    assert_true(runs_link(r, "sw:p3>nas:c2.e0")->bulk_bytes > 40e6);
    result_free(r);
}

/* Every number of a result that an engine fills in. */
static uint64_t digest(const struct result *r)
{
    uint64_t h = r->events;
#define ADD(x) (h = (h ^ (uint64_t)(x)) * UINT64_C(0x100000001B3))
    for (size_t i = 0; i < r->n_jobs; i++) {
        ADD(r->jobs[i].read.bytes);
        ADD(r->jobs[i].write.bytes);
        ADD(r->jobs[i].retransmissions);
        ADD(r->jobs[i].timeouts);
    }
    for (size_t i = 0; i < r->n_links; i++) {
        ADD(r->links[i].frames);
        ADD(r->links[i].bytes);
        ADD(r->links[i].bulk_bytes);
        ADD(r->links[i].dropped_frames);
        ADD(r->links[i].queue_peak);
        for (size_t k = 0; k < r->n_slices; k++)
            ADD(r->links[i].over_time[k] * 1e6f);
    }
    for (int p = 0; p < 100; p++)
        ADD(result_latency_percentile(r->write.latency, p / 100.0));
#undef ADD
    return h;
}

static void same_seed_same_run(void **state)
{
    (void)state;
    char *file = runs_read("topologies/examples/plant-b.yaml");
    char *text = calloc(1, strlen(file) + 200);
    assert_non_null(text);
    strcat(strcpy(text, file),
           "\nworkloads:\n  w: {op: mixed, pattern: random, block: 32KiB, outstanding: 8, for: 400ms}\n");
    for (int detail = SIM_FLUID; detail <= SIM_FRAME; detail++) {
        uint64_t h[3];
        for (int i = 0; i < 3; i++) {
            struct result *r = runs_text(text, NULL, detail, i == 2 ? 8 : 7);
            h[i] = digest(r);
            result_free(r);
        }
        assert_int_equal(h[0], h[1]);
        if (detail != SIM_FLUID)
            assert_int_not_equal(h[0], h[2]);
    }
    free(text);
    free(file);
}

static void bytes_end_a_run(void **state)
{
    (void)state;
    const char *text =
        SITE(ESXI, "", "") "workloads:\n  w: {op: read, block: 64KiB, outstanding: 8, bytes: 100000000}\n";
    for (int detail = SIM_FLUID; detail <= SIM_FRAME; detail++) {
        struct result *r = runs_text(text, NULL, detail, 1);
        assert_int_equal(r->read.bytes, 100000000);
        double line = wire_rate(1500, 65536, (double)nfs_reply_bytes(NFS_READ, 65536));
        runs_near((double)r->jobs[0].finished / 1e12, 1e8 / line, 0.01, "time to read");
        assert_int_equal(r->duration, r->jobs[0].finished);
        runs_near(r->read.rate, line, 0.01, "rate");
        result_free(r);
    }
}

static void rates_are_kept(void **state)
{
    (void)state;
    const char *text = SITE(ESXI, "", "") "workloads:\n"
                                          "  a: {op: write, block: 64KiB, outstanding: 8, rate: 20MB/s, for: 5s}\n"
                                          "  b: {op: read, block: 8KiB, outstanding: 8, iops: 1000, for: 5s}\n";
    for (int detail = SIM_FLUID; detail <= SIM_FRAME; detail++) {
        struct result *r = runs_text(text, NULL, detail, 1);
        runs_near(r->write.rate, 20e6, 0.005, "20 MB/s");
        runs_near(r->read.rate, 8192e3, 0.005, "1000 a second");
        result_free(r);
    }
}

static void storage_limits(void **state)
{
    (void)state;
    static const struct {
        const char *limit, *work;
        double write, read;
    } cases[] = {
        {"read: 30MB/s, write: 40MB/s", "{op: write, block: 64KiB, outstanding: 8, for: 3s}", 40e6, 0},
        {"read: 30MB/s, write: 40MB/s", "{op: read, block: 64KiB, outstanding: 8, for: 3s}", 0, 30e6},
        {"iops: 2k", "{op: read, block: 4KiB, outstanding: 8, for: 3s}", 0, 2000 * 4096},
        /* One at a time the storage's time adds to the network's: 65536 / 40e6 + 0.62 ms of wire. */
        {"write: 40MB/s", "{op: write, block: 64KiB, outstanding: 1, for: 3s}", 65536 / (65536 / 40e6 + 595.3e-6), 0},
    };
    for (unsigned i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char text[2048];
        snprintf(text, sizeof(text), SITE(ESXI, "", ", storage: {limit: {%s}}") "workloads: {w: %s}\n", cases[i].limit,
                 cases[i].work);
        for (int detail = SIM_FLUID; detail <= SIM_FRAME; detail++) {
            struct result *r = runs_text(text, NULL, detail, 1);
            assert_false(r->network_only);
            if (cases[i].write > 0)
                runs_near(r->write.rate, cases[i].write, 0.01, cases[i].limit);
            if (cases[i].read > 0)
                runs_near(r->read.rate, cases[i].read, 0.01, cases[i].limit);
            result_free(r);
        }
    }
}

/* One at a time: the whole way of one operation on an idle path, worked by hand for writes of 4 KiB.
 * Call: 4096 + 132 = 4228 bytes = 2 full segments and one of 1332; frames of 1538, 1538, 1422 bytes on the wire. On
 * the second link the last one waits for the one before: 3 * 1538 + 1422 in all, and twice 5 us. Reply: 164 + 90 = 254 bytes
 * on both links. Jitter: an eighth of 1538 and of 254 bytes on average. */
static void latency_of_one_operation(void **state)
{
    (void)state;
    const char *text = SITE(ESXI, "", "") "workloads: {w: {op: write, block: 4KiB, outstanding: 1, for: 2s}}\n";
    double bytes = 1538 * 3 + 1422 + 254 * 2 + (1538 + 254) / 8.0, seconds = bytes * 8e-9 + 20e-6;
    for (int detail = SIM_FLUID; detail <= SIM_FRAME; detail++) {
        struct result *r = runs_text(text, NULL, detail, 1);
        runs_near(r->write.rate, 4096 / seconds, 0.005, sim_detail_name((enum sim_detail)detail));
        if (detail != SIM_FLUID)
            runs_near((double)runs_median(r) / 1e12, seconds, 0.02, "median");
        result_free(r);
    }
}

/* A write larger than wsize that need not be stable ends with a COMMIT: one more round trip than a stable one. */
static void unstable_writes_commit(void **state)
{
    (void)state;
    double latency[2];
    for (int stable = 0; stable < 2; stable++) {
        char text[2048];
        snprintf(text, sizeof(text),
                 SITE("{kind: linux, nfs: {wsize: 64KiB}, interfaces: {n0: {address: 10.0.0.11/24}}}", "",
                      "") "workloads: {w: {op: write, block: 256KiB, outstanding: 1, stable: %s, for: 2s}}\n",
                 stable ? "true" : "false");
        for (int detail = SIM_FLUID; detail <= SIM_FRAME; detail++) {
            struct result *r = runs_text(text, NULL, detail, 1);
            double l = 262144 / r->write.rate;
            if (detail == SIM_FLUID)
                latency[stable] = l;
            else
                runs_near(l, latency[stable], 0.01, "latency");
            result_free(r);
        }
    }
    /* COMMIT: 214 and 246 bytes over two links, 20 us of cable, and jitter. */
    double more = latency[0] - latency[1];
    assert_true(more > 27e-6 && more < 28.5e-6);
}

static void connections_of_a_mount_take_turns(void **state)
{
    (void)state;
    /* Four connections from ports 1023, 1022, 1021, 1020: layer3+4 deals them to both members of the bond. */
    const char *text =
        "version: 1\n"
        "name: nconnect\n"
        "nodes:\n"
        "  h1: {kind: linux, kernel: '6.1', bonds: {b: {members: 'n[0-1]', mode: 802.3ad, hash: layer3+4}}, "
        "interfaces: {b: {address: 10.0.0.11/24}}}\n"
        "  sw: {kind: switch, mtu: 9216, hash: l4, lags: {po1: {to: 'h1:b', mode: lacp}}}\n"
        "  nas: {kind: nas, controllers: {c1: {nics: e0}}, vips: {10.0.0.101/24: {}}, exports: {/x: {}}}\n"
        "links:\n"
        "  - {ends: ['h1:n[0-1]', 'sw:p[1-2]'], speed: 1G, delay: 5us}\n"
        "  - {ends: ['nas:c1.e0', 'sw:p3'], speed: 10G, delay: 5us}\n"
        "datastores:\n"
        "  ds1: {export: 'nas:/x', mounted: 10.0.0.101, nconnect: 4}\n"
        "workloads: {w: {op: write, block: 64KiB, outstanding: 16, for: 2s}}\n";
    for (int detail = SIM_TRAIN; detail <= SIM_FRAME; detail++) {
        struct result *r = runs_text(text, NULL, detail, 1);
        runs_near(r->write.rate, 2 * wire_rate(1500, 65536, (double)nfs_call_bytes(NFS_WRITE, 65536)), 0.01,
                  "two links");
        assert_int_equal(runs_link(r, "h1:n0>sw:p1")->flows_write, 4); /* drawn: each may be on either */
        result_free(r);
    }
}

static void default_workloads_are_measured_apart(void **state)
{
    (void)state;
    struct result *r = runs_text(SITE(ESXI, "", ""), NULL, SIM_TRAIN, 1);
    assert_int_equal(r->n_phases, 2);
    runs_near(r->write.rate, wire_rate(1500, 65536, (double)nfs_call_bytes(NFS_WRITE, 65536)), 0.01, "writes");
    runs_near(r->read.rate, wire_rate(1500, 65536, (double)nfs_reply_bytes(NFS_READ, 65536)), 0.01, "reads");
    runs_near(runs_link(r, "h1:n0>sw:p1")->utilisation, 1, 0.01, "link of the writes");
    runs_near(runs_link(r, "sw:p1>h1:n0")->utilisation, 1, 0.01, "link of the reads");
    assert_int_equal(runs_link(r, "sw:p1>h1:n0")->phase, 1);
    result_free(r);
}

static void only_one_host(void **state)
{
    (void)state;
    char *file = runs_read("topologies/fs7500/fig17-hosts.yaml");
    const struct sim_options o = {.detail = SIM_TRAIN, .seed = 1, .host = "esx1"};
    struct result *r = runs_options(file, "two-hosts", &o);
    assert_true(r->hosts[0].read.rate > 2e8);
    for (size_t i = 1; i < r->n_hosts; i++)
        assert_true(r->hosts[i].read.rate == 0);
    result_free(r);
    free(file);
}

struct stop {
    volatile sig_atomic_t now;
    ps_t at;
    int calls;
};

static void stop_halfway(void *context, ps_t now, double share)
{
    struct stop *s = context;
    s->calls++;
    assert_true(share >= 0 && share <= 1);
    if (share >= 0.5) {
        s->now = 1;
        s->at = now;
    }
}

static void interruption_keeps_what_is_known(void **state)
{
    (void)state;
    const char *text = SITE(ESXI, "", "") "workloads: {w: {op: write, block: 64KiB, outstanding: 8, for: 4s}}\n";
    for (int detail = SIM_FLUID; detail <= SIM_FRAME; detail++) {
        struct stop s = {0};
        const struct sim_options o = {
            .detail = detail, .seed = 1, .interrupted = &s.now, .progress = stop_halfway, .context = &s};
        struct result *r = runs_options(text, NULL, &o);
        assert_false(r->complete);
        assert_true(s.calls > 10);
        assert_int_equal(r->duration, s.at);
        assert_int_equal(r->window_end, s.at);
        runs_near(r->write.rate, 117.4e6, 0.01, "what is known");
        result_free(r);
    }
}

/* The byte counters of two links in a row agree, and with the operations. */
static void counters_agree(void **state)
{
    (void)state;
    const char *text =
        SITE(ESXI, "", "") "workloads: {w: {op: write, block: 64KiB, outstanding: 8, bytes: 65536000}}\n";
    for (int detail = SIM_FLUID; detail <= SIM_FRAME; detail++) {
        struct result *r = runs_text(text, NULL, detail, 1);
        uint64_t stream = 1000 * nfs_call_bytes(NFS_WRITE, 65536);
        assert_int_equal(r->write.operations, 1000);
        assert_int_equal(runs_link(r, "h1:n0>sw:p1")->bulk_bytes, stream);
        assert_int_equal(runs_link(r, "sw:p2>nas:c1.e0")->bulk_bytes, stream);
        assert_true(runs_link(r, "nas:c1.e0>sw:p2")->idle);
        if (detail == SIM_FRAME) /* every second segment is acknowledged, and 1000 replies */
            assert_in_range(runs_link(r, "nas:c1.e0>sw:p2")->frames, 22000, 24500);
        result_free(r);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(figure_9),
        cmocka_unit_test(ipv6),
        cmocka_unit_test(same_seed_same_run),
        cmocka_unit_test(bytes_end_a_run),
        cmocka_unit_test(rates_are_kept),
        cmocka_unit_test(storage_limits),
        cmocka_unit_test(latency_of_one_operation),
        cmocka_unit_test(unstable_writes_commit),
        cmocka_unit_test(connections_of_a_mount_take_turns),
        cmocka_unit_test(default_workloads_are_measured_apart),
        cmocka_unit_test(only_one_host),
        cmocka_unit_test(interruption_keeps_what_is_known),
        cmocka_unit_test(counters_agree),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
