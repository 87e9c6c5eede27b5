/* Inputs of a file: read, checked, and moved by a factor in whatever case they stand in. */
#include "emu/model/topology_scale.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "emu/model/diag.h"
#include "emu/model/expect.h"
#include "emu/model/topology.h"
#include "emu/model/topology_file.h"

static const char head[] =
    "version: 1\n"
    "nodes:\n"
    "  h: {kind: linux, interfaces: {eth0: {address: 10.0.0.1/24}}}\n"
    "  n: {kind: nas, controllers: {c: {nics: e0}}, vips: {10.0.0.2/24: {}}, exports: {/v: {}}}\n"
    "links:\n"
    "  - {ends: [\"h:eth0\", \"n:c.e0\"], speed: 1G, delay: 50us}\n"
    "datastores: {d: {export: \"n:/v\", mounted: 10.0.0.2}}\n"
    "workloads: {w: {op: write, block: 10KB, outstanding: 3, for: 1s}}\n"
    "cases:\n"
    "  short: {}\n"
    "  long: {set: {workloads: {w: {for: 2.5s}}, links: [{ends: [\"h:eth0\", \"n:c.e0\"], speed: 10G}]}}\n";

static struct topo_file *parse(const char *inputs, struct diag *d)
{
    char text[4096];
    snprintf(text, sizeof text, "%s%s", head, inputs);
    diag_init(d, "test");
    struct topo_file *f = topo_file_parse("test", text, strlen(text), d);
    assert_non_null(f);
    return f;
}

static void numbers_move(void **state)
{
    (void)state;
    struct diag d;
    struct topo_file *f = parse("inputs:\n"
                                "  block: {at: workloads/w/block, basis: assumed}\n"
                                "  depth: {at: workloads/w/outstanding, basis: datasheet}\n"
                                "  cable: {at: [links/0/delay, workloads/w/for], basis: assumed}\n",
                                &d);
    bool moved;
    struct topo *t = topo_load(f, "short", &d), *s;
    assert_non_null(t);
    assert_int_equal(t->n_inputs, 3);
    s = topo_load_scaled(f, "short", &t->inputs[0], 1.2, &moved, &d);
    assert_true(moved);
    assert_int_equal(s->workloads[0].block, 12000);
    topo_free(s);
    s = topo_load_scaled(f, "short", &t->inputs[1], 0.8, &moved, &d); /* 2.4 are 2 */
    assert_true(moved);
    assert_int_equal(s->workloads[0].outstanding, 2);
    topo_free(s);
    s = topo_load_scaled(f, "short", &t->inputs[2], 1.5, &moved, &d);
    assert_true(s->links[0].delay == 75 * PS_PER_US);
    assert_true(s->workloads[0].duration == 3 * PS_PER_S / 2);
    topo_free(s);
    s = topo_load_scaled(f, "long", &t->inputs[2], 2, &moved, &d); /* the case has no delay */
    assert_true(moved);
    assert_true(s->workloads[0].duration == 5 * PS_PER_S);
    topo_free(s);
    topo_free(t);
    topo_file_close(f);
    diag_free(&d);
}

static void places_are_checked(void **state)
{
    (void)state;
    static const struct {
        const char *inputs, *message;
    } all[] = {
        {"inputs: {x: {at: workloads/w/nothing, basis: assumed}}\n", "there is no workloads/w/nothing"},
        {"inputs: {x: {at: workloads/w/op, basis: assumed}}\n", "workloads/w/op is no number but write"},
        {"inputs: {x: {at: links/7/speed, basis: assumed}}\n", "there is no links/7/speed"},
    };
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        struct diag d;
        struct topo_file *f = parse(all[i].inputs, &d);
        expect_check_file(f, &d);
        assert_int_equal(diag_count(&d, DIAG_ERROR), 1);
        assert_non_null(strstr(d.entries[0].text, all[i].message));
        topo_file_close(f);
        diag_free(&d);
    }
}

static void calibration_is_told(void **state)
{
    (void)state;
    static const struct {
        const char *inputs, *message;
    } all[] = {
        {"inputs: {x: {at: workloads/w/block, basis: calibrated}}\n", "says what it was `fitted-to`"},
        {"inputs: {x: {at: workloads/w/block, basis: assumed, fitted-to: it}}\n", "belongs to a calibrated input"},
        {"inputs: {x: {at: workloads/w/block, basis: assumed}}\n"
         "expect: [{value: short.write, min: 1, basis: stated, calibrated: x}]\n",
         "is assumed, not calibrated"},
        {"expect: [{value: short.write, min: 1, basis: stated, calibrated: y}]\n", "there is no input `y`"},
    };
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        struct diag d;
        struct topo_file *f = parse(all[i].inputs, &d);
        assert_null(topo_load(f, "short", &d));
        assert_int_equal(diag_count(&d, DIAG_ERROR), 1);
        assert_non_null(strstr(d.entries[0].text, all[i].message));
        topo_file_close(f);
        diag_free(&d);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_move),
        cmocka_unit_test(places_are_checked),
        cmocka_unit_test(calibration_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
