/* Back ends that are drawn in the file, and caches that fill: the details against each other and against arithmetic. */
#include "emu/sim/run.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "emu/model/iscsi.h"
#include "emu/model/topology.h"
#include "emu/model/topology_file.h"
#include "tests/support/runs.h"

static const enum sim_detail all[] = {SIM_TRAIN, SIM_CALL, SIM_FLUID};

/* One controller with two cables to a SAN of two switches, which a LAG of two joins; two arrays with two cables each. What
 * stands for %s: speed of the arrays' cables, and the storage's cache. */
#define SAN                                                                                                          \
    "version: 1\n"                                                                                                   \
    "nodes:\n"                                                                                                       \
    "  h1: {kind: linux, interfaces: {eth0: {address: 10.1.1.1/24, mtu: 9000}}}\n"                                   \
    "  sw: {kind: switch, mtu: 9216}\n"                                                                              \
    "  san1: {kind: switch, mtu: 9216, hash: xor-src-dst-ip, lags: {peer: {to: \"san2:peer\", mode: static}}}\n"     \
    "  san2: {kind: switch, mtu: 9216, hash: xor-src-dst-ip, lags: {peer: {to: \"san1:peer\", mode: static}}}\n"     \
    "  nas:\n"                                                                                                       \
    "    kind: nas\n"                                                                                                \
    "    controllers: {c: {nics: [eth0, s1, s2], mtu: 9000}}\n"                                                      \
    "    vips: {\"10.1.1.[101-104]/24\": {port: eth0}}\n"                                                            \
    "    zones: {san: {vips: {\"10.1.2.[1-2]/24\": {port: \"s[1-2]\"}}}}\n"                                          \
    "    exports: {/a: {}}\n"                                                                                        \
    "    storage:\n"                                                                                                 \
    "      groups: {pool: {medium: ssd, read: 20us, write: 20us, parallel: 4, size: 1TB, disks: 8, raid: raid-0}}\n" \
    "      back-end: {zone: san, members: \"a[1-2]\"}\n"                                                             \
    "      cache: {%s}\n"                                                                                            \
    "  a1: {kind: nas, controllers: {c: {nics: \"p[1-2]\", mtu: 9000}}, vips: {\"10.1.2.[11-12]/24\": {port: "       \
    "\"p[1-2]\"}}}\n"                                                                                                \
    "  a2: {kind: nas, controllers: {c: {nics: \"p[1-2]\", mtu: 9000}}, vips: {\"10.1.2.[14-15]/24\": {port: "       \
    "\"p[1-2]\"}}}\n"                                                                                                \
    "links:\n"                                                                                                       \
    "  - {ends: [\"h1:eth0\", \"sw:1\"], speed: 10G}\n"                                                              \
    "  - {ends: [\"nas:c.eth0\", \"sw:2\"], speed: 10G}\n"                                                           \
    "  - {ends: [\"nas:c.s[1-2]\", \"san[1-2]:1\"], speed: 10G}\n"                                                   \
    "  - {ends: [\"a1:c.p[1-2]\", \"san[1-2]:2\"], speed: 1G}\n"                                                     \
    "  - {ends: [\"a2:c.p[1-2]\", \"san[1-2]:3\"], speed: 1G}\n"                                                     \
    "  - {ends: [\"san1:p[1-2]\", \"san2:p[1-2]\"], speed: 1G}\n"                                                    \
    "datastores:\n"                                                                                                  \
    "  \"ds[1-4]\": {export: \"nas:/a\", mounted: \"10.1.1.[101-104]\"}\n"

static double link_bytes(const struct result *r, const char *from, const char *to)
{
    double bytes = 0;
    for (size_t d = 0; d < r->n_links; d++) {
        const char *name = topo_linkdir_name(r->topo, (int)d), *arrow = strchr(name, '>');
        if (strncmp(name, from, strlen(from)) == 0 && strncmp(arrow + 1, to, strlen(to)) == 0)
            bytes += (double)r->links[d].bytes;
    }
    return bytes;
}

/* Seconds in which things are counted. */
static double window(const struct result *r) { return (double)(r->phases[0].end - r->phases[0].start) / 1e12; }

static struct result *san_run(const char *cache, const char *workload, enum sim_detail detail)
{
    char text[8192];
    snprintf(text, sizeof text, SAN "workloads:\n  w: {%s}\n", cache, workload);
    return runs_text(text, NULL, detail, 1);
}

/* Four cables of arrays, 1 Gbit/s each, carry 64 KiB reads with their headers; sessions take them evenly, and half of what
 * goes by each address of the controller crosses the LAG between the switches. */
static void sessions_take_all_cables(void **state)
{
    (void)state;
    double frames = ceil((double)iscsi_back(false, 65536) / 8948),
           wire = (double)iscsi_back(false, 65536) + 90 * frames;
    double expected = 4 * 125e6 * 65536 / wire;
    for (int k = 0; k < 3; k++) {
        struct result *r =
            san_run("read-hit: 0%", "op: read, pattern: random, block: 64KiB, outstanding: 256, for: 3s", all[k]);
        double seconds = window(r), sum = link_bytes(r, "a", "san");
        runs_near(r->read.rate, expected, 0.02, sim_detail_name(all[k]));
        runs_near(sum / seconds, 4 * 125e6, 0.02, "wire");
        runs_near(link_bytes(r, "a1:c.p1", "san1:2") / sum, 0.25, 0.02, "cable");
        runs_near(link_bytes(r, "a2:c.p2", "san2:3") / sum, 0.25, 0.02, "cable");
        runs_near(link_bytes(r, "san1:p", "san2") / sum, 0.25, 0.02, "between the switches");
        runs_near(link_bytes(r, "san2", "nas") / sum, 0.5, 0.02, "into the controller");
        result_free(r);
    }
}

/* Writes are destaged over the same cables, in MiB; what a full cache takes in is what they carry. */
static void destages_cross_the_san(void **state)
{
    (void)state;
    double bytes = 1048576, size = (double)iscsi_there(true, 1048576),
           expected = 4 * 125e6 * bytes / (size + 90 * ceil(size / 8948));
    for (int k = 0; k < 3; k++) {
        struct result *r = san_run("dirty: 128MiB", "op: write, block: 64KiB, outstanding: 16, for: 5s", all[k]);
        runs_near(r->write.rate, expected, 0.02, sim_detail_name(all[k]));
        runs_near(link_bytes(r, "san", "a") / window(r), 4 * 125e6, 0.02, "wire");
        result_free(r);
    }
}

/* A cache that holds two seconds and a half of what comes in takes it at the rate of the network, then what the disks take. */
static void a_burst_ends_when_the_cache_is_full(void **state)
{
    (void)state;
    for (int once = 0; once < 2; once++) {
        double rate[3];
        for (int k = 0; k < 3; k++) {
            struct result *r = san_run("dirty: 1500MB",
                                       once ? "op: write, block: 64KiB, outstanding: 64, bytes: 900MB"
                                            : "op: write, block: 64KiB, outstanding: 64, for: 6s",
                                       all[k]);
            rate[k] = once ? (double)r->write.bytes / ((double)r->duration / 1e12) : r->write.rate;
            result_free(r);
        }
        runs_near(rate[0], rate[2], 0.02, "train and fluid");
        runs_near(rate[1], rate[2], 0.02, "call and fluid");
        assert_true(rate[2] > 1.2 * 490e6); /* more than the disks' cables carry */
    }
}

/* What was written before slows down who reads afterwards, until it is destaged. */
static void what_waits_competes_with_reads(void **state)
{
    (void)state;
    char text[8192];
    snprintf(text, sizeof text,
             SAN "workloads:\n  w: {op: write, block: 64KiB, outstanding: 16, for: 2s}\n"
                 "  r: {op: read, block: 64KiB, outstanding: 16, window: 128KiB, start: 2s, for: 4s}\n",
             "dirty: 4GB");
    char *local = runs_replace(text, "      back-end: {zone: san, members: \"a[1-2]\"}\n", "");
    char *disks =
        runs_replace(local, "medium: ssd, read: 20us, write: 20us, parallel: 4, size: 1TB, disks: 8, raid: raid-0",
                     "device: savvio-10k-600, disks: 22, raid: raid-10, service: constant");
    double rate[3];
    for (int k = 0; k < 3; k++) {
        struct result *r = runs_text(disks, NULL, all[k], 1);
        rate[k] = r->read.rate;
        result_free(r);
    }
    runs_near(rate[0], rate[2], 0.02, "train and fluid");
    runs_near(rate[1], rate[2], 0.02, "call and fluid");
    free(disks);
    free(local);
}

static void refused(const char *from, const char *to, const char *reason)
{
    char text[8192];
    struct diag d;
    snprintf(text, sizeof text, SAN, "dirty: 1GiB");
    char *changed = runs_replace(text, from, to);
    diag_init(&d, "text");
    struct topo_file *f = topo_file_parse("text", changed, strlen(changed), &d);
    assert_non_null(f);
    struct topo *t = topo_load(f, NULL, &d);
    bool said = false;
    for (size_t i = 0; i < d.count; i++)
        said |= strstr(d.entries[i].text, reason) != NULL;
    if (t || !said)
        fail_msg("`%s` for `%s` was not refused with `%s`", to, from, reason);
    topo_file_close(f);
    diag_free(&d);
    free(changed);
}

static void what_does_not_fit_is_refused(void **state)
{
    (void)state;
    refused("members: \"a[1-2]\"", "members: [a1, sw]", "no array");
    refused("members: \"a[1-2]\"", "members: [a1, a7]", "a7");
    refused("zone: san", "zone: lan", "no zone `lan`");
    refused("zone: san, ", "", "`zone` is missing");
    refused("zone: san, ", "zone: san, links: 4, ", "`links`");
    refused("disks: 8", "disks: 7", "equal parts");
    refused("10.1.2.[14-15]/24", "10.1.3.[13-14]/24", "no address in the subnet");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sessions_take_all_cables),
        cmocka_unit_test(destages_cross_the_san),
        cmocka_unit_test(a_burst_ends_when_the_cache_is_full),
        cmocka_unit_test(what_waits_competes_with_reads),
        cmocka_unit_test(what_does_not_fit_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
