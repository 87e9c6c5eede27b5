#include "emu/report/spread_text.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "emu/model/path.h"
#include "emu/model/result.h"
#include "emu/model/topology.h"
#include "emu/report/table.h"

#define NO_PATH SIZE_MAX

struct spread {
    const struct result *r;
    unsigned char *seen; /* per team; bit 0: sends, bit 1: receives */
    size_t *first;       /* per team and direction (reads, writes): the first path on which it chose; NO_PATH: none */
    struct flow *flows;
    long n_flows;
};

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

/* Short name of a member: the port without the controller it is of. */
static const char *member(const struct topo *t, int port)
{
    const char *part = t->boxes[t->ports[port].box].part, *name = t->ports[port].name;
    size_t n = part ? strlen(part) : 0;
    return n && !strncmp(name, part, n) && name[n] == '.' ? name + n + 1 : name;
}

/* The arithmetic of the first flow that the team sent, as an example. */
static void cell_example(struct table *table, struct table_row *row, size_t column, const struct spread *s, int team,
                         bool writes)
{
    const struct result *r = s->r;
    size_t first = s->first[2 * (size_t)team + writes];
    struct path path;
    if (first == NO_PATH)
        return;
    const struct result_path *p = &r->paths[first];
    for (long f = 0; f < s->n_flows; f++) {
        if (s->flows[f].mount != p->mount || s->flows[f].connection != (int)p->connection)
            continue;
        path_walk(r->topo, NULL, &s->flows[f], writes ? FLOW_WRITE : FLOW_READ, true, &path);
        for (size_t h = 0; h < path.n_hops; h++)
            if (path.hops[h].team == team && path.hops[h].index >= 0)
                table_cell(table, row, column, path.hops[h].why);
        return;
    }
}

/* One line per team and direction that bulk flows passed: how many on each member, and who is left out. */
static void row_spread(struct table *table, const struct spread *s, int team, bool receives, bool writes)
{
    const struct result *r = s->r;
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
    table_cellf(table, row, 1, "%s %s", receives ? "receives" : "sends", writes ? "writes" : "reads");
    table_cell(table, row, 2, rule(tm, receives));
    table_cellf(table, row, 3, "%s%s", text, part ? " (at most: drawn)" : "");
    table_cell(table, row, 4, *idle ? idle : "-");
    if (!receives)
        cell_example(table, row, 5, s, team, writes);
}

/* Which teams had a choice to make, and for each the first flow that it sent. */
static int find_teams(struct spread *s)
{
    const struct result *r = s->r;
    const struct topo *t = r->topo;
    bool receives;
    s->seen = calloc(t->n_teams + 1, 1);
    s->first = malloc((2 * t->n_teams + 1) * sizeof *s->first);
    s->n_flows = s->seen && s->first ? flow_list(t, &s->flows) : -ENOMEM;
    if (s->n_flows < 0)
        return -ENOMEM;
    for (size_t d = 0; d < r->n_links; d++) {
        int team = r->links[d].flows_write + r->links[d].flows_read ? choosing_team(t, (int)d, &receives) : -1;
        if (team >= 0)
            s->seen[team] |= receives ? 2 : 1;
    }
    for (size_t i = 0; i < 2 * t->n_teams; i++)
        s->first[i] = NO_PATH;
    for (size_t i = 0; i < r->n_paths; i++) {
        const struct result_path *p = &r->paths[i];
        for (size_t h = p->first_hop; h < p->first_hop + p->n_hops; h++) {
            int team = r->hops[h] < 0 ? -1 : choosing_team(t, r->hops[h], &receives);
            if (team >= 0 && !receives && s->first[2 * (size_t)team + p->write] == NO_PATH)
                s->first[2 * (size_t)team + p->write] = i;
        }
    }
    return 0;
}

int spread_text(const struct result *r, FILE *out)
{
    static const struct table_column columns[] = {
        {"team", TABLE_LEFT},  {"traffic", TABLE_LEFT},        {"link chosen by", TABLE_LEFT},
        {"flows", TABLE_LEFT}, {"without a flow", TABLE_LEFT}, {"sum for the first flow", TABLE_LEFT}};
    struct spread s = {.r = r};
    struct table *table = table_new(columns, sizeof columns / sizeof columns[0]);
    int rc = find_teams(&s);
    for (size_t team = 0; !rc && team < r->topo->n_teams; team++) {
        for (int receives = 0; receives < 2; receives++) {
            if (!(s.seen[team] & (receives ? 2 : 1)))
                continue;
            row_spread(table, &s, (int)team, receives, true);
            row_spread(table, &s, (int)team, receives, false);
        }
    }
    if (!rc && r->n_paths) {
        fputc('\n', out);
        rc = table_print(table, out, TABLE_TEXT, 1);
    }
    table_free(table);
    free(s.seen);
    free(s.first);
    free(s.flows);
    return rc;
}
