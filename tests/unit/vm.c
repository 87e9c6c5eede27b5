/* Virtual machines: their phases as a pure state machine against closed forms, and whole groups in a run. */
#include "emu/model/vm.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "emu/model/result.h"
#include "emu/model/topology.h"
#include "tests/support/runs.h"

/* Plays one machine whose operations take `latency` each; returns when it is over. */
struct play {
    uint64_t operations, writes, bytes;
    ps_t phase_end[8];
};

static ps_t play(const struct topo_vm_group *g, uint64_t seed, ps_t latency, struct play *p)
{
    enum { MOST = 64 };
    struct {
        ps_t at;
        unsigned phase;
    } out[MOST];
    size_t n = 0;
    struct vm v;
    ps_t now = 0, until = 0;
    memset(p, 0, sizeof *p);
    vm_init(&v, g, 0, seed);
    for (;;) {
        struct vm_operation o;
        ps_t next = PS_NEVER;
        switch (vm_next(&v, now, &o, &until)) {
        case VM_OPERATION:
            assert_true(n < MOST);
            out[n].at = now + latency;
            out[n++].phase = o.phase;
            p->operations++;
            p->writes += o.write;
            p->bytes += o.bytes;
            continue;
        case VM_PHASE:
            p->phase_end[v.phase] = now;
            continue;
        case VM_OVER:
            return now;
        case VM_WAIT:
            assert_true(until > now);
            next = until;
            break;
        case VM_BUSY:
            assert_true(n > 0);
            break;
        }
        for (size_t i = 0; i < n; i++)
            next = out[i].at < next ? out[i].at : next;
        now = next;
        for (size_t i = 0; i < n;)
            if (out[i].at <= now) {
                vm_done(&v, out[i].phase, now);
                out[i] = out[--n];
            } else {
                i++;
            }
    }
}

static void closed_round(void **state)
{
    (void)state;
    /* Bursts of three, one at a time: a round is 3 R + Z; 30 operations are ten rounds, the last without its pause. */
    const struct topo_vm_phase phase = {.name = "p",
                                        .share = 1,
                                        .operations = 30,
                                        .think = 25 * PS_PER_MS,
                                        .burst = 3,
                                        .outstanding = 1,
                                        .read_share = 1,
                                        .read_block = 4096,
                                        .even = true};
    const struct topo_vm_group g = {.phases = &phase, .n_phases = 1, .n_vms = 1};
    struct play p;
    ps_t end = play(&g, 1, 2 * PS_PER_MS, &p);
    assert_int_equal(p.operations, 30);
    assert_int_equal(p.writes, 0);
    assert_int_equal(p.bytes, 30 * 4096);
    /* The first pause is a part of one, drawn. */
    assert_true(end >= 10 * 6 * PS_PER_MS + 9 * 25 * PS_PER_MS && end <= 10 * 6 * PS_PER_MS + 10 * 25 * PS_PER_MS);
}

static void concurrent_burst(void **state)
{
    (void)state;
    const struct topo_vm_phase phase = {.name = "p",
                                        .share = 1,
                                        .length = 100 * PS_PER_S,
                                        .think = 25 * PS_PER_MS,
                                        .burst = 3,
                                        .outstanding = 3,
                                        .write_block = 512,
                                        .even = true};
    const struct topo_vm_group g = {.phases = &phase, .n_phases = 1, .n_vms = 1};
    struct play p;
    assert_true(play(&g, 1, 5 * PS_PER_MS, &p) == 100 * PS_PER_S);
    runs_near((double)p.operations, 3 * 100 / 0.030, 0.001, "X = b / (Z + R)"); /* three at once every 30 ms */
    assert_int_equal(p.writes, p.operations);
}

static void open_rate(void **state)
{
    (void)state;
    struct topo_vm_phase phase = {.name = "p",
                                  .share = 1,
                                  .iops = 16,
                                  .length = 1000 * PS_PER_S,
                                  .read_share = 0.13,
                                  .read_block = 32768,
                                  .write_block = 5120};
    const struct topo_vm_group g = {.phases = &phase, .n_phases = 1, .n_vms = 1};
    struct play p;
    play(&g, 7, PS_PER_MS, &p); /* exponential: 16,000 +- 1 % is 1.3 standard deviations */
    runs_near((double)p.operations, 16000, 0.03, "operations of an open phase");
    runs_near((double)p.writes / (double)p.operations, 0.87, 0.02, "share of writes");
    phase.even = true;
    play(&g, 7, PS_PER_MS, &p);
    assert_in_range(p.operations, 15999, 16001);
}

static void phases_follow(void **state)
{
    (void)state;
    const struct topo_vm_phase phases[] = {
        {.name = "wait", .share = 1, .length = 14 * PS_PER_S},
        {.name = "never", .share = 0, .length = PS_PER_S},
        {.name = "work",
         .share = 1,
         .operations = 9000,
         .burst = 1,
         .outstanding = 1,
         .read_block = 512,
         .write_block = 512},
    };
    const struct topo_vm_group g = {.phases = phases, .n_phases = 3, .n_vms = 1};
    struct play p;
    /* T = c + n L: 14 s and 9,000 round trips of 2 ms are 32 s. */
    assert_true(play(&g, 3, 2 * PS_PER_MS, &p) == 32 * PS_PER_S);
    assert_true(p.phase_end[0] == 14 * PS_PER_S && p.phase_end[1] == 0 && p.phase_end[2] == 32 * PS_PER_S);
}

static void shares_are_even(void **state)
{
    (void)state;
    const struct topo_vm_phase phase = {.share = 0.8};
    const struct topo_vm_group g = {.phases = &phase, .n_phases = 1};
    for (uint32_t n = 5; n <= 1000; n += 5) {
        uint32_t taken = 0;
        for (uint32_t i = 0; i < n; i++)
            taken += vm_takes_phase(&g, 0, i);
        assert_int_equal(taken, n / 5 * 4);
    }
}

#define SITE                                                                                       \
    "version: 1\n"                                                                                 \
    "nodes:\n"                                                                                     \
    "  h: {kind: linux, interfaces: {eth0: {address: 10.0.0.1/24}}}\n"                             \
    "  n: {kind: nas, controllers: {c: {nics: e0}}, vips: {10.0.0.2/24: {}}, exports: {/v: {}}}\n" \
    "links: [{ends: [\"h:eth0\", \"n:c.e0\"], speed: 10G}]\n"                                      \
    "datastores: {d: {export: \"n:/v\", mounted: 10.0.0.2}}\n"

/* Starts at rate g, each lasts d: all are through after (N - 1) / g + d, and min(N, g d) overlap. */
static void start_storm(void **state)
{
    (void)state;
    struct result *r =
        runs_text(SITE "vm-groups: {g: {total: 100, start: {rate: 2}, phases: [{name: boot, iops: 10, for: 20s}]}}\n",
                  NULL, SIM_CALL, 1);
    const struct result_vm_group *g = &r->vm_groups[0];
    assert_int_equal(g->through, 100);
    assert_true(g->phases[0].first == 0);
    runs_near((double)g->phases[0].last / 1e12, 99 / 2.0 + 20, 0.0001, "last through");
    runs_near(result_vm_peak(r, 0), 2 * 20 * 10, 0.08, "peak"); /* 40 machines of 10 IOPS, by bins of 4,000 */
    result_free(r);
}

/* 32 launchers that wait for `until`: N / 32 rounds of its time. */
static void launchers(void **state)
{
    (void)state;
    struct result *r = runs_text(SITE "vm-groups: {g: {total: 320, start: {at-most: 32, until: login}, for: 800s,\n"
                                      "  phases: [{name: login, iops: 1, for: 69s}, {name: steady, iops: 0.1}]}}\n",
                                 NULL, SIM_CALL, 1);
    const struct result_vm_phase *login = &r->vm_groups[0].phases[0];
    assert_int_equal(login->machines, 320);
    assert_true(login->last == 690 * PS_PER_S);
    assert_int_equal(r->vm_groups[0].through, 0); /* steady until the end */
    assert_true(r->vm_groups[0].phases[1].operations[0] > 0);
    result_free(r);
}

static void a_throttle_and_a_limit(void **state)
{
    (void)state;
    /* A storage of 1,000 IOPS: ten machines at a time, one operation each, of 500 in all. */
    static const char limit[] = "exports: {/v: {}}, storage: {limit: {iops: 1000}}";
    char *site =
        runs_replace(SITE "vm-groups: {g: {total: 50, start: {at-most: 10}, phases: [{name: p, operations: 100}]}}\n",
                     "exports: {/v: {}}", limit);
    struct result *r = runs_text(site, NULL, SIM_CALL, 1);
    const struct result_vm_phase *p = &r->vm_groups[0].phases[0];
    runs_near((double)p->last / 1e12, 5, 0.01, "5,000 operations at 1,000 a second");
    runs_near(p->latency_sum / (double)(p->operations[0] + p->operations[1]), 0.010, 0.02, "Little: N = X R");
    result_free(r);
    free(site);
}

/* What the disks did: a mirror writes twice and reads once. */
static void disks_are_counted(void **state)
{
    (void)state;
    static const char ssd[] =
        "exports: {/v: {}}, storage: {groups: {g: {medium: ssd, read: 0.1ms, write: 0.1ms, size: 100GB, "
        "disks: 4, raid: raid-10}}}";
    for (int reads = 0; reads < 2; reads++) {
        char *site =
            runs_replace(SITE "vm-groups: {g: {total: 10, phases: [{name: p, operations: 100, read-share: 0%}]}}\n",
                         "exports: {/v: {}}", ssd);
        char *text = runs_replace(site, "read-share: 0%", reads ? "read-share: 100%" : "read-share: 0%");
        struct result *r = runs_text(text, NULL, SIM_CALL, 1);
        assert_int_equal(r->n_disks, 1);
        const struct result_disks *d = &r->disks[0];
        assert_true(d->counted);
        assert_string_equal(d->name, "n:g");
        assert_int_equal(d->reads, reads ? 1000 : 0);
        assert_int_equal(d->writes, reads ? 0 : 2000);
        assert_int_equal(d->read_bytes, d->reads * 4096);
        assert_int_equal(d->write_bytes, d->writes * 4096);
        assert_true(d->busy > 0);
        result_free(r);
        free(text);
        free(site);
    }
}

/* Only the machines of the host that works; the others' turns pass. */
static void one_host_only(void **state)
{
    (void)state;
    char *two = runs_replace(SITE "vm-groups: {g: {total: 10, start: {rate: 1}, phases: [{name: p, operations: 5}]}}\n",
                             "  h: {kind: linux, interfaces: {eth0: {address: 10.0.0.1/24}}}\n",
                             "  h: {kind: linux, interfaces: {eth0: {address: 10.0.0.1/24}}}\n"
                             "  i: {kind: linux, interfaces: {eth0: {address: 10.0.0.3/24}}}\n"
                             "  s: {kind: switch}\n");
    char *text =
        runs_replace(two, "[{ends: [\"h:eth0\", \"n:c.e0\"], speed: 10G}]",
                     "[{ends: [\"[h,i]:eth0\", \"s:[1-2]\"], speed: 10G}, {ends: [\"n:c.e0\", \"s:3\"], speed: 10G}]");
    const struct sim_options o = {.detail = SIM_CALL, .seed = 1, .host = "i"};
    struct result *r = runs_options(text, NULL, &o);
    assert_int_equal(r->vm_groups[0].machines, 10);
    assert_int_equal(r->vm_groups[0].through, 5);
    assert_true(r->vm_groups[0].phases[0].first == PS_PER_S); /* the second in turn */
    assert_int_equal(r->vm_groups[0].phases[0].operations[0] + r->vm_groups[0].phases[0].operations[1], 25);
    result_free(r);
    free(text);
    free(two);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(closed_round),  cmocka_unit_test(concurrent_burst),       cmocka_unit_test(open_rate),
        cmocka_unit_test(phases_follow), cmocka_unit_test(shares_are_even),        cmocka_unit_test(start_storm),
        cmocka_unit_test(launchers),     cmocka_unit_test(a_throttle_and_a_limit), cmocka_unit_test(disks_are_counted),
        cmocka_unit_test(one_host_only),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
