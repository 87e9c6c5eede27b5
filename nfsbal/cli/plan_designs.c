/* nfsbal plan --designs: other ways to join the same hosts and controllers, side by side. */
#include <math.h>
#include <string.h>

#include "emu/report/json.h"
#include "emu/report/table.h"
#include "nfsbal/cli/plan_view.h"
#include "nfsbal/plan/designs.h"

enum { PROBLEM = 1024 };

struct design {
    bool ok;
    struct plan_design_rates rates;
    char problem[PROBLEM];
};

static void look_at(const struct topo *t, struct design *all)
{
    for (int d = 0; d < PLAN_DESIGNS; d++) {
        if (d == PLAN_DESIGN_TODAY) {
            all[d].ok = t->n_mounts > 0 && plan_design_rates(t, &all[d].rates);
            snprintf(all[d].problem, PROBLEM, "nothing is mounted yet");
        } else {
            all[d].ok = plan_design(t, (enum plan_design)d, &all[d].rates, all[d].problem, PROBLEM);
        }
    }
}

/* The least supported of what a design rests on. */
static const struct plan_way_facts *weakest(const struct plan_design_facts *f)
{
    const struct plan_way_facts *worst = NULL;
    for (size_t i = 0; i < 2; i++)
        if (f->ways[i] < PLAN_WAYS && (!worst || plan_way(f->ways[i])->support > worst->support))
            worst = plan_way(f->ways[i]);
    return worst;
}

static void rates_cell(struct table *t, struct table_row *row, size_t column, double write, double read)
{
    char a[32], b[32];
    table_cellf(t, row, column, "%s / %s", unit_print_mbps(a, sizeof a, write), unit_print_mbps(b, sizeof b, read));
}

static void line(enum table_format format, const char *key, const char *text, FILE *out)
{
    if (text)
        fprintf(out, "%s%-8s %s\n", format == TABLE_MARKDOWN ? "- " : "  ", key, text);
}

int plan_designs_text(const struct topo *t, enum table_format format, FILE *out)
{
    static const struct table_column columns[] = {{"design, MB/s write / read", TABLE_LEFT},
                                                  {"one host", TABLE_RIGHT},
                                                  {"all hosts", TABLE_RIGHT},
                                                  {"slowest datastore", TABLE_RIGHT},
                                                  {"one cable lost", TABLE_RIGHT},
                                                  {"support", TABLE_LEFT},
                                                  {"since", TABLE_LEFT}};
    struct design all[PLAN_DESIGNS];
    struct table *table = table_new(columns, sizeof columns / sizeof columns[0]);
    look_at(t, all);
    for (int d = 0; d < PLAN_DESIGNS; d++) {
        const struct plan_design_facts *f = plan_design_facts((enum plan_design)d);
        const struct plan_way_facts *way = weakest(f);
        struct table_row *row = table_row(table, NULL);
        char text[32];
        table_cell(table, row, 0, f->title);
        if (all[d].ok) {
            rates_cell(table, row, 1, all[d].rates.host[0], all[d].rates.host[1]);
            rates_cell(table, row, 2, all[d].rates.all[0], all[d].rates.all[1]);
            rates_cell(table, row, 3, all[d].rates.slowest[0], all[d].rates.slowest[1]);
            table_cell(table, row, 4,
                       all[d].rates.after > 0 ? unit_print_mbps(text, sizeof text, all[d].rates.after) : "-");
        } else {
            for (size_t c = 1; c < 5; c++)
                table_cell(table, row, c, "-");
        }
        table_cell(table, row, 5, way ? plan_support_name(way->support) : "-");
        table_cell(table, row, 6, way ? way->since : "-");
    }
    int rc = table_print(table, out, format, 0);
    table_free(table);
    fputs("one host: the one that gets least, alone. slowest datastore: every host busy. one cable lost: the slowest "
          "datastore after the worst\nloss of a cable that cuts nothing off. network only; each design but today's on "
          "one switch, or a pair where hosts have\ncables to several, with today's routers but where each uplink has a "
          "subnet, and with its best layout of mounts\n",
          out);
    for (int d = 0; d < PLAN_DESIGNS; d++) {
        const struct plan_design_facts *f = plan_design_facts((enum plan_design)d);
        if (all[d].ok && !f->host)
            continue;
        fprintf(out, "\n%s%s\n", format == TABLE_MARKDOWN ? "## " : "", f->title);
        if (format == TABLE_MARKDOWN)
            fputc('\n', out);
        if (!all[d].ok)
            line(format, "none", all[d].problem, out);
        line(format, "host", f->host, out);
        line(format, "switch", f->network, out);
        line(format, "NAS", f->nas, out);
        line(format, "mind", f->mind, out);
        for (size_t i = 0; i < 2; i++)
            if (f->ways[i] < PLAN_WAYS)
                fprintf(out, "%s%-8s %s since %s: %s\n", format == TABLE_MARKDOWN ? "- " : "  ", "support",
                        plan_support_name(plan_way(f->ways[i])->support), plan_way(f->ways[i])->since,
                        plan_way(f->ways[i])->why);
    }
    return rc;
}

static void json_pair(struct json_out *j, const char *key, const double *rates)
{
    json_out_object(j, key, JSON_ON_ONE_LINE);
    json_out_real(j, "write", rates[0]);
    json_out_real(j, "read", rates[1]);
    json_out_end(j);
}

void plan_designs_json(const struct topo *t, FILE *out)
{
    struct design all[PLAN_DESIGNS];
    struct json_out j;
    look_at(t, all);
    json_out_init(&j, out);
    json_out_object(&j, NULL, JSON_ON_LINES);
    json_out_string(&j, "schema", "nfsbal-designs/1");
    json_out_string(&j, "topology", t->name);
    json_out_string(&j, "case", t->case_name);
    json_out_array(&j, "designs", JSON_ON_LINES);
    for (int d = 0; d < PLAN_DESIGNS; d++) {
        const struct plan_design_facts *f = plan_design_facts((enum plan_design)d);
        json_out_object(&j, NULL, JSON_ON_LINES);
        json_out_string(&j, "id", f->id);
        json_out_string(&j, "title", f->title);
        json_out_string(&j, "problem", all[d].ok ? NULL : all[d].problem);
        if (all[d].ok) {
            json_pair(&j, "one_host", all[d].rates.host);
            json_pair(&j, "all_hosts", all[d].rates.all);
            json_pair(&j, "slowest", all[d].rates.slowest);
            if (all[d].rates.after > 0)
                json_out_real(&j, "one_cable_lost", all[d].rates.after);
            else
                json_out_null(&j, "one_cable_lost");
        }
        json_out_string(&j, "host", f->host);
        json_out_string(&j, "switch", f->network);
        json_out_string(&j, "nas", f->nas);
        json_out_string(&j, "mind", f->mind);
        json_out_array(&j, "rests_on", JSON_ON_LINES);
        for (size_t i = 0; i < 2; i++) {
            if (f->ways[i] >= PLAN_WAYS)
                continue;
            json_out_object(&j, NULL, JSON_ON_ONE_LINE);
            json_out_string(&j, "id", plan_way(f->ways[i])->id);
            json_out_string(&j, "support", plan_support_name(plan_way(f->ways[i])->support));
            json_out_string(&j, "since", plan_way(f->ways[i])->since);
            json_out_end(&j);
        }
        json_out_end(&j);
        json_out_end(&j);
    }
    json_out_end(&j);
    json_out_end(&j);
}
