#include "emu/report/links_text.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "emu/model/result.h"
#include "emu/model/topology.h"
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

static int print_links(const struct result *r, FILE *out)
{
    static const struct table_column columns[] = {
        {"link A - B", TABLE_LEFT}, {"rate", TABLE_RIGHT},      {"flows A>B", TABLE_RIGHT},
        {"load A>B", TABLE_RIGHT},  {"flows B>A", TABLE_RIGHT}, {"load B>A", TABLE_RIGHT},
        {"dropped", TABLE_RIGHT},   {"lost", TABLE_RIGHT},      {"busier direction", TABLE_LEFT}};
    const struct topo *topo = r->topo;
    struct table *t = table_new(columns, sizeof columns / sizeof columns[0]);
    for (size_t l = 0; l < topo->n_links; l++) {
        const struct result_link *there = &r->links[2 * l], *back = there + 1;
        struct table_row *row = table_row(t, NULL);
        char rate[32];
        table_cellf(t, row, 0, "%s - %s", topo->ports[topo->links[l].port[0]].full,
                    topo->ports[topo->links[l].port[1]].full);
        table_cell(t, row, 1, unit_print_rate(rate, sizeof rate, there->rate));
        cell_flows(t, row, 2, there);
        cell_load(t, row, 3, there);
        cell_flows(t, row, 4, back);
        cell_load(t, row, 5, back);
        table_cellf(t, row, 6, "%" PRIu64, there->dropped_frames + back->dropped_frames);
        table_cellf(t, row, 7, "%" PRIu64, there->lost_frames + back->lost_frames);
        if (there->idle && back->idle)
            table_cell(t, row, 8, "idle");
        else
            cell_bar(t, row, 8, there->utilisation > back->utilisation ? there->utilisation : back->utilisation);
    }
    int rc = table_print(t, out, TABLE_TEXT, 1);
    table_free(t);
    return rc;
}

/* The team among whose members a link direction was chosen: the sender's, or the receiver's where the sender has but one
 * port for each of them (a NAS that balances by VIP, a vSwitch without a LAG). -1: there was nothing to choose. */
static int choosing_team(const struct topo *t, int linkdir, bool *receives)
{
    int from = t->ports[topo_linkdir_from(t, linkdir)].team, to = t->ports[topo_linkdir_to(t, linkdir)].team;
    *receives = from < 0 || t->teams[from].n_ports < 2;
    if (!*receives)
        return from;
    return to >= 0 && t->teams[to].n_ports > 1 ? to : -1;
}

static const char *rule(const struct topo_team *team, bool receives)
{
    if (receives)
        return team->kind == TOPO_TEAM_NAS_TEAM ? "NIC of the VIP's MAC" : "where its MAC was learned";
    return team->teaming.policy.policy ? team->teaming.policy.policy->name : "-";
}

/* Short name of a member: the port without its node. */
static const char *member(const struct topo *t, int port) { return t->ports[port].name; }

/* One line per team and direction that bulk flows passed: how many on each member, and who is left out. */
static void row_spread(struct table *table, const struct result *r, int team, bool receives, bool writes)
{
    const struct topo *t = r->topo;
    const struct topo_team *tm = &t->teams[team];
    char text[1024] = "", idle[512] = "";
    size_t used = 0, idle_used = 0;
    unsigned flows = 0;
    bool part = false;

    for (size_t i = 0; i < tm->n_ports; i++) {
        int out = topo_port_out(t, tm->ports[i]);
        if (out < 0)
            continue;
        const struct result_link *l = &r->links[receives ? out ^ 1 : out];
        unsigned n = writes ? l->flows_write : l->flows_read;
        flows += n;
        part |= n && l->carries_part;
        if (n && used < sizeof text)
            used += (size_t)snprintf(text + used, sizeof text - used, "%s%s %u", used ? ", " : "",
                                     member(t, tm->ports[i]), n);
        else if (!n && idle_used < sizeof idle)
            idle_used += (size_t)snprintf(idle + idle_used, sizeof idle - idle_used, "%s%s", idle_used ? " " : "",
                                          member(t, tm->ports[i]));
    }
    if (!flows)
        return;
    struct table_row *row = table_row(table, NULL);
    table_cellf(table, row, 0, "%s %s", t->boxes[tm->box].name, tm->name);
    table_cell(table, row, 1, receives ? "receives" : "sends");
    table_cell(table, row, 2, writes ? "writes" : "reads");
    table_cell(table, row, 3, rule(tm, receives));
    table_cellf(table, row, 4, "%s%s", text, part ? " (at most: drawn)" : "");
    table_cell(table, row, 5, *idle ? idle : "-");
}

static int print_spread(const struct result *r, FILE *out)
{
    static const struct table_column columns[] = {{"team", TABLE_LEFT},  {"", TABLE_LEFT},
                                                  {"", TABLE_LEFT},      {"chosen by", TABLE_LEFT},
                                                  {"flows", TABLE_LEFT}, {"without a flow", TABLE_LEFT}};
    const struct topo *t = r->topo;
    struct table *table = table_new(columns, sizeof columns / sizeof columns[0]);
    unsigned char *seen = calloc(t->n_teams + 1, 1); /* bit 0: sends, bit 1: receives */
    if (!seen) {
        table_free(table);
        return table_print(NULL, out, TABLE_TEXT, 0);
    }
    for (size_t h = 0; h < r->n_hops; h++) {
        bool receives;
        int team = r->hops[h] < 0 ? -1 : choosing_team(t, r->hops[h], &receives);
        if (team >= 0)
            seen[team] |= receives ? 2 : 1;
    }
    for (size_t team = 0; team < t->n_teams; team++) {
        for (int receives = 0; receives < 2; receives++) {
            if (!(seen[team] & (receives ? 2 : 1)))
                continue;
            row_spread(table, r, (int)team, receives, true);
            row_spread(table, r, (int)team, receives, false);
        }
    }
    free(seen);
    fputc('\n', out);
    int rc = table_print(table, out, TABLE_TEXT, 1);
    table_free(table);
    return rc;
}

int links_text(const struct result *r, FILE *out)
{
    int rc = print_links(r, out);
    if (!rc && r->n_paths)
        rc = print_spread(r, out);
    return rc;
}
