/* A large site: 1,000 hosts with 64 datastores each, 64,000 connections, 16 operations outstanding on each. How much memory
 * the whole program takes (of 256 MiB), and how fast events go where nothing fits into a cache. */
#include "tests/perf/run_load.h"

#include <sys/resource.h>

static const char site[] =
    "version: 1\n"
    "name: sites\n"
    "nodes:\n"
    "  'esx[1-1000]':\n"
    "    kind: esxi\n"
    "    version: '8.0'\n"
    "    vswitches: {vSwitch1: {uplinks: 'vmnic[0-1]', teaming: port-id, mtu: 9000}}\n"
    "    vmknics: {vmk1: {vswitch: vSwitch1, address: '10.10.[0-3].[2-251]/16', mtu: 9000}}\n"
    "  sw: {kind: switch, mtu: 9216, hash: xor-src-dst-ip}\n"
    "  nas:\n"
    "    kind: nas\n"
    "    controllers: {'ctl[1-4]': {nics: 'e[0-7]', mtu: 9000, team: {receive: vip, transmit: xor-dst-ip}}}\n"
    "    vips: {'10.10.100.[1-64]/16': {home: round-robin}}\n"
    "    exports: {'/vol[1-64]': {}}\n"
    "links:\n"
    "  - {ends: ['esx[1-1000]:vmnic[0-1]', 'sw:p[1-2000]'], speed: 10G, delay: 1us}\n"
    "  - {ends: ['nas:ctl[1-4].e[0-7]', 'sw:n[1-32]'], speed: 25G, delay: 1us}\n"
    "datastores: {'ds[1-64]': {export: 'nas:/vol[1-64]', mounted: '10.10.100.[1-64]'}}\n"
    "workloads: {w: {op: write, block: 64KiB, outstanding: 16, for: 200ms}}\n";

int main(void)
{
    double seconds;
    struct rusage used;
    struct result *r = run_load("sites", site, NULL, SIM_TRAIN, &seconds);
    getrusage(RUSAGE_SELF, &used);
    double mib = (double)used.ru_maxrss / 1024;
    printf("%.1f GB/s, %llu events, %.0f MiB\n", r->write.rate / 1e9, (unsigned long long)r->events, mib);
    printf("bench: room-in-256MiB %.4g times\n", 256 / mib);
    printf("bench: events %.6g events/s\n", (double)r->events / seconds);
    result_free(r);
    return 0;
}
