/* `emu path --tsv`: one row per flow, direction and hop, or one per link direction. Rates are bytes/s of NFS data. */
#include "emu/report/path_report.h"

#include <errno.h>
#include <stdlib.h>

#include "emu/model/path_site.h"
#include "emu/report/path_words.h"
#include "emu/report/table.h"

static void hop_row(struct table *table, const struct path_site *s, const struct flow *flow, enum flow_direction d,
                    size_t number, const struct path_hop *hop)
{
    const struct topo *t = s->t;
    const struct topo_mount *m = &t->mounts[flow->mount];
    struct table_row *row = table_row(table, NULL);
    char policy[128];

    table_cell(table, row, 0, t->datastores[m->datastore].name);
    table_cell(table, row, 1, t->boxes[m->host].name);
    table_cellf(table, row, 2, "%d", flow->connection + 1);
    table_cell(table, row, 3, d == FLOW_WRITE ? "write" : "read");
    table_cellf(table, row, 4, "%zu", number);
    table_cell(table, row, 5, t->boxes[hop->box].name);
    table_cell(table, row, 6, hop->team >= 0 ? t->teams[hop->team].name : "");
    table_cell(table, row, 7, hop->linkdir >= 0 ? topo_linkdir_name(t, hop->linkdir) : "");
    if (hop->policy) {
        hash_selector_text(hop->policy, false, policy, sizeof policy);
        table_cell(table, row, 8, policy);
    }
    table_cellf(table, row, 9, "%d", hop->n);
    if (hop->index >= 0)
        table_cellf(table, row, 10, "%d", hop->index);
    table_cell(table, row, 11, path_words_label(hop));
    table_cell(table, row, 12, hop->why);
}

static int hops(struct path_site *s, const struct path_choice *choice, FILE *out)
{
    static const struct table_column columns[] = {
        {"datastore", 0}, {"host", 0},   {"connection", 0}, {"direction", 0}, {"hop", 0},   {"box", 0}, {"team", 0},
        {"link", 0},      {"policy", 0}, {"n", 0},          {"index", 0},     {"label", 0}, {"why", 0}};
    struct table *table = table_new(columns, sizeof columns / sizeof columns[0]);
    struct path *path = malloc(sizeof *path);
    int rc = path ? 0 : -ENOMEM;

    for (size_t i = 0; i < choice->n_mounts && rc == 0; i++)
        for (size_t f = s->first_flow[choice->mounts[i]]; f < s->first_flow[choice->mounts[i] + 1]; f++)
            for (int d = 0; d < 2; d++) {
                path_walk(s->t, NULL, &s->flows[f], (enum flow_direction)d, true, path);
                for (size_t h = 0; h < path->n_hops; h++)
                    hop_row(table, s, &s->flows[f], (enum flow_direction)d, h + 1, &path->hops[h]);
            }
    if (rc == 0)
        rc = table_print(table, out, TABLE_TSV, 0);
    table_free(table);
    free(path);
    return rc;
}

static int links_of(struct path_site *s, FILE *out)
{
    static const struct table_column columns[] = {{"link", 0}, {"direction", 0},   {"flows", 0},
                                                  {"rate", 0}, {"utilisation", 0}, {"idle", 0}};
    struct table *table = table_new(columns, sizeof columns / sizeof columns[0]);
    int rc = path_site_all_busy(s);

    for (size_t l = 0; l < 2 * s->t->n_links && rc == 0; l++)
        for (int d = 0; d < 2; d++) {
            size_t n;
            const struct predict_load *loads = predict_loads(s->predict[d], (int)l, &n);
            double flows = 0, total = 0, utilisation;
            struct table_row *row = table_row(table, NULL);
            char text[32];

            for (size_t i = 0; i < n; i++) {
                flows += loads[i].share * s->counts[loads[i].flow];
                total += loads[i].share * s->all[d][loads[i].flow];
            }
            predict_wire(s->predict[d], (int)l, &utilisation);
            path_words_count(flows, text, sizeof text);
            table_cell(table, row, 0, topo_linkdir_name(s->t, (int)l));
            table_cell(table, row, 1, d == FLOW_WRITE ? "write" : "read");
            table_cell(table, row, 2, text);
            table_cellf(table, row, 3, "%.0f", total);
            table_cellf(table, row, 4, "%.4f", utilisation);
            table_cell(table, row, 5, n == 0 ? "idle" : "");
        }
    if (rc == 0)
        rc = table_print(table, out, TABLE_TSV, 0);
    table_free(table);
    return rc;
}

int path_tsv(struct path_site *s, const struct path_choice *choice, bool links, FILE *out)
{
    return links ? links_of(s, out) : hops(s, choice, out);
}
