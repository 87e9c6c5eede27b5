/* Cards in hosts before an array: times against arithmetic, who carries what, what is refused. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "emu/model/result.h"
#include "emu/model/topology.h"
#include "emu/model/topology_file.h"
#include "emu/sim/run.h"
#include "tests/support/runs.h"

/* Two hosts, one network for iSCSI and one between their cards. %s: more of the cards; the workload. */
#define SITE                                                                                                           \
    "version: 1\n"                                                                                                     \
    "nodes:\n"                                                                                                         \
    "  \"e[1-2]\":\n"                                                                                                  \
    "    kind: esxi\n"                                                                                                 \
    "    vswitches: {san: {uplinks: [p], mtu: 9000}, rdma: {uplinks: [f], mtu: 9000}}\n"                               \
    "    vmknics:\n"                                                                                                   \
    "      vmk1: {vswitch: san, address: \"10.1.1.[1-2]/24\", mtu: 9000}\n"                                            \
    "      vmk2: {vswitch: rdma, address: \"10.1.2.[1-2]/24\", mtu: 9000}\n"                                           \
    "  \"s[1-2]\": {kind: switch, mtu: 9216}\n"                                                                        \
    "  a:\n"                                                                                                           \
    "    kind: nas\n"                                                                                                  \
    "    controllers: {c: {nics: n, mtu: 9000}}\n"                                                                     \
    "    vips: {10.1.1.11/24: {}}\n"                                                                                   \
    "    exports: {/v: {}}\n"                                                                                          \
    "    storage:\n"                                                                                                   \
    "      groups: {g: {medium: ssd, read: 1ms, write: 1ms, parallel: 16, size: 1TB, disks: 4, raid: raid-0}}\n"       \
    "      host-cache: {hosts: \"e[1-2]\", interface: vmk2, medium: ssd, read: 70us, write: 30us, parallel: 8, size: " \
    "350GB%s}\n"                                                                                                       \
    "links:\n"                                                                                                         \
    "  - {ends: [\"e[1-2]:p\", \"s1:[1-2]\"], speed: 10G}\n"                                                           \
    "  - {ends: [\"e[1-2]:f\", \"s2:[1-2]\"], speed: 10G}\n"                                                           \
    "  - {ends: [\"a:c.n\", \"s1:3\"], speed: 10G}\n"                                                                  \
    "datastores: {v: {export: \"a:/v\", mounted: 10.1.1.11, protocol: iscsi}}\n"                                       \
    "workloads: {w: {host: e1, pattern: random, block: 4KiB, outstanding: 1, for: 2s, %s}}\n"

static struct result *play(const char *cards, const char *workload)
{
    char text[4096];
    snprintf(text, sizeof text, SITE, cards, workload);
    return runs_text(text, NULL, SIM_CALL, 1);
}

static double mean(const struct result *r) { return result_latency_mean(r->read.latency, r->write.latency); }

static double carried(const struct result *r, const char *link)
{
    for (size_t d = 0; d < r->n_links; d++)
        if (strcmp(topo_linkdir_name(r->topo, (int)d), link) == 0)
            return (double)r->links[d].bytes;
    fail_msg("no link %s", link);
    return 0;
}

/* 4,096 and 16 bytes in two frames of RoCE over two links, the peer's card, a short frame back. */
static double two_links(double first, double last)
{
    double ns = 0.8, a = (first + last) * ns, b = first * ns + 5000,
           c = fmax(b + (first + last) * ns, a + 5000 + last * ns);
    return (c + 5000) * 1e-9;
}

static void a_write_is_in_two_cards(void **state)
{
    (void)state;
    struct result *r = play(", path: 1ms", "op: write");
    double there = two_links(4096 + 94, 16 + 94), back = two_links(0, 17 + 94);
    runs_near(mean(r), 1e-3 + there + 30e-6 + back, 0.005, "write");
    /* All goes to the other host's card, and to the array in the background. */
    runs_near(carried(r, "e1:f>s2:1"), (double)r->write.bytes * (4096 + 16 + 188) / 4096, 0.01, "copies");
    runs_near(carried(r, "a:c.n>s1:3") + carried(r, "s1:3>a:c.n"), (double)r->write.bytes, 0.25, "destaged");
    result_free(r);
}

static void a_read_is_in_either_card(void **state)
{
    (void)state;
    struct result *r = play(", read-hit: 100%", "op: read");
    double remote = two_links(0, 17 + 94) + 70e-6 + two_links(4096 + 94, 16 + 94);
    runs_near(mean(r), (remote + 70e-6) / 2, 0.01, "read");
    assert_true(carried(r, "e1:p>s1:1") == 0);
    result_free(r);
    r = play("", "op: read");
    assert_true(mean(r) > 1e-3);
    assert_true(carried(r, "e1:f>s2:1") == 0);
    result_free(r);
}

/* 1 MiB of room, destaged 64 KiB at a time to disks that take 1 ms: what is written is what the array takes. */
static void a_full_card_waits_for_the_array(void **state)
{
    (void)state;
    struct result *r = play(", dirty: 1MiB, destages: 1, destage: 64KiB", "op: write");
    double array = 65536 / 1e-3; /* without the way there */
    assert_true(r->write.rate < array && r->write.rate > 0.8 * array);
    result_free(r);
}

static void refused(const char *cards, const char *reason)
{
    char text[4096];
    struct diag d;
    snprintf(text, sizeof text, SITE, cards, "op: write");
    diag_init(&d, "text");
    struct topo_file *f = topo_file_parse("text", text, strlen(text), &d);
    assert_non_null(f);
    bool said = topo_load(f, NULL, &d) == NULL;
    for (size_t i = 0; said && i < d.count; i++)
        if (strstr(d.entries[i].text, reason))
            said = false;
    if (said || !d.count)
        fail_msg("`%s` was not refused with `%s`", cards, reason);
    topo_file_close(f);
    diag_free(&d);
}

static void what_does_not_fit_is_refused(void **state)
{
    (void)state;
    refused(", dirty: 400GB", "more than a card holds");
    char problem[256] = "";
    struct diag d;
    char text[4096];
    snprintf(text, sizeof text, SITE, "", "op: write");
    char *other = runs_replace(text, "interface: vmk2", "interface: vmk7");
    diag_init(&d, "text");
    struct topo_file *f = topo_file_parse("text", other, strlen(other), &d);
    assert_null(topo_load(f, NULL, &d));
    assert_non_null(strstr(d.entries[0].text, "no interface `vmk7`"));
    topo_file_close(f);
    diag_free(&d);
    free(other);
    diag_init(&d, "text");
    f = topo_file_parse("text", text, strlen(text), &d);
    struct sim_options o = {.detail = SIM_TRAIN, .seed = 1};
    assert_null(sim_run(topo_load(f, NULL, &d), &o, problem, sizeof problem));
    assert_non_null(strstr(problem, "call only"));
    topo_file_close(f);
    diag_free(&d);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_write_is_in_two_cards),
        cmocka_unit_test(a_read_is_in_either_card),
        cmocka_unit_test(a_full_card_waits_for_the_array),
        cmocka_unit_test(what_does_not_fit_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
