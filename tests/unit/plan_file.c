/* Plan files: read, held against the file they were made for, and applied. */
#include "emu/report/plan_file.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "emu/model/topology.h"

#define SITE_HEAD "version: 1\nname: a\nnodes:\n"
#define SITE_ESX                                                                                                    \
    "  esx1: {kind: esxi, vswitches: {v: {uplinks: 'vmnic[0-1]', teaming: ip-hash}}, vmknics: {vmk1: {vswitch: v, " \
    "address: 10.0.0.11/24}}}\n"
#define SITE_NAS                                                                                        \
    "  nas: {kind: nas, controllers: {c: {nics: [e0]}}, vips: {10.0.0.101/24: {}, 10.0.0.102/24: {}}, " \
    "exports: {/a: {}, /b: {}}}\n"
#define SITE_SWITCH "  sw: {kind: switch, hash: xor-src-dst-ip, lags: {po1: {to: 'esx1:v', mode: static}}}\n"
#define SITE_LINKS                                                      \
    "links:\n  - {ends: ['esx1:vmnic[0-1]', 'sw:p[0-1]'], speed: 1G}\n" \
    "  - {ends: ['nas:c.e0', 'sw:p2'], speed: 1G}\n"
#define SITE_LINKS_TURNED                                    \
    "links:\n  - {ends: ['sw:p2', 'nas:c.e0'], speed: 1G}\n" \
    "  - {ends: ['esx1:vmnic[0-1]', 'sw:p[0-1]'], speed: 1G}\n"
#define SITE_DS \
    "datastores:\n  a: {export: 'nas:/a', mounted: 10.0.0.101}\n  b: {export: 'nas:/b', mounted: 10.0.0.101}\n"
#define SITE_NEW "datastores:\n  a: {export: 'nas:/a'}\n  b: {export: 'nas:/b', server: b.example}\n"
#define SITE     SITE_HEAD SITE_ESX SITE_NAS SITE_SWITCH SITE_LINKS SITE_DS

static struct topo_file *parse(const char *text, struct diag *d)
{
    diag_init(d, "site.yaml");
    struct topo_file *f = topo_file_parse("site.yaml", text, strlen(text), d);
    if (!f)
        diag_print_text(d, stderr, true);
    assert_non_null(f);
    return f;
}

/* A plan file with the fingerprint of `text` and these assignments. */
static struct plan_file *plan_for(const char *text, const char *assignments)
{
    char path[] = "/tmp/plan-file-XXXXXX", problem[256];
    struct plan_part *parts;
    struct diag d;
    struct topo_file *f = parse(text, &d);
    long n = plan_parts(f, NULL, &parts, &d);
    FILE *out = fdopen(mkstemp(path), "w");
    fprintf(out, "{\"schema\": \"nfsbal-plan/1\", \"case\": null, \"assignments\": [%s], \"fingerprint\": [",
            assignments);
    for (long i = 0; i < n; i++)
        fprintf(out, "%s{\"part\": \"%s\", \"hash\": \"%016llx\"}", i ? ", " : "", parts[i].name,
                (unsigned long long)parts[i].hash);
    fprintf(out, "]}");
    fclose(out);
    struct plan_file *p = plan_file_load(path, problem, sizeof problem);
    unlink(path);
    if (!p)
        fail_msg("%s", problem);
    p->path = "plan.json";
    plan_parts_free(parts, (size_t)n);
    topo_file_close(f);
    diag_free(&d);
    return p;
}

static void test_apply(void **unused)
{
    struct diag d;
    struct plan_file *p = plan_for(
        SITE, "{\"datastore\": \"b\", \"vip\": \"10.0.0.102\", \"server\": \"10.0.0.102\", \"hosts\": [\"esx1\"]}");
    struct topo_file *f = parse(SITE, &d);
    struct topo *t = plan_file_topo(p, f, NULL, &d);
    (void)unused;
    assert_non_null(t);
    assert_int_equal(t->n_mounts, 2);
    assert_string_equal(t->mounts[0].server, "10.0.0.101");
    assert_string_equal(t->mounts[1].server, "10.0.0.102");
    assert_string_equal(t->vips[t->mounts[1].vip].text, "10.0.0.102");
    topo_free(t);
    topo_file_close(f);
    plan_file_free(p);
    diag_free(&d);
}

/* A site without mounts gets them, and a name of a datastore's own resolves to what the plan says. */
static void test_new_site(void **unused)
{
    static const char text[] = SITE_HEAD SITE_ESX SITE_NAS SITE_SWITCH SITE_LINKS SITE_NEW;
    struct diag d;
    struct plan_file *p = plan_for(
        text, "{\"datastore\": \"a\", \"vip\": \"10.0.0.101\", \"server\": \"10.0.0.101\", \"hosts\": [\"esx1\"]},"
              "{\"datastore\": \"b\", \"vip\": \"10.0.0.102\", \"server\": \"b.example\", \"hosts\": [\"esx1\"]}");
    struct topo_file *f = parse(text, &d);
    struct topo *t = plan_file_topo(p, f, NULL, &d);
    (void)unused;
    assert_non_null(t);
    assert_int_equal(t->n_mounts, 2);
    assert_string_equal(t->mounts[1].server, "b.example");
    assert_string_equal(t->vips[t->mounts[1].vip].text, "10.0.0.102");
    assert_true(t->n_workloads > 0 && t->workloads[0].n_mounts == 2);
    topo_free(t);
    topo_file_close(f);
    plan_file_free(p);
    diag_free(&d);
}

/* What has changed is named; order, names of the site and workloads don't count. */
static void test_fits(void **unused)
{
    static const struct {
        const char *text, *named;
    } rows[] = {
        {SITE, NULL},
        {"version: 1\nname: other\nnodes:\n" SITE_SWITCH SITE_NAS SITE_ESX SITE_DS SITE_LINKS_TURNED
         "workloads: {w: {host: esx1, datastores: [a], op: write, for: 5s}}\n",
         NULL},
        {SITE_HEAD SITE_ESX
         "  nas: {kind: nas, controllers: {c: {nics: [e0]}}, vips: {10.0.0.101/24: {}, 10.0.0.103/24: {}}, exports: "
         "{/a: {}, /b: {}}}\n" SITE_SWITCH SITE_LINKS SITE_DS,
         "node nas has changed"},
        {SITE "  c: {export: 'nas:/b', mounted: 10.0.0.102}\n", "datastore c has been added"},
        {SITE_HEAD SITE_ESX SITE_NAS SITE_SWITCH SITE_LINKS
         "datastores: {a: {export: 'nas:/a', mounted: 10.0.0.101}}\n",
         "datastore b has been removed"},
        {SITE_HEAD SITE_ESX SITE_NAS SITE_SWITCH
         "links:\n  - {ends: ['esx1:vmnic[0-1]', 'sw:p[0-1]'], speed: 1G}\n  - {ends: ['nas:c.e0', 'sw:p2'], speed: "
         "10G}\n" SITE_DS,
         "links has changed"},
    };
    struct plan_file *p = plan_for(SITE, "");
    (void)unused;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct diag d;
        struct topo_file *f = parse(rows[i].text, &d);
        assert_int_equal(plan_file_fits(p, f, NULL, &d), rows[i].named == NULL);
        assert_int_equal(d.count, rows[i].named != NULL);
        if (rows[i].named)
            assert_non_null(strstr(d.entries[0].text, rows[i].named));
        topo_file_close(f);
        diag_free(&d);
    }
    plan_file_free(p);
}

/* An assignment that names something unknown is an error, not a mount left as it was. */
static void test_dangling(void **unused)
{
    static const struct topo_assignment rows[] = {
        {"c", "esx1", "10.0.0.101", "10.0.0.101"},
        {"a", "esx2", "10.0.0.101", "10.0.0.101"},
        {"a", "esx1", "10.0.0.109", "10.0.0.109"},
    };
    (void)unused;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct diag d;
        struct topo_file *f = parse(SITE, &d);
        assert_null(topo_load_assigned(f, NULL, &rows[i], 1, &d));
        assert_true(diag_count(&d, DIAG_ERROR) > 0);
        topo_file_close(f);
        diag_free(&d);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_apply),
        cmocka_unit_test(test_new_site),
        cmocka_unit_test(test_fits),
        cmocka_unit_test(test_dangling),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
