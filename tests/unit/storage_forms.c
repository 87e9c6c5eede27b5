/* Closed forms of disks, RAID, caches and queues against numbers worked out by hand (docs/model.md). */
#include "emu/model/storage_forms.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#define NEAR(value, expected, digits) near(value, expected, digits, #value, __LINE__)

static void near(double value, double expected, double within, const char *what, int line)
{
    if (!(fabs(value - expected) <= within))
        fail_msg("line %d: %s is %.6g, not %.6g +- %.2g", line, what, value, expected, within);
}

static struct storage_disk hdd(double rpm, double seek_ms, double least_ms, double rate)
{
    return (struct storage_disk){
        .medium = STORAGE_HDD,
        .seek_least = (ps_t)(least_ms * (double)PS_PER_MS),
        .seek_read = (ps_t)(seek_ms * (double)PS_PER_MS),
        .seek_write = (ps_t)(seek_ms * (double)PS_PER_MS),
        .turn = (ps_t)(60e12 / rpm),
        .rate = rate,
        .size = UINT64_C(600000000000),
        .parallel = 1,
        .physical = true,
    };
}

static void a_request_of_a_disk(void **state)
{
    (void)state;
    static const struct {
        double rpm, seek, rate, s8, s64, s256; /* ms */
    } rows[] = {
        {7200, 8.2, 130e6, 12.430, 12.871, 14.383}, {10000, 3.8, 113e6, 6.872, 7.380, 9.120},
        {10000, 4.4, 113e6, 7.472, 7.980, 9.720},   {15000, 2.9, 180e6, 4.946, 5.264, 6.356},
        {15000, 3.3, 130e6, 5.363, 5.804, 7.316},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct storage_disk d = hdd(rows[i].rpm, rows[i].seek, 0.5, rows[i].rate);
        NEAR(storage_request(&d, 1, 8192, false) * 1e3, rows[i].s8, 0.0006);
        NEAR(storage_request(&d, 1, 65536, false) * 1e3, rows[i].s64, 0.0006);
        NEAR(storage_request(&d, 1, 262144, true) * 1e3, rows[i].s256, 0.0006);
    }
}

static void seeks_grow_with_the_root_of_the_span(void **state)
{
    (void)state;
    struct storage_disk d = hdd(10000, 4.0, 0.5, 113e6);
    NEAR(storage_seek(&d, 1, false) * 1e3, 4.0, 1e-9);
    NEAR(storage_seek_over(&d, 1, false) * 1e3, 7.0625, 1e-9);
    NEAR(storage_seek(&d, 0.302, false) * 1e3, 2.423, 0.001);
    NEAR(storage_seek(&d, 0, false) * 1e3, 0.5, 1e-9);
    assert_true(storage_seek_sorted(&d, 1, 30, false) < storage_seek(&d, 1, false) / 2);
    NEAR(storage_seek_sorted(&d, 1, 1, false), storage_seek(&d, 1, false), 1e-12);
}

static void interleaved_streams(void **state)
{
    (void)state;
    static const double rows[][2] = {{64, 0.079},  {128, 0.146},  {256, 0.254},
                                     {512, 0.406}, {1024, 0.577}, {4096, 0.845}};
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        double e = storage_efficiency(rows[i][0] * 1024, 113e6, 6.8e-3);
        NEAR(e, rows[i][1], 0.0006);
        NEAR(storage_chunk_for(e, 113e6, 6.8e-3), rows[i][0] * 1024, 1e-3);
    }
}

static void write_penalties(void **state)
{
    (void)state;
    struct storage_group g = {.raid = STORAGE_RAID_50, .set = 6, .penalty = 4, .full_stripe = true, .disks = 24};
    g.disk = hdd(10000, 4, 0.5, 113e6);
    NEAR(storage_stripe_factor(&g), 1.20, 1e-9);
    NEAR(storage_usable(&g), 12e12, 1);
    g.full_stripe = false;
    NEAR(storage_stripe_factor(&g), 4, 1e-9);
    g = (struct storage_group){.raid = STORAGE_RAID_6, .set = 8, .full_stripe = true, .disks = 8, .disk = g.disk};
    NEAR(storage_stripe_factor(&g), 1.3333, 0.0001);
    g = (struct storage_group){.raid = STORAGE_RAID_10, .set = 2, .disks = 22, .disk = g.disk};
    NEAR(storage_stripe_factor(&g), 2, 1e-9);
    NEAR(storage_usable(&g), 6.6e12, 1);
    NEAR(storage_stroke(&g, 5 * 423e9), 0.3205, 0.0001);
    /* 24 disks of 141 operations a second, 61 % reads */
    NEAR(24 * 141 / storage_operations(0.61, 0, 2, 1), 2435, 1);
    NEAR(24 * 141 / storage_operations(0.61, 0, 4, 1), 1559, 1);
    NEAR(24 * 141 / storage_operations(0.61, 0, 6, 1), 1147, 1);
    /* The mix of BP1024's table 3, log writes merged 8 to 1. */
    double random = 5315.0 + 2035, log = 1400 * 2 / 8.0;
    NEAR((random * storage_operations(5315 / random, 0, 2, 1) + log) / 8750, 1.113, 0.001);
    NEAR((random * storage_operations(5315 / random, 0.2, 2, 1) + log) / 8750, 0.991, 0.001);
    NEAR((random * storage_operations(5315 / random, 0, 2, 2) + log) / 8750, 0.880, 0.001);
}

static void caches(void **state)
{
    (void)state;
    NEAR(storage_fill_time(12e9, 470e6, 285e6), 64.9, 0.05);
    assert_true(isinf(storage_fill_time(12e9, 200e6, 285e6)));
    NEAR(storage_hit_latency(0.98, 0.4, 13.1), 0.654, 1e-9);
    NEAR(storage_hit_latency(0.98, 0.4, 7.1), 0.534, 1e-9);
}

static void queues(void **state)
{
    (void)state;
    NEAR(queue_mm1(5, 0.6), 12.5, 1e-9);
    NEAR(queue_erlang_c(4, 0.6), 0.287, 0.0005);
    NEAR(queue_mmc(5, 0.6, 4), 5.90, 0.005);
    NEAR(queue_mmc(5, 0.6, 1), 12.5, 1e-9);
    NEAR(queue_service_for(20e-3, 106) * 1e3, 6.410, 0.001);
    NEAR(queue_bound(10, 25, 8, 2), 0.303, 0.001);
    NEAR(queue_bound(17, 25, 8, 2), 0.5, 1e-9); /* the knee is at 16.5 */
    NEAR(queue_closed_rate(24, 6e-3, 1), 166.7, 0.05);
    NEAR(queue_closed_rate(24, 6e-3, 10), 1212, 0.5);
    NEAR(queue_closed_rate(24, 6e-3, 24), 2043, 0.5);
    NEAR(queue_closed_rate(24, 6e-3, 128), 3391, 0.5);
    NEAR(queue_closed_response(24, 6, 10), 8.25, 1e-9);
    NEAR(queue_closed_response(24, 6, 128), 37.75, 1e-9);
    NEAR(queue_open_outstanding(132, 5.8e-3, 11133), 126.4, 0.2);
    /* Little */
    NEAR(72000 * 7.5e-3, 540, 1e-9);
    /* Without a limit that matters, limited response is that of M equal queues; with M = 1 and limit 1 it is M/M/1. */
    NEAR(queue_limited_response(1, 5e-3, 1, 120), 12.5e-3, 1e-9);
    NEAR(queue_limited_response(24, 6e-3, 2000, 2000), queue_mm1(6e-3, 0.5), 1e-6);
    assert_true(isinf(queue_limited_response(24, 6e-3, 128, 3400)));
    /* BP1024 section 4: 128 places, 132 disks, 5.8 ms, 0.9 disk operations each: saturates at 12,500, three blocks on two
     * systems at 16,730. */
    NEAR(queue_closed_rate(132, 5.8e-3, 128) / 0.9, 12500, 25);
    NEAR(queue_closed_rate(66, 5.8e-3, 128) / 0.9, 8385, 10);
    NEAR(queue_closed_rate(132, 5.8e-3, 256) / 0.9, 16730, 20);
}

static void jobs_and_storms(void **state)
{
    (void)state;
    NEAR(job_time(14, 9000, 2e-3, 0, 0), 32, 1e-9);
    NEAR(job_time(14, 9000, 1e-3, 0, 0), 23, 1e-9);
    NEAR(job_time(0, 0, 0, 1e9, 100e6), 10, 1e-9);
    NEAR(storm_peak(3.34, 280, 16, 1270), 14963, 1);
    NEAR(storm_peak(3.34, 280, 16, 630), 10080, 1e-9);
    NEAR(storm_time(3.34, 280, 1270) / 60, 11, 0.01);
}

static void wire_of_the_back_end(void **state)
{
    (void)state;
    /* 64 KiB over iSCSI at MTU 9000: 65,584 bytes in 8 segments of 8,948, 90 bytes each. */
    NEAR(storage_wire_bytes(STORAGE_ISCSI, 9000, 65536), 65584 + 8 * 90, 1e-9);
    NEAR(storage_wire_bytes(STORAGE_ISCSI, 1500, 65536), 65584 + 46 * 90, 1e-9);
    NEAR(storage_wire_bytes(STORAGE_RDMA, 9000, 65536), 65552 + 17 * 94, 1e-9);
    NEAR(storage_wire_bytes(STORAGE_SAS, 0, 65536), 65536 + 64 * 36, 1e-9);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_request_of_a_disk),
        cmocka_unit_test(seeks_grow_with_the_root_of_the_span),
        cmocka_unit_test(interleaved_streams),
        cmocka_unit_test(write_penalties),
        cmocka_unit_test(caches),
        cmocka_unit_test(queues),
        cmocka_unit_test(jobs_and_storms),
        cmocka_unit_test(wire_of_the_back_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
