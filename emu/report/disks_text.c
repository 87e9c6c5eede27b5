#include "emu/report/disks_text.h"

#include "emu/model/result.h"
#include "emu/report/table.h"

int disks_text_print(const struct result *r, FILE *out)
{
    static const struct table_column columns[] = {
        {"disks", TABLE_LEFT},     {"number", TABLE_RIGHT},     {"reads/s", TABLE_RIGHT}, {"read MB/s", TABLE_RIGHT},
        {"writes/s", TABLE_RIGHT}, {"write MB/s", TABLE_RIGHT}, {"busy", TABLE_RIGHT}};
    double length = (double)r->duration / (double)PS_PER_S;
    if (!r->n_disks || !r->disks[0].counted || length <= 0)
        return 0;
    struct table *t = table_new(columns, sizeof columns / sizeof columns[0]);
    for (size_t i = 0; i < r->n_disks; i++) {
        const struct result_disks *d = &r->disks[i];
        struct table_row *row = table_row(t, NULL);
        table_cell(t, row, 0, d->name);
        table_cellf(t, row, 1, "%u", d->disks);
        table_cellf(t, row, 2, "%.0f", (double)d->reads / length);
        table_cellf(t, row, 3, "%.1f", (double)d->read_bytes / length / 1e6);
        table_cellf(t, row, 4, "%.0f", (double)d->writes / length);
        table_cellf(t, row, 5, "%.1f", (double)d->write_bytes / length / 1e6);
        table_cellf(t, row, 6, "%.1f %%", 100 * (double)d->busy / (double)PS_PER_S / length / d->disks);
    }
    fputc('\n', out);
    int rc = table_print(t, out, TABLE_TEXT, 1);
    table_free(t);
    return rc;
}
