/* Equal flows and how equally they fare. */
#ifndef TESTS_SUPPORT_FAIR_H
#define TESTS_SUPPORT_FAIR_H

#include "emu/sim/run.h"

/* Four hosts write over one VIP: four flows meet in the switch in front of one 1 Gbit/s link. */
#define FAIR_FOUR_HOSTS(mtu, tcp)                                                                                     \
    "version: 1\n"                                                                                                    \
    "name: fair\n"                                                                                                    \
    "nodes:\n"                                                                                                        \
    "  'h[1-4]': {kind: esxi, version: '8.0', " tcp " vswitches: {v: {uplinks: n0, teaming: port-id, mtu: " mtu       \
    "}}, vmknics: {vmk1: {vswitch: v, address: '10.0.0.[11-14]/24', mtu: " mtu "}}}\n"                                \
    "  sw: {kind: switch, mtu: 9216}\n"                                                                               \
    "  nas: {kind: nas, controllers: {c1: {nics: e0, mtu: " mtu "}}, vips: {10.0.0.101/24: {}}, exports: {/x: {}}}\n" \
    "links:\n"                                                                                                        \
    "  - {ends: ['h[1-4]:n0', 'sw:p[1-4]'], speed: 1G, delay: 5us}\n"                                                 \
    "  - {ends: ['nas:c1.e0', 'sw:p5'], speed: 1G, delay: 5us}\n"                                                     \
    "datastores:\n"                                                                                                   \
    "  ds1: {export: 'nas:/x', mounted: 10.0.0.101}\n"

#define FAIR_WORK(op, time) "workloads: {w: {op: " op ", block: 64KiB, outstanding: 16, for: " time "}}\n"

/* Fails unless Jain's index of all jobs is above 0.95 for each of 20 seeds, and something is sent again exactly if `lossy`.
 * Jain, Chiu, Hawe, "A quantitative measure of fairness", 1984: (sum x)^2 / (n sum x^2). */
void fair_check(const char *text, enum sim_detail detail, bool lossy);

#endif
