#include "emu/report/vms_text.h"

#include <inttypes.h>

#include "emu/model/result.h"
#include "emu/report/table.h"

static double seconds(ps_t t) { return (double)t / (double)PS_PER_S; }

enum { MACHINES, FROM, TO, MEAN_TIME, OPERATIONS, RATE, MEAN, P50, P95, LONGEST, COLUMNS };

static void row_group(struct table *t, const struct result *r, size_t i)
{
    const struct result_vm_group *g = &r->vm_groups[i];
    struct table_row *row = table_row(t, NULL);
    table_cell(t, row, 0, g->name);
    table_cellf(t, row, 1 + MACHINES, "%" PRIu32 " of %" PRIu32, g->through, g->machines);
    if (g->through)
        table_cellf(t, row, 1 + MEAN_TIME, "%.1f", g->job_time / g->through);
    table_cellf(t, row, 1 + RATE, "peak %.0f", result_vm_peak(r, (int)i));
    for (size_t p = 0; p < g->n_phases; p++) {
        const struct result_vm_phase *phase = &g->phases[p];
        const struct result_latency *read = &phase->latency[0], *write = &phase->latency[1];
        uint64_t n = phase->operations[0] + phase->operations[1];
        struct table_row *under = table_row(t, row);
        table_cell(t, under, 0, phase->name);
        table_cellf(t, under, 1 + MACHINES, "%" PRIu64, phase->machines);
        if (phase->machines) {
            table_cellf(t, under, 1 + FROM, "%.1f", seconds(phase->first));
            table_cellf(t, under, 1 + TO, "%.1f", seconds(phase->last));
            table_cellf(t, under, 1 + MEAN_TIME, "%.1f", phase->time / (double)phase->machines);
        }
        table_cellf(t, under, 1 + OPERATIONS, "%" PRIu64, n);
        if (!n)
            continue;
        ps_t longest = read->max > write->max ? read->max : write->max;
        double length = seconds(phase->machines ? phase->last - phase->first : r->duration);
        table_cellf(t, under, 1 + RATE, "%.0f", length > 0 ? (double)n / length : 0);
        table_cellf(t, under, 1 + MEAN, "%.2f", phase->latency_sum / (double)n * 1e3);
        table_cellf(t, under, 1 + P50, "%.2f", seconds(result_latency_percentile_of(read, write, 0.50)) * 1e3);
        table_cellf(t, under, 1 + P95, "%.2f", seconds(result_latency_percentile_of(read, write, 0.95)) * 1e3);
        table_cellf(t, under, 1 + LONGEST, "%.2f", seconds(longest) * 1e3);
    }
}

int vms_text_print(const struct result *r, FILE *out)
{
    static const struct table_column columns[] = {
        {"machines, phase", TABLE_TREE}, {"through", TABLE_RIGHT},     {"from s", TABLE_RIGHT},
        {"to s", TABLE_RIGHT},           {"mean time s", TABLE_RIGHT}, {"operations", TABLE_RIGHT},
        {"operations/s", TABLE_RIGHT},   {"mean ms", TABLE_RIGHT},     {"p50 ms", TABLE_RIGHT},
        {"p95 ms", TABLE_RIGHT},         {"longest ms", TABLE_RIGHT}};
    if (!r->n_vm_groups)
        return 0;
    struct table *t = table_new(columns, sizeof columns / sizeof columns[0]);
    for (size_t i = 0; i < r->n_vm_groups; i++)
        row_group(t, r, i);
    fputc('\n', out);
    int rc = table_print(t, out, TABLE_TEXT, 1);
    table_free(t);
    return rc;
}
