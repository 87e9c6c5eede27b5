/* A plan as tab-separated values: a row per datastore and host. */
#include <stdlib.h>
#include <string.h>

#include "emu/report/table.h"
#include "nfsbal/cli/plan_view.h"

int plan_tsv(const struct plan_view *v, FILE *out)
{
    static const struct table_column columns[] = {{"datastore", 0}, {"host", 0}, {"export", 0}, {"server_today", 0},
                                                  {"server", 0},    {"vip", 0},  {"moves", 0},  {"class", 0}};
    struct topo_assignment *all;
    long n = plan_frontier_assignments(v->frontier, v->chosen, &all);
    if (n < 0)
        return (int)n;
    struct table *t = table_new(columns, sizeof columns / sizeof columns[0]);
    size_t u = 0;
    for (long i = 0; i < n; i++) {
        int ds = topo_find_datastore(v->t, all[i].datastore), host = topo_find_box(v->t, all[i].host);
        const struct topo_datastore *own = &v->t->datastores[ds];
        struct table_row *row = table_row(t, NULL);
        const char *today = "";
        for (int m = own->first_mount; m < own->first_mount + own->n_mounts; m++)
            if (v->t->mounts[m].host == host)
                today = v->t->mounts[m].server;
        while (v->plan->units[u].datastore != ds || (v->plan->units[u].host >= 0 && v->plan->units[u].host != host))
            u++;
        const struct plan_unit *unit = &v->plan->units[u];
        int vip = v->chosen->row->vips[u];
        bool moved = unit->mounted && vip != PLAN_AS_TODAY && (unit->mixed || vip != unit->today);
        table_cell(t, row, 0, all[i].datastore);
        table_cell(t, row, 1, all[i].host);
        table_cell(t, row, 2, v->t->exports[own->export_].path);
        table_cell(t, row, 3, today);
        table_cell(t, row, 4, all[i].server);
        table_cell(t, row, 5, all[i].vip);
        table_cell(t, row, 6, moved ? "yes" : "no");
        table_cellf(t, row, 7, "%d", moved ? (int)unit->cost : 0);
    }
    int rc = table_print(t, out, TABLE_TSV, 0);
    table_free(t);
    free(all);
    return rc;
}
