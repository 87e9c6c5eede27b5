/* needs: full. The parts of a live storage that need no kernel: what is a stream, and sites in small. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "emu/live/store.h"
#include "emu/live/store_pattern.h"
#include "emu/model/diag.h"
#include "emu/model/random.h"
#include "emu/model/result.h"
#include "emu/model/storage.h"
#include "emu/model/storage_load.h"
#include "emu/model/topology.h"
#include "emu/model/topology_file.h"
#include "emu/model/topology_images.h"
#include "tests/support/seed.h"

enum { BLOCK = 65536, OUT = 16 };

/* Sixteen requests out, that come in any order: all but the first few belong to a stream, also after the file has begun anew. */
static void shuffled_stream(void **state)
{
    struct random r = random_stream(test_seed(), "pattern");
    struct store_pattern p = {0};
    unsigned missed = 0;
    (void)state;
    for (int lap = 0; lap < 2; lap++)
        for (uint64_t group = 0; group < 20; group++) {
            uint64_t order[OUT];
            for (uint64_t i = 0; i < OUT; i++) {
                uint64_t k = random_below(&r, i + 1);
                order[i] = order[k];
                order[k] = i;
            }
            for (int i = 0; i < OUT; i++)
                missed += !store_pattern_begin(&p, (group * OUT + order[i]) * BLOCK, BLOCK);
            for (int i = 0; i < OUT; i++)
                store_pattern_end(&p, BLOCK);
        }
    assert_in_range(missed, 1, 2 * OUT);
    assert_int_equal(p.most, OUT * BLOCK);
    assert_int_equal(p.out, 0);
}

static void random_is_none(void **state)
{
    struct random r = random_stream(test_seed(), "pattern");
    struct store_pattern p = {0};
    unsigned sequential = 0;
    (void)state;
    for (int i = 0; i < 2000; i++) {
        sequential += store_pattern_begin(&p, random_below(&r, 65536) * 4096, 4096);
        store_pattern_end(&p, 4096);
    }
    assert_int_equal(sequential, 0);
}

static struct topo *load(const char *path, const char *case_name)
{
    struct diag d;
    diag_init(&d, path);
    struct topo_file *f = topo_file_open(path, &d);
    assert_non_null(f);
    struct topo *t = topo_load(f, case_name, &d);
    assert_non_null(t);
    topo_file_close(f);
    diag_free(&d);
    return t;
}

static int node_named(const struct topo *t, const char *name)
{
    for (size_t i = 0; i < t->n_nodes; i++)
        if (!strcmp(t->nodes[i].name, name))
            return (int)i;
    fail_msg("no %s", name);
    return -1;
}

/* Bytes and caches become less, how far the heads go does not, and times come out as of the whole. */
static void images(void **state)
{
    struct topo *t = load("topologies/fs7500/clone.yaml", "four-vms");
    int nas = node_named(t, "fs7500");
    const struct storage_model *whole = t->nodes[nas].storage;
    uint64_t dirty = whole->cache.dirty, bytes = t->workloads[0].bytes, visit = whole->groups[0].destage;
    double placed = storage_placed(t, nas);
    (void)state;
    assert_true(store_wanted(t, nas));
    assert_false(store_wanted(t, node_named(t, "pc7048")));
    topo_images(t, 0.25);
    assert_int_equal(t->workloads[0].bytes, bytes / 4);
    assert_true(storage_placed(t, nas) > 0.999999 * placed && storage_placed(t, nas) < 1.000001 * placed);
    assert_int_equal(t->nodes[nas].storage->cache.dirty, dirty / 4);
    assert_int_equal(whole->cache.dirty, dirty);
    topo_caches(t, 0.0001);
    assert_int_equal(t->nodes[nas].storage->cache.dirty, 16 * visit);

    struct result *r = result_new(t, "live", 1, 1, 1);
    assert_non_null(r);
    r->duration = 10 * PS_PER_S;
    r->phases[0].end = PS_NEVER;
    r->jobs[0].finished = 3 * PS_PER_S;
    r->jobs[1].finished = -1;
    r->read.bytes = 100;
    result_images(r);
    assert_int_equal(r->duration, 40 * PS_PER_S);
    assert_int_equal(r->jobs[0].finished, 12 * PS_PER_S);
    assert_int_equal(r->jobs[1].finished, -1);
    assert_int_equal(r->read.bytes, 400);
    result_free(r);
}

static void machines_in_part(void **state)
{
    struct topo *t = load("topologies/nexenta/nexenta.yaml", "gig");
    const struct topo_vm_phase *whole = t->vm_groups[0].phases;
    ps_t length = whole[0].length;
    uint64_t operations = whole[1].operations;
    (void)state;
    topo_images(t, 0.01);
    assert_int_equal(t->vm_groups[0].phases[0].length, length / 100);
    assert_int_equal(t->vm_groups[0].phases[1].operations, (operations + 99) / 100);
    assert_int_equal(t->vm_groups[0].phases[0].operations, 0);
    topo_free(t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shuffled_stream),
        cmocka_unit_test(random_is_none),
        cmocka_unit_test(images),
        cmocka_unit_test(machines_in_part),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
