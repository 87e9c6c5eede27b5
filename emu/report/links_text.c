#include "emu/report/links_text.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "emu/model/result.h"
#include "emu/model/topology.h"
#include "emu/report/spread_text.h"
#include "emu/report/table.h"

#define BAR 20

/* "98.9 %" with a bar, or "-" where nothing was sent at all. */
static void cell_load(struct table *t, struct table_row *row, size_t column, const struct result_link *l)
{
    if (l->frames)
        table_cellf(t, row, column, "%.1f %%", l->utilisation * 100);
    else
        table_cell(t, row, column, "-");
}

static void cell_flows(struct table *t, struct table_row *row, size_t column, const struct result_link *l)
{
    unsigned flows = l->flows_write + l->flows_read;
    if (flows)
        table_cellf(t, row, column, "%s%u", l->carries_part ? "<=" : "", flows);
}

static void cell_bar(struct table *t, struct table_row *row, size_t column, double share)
{
    char bar[BAR + 1];
    size_t n = (size_t)(share * BAR + 0.5);
    n = n > BAR ? BAR : n;
    memset(bar, '#', n);
    bar[n] = 0;
    table_cell(t, row, column, bar);
}

/* Busiest slice of the run. */
static double peak(const struct result *r, const struct result_link *l)
{
    float most = 0;
    for (size_t i = 0; l->over_time && i < r->n_slices; i++)
        most = l->over_time[i] > most ? l->over_time[i] : most;
    return (double)most;
}

/* What is only shown where there is something to show. */
struct extras {
    bool peaks, lost;
};

static struct extras find_extras(const struct result *r)
{
    struct extras e = {false, false};
    for (size_t d = 0; d < r->n_links; d++) {
        e.peaks |= peak(r, &r->links[d]) > r->links[d].utilisation + 0.1;
        e.lost |= r->links[d].lost_frames > 0;
    }
    return e;
}

/* Flows, load and peak of one direction; returns the next column. */
static size_t cells_direction(struct table *t, struct table_row *row, size_t column, const struct result *r,
                              const struct result_link *l, struct extras extras)
{
    cell_flows(t, row, column++, l);
    cell_load(t, row, column++, l);
    if (extras.peaks && l->frames)
        table_cellf(t, row, column, "%.1f %%", peak(r, l) * 100);
    return column + extras.peaks;
}

static struct table *links_table(struct extras extras)
{
    struct table_column columns[11] = {{"link A - B", TABLE_LEFT}, {"rate", TABLE_RIGHT}};
    static const char *const titles[2][3] = {{"flows A>B", "load A>B", "peak A>B"},
                                             {"flows B>A", "load B>A", "peak B>A"}};
    size_t n = 2;
    for (int direction = 0; direction < 2; direction++)
        for (int i = 0; i < (extras.peaks ? 3 : 2); i++)
            columns[n++] = (struct table_column){titles[direction][i], TABLE_RIGHT};
    columns[n++] = (struct table_column){"dropped", TABLE_RIGHT};
    if (extras.lost)
        columns[n++] = (struct table_column){"lost", TABLE_RIGHT};
    columns[n++] = (struct table_column){"busier direction", TABLE_LEFT};
    return table_new(columns, n);
}

/* Whether a port is of a host that has been told not to work (--host). */
static bool stands_still(const struct result *r, int port)
{
    int box = r->topo->ports[port].box;
    enum topo_kind kind = r->topo->nodes[r->topo->boxes[box].node].kind;
    return (kind == TOPO_ESXI || kind == TOPO_LINUX) && !result_works(r, box);
}

static int print_links(const struct result *r, FILE *out)
{
    const struct topo *topo = r->topo;
    struct extras extras = find_extras(r);
    struct table *t = links_table(extras);
    for (size_t l = 0; l < topo->n_links; l++) {
        const struct result_link *there = &r->links[2 * l], *back = there + 1;
        if (stands_still(r, topo->links[l].port[0]) || stands_still(r, topo->links[l].port[1]))
            continue;
        struct table_row *row = table_row(t, NULL);
        size_t c = 2;
        char rate[32];
        table_cellf(t, row, 0, "%s - %s", topo->ports[topo->links[l].port[0]].full,
                    topo->ports[topo->links[l].port[1]].full);
        table_cell(t, row, 1, unit_print_rate(rate, sizeof rate, there->rate));
        c = cells_direction(t, row, c, r, there, extras);
        c = cells_direction(t, row, c, r, back, extras);
        table_cellf(t, row, c++, "%" PRIu64, there->dropped_frames + back->dropped_frames);
        if (extras.lost)
            table_cellf(t, row, c++, "%" PRIu64, there->lost_frames + back->lost_frames);
        if (there->idle && back->idle)
            table_cell(t, row, c, "idle");
        else
            cell_bar(t, row, c, there->utilisation > back->utilisation ? there->utilisation : back->utilisation);
    }
    int rc = table_print(t, out, TABLE_TEXT, 1);
    table_free(t);
    return rc;
}

int links_text(const struct result *r, FILE *out)
{
    int rc = print_links(r, out);
    if (!rc && r->n_paths)
        rc = spread_text(r, out);
    return rc;
}
