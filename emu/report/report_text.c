/* The report for people. Per case: what was measured, who got how much, each link and why some are idle; then all cases
 * side by side, and what the document says. */
#include "emu/report/report.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "emu/model/expect.h"
#include "emu/model/result.h"
#include "emu/model/topology.h"
#include "emu/report/expect_text.h"
#include "emu/report/links_text.h"
#include "emu/report/table.h"
#include "emu/report/vms_text.h"
#include "emu/report/disks_text.h"

#define BAR 32

static const char *case_name(const struct result *r) { return r->case_name ? r->case_name : "run"; }

static void cell_mbps(struct table *t, struct table_row *row, size_t column, double rate)
{
    char buf[32];
    table_cell(t, row, column, unit_print_mbps(buf, sizeof buf, rate));
}

static void cell_percentile(struct table *t, struct table_row *row, size_t column, const struct result_latency *l,
                            double p)
{
    if (l && l->count)
        table_cellf(t, row, column, "%.2f", (double)result_latency_percentile(l, p) / (double)PS_PER_MS);
    else
        table_cell(t, row, column, "-");
}

/* The columns of one direction: MB/s, operations a second, latency. */
enum { IO_COLUMNS = 5 };

static void cells_io(struct table *t, struct table_row *row, size_t column, const struct result_io *io)
{
    cell_mbps(t, row, column, io->rate);
    if (io->operations)
        table_cellf(t, row, column + 1, "%.0f", io->operation_rate);
    else
        table_cell(t, row, column + 1, "-");
    cell_percentile(t, row, column + 2, io->latency, 0.50);
    cell_percentile(t, row, column + 3, io->latency, 0.95);
    cell_percentile(t, row, column + 4, io->latency, 0.99);
}

static void row_entity(struct table *t, const struct result *r, const struct result_entity *e, const char *vip)
{
    struct table_row *row = table_row(t, NULL);
    size_t c = 0;
    table_cell(t, row, c++, e->name);
    if (vip)
        table_cell(t, row, c++, vip);
    if (r->write.bytes) {
        cells_io(t, row, c, &e->write);
        c += IO_COLUMNS;
    }
    if (r->read.bytes) {
        cells_io(t, row, c, &e->read);
        c += IO_COLUMNS;
    }
    table_cellf(t, row, c, "%" PRIu64, e->retransmissions);
    table_cellf(t, row, c + 1, "%" PRIu64, e->timeouts);
}

static struct table *entity_table(const struct result *r, const char *what, bool vip)
{
    struct table_column columns[2 + 2 * IO_COLUMNS + 2];
    size_t n = 0;
    static const char *const titles[2][IO_COLUMNS] = {{"write MB/s", "writes/s", "p50 ms", "p95 ms", "p99 ms"},
                                                      {"read MB/s", "reads/s", "p50 ms", "p95 ms", "p99 ms"}};
    columns[n++] = (struct table_column){what, TABLE_LEFT};
    if (vip)
        columns[n++] = (struct table_column){"VIP", TABLE_LEFT};
    for (int read = 0; read < 2; read++)
        for (int i = 0; (read ? r->read.bytes : r->write.bytes) && i < IO_COLUMNS; i++)
            columns[n++] = (struct table_column){titles[read][i], TABLE_RIGHT};
    columns[n++] = (struct table_column){"retransmitted", TABLE_RIGHT};
    columns[n++] = (struct table_column){"timeouts", TABLE_RIGHT};
    return table_new(columns, n);
}

/* The VIP of all mounts of a datastore, "several" when they differ. */
static const char *vip_of(const struct topo *t, size_t datastore)
{
    const struct topo_datastore *d = &t->datastores[datastore];
    int vip = -1;
    for (int m = d->first_mount; m < d->first_mount + d->n_mounts; m++) {
        int this = t->mounts[m].vip;
        if (t->mounts[m].n_vips > 1 || (vip >= 0 && this >= 0 && this != vip))
            return "several";
        vip = this >= 0 ? this : vip;
    }
    return vip >= 0 ? t->vips[vip].text : "-";
}

static int print_throughput(const struct result *r, FILE *out)
{
    int rc;
    size_t working = 0;
    struct table *t = entity_table(r, "datastore", true);
    for (size_t i = 0; i < r->n_datastores; i++)
        row_entity(t, r, &r->datastores[i], vip_of(r->topo, i));
    rc = table_print(t, out, TABLE_TEXT, 1);
    table_free(t);
    for (size_t i = 0; i < r->n_hosts; i++)
        working += r->hosts[i].read.operations || r->hosts[i].write.operations;
    if (rc || working < 2)
        return rc; /* one host has it all */
    fputc('\n', out);
    t = entity_table(r, "host", false);
    for (size_t i = 0; i < r->n_hosts; i++)
        row_entity(t, r, &r->hosts[i], NULL);
    rc = table_print(t, out, TABLE_TEXT, 1);
    table_free(t);
    return rc;
}

static void print_notes(const struct result *r, FILE *out)
{
    for (const char *line = r->notes; line && *line;) {
        size_t n = strcspn(line, "\n");
        fprintf(out, " note: %.*s\n", (int)n, line);
        line += n + (line[n] == '\n');
    }
}

/* "write 470.9 MB/s from 3 s to 30 s": the phases of the window in which there was such work. */
static void print_rate(FILE *out, const char *what, const struct result *r, const struct result_io *io)
{
    char rate[32], from[32], to[32];
    ps_t start = r->window_end, end = r->window_start;
    for (unsigned i = 0; i < r->n_phases; i++) {
        if (io->phases >> i & 1) {
            start = r->phases[i].start < start ? r->phases[i].start : start;
            end = r->phases[i].end > end ? r->phases[i].end : end;
        }
    }
    if (!r->n_phases) {
        start = r->window_start;
        end = r->window_end;
    }
    fprintf(out, "%s %s MB/s", what, unit_print_mbps(rate, sizeof rate, io->rate));
    if (end > start)
        fprintf(out, " from %s to %s", unit_print_time(from, sizeof from, start), unit_print_time(to, sizeof to, end));
}

static int print_case(const struct result *r, FILE *out)
{
    char end[32];
    bool writes = r->write.phases || !r->read.phases;
    fprintf(out, "\n%s: ", case_name(r));
    if (writes)
        print_rate(out, "write", r, &r->write);
    if (r->read.phases)
        print_rate(out, writes ? ", read" : "read", r, &r->read);
    if (!r->complete)
        fprintf(out, "; INTERRUPTED at %s, this is what is known so far",
                unit_print_time(end, sizeof end, r->duration));
    if (r->only_host)
        fprintf(out, "; only %s works", r->only_host);
    fputc('\n', out);
    print_notes(r, out);
    int rc = print_throughput(r, out);
    if (!rc)
        rc = disks_text_print(r, out);
    if (!rc)
        rc = vms_text_print(r, out);
    if (!rc) {
        fputc('\n', out);
        rc = links_text(r, out);
    }
    if (r->flooded_unicast || r->mac_flaps)
        fprintf(out, " switches: %" PRIu64 " unicast frames flooded, %" PRIu64 " MAC addresses moved\n",
                r->flooded_unicast, r->mac_flaps);
    return rc;
}

static void cell_bar(struct table *t, struct table_row *row, size_t column, double value, double most)
{
    char bar[BAR + 1];
    size_t n = most > 0 ? (size_t)(value / most * BAR + 0.5) : 0;
    memset(bar, '#', n);
    bar[n] = 0;
    table_cell(t, row, column, bar);
}

/* Links of hosts that carried bulk data, of all that they have. */
static void cell_links_used(struct table *t, struct table_row *row, size_t column, const struct result *r)
{
    struct expect_outcome used;
    const struct expect_case one = {NULL, r->topo, r};
    const struct topo *topo = r->topo;
    size_t at, all = 0;
    for (size_t l = 0; l < topo->n_links; l++) {
        bool host = false;
        for (int end = 0; end < 2; end++) {
            int box = topo->ports[topo->links[l].port[end]].box;
            enum topo_kind kind = topo->nodes[topo->boxes[box].node].kind;
            host |= (kind == TOPO_ESXI || kind == TOPO_LINUX) && result_works(r, box);
        }
        all += host;
    }
    if (expect_evaluate("run.links_used", &one, 1, &used, &at) && used.verdict == EXPECT_PASS)
        table_cellf(t, row, column, "%.0f of %zu", used.value, all);
    else
        table_cellf(t, row, column, "? of %zu", all);
}

/* A rate, or that there was no work of the kind. */
static void cell_io(struct table *t, struct table_row *row, size_t column, const struct result_io *io)
{
    if (io->phases)
        cell_mbps(t, row, column, io->rate);
    else
        table_cell(t, row, column, "-");
}

static double total_rate(const struct result *r) { return r->write.rate + r->read.rate; }

static void cell_ratio(struct table *t, struct table_row *row, size_t column, double value, double first)
{
    if (first > 0)
        table_cellf(t, row, column, "%.2f", value / first);
    else
        table_cell(t, row, column, "-");
}

static uint64_t dropped_frames(const struct result *r)
{
    uint64_t n = 0;
    for (size_t d = 0; d < r->n_links; d++)
        n += r->links[d].dropped_frames;
    return n;
}

/* All cases beside each other: the figure that the file is about. */
static int print_cases(const struct report *report, FILE *out)
{
    struct table_column columns[8] = {{"case", TABLE_LEFT}};
    bool writes = false, reads = false;
    double most = 0;
    size_t n = 1;
    for (size_t i = 0; i < report->n_results; i++) {
        const struct result *r = report->results[i];
        writes |= r->write.bytes > 0;
        reads |= r->read.bytes > 0;
        most = fmax(most, total_rate(r));
    }
    if (writes || !reads)
        columns[n++] = (struct table_column){"write MB/s", TABLE_RIGHT};
    if (reads)
        columns[n++] = (struct table_column){"read MB/s", TABLE_RIGHT};
    if (report->n_results > 1)
        columns[n++] = (struct table_column){"of the first", TABLE_RIGHT};
    columns[n++] = (struct table_column){"host links used", TABLE_RIGHT};
    columns[n++] = (struct table_column){"dropped", TABLE_RIGHT};
    columns[n++] = (struct table_column){"retransmitted", TABLE_RIGHT};
    columns[n++] = (struct table_column){"throughput", TABLE_LEFT};
    struct table *t = table_new(columns, n);
    for (size_t i = 0; i < report->n_results; i++) {
        const struct result *r = report->results[i];
        struct table_row *row = table_row(t, NULL);
        size_t c = 0;
        table_cell(t, row, c++, case_name(r));
        if (writes || !reads)
            cell_io(t, row, c++, &r->write);
        if (reads)
            cell_io(t, row, c++, &r->read);
        if (report->n_results > 1)
            cell_ratio(t, row, c++, total_rate(r), total_rate(report->results[0]));
        cell_links_used(t, row, c++, r);
        table_cellf(t, row, c++, "%" PRIu64, dropped_frames(r));
        table_cellf(t, row, c++, "%" PRIu64, r->retransmissions);
        cell_bar(t, row, c, total_rate(r), most);
    }
    fputs("\nall cases\n", out);
    int rc = table_print(t, out, TABLE_TEXT, 1);
    table_free(t);
    return rc;
}

static int print_outcomes(const struct report *report, FILE *out)
{
    static const struct table_column columns[] = {
        {"source", TABLE_LEFT}, {"value", TABLE_LEFT},  {"expected", TABLE_RIGHT}, {"basis", TABLE_LEFT},
        {"here", TABLE_RIGHT},  {"error", TABLE_RIGHT}, {"verdict", TABLE_LEFT},   {"", TABLE_LEFT}};
    struct table *t = table_new(columns, sizeof columns / sizeof columns[0]);
    size_t count[EXPECT_NOT_CLAIMED + 1] = {0};
    for (size_t i = 0; i < report->n_outcomes; i++) {
        const struct expect_outcome *o = &report->outcomes[i];
        struct table_row *row = table_row(t, NULL);
        char text[128];
        count[o->verdict]++;
        table_cell(t, row, 0, o->expect->figure);
        table_cell(t, row, 1, o->expect->value);
        table_cell(t, row, 2, expect_print_document(text, sizeof text, o));
        table_cell(t, row, 3, o->expect->basis);
        table_cell(t, row, 4, expect_print_value(text, sizeof text, o->value, o->unit));
        table_cell(t, row, 5, expect_print_error(text, sizeof text, o));
        table_cell(t, row, 6, expect_verdict_name(o->verdict));
        table_cell(t, row, 7,
                   *o->problem              ? o->problem
                   : o->expect->not_claimed ? o->expect->not_claimed
                                            : o->expect->note);
    }
    fputs("\ncompared with the document\n", out);
    int rc = table_print(t, out, TABLE_TEXT, 1);
    table_free(t);
    fprintf(out, " %zu of %zu as expected", count[EXPECT_PASS], report->n_outcomes);
    if (count[EXPECT_FAIL] + count[EXPECT_UNDEFINED])
        fprintf(out, ", %zu NOT", count[EXPECT_FAIL] + count[EXPECT_UNDEFINED]);
    if (count[EXPECT_NOT_RUN])
        fprintf(out, ", %zu not run", count[EXPECT_NOT_RUN]);
    if (count[EXPECT_NOT_CLAIMED])
        fprintf(out, ", %zu not claimed", count[EXPECT_NOT_CLAIMED]);
    fputc('\n', out);
    return rc;
}

int report_text(const struct report *r, FILE *out, bool brief)
{
    int rc = 0;
    fprintf(out, "%s%s%s\n", r->name ? r->name : r->file, r->title ? ": " : "", r->title ? r->title : "");
    if (r->n_results) {
        const struct result *first = r->results[0];
        fprintf(out, "%s, engine %s, seed %" PRIu64 "%s\n", r->file, first->engine, first->seed,
                first->network_only ? ", network only (no `storage:`, so it never limits)" : "");
    }
    for (size_t i = 0; i < r->n_results && !brief && !rc; i++)
        rc = print_case(r->results[i], out);
    if (!rc && (brief || r->n_results > 1))
        rc = print_cases(r, out);
    if (!rc && r->n_outcomes)
        rc = print_outcomes(r, out);
    return rc;
}
