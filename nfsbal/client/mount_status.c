/* What `nfsbal stat` prints, in its three forms. */
#include <inttypes.h>

#include "nfsbal/client/mount_private.h"

#include <string.h>

#include "emu/model/units.h"
#include "emu/report/json.h"
#include "emu/report/table.h"
#include "nfsbal/client/fuse.h"
#include "nfsbal/client/path.h"
#include "nfsbal/client/stats.h"

static const struct stats_path nothing;

static const struct stats_path *stats_of(const struct path_info *p) { return p->stats ? p->stats : &nothing; }

static double ms(const struct stats_latency *l, double percent) { return (double)stats_latency_at(l, percent) / 1e6; }

static void text(const struct mount *m, const struct fs_stats *s, FILE *out)
{
    static const struct table_column columns[] = {
        {"VIP", TABLE_LEFT},           {"state", TABLE_LEFT},       {"conns", TABLE_RIGHT},
        {"read MB", TABLE_RIGHT},      {"written MB", TABLE_RIGHT}, {"ops", TABLE_RIGHT},
        {"p50 ms", TABLE_RIGHT},       {"p99 ms", TABLE_RIGHT},     {"outstanding", TABLE_RIGHT},
        {"issued again", TABLE_RIGHT}, {"reconnects", TABLE_RIGHT}, {"last error", TABLE_LEFT}};
    struct table *t = table_new(columns, sizeof columns / sizeof columns[0]);
    struct path_info p;
    char size[32], limit[32];

    fprintf(out, "%s on %s, spread=%s, cache=%s, %s\n", m->source, m->target, mount_spread_name(m->options.spread),
            mount_cache_name(m->options.cache), m->options.soft ? "soft" : "hard");
    fprintf(out, "%" PRIu64 " requests, %" PRIu64 " waiting; %" PRIu64 " files open; unwritten %s", s->requests,
            s->waiting, s->open_files, unit_print_size(size, sizeof size, s->dirty_bytes));
    fprintf(out, ", not committed %s, of at most %s\n", unit_print_size(size, sizeof size, s->unstable_bytes),
            unit_print_size(limit, sizeof limit, s->dirty_limit));
    if (s->dropped_bytes > 0)
        fprintf(out, "%s could not be written\n", unit_print_size(size, sizeof size, s->dropped_bytes));
    for (size_t i = 0; i < paths_count(m->paths); i++) {
        const struct stats_path *x;
        struct table_row *row;

        if (!paths_info(m->paths, i, &p))
            continue;
        x = stats_of(&p);
        row = table_row(t, NULL);
        table_cell(t, row, 0, p.name);
        table_cell(t, row, 1, path_state_name(p.state));
        table_cellf(t, row, 2, "%u/%u", p.connected, p.connections);
        table_cellf(t, row, 3, "%.1f", (double)x->read / 1e6);
        table_cellf(t, row, 4, "%.1f", (double)x->written / 1e6);
        table_cellf(t, row, 5, "%" PRIu64, x->operations);
        table_cellf(t, row, 6, "%.2f", ms(&x->latency, 50));
        table_cellf(t, row, 7, "%.2f", ms(&x->latency, 99));
        table_cellf(t, row, 8, "%zu", p.outstanding);
        table_cellf(t, row, 9, "%" PRIu64, p.lost);
        table_cellf(t, row, 10, "%" PRIu64, p.reconnects);
        table_cell(t, row, 11, p.problem);
    }
    table_print(t, out, TABLE_TEXT, 0);
    table_free(t);
}

static void json_path(struct json_out *j, const struct path_info *p)
{
    const struct stats_path *x = stats_of(p);

    json_out_object(j, NULL, JSON_ON_ONE_LINE);
    json_out_string(j, "vip", p->name);
    json_out_string(j, "state", path_state_name(p->state));
    json_out_count(j, "connections", p->connections);
    json_out_count(j, "connected", p->connected);
    json_out_array(j, "ports", JSON_ON_ONE_LINE);
    for (unsigned i = 0; i < p->connections; i++)
        json_out_count(j, NULL, p->ports ? p->ports[i] : 0);
    json_out_end(j);
    json_out_count(j, "read", x->read);
    json_out_count(j, "written", x->written);
    json_out_count(j, "operations", x->operations);
    json_out_count(j, "errors", x->errors);
    json_out_object(j, "latency", JSON_ON_ONE_LINE);
    json_out_real(j, "p50", ms(&x->latency, 50) / 1e3);
    json_out_real(j, "p95", ms(&x->latency, 95) / 1e3);
    json_out_real(j, "p99", ms(&x->latency, 99) / 1e3);
    json_out_real(j, "max", ms(&x->latency, 100) / 1e3);
    json_out_end(j);
    json_out_count(j, "outstanding", p->outstanding);
    json_out_count(j, "outstanding_bytes", p->outstanding_bytes);
    json_out_count(j, "retries", x->retries);
    json_out_count(j, "issued_again", p->lost);
    json_out_count(j, "reconnects", p->reconnects);
    json_out_string(j, "problem", *p->problem ? p->problem : NULL);
    json_out_end(j);
}

static void json(const struct mount *m, const struct fs_stats *s, FILE *out)
{
    struct json_out j;
    struct path_info p;

    json_out_init(&j, out);
    json_out_object(&j, NULL, JSON_ON_LINES);
    json_out_string(&j, "schema", "nfsbal-stat/1");
    json_out_string(&j, "source", m->source);
    json_out_string(&j, "target", m->target);
    json_out_string(&j, "spread", mount_spread_name(m->options.spread));
    json_out_string(&j, "cache", mount_cache_name(m->options.cache));
    json_out_bool(&j, "hard", !m->options.soft);
    json_out_real(&j, "seconds", (double)(loop_clock() - m->since) / 1e9);
    json_out_count(&j, "requests", s->requests);
    json_out_count(&j, "waiting", s->waiting);
    json_out_count(&j, "open_files", s->open_files);
    json_out_count(&j, "read", s->read_bytes);
    json_out_count(&j, "written", s->written_bytes);
    json_out_count(&j, "unwritten", s->dirty_bytes);
    json_out_count(&j, "not_committed", s->unstable_bytes);
    json_out_count(&j, "limit", s->dirty_limit);
    json_out_count(&j, "dropped", s->dropped_bytes);
    json_out_array(&j, "paths", JSON_ON_LINES);
    for (size_t i = 0; i < paths_count(m->paths); i++)
        if (paths_info(m->paths, i, &p))
            json_path(&j, &p);
    json_out_end(&j);
    json_out_end(&j);
}

/* A label's value: backslash, quote and newline are escaped. */
static void label(FILE *out, const char *name, const char *value)
{
    fprintf(out, "%s=\"", name);
    for (; *value; value++) {
        if (*value == '\n')
            fputs("\\n", out);
        else
            fprintf(out, "%s%c", strchr("\\\"", *value) ? "\\" : "", *value);
    }
    fputc('"', out);
}

static void family(FILE *out, const char *name, const char *type, const char *help)
{
    fprintf(out, "# HELP nfsbal_%s %s\n# TYPE nfsbal_%s %s\n", name, help, name, type);
}

static void of_mount(const struct mount *m, const char *name, const char *type, const char *help, uint64_t value,
                     FILE *out)
{
    family(out, name, type, help);
    fprintf(out, "nfsbal_%s{", name);
    label(out, "target", m->target);
    fprintf(out, "} %" PRIu64 "\n", value);
}

enum column { UP, READ, WRITTEN, OPERATIONS, ERRORS, OUTSTANDING, LOST, RECONNECTS };

static uint64_t value_of(const struct path_info *p, enum column c)
{
    switch (c) {
    case UP:
        return p->state == PATH_UP;
    case READ:
        return stats_of(p)->read;
    case WRITTEN:
        return stats_of(p)->written;
    case OPERATIONS:
        return stats_of(p)->operations;
    case ERRORS:
        return stats_of(p)->errors;
    case OUTSTANDING:
        return p->outstanding;
    case LOST:
        return p->lost;
    case RECONNECTS:
        break;
    }
    return p->reconnects;
}

static void prometheus(const struct mount *m, const struct fs_stats *s, FILE *out)
{
    static const struct {
        const char *name, *type, *help;
    } columns[] = {
        [UP] = {"path_up", "gauge", "1 while the path is in use."},
        [READ] = {"path_read_bytes_total", "counter", "Bytes read over the path."},
        [WRITTEN] = {"path_written_bytes_total", "counter", "Bytes written over the path."},
        [OPERATIONS] = {"path_operations_total", "counter", "Calls answered over the path."},
        [ERRORS] = {"path_errors_total", "counter", "Calls answered with an error."},
        [OUTSTANDING] = {"path_outstanding", "gauge", "Calls not answered yet."},
        [LOST] = {"path_issued_again_total", "counter", "Calls lost with a connection and issued again."},
        [RECONNECTS] = {"path_reconnects_total", "counter", "Connections made again."},
    };
    struct path_info p;

    of_mount(m, "requests_total", "counter", "Requests of the kernel.", s->requests, out);
    of_mount(m, "waiting", "gauge", "Requests not answered yet.", s->waiting, out);
    of_mount(m, "unwritten_bytes", "gauge", "Bytes that no server has answered for.", s->dirty_bytes, out);
    of_mount(m, "not_committed_bytes", "gauge", "Bytes written and not committed.", s->unstable_bytes, out);
    of_mount(m, "dropped_bytes_total", "counter", "Bytes that could not be written.", s->dropped_bytes, out);
    for (size_t c = 0; c < sizeof columns / sizeof columns[0]; c++) {
        family(out, columns[c].name, columns[c].type, columns[c].help);
        for (size_t i = 0; i < paths_count(m->paths); i++) {
            if (!paths_info(m->paths, i, &p))
                continue;
            fprintf(out, "nfsbal_%s{", columns[c].name);
            label(out, "target", m->target);
            fputc(',', out);
            label(out, "vip", p.name);
            fprintf(out, "} %" PRIu64 "\n", value_of(&p, (enum column)c));
        }
    }
}

bool mount_status(const struct mount *m, const char *form, FILE *out)
{
    struct fs_stats s = {.requests = 0};

    if (m->fs)
        fs_get_stats(m->fs, &s);
    if (strcmp(form, "text") == 0)
        text(m, &s, out);
    else if (strcmp(form, "json") == 0)
        json(m, &s, out);
    else if (strcmp(form, "prometheus") == 0)
        prometheus(m, &s, out);
    else
        return false;
    return true;
}
