#include "tests/support/runs.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "emu/model/diag.h"
#include "emu/model/topology.h"
#include "emu/model/topology_file.h"

char *runs_read(const char *path)
{
    FILE *f = fopen(path, "r");
    if (!f)
        fail_msg("%s can't be read", path);
    char *text = calloc(1, 1 << 16);
    assert_non_null(text);
    assert_true(fread(text, 1, (1 << 16) - 1, f) > 0);
    fclose(f);
    return text;
}

char *runs_with(const char *text, const char *workloads)
{
    const char *at = strstr(text, "\nworkloads:"), *end;
    if (!at)
        fail_msg("no workloads to replace");
    at++;
    for (end = strchr(at, '\n'); end && (end[1] == ' ' || end[1] == '#'); end = strchr(end + 1, '\n'))
        ;
    end = end ? end + 1 : at + strlen(at);
    size_t size = strlen(text) + strlen(workloads) + 2;
    char *out = malloc(size);
    assert_non_null(out);
    snprintf(out, size, "%.*s%s%s", (int)(at - text), text, workloads, end);
    return out;
}

char *runs_replace(const char *text, const char *from, const char *to)
{
    size_t n = 0;
    for (const char *at = text; (at = strstr(at, from)); at += strlen(from))
        n++;
    if (!n)
        fail_msg("no %s in the text", from);
    char *out = calloc(1, strlen(text) + n * strlen(to) + 1);
    assert_non_null(out);
    for (const char *hit; (hit = strstr(text, from)); text = hit + strlen(from)) {
        strncat(out, text, (size_t)(hit - text));
        strcat(out, to);
    }
    return strcat(out, text);
}

struct result *runs_options(const char *text, const char *case_name, const struct sim_options *o)
{
    struct diag d;
    char problem[256] = "";
    diag_init(&d, "site.yaml");
    struct topo_file *file = topo_file_parse("site.yaml", text, strlen(text), &d);
    struct topo *t = file ? topo_load(file, case_name, &d) : NULL;
    if (!t) {
        diag_print_text(&d, stderr, true);
        fail_msg("the site does not read");
    }
    struct result *r = sim_run(t, o, problem, sizeof(problem));
    if (!r)
        fail_msg("%s", problem);
    topo_file_close(file);
    diag_free(&d);
    return r;
}

struct result *runs_text(const char *text, const char *case_name, enum sim_detail detail, uint64_t seed)
{
    const struct sim_options o = {.detail = detail, .seed = seed};
    struct result *r = runs_options(text, case_name, &o);
    assert_true(r->complete);
    return r;
}

const struct result_link *runs_link(const struct result *r, const char *name)
{
    for (size_t i = 0; i < r->n_links; i++)
        if (strcmp(r->links[i].name, name) == 0)
            return &r->links[i];
    fail_msg("no link %s", name);
    return NULL;
}

const struct result_entity *runs_datastore(const struct result *r, const char *name)
{
    int i = result_find_entity(r->datastores, r->n_datastores, name);
    if (i < 0)
        fail_msg("no datastore %s", name);
    return &r->datastores[i];
}

ps_t runs_median(const struct result *r)
{
    return result_latency_percentile(r->write.operations ? r->write.latency : r->read.latency, 0.5);
}

void runs_near(double a, double b, double within, const char *what)
{
    double off = a / b - 1;
    if (!(off <= within && off >= -within))
        fail_msg("%s: %g against %g, %.3g %% off", what, a, b, 100 * off);
}

ps_t runs_frame_time_per_hop(const struct result *r)
{
    const struct topo *t = r->topo;
    bps_t slowest = UINT64_MAX;
    uint32_t mtu = 0;
    unsigned hops = 0;
    for (size_t i = 0; i < t->n_links; i++)
        slowest = t->links[i].rate < slowest ? t->links[i].rate : slowest;
    for (size_t i = 0; i < t->n_ifaces; i++)
        mtu = t->ifaces[i].mtu > mtu ? t->ifaces[i].mtu : mtu;
    for (size_t i = 0; i < r->n_paths; i++)
        hops = r->paths[i].n_hops > hops ? r->paths[i].n_hops : hops;
    return (ps_t)(2 * hops * (mtu + 42) * 8 * (PS_PER_S / 1000) / (int64_t)(slowest / 1000));
}
