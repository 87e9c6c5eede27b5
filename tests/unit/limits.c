/* What an ESXi host does not mount, and who shares connections. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "emu/model/result.h"
#include "emu/model/topology.h"
#include "emu/sim/run.h"
#include "tests/support/runs.h"

/* %s: release and limits. */
#define SITE                                                                                                     \
    "version: 1\n"                                                                                               \
    "nodes:\n"                                                                                                   \
    "  e:\n"                                                                                                     \
    "    kind: esxi\n"                                                                                           \
    "    %s\n"                                                                                                   \
    "    vswitches: {v: {uplinks: [n0]}}\n"                                                                      \
    "    vmknics: {vmk1: {vswitch: v, address: 10.1.1.1/24}}\n"                                                  \
    "  sw: {kind: switch}\n"                                                                                     \
    "  nas: {kind: nas, controllers: {c: {nics: eth0}}, vips: {\"10.1.1.[11-12]/24\": {}}, exports: {/a: {}}}\n" \
    "links:\n"                                                                                                   \
    "  - {ends: [\"e:n0\", \"sw:1\"], speed: 1G}\n"                                                              \
    "  - {ends: [\"nas:c.eth0\", \"sw:2\"], speed: 1G}\n"                                                        \
    "datastores:\n"                                                                                              \
    "  \"a[1-6]\": {export: \"nas:/a\", mounted: 10.1.1.11}\n"                                                   \
    "  \"b[1-6]\": {export: \"nas:/a\", mounted: 10.1.1.12}\n"                                                   \
    "workloads: {w: {op: write, for: 200ms, outstanding: 1}}\n"

static void counts(const char *host, unsigned mounts, unsigned connections, enum topo_refusal why)
{
    static const enum sim_detail all[] = {SIM_TRAIN, SIM_CALL, SIM_FLUID};
    char text[4096];
    snprintf(text, sizeof text, SITE, host);
    for (int k = 0; k < 3; k++) {
        struct result *r = runs_text(text, NULL, all[k], 1);
        const struct topo *t = r->topo;
        unsigned n = 0, own = 0, moves = 0;
        for (size_t i = 0; i < t->n_mounts; i++) {
            n += !t->mounts[i].refused;
            own += t->mounts[i].nconnect;
            if (t->mounts[i].refused)
                assert_int_equal(t->mounts[i].refused, why);
        }
        for (size_t i = 0; i < r->n_jobs; i++) {
            moves += r->jobs[i].write.bytes > 0;
            assert_true(!t->mounts[r->jobs[i].mount].refused || r->jobs[i].write.bytes == 0);
        }
        assert_int_equal(n, mounts);
        assert_int_equal(own, connections);
        assert_int_equal(moves, mounts);
        const char *reason = why == TOPO_OVER_HEAP ? "Net.TcpipHeapMax" : "NFS.MaxVolumes";
        bool said = r->notes && strstr(r->notes, reason);
        assert_int_equal(said, mounts < 12);
        result_free(r);
    }
}

static void too_many_are_not_mounted(void **state)
{
    (void)state;
    counts("version: \"5.0\"", 8, 4 + 2, TOPO_OVER_VOLUMES);
    counts("version: \"6.7\"", 12, 4 + 4, TOPO_MOUNTED);
    counts("limits: {NFS.MaxVolumes: 9, SunRPC.MaxConnPerIP: 6}", 9, 6 + 3, TOPO_OVER_VOLUMES);
    counts("limits: {SunRPC.MaxConnPerIP: 1}", 12, 2, TOPO_MOUNTED);
}

/* A connection takes 2 + 2 MiB. Six and a half fit: all of the first address, none of the second, or one. */
#define LIMITS \
    "limits: {NFS.SendBufferSize: 2048, NFS.ReceiveBufferSize: 2048, SunRPC.MaxConnPerIP: 8, Net.TcpipHeapMax: "

static void connections_need_memory(void **state)
{
    (void)state;
    counts(LIMITS "26}", 6, 6, TOPO_OVER_HEAP);
    counts(LIMITS "30}", 12, 7, TOPO_MOUNTED);
    counts(LIMITS "48}", 12, 12, TOPO_MOUNTED);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(too_many_are_not_mounted),
        cmocka_unit_test(connections_need_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
