/* Readings of counters become rates over the windows of a run. needs: full */
#include "emu/live/tally.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "emu/model/diag.h"
#include "emu/model/result.h"
#include "emu/model/schedule.h"
#include "emu/model/topology.h"
#include "emu/model/topology_file.h"

#define MS PS_PER_MS

static const char site[] =
    "version: 1\n"
    "name: two\n"
    "nodes:\n"
    "  h: {kind: linux, interfaces: {eth0: {address: 10.0.0.1/24}}}\n"
    "  sw: {kind: switch}\n"
    "  nas: {kind: nas, controllers: {\"c[1-2]\": {nics: e0}}, vips: {\"10.0.0.[11-12]/24\": {home: round-robin}},\n"
    "        exports: {/v: {}}}\n"
    "links:\n"
    "  - {ends: [\"h:eth0\", \"sw:p0\"], speed: 1G}\n"
    "  - {ends: [\"nas:c[1-2].e0\", \"sw:p[1-2]\"], speed: 1G}\n"
    "datastores: {d: {export: \"nas:/v\", mounted: 10.0.0.11}}\n"
    "workloads: {w: {host: h, datastores: d, op: write, block: 64KiB, outstanding: 4, %s}}\n";

static struct result *result_of(const char *how, struct schedule *plan)
{
    char text[2048], path[] = "/tmp/tally-XXXXXX";
    struct diag d;
    snprintf(text, sizeof text, site, how);
    int fd = mkstemp(path);
    assert_true(fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text));
    close(fd);
    diag_init(&d, path);
    struct topo_file *f = topo_file_open(path, &d);
    struct topo *t = f ? topo_load(f, NULL, &d) : NULL;
    diag_print_text(&d, stderr, true);
    assert_non_null(t);
    topo_file_close(f);
    diag_free(&d);
    unlink(path);
    struct result *r = result_new(t, "live", 1, 1, SCHEDULE_SLICES);
    assert_non_null(r);
    assert_true(schedule_make(r, plan));
    return r;
}

/* 100 MB/s, read every second but at odd moments: the window of 10 s begins after a second and has 900 MB. */
static void even_growth_is_exact(void **state)
{
    (void)state;
    struct schedule plan;
    struct result *r = result_of("for: 10s", &plan);
    struct tally *t = tally_new(r, 1);
    struct tally_link links[6] = {{0}};
    int nas = r->topo->vips[0].home;
    for (ps_t now = 300 * MS; now <= 10300 * MS; now += 1000 * MS) {
        uint64_t bytes = (uint64_t)(now / MS) * 100000;
        tally_job(t, 0, nas, now, 0, bytes);
        links[0] = (struct tally_link){.frames = bytes / 1000, .bytes = bytes, .queue_peak = 7};
        tally_links(t, now, links);
    }
    tally_bulk(t, 0, 0, 200000000);
    tally_bulk(t, 0, 0, 250000000);
    tally_finish(t, 10000 * MS);
    assert_int_equal(r->write.bytes, 900000000);
    assert_true(r->write.rate > 99.99e6 && r->write.rate < 100.01e6);
    assert_int_equal(r->datastores[0].write.bytes, 900000000);
    assert_int_equal(r->read.bytes, 0);
    assert_true(llabs((long long)r->write.operations - 900000000 / 65536) <= 1);
    assert_int_equal(r->links[0].bytes, 900000000);
    assert_int_equal(r->links[0].bulk_bytes, 450000000);
    assert_true(r->links[0].utilisation > 0.7999 && r->links[0].utilisation < 0.8001);
    assert_int_equal(r->links[0].queue_peak, 7);
    assert_false(r->links[0].idle);
    assert_true(r->links[1].idle);
    assert_int_equal(r->n_slices, 100);
    for (size_t k = 0; k < 100; k++)
        assert_true(r->links[0].over_time[k] > 0.799f && r->links[0].over_time[k] < 0.801f);
    tally_free(t);
    result_free(r);
}

/* At a tenth of the rates the same comes out, latencies included; and what a controller served is its own. */
static void scaled_and_taken_over(void **state)
{
    (void)state;
    struct schedule plan;
    struct result *r = result_of("for: 10s", &plan);
    struct tally *t = tally_new(r, 0.1);
    int nas = r->topo->vips[0].home;
    tally_job(t, 0, nas, 1000 * MS, 0, 10000000);
    tally_job(t, 0, nas, 5000 * MS, 0, 50000000);
    tally_job(t, 0, nas + 1, 10000 * MS, 0, 100000000);
    tally_latency(t, 0, true, 80 * MS, 1000);
    tally_finish(t, 10000 * MS);
    assert_int_equal(r->write.bytes, 900000000);
    assert_int_equal(r->controllers[0].write.bytes, 400000000);
    assert_int_equal(r->controllers[1].write.bytes, 500000000);
    ps_t p50 = result_latency_percentile(r->write.latency, 0.5);
    assert_true(p50 > 7980000000 && p50 < 8020000000); /* 8 ms */
    assert_int_equal(r->write.latency->count, 1000);
    tally_free(t);
    result_free(r);
}

/* A run that ends by bytes: the window is all of it, and slices grow with it. */
static void by_bytes(void **state)
{
    (void)state;
    struct schedule plan;
    struct result *r = result_of("bytes: 1GB", &plan);
    struct tally *t = tally_new(r, 1);
    struct tally_link links[6] = {{0}};
    assert_int_equal(plan.end, PS_NEVER);
    for (ps_t now = 0; now <= 10000 * MS; now += 100 * MS) {
        links[3].bytes = (uint64_t)(now / MS) * 125000;
        tally_links(t, now, links);
        tally_job(t, 0, 2, now, 0, (uint64_t)(now / MS) * 100000);
    }
    tally_finish(t, 10000 * MS);
    assert_int_equal(r->write.bytes, 1000000000);
    assert_int_equal(r->duration, 10000 * MS);
    assert_int_equal(r->links[3].bytes, 1250000000);
    assert_int_equal(r->slice, 160 * MS); /* 10 ms, doubled until 100 of them hold 10 s */
    assert_int_equal(r->n_slices, 62);
    for (size_t k = 0; k < r->n_slices; k++)
        assert_true(r->links[3].over_time[k] > 0.999f && r->links[3].over_time[k] < 1.001f);
    tally_free(t);
    result_free(r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(even_growth_is_exact),
        cmocka_unit_test(scaled_and_taken_over),
        cmocka_unit_test(by_bytes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
