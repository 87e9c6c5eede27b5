/* needs: release. Equal flows get equal shares: Jain's index above 0.95 for each of 20 seeds, where queues are full and where they are not. */
#include "tests/support/fair.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

/* One host, four datastores: four flows share the host's own link. */
#define ONE_HOST                                                                                                       \
    "version: 1\n"                                                                                                     \
    "name: fair\n"                                                                                                     \
    "nodes:\n"                                                                                                         \
    "  h1: {kind: esxi, version: '8.0', vswitches: {v: {uplinks: n0, teaming: port-id}}, "                             \
    "vmknics: {vmk1: {vswitch: v, address: 10.0.0.11/24}}}\n"                                                          \
    "  sw: {kind: switch, mtu: 9216}\n"                                                                                \
    "  nas: {kind: nas, controllers: {c1: {nics: e0}}, vips: {'10.0.0.[101-104]/24': {}}, exports: {'/x[1-4]': {}}}\n" \
    "links:\n"                                                                                                         \
    "  - {ends: ['h1:n0', 'sw:p1'], speed: 1G, delay: 5us}\n"                                                          \
    "  - {ends: ['nas:c1.e0', 'sw:p5'], speed: 10G, delay: 5us}\n"                                                     \
    "datastores:\n"                                                                                                    \
    "  'ds[1-4]': {export: 'nas:/x[1-4]', mounted: '10.0.0.[101-104]'}\n"

static void reno_at_1500(void **state)
{
    (void)state;
    fair_check(FAIR_FOUR_HOSTS("1500", "") FAIR_WORK("write", "30s"), SIM_TRAIN, true);
}
static void cubic_at_1500(void **state)
{
    (void)state;
    fair_check(FAIR_FOUR_HOSTS("1500", "tcp: {congestion: cubic},") FAIR_WORK("write", "30s"), SIM_TRAIN, true);
}
static void reno_at_9000(void **state)
{
    (void)state;
    fair_check(FAIR_FOUR_HOSTS("9000", "") FAIR_WORK("write", "30s"), SIM_TRAIN, true);
}
static void frames_at_9000(void **state)
{
    (void)state;
    fair_check(FAIR_FOUR_HOSTS("9000", "") FAIR_WORK("write", "10s"), SIM_FRAME, true);
}
static void reads_without_loss(void **state)
{
    (void)state;
    fair_check(FAIR_FOUR_HOSTS("1500", "") FAIR_WORK("read", "3s"), SIM_TRAIN, false);
}
static void one_host(void **state)
{
    (void)state;
    fair_check(ONE_HOST FAIR_WORK("write", "3s"), SIM_TRAIN, false);
}
static void one_host_in_frames(void **state)
{
    (void)state;
    fair_check(ONE_HOST FAIR_WORK("write", "1s"), SIM_FRAME, false);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reno_at_1500),       cmocka_unit_test(cubic_at_1500),      cmocka_unit_test(reno_at_9000),
        cmocka_unit_test(frames_at_9000),     cmocka_unit_test(reads_without_loss), cmocka_unit_test(one_host),
        cmocka_unit_test(one_host_in_frames),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
