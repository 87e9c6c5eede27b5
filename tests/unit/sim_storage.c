/* Runs whose limit is the storage: the details against each other and against the closed forms; clones; loads that are raised;
 * connections lost with calls in the stations. */
#include "emu/sim/run.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "emu/model/storage_forms.h"
#include "emu/model/topology.h"
#include "emu/model/topology_file.h"
#include "tests/support/runs.h"

/* One host, 10 Gbit/s, two controllers with four VIPs, four datastores. */
#define SITE(storage)                                                                \
    "version: 1\n"                                                                   \
    "nodes:\n"                                                                       \
    "  h1: {kind: linux, interfaces: {eth0: {address: 10.1.1.1/24, mtu: 9000}}}\n"   \
    "  sw: {kind: switch, mtu: 9216}\n"                                              \
    "  nas:\n"                                                                       \
    "    kind: nas\n"                                                                \
    "    controllers: {\"c[1-2]\": {nics: eth0, mtu: 9000, takeover: \"c[2,1]\"}}\n" \
    "    vips: {\"10.1.1.[101-104]/24\": {}}\n"                                      \
    "    exports: {/a: {}}\n"                                                        \
    "    storage: " storage "\n"                                                     \
    "links:\n"                                                                       \
    "  - {ends: [\"h1:eth0\", \"sw:1\"], speed: 10G}\n"                              \
    "  - {ends: [\"nas:c[1-2].eth0\", \"sw:[2-3]\"], speed: 10G}\n"                  \
    "datastores:\n"                                                                  \
    "  \"ds[1-4]\": {export: \"nas:/a\", mounted: \"10.1.1.[101-104]\"}\n"

#define GROUP(service) \
    "{groups: {pool: {device: savvio-10k-600, disks: 22, raid: raid-10" service "}}, cache: {dirty: 64MiB}}"
#define DISKS GROUP("")
#define PLAIN GROUP(", service: exponential") /* what closed forms of queues are about */

static const enum sim_detail all[] = {SIM_TRAIN, SIM_CALL, SIM_FLUID};

static void random_reads_share_the_disks(void **state)
{
    (void)state;
    struct storage_disk d = {.medium = STORAGE_HDD,
                             .seek_least = PS_PER_MS / 2,
                             .seek_read = 4 * PS_PER_MS,
                             .turn = 6 * PS_PER_MS,
                             .rate = 113e6};
    for (unsigned n = 1; n <= 16; n *= 4) {
        char text[4096];
        snprintf(text, sizeof text,
                 SITE(PLAIN) "workloads:\n  w: {op: read, pattern: random, block: 8KiB, outstanding: %u, for: 30s}\n",
                 n);
        double expected = queue_closed_rate(22, storage_request(&d, 1, 8192, false), 4 * n);
        for (int k = 0; k < 3; k++) {
            struct result *r = runs_text(text, NULL, all[k], 1);
            runs_near(r->read.operation_rate, expected, 0.04, sim_detail_name(all[k]));
            if (all[k] != SIM_FLUID)
                runs_near(result_latency_mean(r->read.latency, r->write.latency), 4 * n / expected, 0.04, "mean");
            result_free(r);
        }
    }
}

static void details_agree(void **state)
{
    (void)state;
    static const struct {
        const char *storage, *workload;
        double factor; /* bytes of disks per byte */
        double within;
    } rows[] = {{DISKS, "op: read, window: 128KiB", 1, 0.02},
                {DISKS, "op: write", 2, 0.02},
                {GROUP(", order: elevator"), "op: read, window: 64KiB", 1, 0.05},
                {GROUP(", order: elevator"), "op: write", 2, 0.05}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char text[4096];
        snprintf(text, sizeof text, SITE("%s") "workloads:\n  w: {%s, block: 64KiB, outstanding: 16, for: 10s}\n",
                 rows[i].storage, rows[i].workload);
        double rate[3];
        for (int k = 0; k < 3; k++) {
            struct result *r = runs_text(text, NULL, all[k], 1);
            rate[k] = r->read.rate + r->write.rate;
            if (all[k] != SIM_FLUID) {
                const struct result_disks *d = &r->disks[0];
                double bytes = (double)(d->read_bytes + d->write_bytes) / ((double)r->duration / 1e12);
                assert_int_equal(r->n_disks, 1);
                runs_near(bytes, rows[i].factor * rate[k], 0.03, "disk bytes");
                assert_true((double)d->busy / 1e12 > 0.95 * 22 * (double)r->duration / 1e12);
            }
            result_free(r);
        }
        runs_near(rate[0], rate[2], rows[i].within, "train and fluid");
        runs_near(rate[1], rate[2], rows[i].within, "call and fluid");
    }
}

static void clones_copy_all_and_agree(void **state)
{
    (void)state;
    const char *text =
        SITE(DISKS) "workloads:\n  c: {host: h1, op: clone, datastores: [ds1, ds3], to: [ds2, ds4], block: 64KiB, "
                    "outstanding: 16, window: 100KB, bytes: 5000000001}\n";
    double time[3];
    for (int k = 0; k < 3; k++) {
        struct result *r = runs_text(text, NULL, all[k], 1);
        assert_true(r->complete);
        assert_int_equal(r->n_jobs, 4);
        for (size_t j = 0; j < 4; j++) {
            const struct result_job *job = &r->jobs[j];
            assert_int_equal(job->partner, j % 2 ? j - 1 : j + 1);
            assert_int_equal(job->read.bytes, j % 2 ? 0 : 5000000001);
            assert_int_equal(job->write.bytes, j % 2 ? 5000000001 : 0);
            assert_int_equal(job->finished, r->jobs[job->partner].finished);
        }
        assert_int_equal(runs_datastore(r, "ds1")->write.bytes + runs_datastore(r, "ds2")->read.bytes, 0);
        assert_int_equal(runs_datastore(r, "ds4")->write.bytes, 5000000001);
        time[k] = (double)r->duration;
        result_free(r);
    }
    runs_near(time[0], time[2], 0.02, "train and fluid");
    runs_near(time[1], time[2], 0.02, "call and fluid");
}

/* The first ten minutes of the document's clones, in trains, against fluid. */
static void clones_of_the_document(void **state)
{
    (void)state;
    char *file = runs_read("topologies/fs7500/clone.yaml");
    char *text = runs_replace(file, "bytes: 442.5GB}", "bytes: 442.5GB, for: 60s}");
    struct result *trains = runs_text(text, "eight-vms", SIM_TRAIN, 1),
                  *fluid = runs_text(text, "eight-vms", SIM_FLUID, 1);
    runs_near(trains->write.rate, fluid->write.rate, 0.02, "write");
    runs_near(trains->read.rate, fluid->read.rate, 0.02, "read");
    result_free(trains);
    result_free(fluid);
    free(text);
    free(file);
}

static void a_load_is_raised_to_a_criterion(void **state)
{
    (void)state;
    const char *text = SITE(PLAIN) "raise: {until: 15ms}\nworkloads:\n  w: {op: read, pattern: random, block: 8KiB, "
                                   "outstanding: 256, iops: 50, arrival: random, for: 60s}\n";
    struct result *r = runs_text(text, NULL, SIM_CALL, 1);
    double mean = result_latency_mean(r->read.latency, r->write.latency);
    assert_true(mean <= 15e-3);
    runs_near(mean, 15e-3, 0.07, "response");
    /* M/M/1 of each disk: 15 ms at a load of 1 - 7.07 / 15 */
    runs_near(r->read.operation_rate, 22 / 7.07e-3 * (1 - 7.07 / 15), 0.05, "rate");
    runs_near(r->load * 200, r->read.operation_rate, 0.03, "load");
    result_free(r);
    /* Without a rate, what is outstanding is raised. */
    text = SITE(PLAIN) "raise: {until: 15ms}\nworkloads:\n  w: {op: read, pattern: random, block: 8KiB, outstanding: "
                       "2, for: 20s}\n";
    r = runs_text(text, NULL, SIM_CALL, 1);
    runs_near(4 * r->topo->workloads[0].outstanding, 15 / 7.07 * 22 - 21, 0.2, "outstanding");
    result_free(r);
}

static void what_cannot_be_raised_is_refused(void **state)
{
    (void)state;
    static const char text[] =
        SITE(PLAIN) "raise: {until: 15ms}\nworkloads:\n  w: {op: read, pattern: random, iops: 50, for: 5s}\n";
    struct diag d;
    char problem[256] = "";
    diag_init(&d, "text");
    struct topo_file *f = topo_file_parse("text", text, sizeof text - 1, &d);
    assert_non_null(f);
    struct sim_options o = {.detail = SIM_FLUID, .seed = 1};
    assert_null(sim_run(topo_load(f, NULL, &d), &o, problem, sizeof problem));
    assert_non_null(strstr(problem, "raise"));
    topo_file_close(f);
    diag_free(&d);
}

/* A controller goes away with calls in its stations, and comes back: they are sent again and all ends. */
static void lost_connections_lose_no_operation(void **state)
{
    (void)state;
    const char *text =
        SITE(DISKS) "workloads:\n  w: {op: mixed, pattern: random, block: 8KiB, outstanding: 32, bytes: 60MB}\n"
                    "events:\n  - {at: 500ms, node: \"nas:c1\", state: down}\n"
                    "  - {at: 500ms, vip: 10.1.1.101, to: c2}\n  - {at: 500ms, vip: 10.1.1.103, to: c2}\n"
                    "  - {at: 4s, vip: 10.1.1.102, to: c2, gratuitous-arp: false}\n";
    struct result *r = runs_text(text, NULL, SIM_TRAIN, 1);
    assert_true(r->complete);
    assert_int_equal(r->read.bytes + r->write.bytes, 4 * 60000000);
    result_free(r);
}

/* Half of the addresses move to the partner, which has nobody to copy to any more: writes take disk times, unless it does not care. */
static void a_controller_left_alone_writes_through(void **state)
{
    (void)state;
    double mean[2];
    for (int k = 0; k < 2; k++) {
        char text[4096];
        snprintf(text, sizeof text,
                 SITE("{groups: {pool: {device: savvio-10k-600, disks: 22, raid: raid-10, service: exponential}}, "
                      "cache: {mirror: 0.1ms, alone: %s}}") "workloads:\n  w: {op: write, pattern: random, block: "
                                                            "8KiB, outstanding: 1, iops: 40, start: 5s, for: 20s}\n"
                                                            "events:\n  - {at: 1s, node: \"nas:c1\", state: down}\n"
                                                            "  - {at: 1s, vip: 10.1.1.101, to: c2}\n  - {at: 1s, vip: "
                                                            "10.1.1.103, to: c2}\n",
                 k ? "cache" : "write-through");
        struct result *r = runs_text(text, NULL, SIM_TRAIN, 1);
        mean[k] = (double)result_latency_percentile(r->write.latency, 0.5) / 1e12;
        result_free(r);
    }
    struct storage_disk d = {.medium = STORAGE_HDD,
                             .seek_least = PS_PER_MS / 2,
                             .seek_read = 4 * PS_PER_MS,
                             .seek_write = 4 * PS_PER_MS,
                             .turn = 6 * PS_PER_MS,
                             .rate = 113e6};
    double service = storage_request(&d, 1, 8192, true);
    /* Two copies at once: the longer of two exponential times has its median at -ln(1 - sqrt(1/2)); disks are busy a tenth. */
    double median = -log(1 - sqrt(0.5)) * service;
    assert_true(mean[0] > median && mean[0] < 1.2 * median);
    assert_true(mean[1] < 0.3e-3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_reads_share_the_disks),       cmocka_unit_test(details_agree),
        cmocka_unit_test(clones_copy_all_and_agree),          cmocka_unit_test(clones_of_the_document),
        cmocka_unit_test(a_load_is_raised_to_a_criterion),    cmocka_unit_test(what_cannot_be_raised_is_refused),
        cmocka_unit_test(lost_connections_lose_no_operation), cmocka_unit_test(a_controller_left_alone_writes_through),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
