#include "tests/support/path_site.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "emu/model/topology_file.h"

struct topo *site_parse(const char *text, const char *case_name)
{
    struct diag d;
    struct topo_file *f;
    struct topo *t;

    diag_init(&d, "site.yaml");
    f = topo_file_parse("site.yaml", text, strlen(text), &d);
    t = f ? topo_load(f, case_name, &d) : NULL;
    if (!t || diag_count(&d, DIAG_ERROR) > 0) {
        diag_print_text(&d, stderr, true);
        fail();
    }
    topo_file_close(f);
    diag_free(&d);
    return t;
}

struct topo *site_load(const char *path, const char *case_name)
{
    struct diag d;
    struct topo_file *f;
    struct topo *t;

    diag_init(&d, path);
    f = topo_file_open(path, &d);
    assert_non_null(f);
    t = topo_load(f, case_name, &d);
    assert_non_null(t);
    topo_file_close(f);
    diag_free(&d);
    return t;
}

struct flow site_flow(const struct topo *t, const char *datastore, const char *host, int connection)
{
    struct flow *flows, found = {.mount = -1};
    long n = flow_list(t, &flows);

    assert_true(n >= 0);
    for (long i = 0; i < n; i++) {
        const struct topo_mount *m = &t->mounts[flows[i].mount];

        if (strcmp(t->datastores[m->datastore].name, datastore) == 0 && strcmp(t->boxes[m->host].name, host) == 0 &&
            flows[i].connection == connection)
            found = flows[i];
    }
    free(flows);
    assert_true(found.mount >= 0);
    return found;
}

static void print_path(const struct topo *t, const struct path *p)
{
    for (size_t h = 0; h < p->n_hops; h++)
        print_message("  %s: %s %s\n", t->boxes[p->hops[h].box].name,
                      p->hops[h].linkdir >= 0 ? topo_linkdir_name(t, p->hops[h].linkdir) : "no index", p->hops[h].why);
    if (p->end != PATH_OK)
        print_message("  %s\n", p->problem);
}

void expect_path(const struct topo *t, const struct path_state *state, const struct flow *flow, enum flow_direction d,
                 enum path_end end, const char *const *links, size_t n)
{
    struct path p;
    bool good;

    path_walk(t, state, flow, d, true, &p);
    good = p.end == end && p.n_hops == n;
    for (size_t h = 0; good && h < n; h++)
        good = strcmp(links[h], p.hops[h].linkdir >= 0 ? topo_linkdir_name(t, p.hops[h].linkdir) : "-") == 0;
    if (!good) {
        print_path(t, &p);
        fail_msg("another path, end %d", (int)p.end);
    }
}

void expect_write(const struct topo *t, const char *datastore, const char *host, const char *const *links, size_t n)
{
    struct flow f = site_flow(t, datastore, host, 0);

    expect_path(t, NULL, &f, FLOW_WRITE, PATH_OK, links, n);
}

void expect_read(const struct topo *t, const char *datastore, const char *host, const char *const *links, size_t n)
{
    struct flow f = site_flow(t, datastore, host, 0);

    expect_path(t, NULL, &f, FLOW_READ, PATH_OK, links, n);
}

const char *label_of(const struct topo *t, const char *datastore, const char *host, enum flow_direction d, size_t hop)
{
    struct flow f = site_flow(t, datastore, host, 0);
    struct path p;

    path_walk(t, NULL, &f, d, false, &p);
    assert_true(hop < p.n_hops);
    return path_label(p.hops[hop].status, p.hops[hop].inputs);
}

int site_linkdir(const struct topo *t, const char *name)
{
    for (size_t d = 0; d < 2 * t->n_links; d++)
        if (strcmp(topo_linkdir_name(t, (int)d), name) == 0)
            return (int)d;
    fail_msg("no link direction %s", name);
    return -1;
}
