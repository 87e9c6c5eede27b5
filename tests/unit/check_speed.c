/* A large site, 1,000 hosts and 64 datastores on 16 VIPs, is checked in under two seconds of processor time. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "emu/model/check.h"
#include "emu/model/topology.h"
#include "emu/model/topology_file.h"

/* Three hosts of 1,000 mount ds64 by name: the rule that compares strings sees all mounts. Even addresses on four uplinks,
 * so that VIPs collide and better addresses are looked for. */
static const char site[] =
    "version: 1\n"
    "nodes:\n"
    "  esx[1-1000]:\n"
    "    kind: esxi\n"
    "    version: \"7.0u3\"\n"
    "    vswitches:\n"
    "      vSwitch1: {uplinks: \"vmnic[1-4]\", teaming: ip-hash, mtu: 9000}\n"
    "    vmknics:\n"
    "      vmk1: {vswitch: vSwitch1, address: \"10.0.[1-4].[1-250]/16\", mtu: 9000}\n"
    "    limits: {NFS.MaxVolumes: 64, SunRPC.MaxConnPerIP: 4}\n"
    "  sw1:\n"
    "    kind: switch\n"
    "    mtu: 9216\n"
    "    hash: xor-src-dst-ip\n"
    "    lags:\n"
    "      po[1-1000]: {to: \"esx[1-1000]:vSwitch1\", mode: static}\n"
    "      po1001: {to: \"nas:a.lag0\", mode: lacp}\n"
    "  nas:\n"
    "    kind: nas\n"
    "    controllers:\n"
    "      a: {nics: \"e[1-8]\", lag: {name: lag0, mode: lacp, hash: netapp-ip}, mtu: 9000}\n"
    "    vips:\n"
    "      10.0.0.2/16: {home: a, name: nas1}\n"
    "      \"10.0.0.[4,6,8,10,12,14,16,18,20,22,24,26,28,30,32]/16\": {home: a}\n"
    "    exports:\n"
    "      \"/v[01-64]\": {}\n"
    "links:\n"
    "  - {ends: [\"esx[1-1000]:vmnic[1-4]\", \"sw1:p[1-4000]\"], speed: 10G}\n"
    "  - {ends: [\"nas:a.e[1-8]\", \"sw1:q[1-8]\"], speed: 100G}\n"
    "datastores:\n"
    "  \"ds[01-16]\": {export: \"nas:/v[01-16]\", mounted: \"10.0.0.[2,4,6,8,10,12,14,16,18,20,22,24,26,28,30,32]\"}\n"
    "  \"ds[17-32]\": {export: \"nas:/v[17-32]\", mounted: \"10.0.0.[2,4,6,8,10,12,14,16,18,20,22,24,26,28,30,32]\"}\n"
    "  \"ds[33-48]\": {export: \"nas:/v[33-48]\", mounted: \"10.0.0.[2,4,6,8,10,12,14,16,18,20,22,24,26,28,30,32]\"}\n"
    "  \"ds[49-63]\": {export: \"nas:/v[49-63]\", mounted: \"10.0.0.[2,4,6,8,10,12,14,16,18,20,22,24,26,28,30]\"}\n"
    "  ds64: {export: \"nas:/v64\", mounted: {default: 10.0.0.2, esx1000: nas1, esx77: nas1, esx500: nas1}}\n";

static bool has(const struct diag *d, const char *id)
{
    for (size_t i = 0; i < d->count; i++)
        if (d->entries[i].id && strcmp(d->entries[i].id, id) == 0)
            return true;
    return false;
}

static void test_large_site(void **state)
{
    struct diag d;
    struct topo_file *f;
    struct topo *t;
    double seconds;
    clock_t start;
    (void)state;

    diag_init(&d, "large.yaml");
    f = topo_file_parse("large.yaml", site, sizeof site - 1, &d);
    t = f ? topo_load(f, NULL, &d) : NULL;
    if (!t) {
        diag_print_text(&d, stdout, true);
        fail_msg("the file can't be read");
        return;
    }
    assert_int_equal(t->n_mounts, 64000);
    start = clock();
    check_topo(t, &d);
    seconds = (double)(clock() - start) / CLOCKS_PER_SEC;
    print_message("64,000 mounts checked in %.2f s of processor time, %zu findings\n", seconds, d.count);
    assert_true(has(&d, "server-string-drift"));
    assert_true(has(&d, "vip-collision"));
    assert_true(has(&d, "hash-unconfirmed"));
    assert_in_range(d.count, 1, 40); /* hosts of one entry share a line */
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
    assert_true(seconds < 2.0);
#endif
    topo_free(t);
    topo_file_close(f);
    diag_free(&d);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_large_site)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
