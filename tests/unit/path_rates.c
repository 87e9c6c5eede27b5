/* Wire arithmetic, the list of flows, and what flows get together; docs/model.md has the same numbers worked out. */
#include "emu/model/path_site.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "emu/model/topology_file.h"
#include "tests/support/path_site.h"

static void assert_near(double value, double want, double within)
{
    if (fabs(value - want) > within)
        fail_msg("%.6f is not %.6f", value, want);
}

/* Efficiency, MB/s of TCP payload on 1 GbE, MB/s of NFS data in operations of 64 KiB. */
static void test_goodput(void **unused)
{
    static const struct {
        uint32_t mtu;
        bool timestamps;
        double efficiency, tcp, nfs;
    } rows[] = {
        {1500, false, 0.94928, 118.66, 118.42},
        {1500, true, 0.94148, 117.69, 117.45},
        {9000, false, 0.99137, 123.92, 123.67},
        {9000, true, 0.99004, 123.76, 123.51},
    };

    (void)unused;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        double tcp = path_goodput(1000000000, rows[i].mtu, false, false, rows[i].timestamps, 0, true);
        double write = path_goodput(1000000000, rows[i].mtu, false, false, rows[i].timestamps, 65536, true);
        double read = path_goodput(1000000000, rows[i].mtu, false, false, rows[i].timestamps, 65536, false);

        assert_near(tcp / 125e6, rows[i].efficiency, 0.5e-5);
        assert_near(tcp / 1e6, rows[i].tcp, 0.005);
        /* 132 bytes of headers in a WRITE call and in a READ reply alike (emu/model/nfs.h). */
        assert_near(write, tcp * 65536 / 65668, 1);
        assert_near(read, tcp * 65536 / 65668, 1);
        assert_near(write / 1e6, rows[i].nfs, 0.005);
    }
    /* A VLAN tag takes four bytes of each frame: 8948 of 9042. */
    assert_near(path_goodput(1000000000, 9000, true, false, true, 0, true) / 1e6, 123.70, 0.005);
    assert_near(path_goodput(UINT64_C(10000000000), 9000, true, false, true, 0, true) / 1e6, 1237.0, 0.05);
    assert_near(path_goodput(1000000000, 1500, false, true, true, 0, true) / 1e6, 125 * 1428 / 1538.0, 0.005);
    assert_true(path_goodput(1000000000, 40, false, false, false, 0, true) <= 0);
}

static void test_flow_list(void **unused)
{
    struct topo *t = site_load("topologies/examples/pve-truenas.yaml", NULL);
    struct flow *flows;
    long n = flow_list(t, &flows);

    (void)unused;
    /* Per host vm-a 4, iso and backup 1 each; vm-b uses those of vm-a. */
    assert_int_equal(n, 12);
    for (long i = 0; i < n; i++) {
        assert_int_equal(flows[i].sport_origin, TOPO_DRAWN);
        assert_int_equal(flows[i].dport, 2049);
        for (long k = 0; k < i; k++)
            assert_false(flows[k].iface == flows[i].iface && flows[k].sport == flows[i].sport);
    }
    free(flows);
    topo_free(t);
}

static struct path_site *site_of(const struct topo *t)
{
    struct flow *flows;
    long n = flow_list(t, &flows);
    struct path_site *s = path_site_new(t, flows, (size_t)n);

    assert_non_null(s);
    free(flows);
    return s;
}

static int mount_of(const struct topo *t, const char *datastore, const char *host)
{
    return site_flow(t, datastore, host, 0).mount;
}

/* Six of twelve datastores on one uplink; twelve of 36 flows on the fullest NAS link that it meets. */
static void test_plant_b(void **unused)
{
    struct topo *t = site_load("topologies/examples/plant-b.yaml", NULL);
    struct path_site *s = site_of(t);
    struct path_rates r;
    double one = path_goodput(1000000000, 9000, true, false, true, 65536, true), rate;

    (void)unused;
    assert_int_equal(s->n_flows, 72);
    assert_near(path_site_count(s, site_linkdir(t, "esx1:vmnic4>stack1:gi2/0/1"), -1, FLOW_WRITE), 6, 1e-9);
    assert_near(path_site_count(s, site_linkdir(t, "stack1:gi2/0/21>fas:n1.e0e"), -1, FLOW_WRITE), 12, 1e-9);
    assert_near(path_site_count(s, site_linkdir(t, "stack1:gi2/0/21>fas:n1.e0e"), topo_find_box(t, "esx5"), FLOW_WRITE),
                6, 1e-9);
    assert_near(path_site_count(s, site_linkdir(t, "fas:n1.e0e>stack1:gi2/0/21"), -1, FLOW_READ), 18, 1e-9);
    assert_near(path_site_count(s, site_linkdir(t, "fas:n1.e0f>stack1:gi2/0/22"), -1, FLOW_READ), 0, 1e-9);

    assert_int_equal(path_site_rates(s, mount_of(t, "ds01", "esx1"), FLOW_WRITE, &r), 0);
    assert_near(r.alone, one, 1);
    assert_near(r.least, one, 1);
    assert_near(r.host, one / 6, 1);
    assert_near(r.all, one / 12, 1);
    assert_int_equal(path_site_host_rate(s, topo_find_box(t, "esx1"), FLOW_WRITE, &rate), 0);
    assert_near(rate, 2 * one, 1);
    path_site_free(s);
    topo_free(t);
}

/* A mount without connections of its own on Linux: it and its owner share what these get, and count once. */
static void test_shared_transport(void **unused)
{
    struct topo *t = site_load("topologies/examples/pve-truenas.yaml", NULL);
    struct path_site *s = site_of(t);
    size_t a = s->first_flow[mount_of(t, "vm-a", "pve1")], b = s->n_flows;
    double sum = 0;

    (void)unused;
    for (size_t f = 0; f < s->n_flows; f++) {
        const struct topo_mount *m = &t->mounts[s->flows[f].mount];

        if (strcmp(t->datastores[m->datastore].name, "vm-b") == 0 && strcmp(t->boxes[m->host].name, "pve1") == 0 &&
            b == s->n_flows)
            b = f;
        sum += s->counts[f];
    }
    assert_true(b < s->n_flows);
    assert_near(sum, 12, 1e-9);
    assert_near(s->weights[a], 0.5, 1e-9);
    assert_near(s->all[FLOW_WRITE][a], s->all[FLOW_WRITE][b], 1);
    path_site_free(s);
    topo_free(t);
}

/* Traffic of others takes its part of a link away, and storage is one more limit. */
static void test_background_and_storage(void **unused)
{
    struct topo *t =
        site_parse("version: 1\nname: limits\nnodes:\n"
                   "  pve: {kind: linux, interfaces: {eno1: {address: 10.0.0.11/24}}}\n"
                   "  nas: {kind: nas, controllers: {c: {nics: [e0]}}, vips: {10.0.0.101/24: {}}, exports: {/a: "
                   "{}}, storage: {limit: {read: 60MB/s, write: 500MB/s}}}\n"
                   "links:\n  - {ends: ['pve:eno1', 'nas:c.e0'], speed: 1G}\n"
                   "datastores: {'ds[1-2]': {export: 'nas:/a', mounted: 10.0.0.101}}\n"
                   "background: [{link: 'pve:eno1', load: 25%}]\n",
                   NULL);
    struct path_site *s = site_of(t);
    double one = path_goodput(1000000000, 1500, false, false, true, t->stacks[0].wsize, true), utilisation;

    (void)unused;
    /* Two mounts over one connection. */
    assert_int_equal(s->n_flows, 2);
    assert_near(path_site_count(s, site_linkdir(t, "pve:eno1>nas:c.e0"), -1, FLOW_WRITE), 1, 1e-9);
    assert_near(s->all[FLOW_WRITE][0] * (double)s->n_flows, 0.75 * one, 1);
    assert_near(s->all[FLOW_READ][0] * (double)s->n_flows, 60e6, 1);
    assert_int_equal(path_site_all_busy(s), 0);
    assert_near(predict_wire(s->predict[FLOW_WRITE], site_linkdir(t, "pve:eno1>nas:c.e0"), &utilisation), 0.75 * 125e6,
                1);
    assert_near(utilisation, 1, 1e-9);
    path_site_free(s);
    topo_free(t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_goodput),
        cmocka_unit_test(test_flow_list),
        cmocka_unit_test(test_plant_b),
        cmocka_unit_test(test_shared_transport),
        cmocka_unit_test(test_background_and_storage),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
