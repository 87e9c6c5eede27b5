/* The presets are as the schema wants them, each makes a storage by itself, and what the file says beside one wins. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "emu/model/schema.h"
#include "emu/model/storage_forms.h"
#include "emu/model/storage_load.h"
#include "emu/model/storage_schema.h"
#include "emu/model/topology.h"
#include "emu/model/topology_file.h"
#include "emu/model/topology_yaml.h"

extern const unsigned char storage_presets[];
extern const size_t storage_presets_size;

static const struct doc_node *presets(struct topo_arena *a, struct diag *d)
{
    struct schema_report report;
    size_t names = 0;
    struct doc_node *tree = topology_yaml_read(a, (const char *)storage_presets, storage_presets_size, d);
    assert_non_null(tree);
    schema_report_init(&report, a, d);
    tree = schema_expand(tree, &storage_schema_presets, &report, &names);
    schema_check(tree, &storage_schema_presets, false, &report);
    assert_false(report.failed);
    return tree;
}

/* The topology with this storage; fails the test unless it reads. */
static struct topo *with(const char *storage)
{
    char text[2048];
    struct diag d;
    snprintf(text, sizeof text,
             "version: 1\nnodes:\n  h: {kind: linux, interfaces: {e: {address: 10.0.0.1/24}}}\n  s: {kind: switch}\n"
             "  n: {kind: nas, controllers: {\"c[2,1]\": {nics: e}}, vips: {10.0.0.9/24: {}}, exports: {/x: {}}, "
             "storage: %s}\n"
             "links:\n  - {ends: [\"h:e\", \"s:1\"], speed: 1G}\n  - {ends: [\"n:c[1-2].e\", \"s:[2-3]\"], speed: 1G}\n"
             "datastores: {d: {export: \"n:/x\", mounted: 10.0.0.9}}\n",
             storage);
    diag_init(&d, storage);
    struct topo_file *f = topo_file_parse(storage, text, strlen(text), &d);
    struct topo *t = f ? topo_load(f, NULL, &d) : NULL;
    if (!t)
        diag_print_text(&d, stderr, false);
    assert_non_null(t);
    topo_file_close(f);
    diag_free(&d);
    return t;
}

static const struct storage_model *model_of(const struct topo *t)
{
    for (size_t i = 0; i < t->n_nodes; i++)
        if (t->nodes[i].storage)
            return t->nodes[i].storage;
    fail_msg("no storage");
    return NULL;
}

static void every_preset_and_device_reads(void **state)
{
    (void)state;
    struct topo_arena *a = arena_new();
    struct diag d;
    char text[256];
    diag_init(&d, "presets");
    const struct doc_node *tree = presets(a, &d), *storages = doc_get(tree, "storages"),
                          *devices = doc_get(tree, "devices");
    assert_true(storages->count >= 6 && devices->count >= 10);
    for (size_t i = 0; i < storages->count; i++) {
        snprintf(text, sizeof text, "{preset: %s}", storages->pairs[i].key);
        struct topo *t = with(text);
        const struct storage_model *m = model_of(t);
        assert_string_equal(m->preset, storages->pairs[i].key);
        for (int write = 0; write < 2; write++) {
            double rate = storage_stream_rate(m, 2, write, 65536);
            assert_true(rate > 50e6 && rate < 20e9);
        }
        topo_free(t);
    }
    for (size_t i = 0; i < devices->count; i++) {
        snprintf(text, sizeof text, "{groups: {g: {device: %s, disks: 4, raid: raid-10}}}", devices->pairs[i].key);
        struct topo *t = with(text);
        double ms = storage_request(&model_of(t)->groups[0].disk, 1, 8192, false) * 1e3;
        assert_true(ms > 0.02 && ms < 15);
        topo_free(t);
    }
    diag_free(&d);
    arena_free(a);
}

static void the_file_wins(void **state)
{
    (void)state;
    struct topo *t = with("{preset: fs7500-ps6100x, concurrency: 7, cache: {dirty: 5MiB}, "
                          "groups: {pool: {device: savvio-10k-300, arrays: 3, rpm: 15000}}}");
    const struct storage_model *m = model_of(t);
    assert_int_equal(m->concurrency, 7);
    assert_int_equal(m->cache.dirty, 5 << 20);
    assert_int_equal(m->cache.size, 48000000000); /* the preset's */
    assert_int_equal(m->groups[0].disks, 66);
    assert_int_equal(m->groups[0].spares, 6);
    assert_int_equal(m->groups[0].disk.size, 300000000000); /* the device's */
    assert_int_equal(m->groups[0].disk.turn, 4 * PS_PER_MS);
    topo_free(t);
    t = with("{preset: fs7500-ps6100x, cache: null, back-end: null}"); /* a null deletes */
    assert_false(model_of(t)->cache.write_back);
    assert_int_equal(model_of(t)->back_end.links, 0);
    topo_free(t);
}

/* Systems are dealt by the names of the controllers, wherever they stand in the file. */
static void systems_go_by_names(void **state)
{
    (void)state;
    struct topo *t = with("{preset: fs7500-ps6100x, systems: 2}");
    const struct storage_model *m = model_of(t);
    for (size_t b = 0; b < t->n_boxes; b++)
        if (t->boxes[b].part)
            assert_int_equal(m->system_of[(int)b - t->nodes[t->boxes[b].node].first_box],
                             strcmp(t->boxes[b].part, "c2") == 0);
    topo_free(t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_preset_and_device_reads),
        cmocka_unit_test(the_file_wins),
        cmocka_unit_test(systems_go_by_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
