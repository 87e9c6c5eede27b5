/* The site as a whole: how each team spreads its flows, what that gives, and every link direction. */
#include "emu/report/path_report.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "emu/model/path_site.h"
#include "emu/report/path_words.h"
#include "emu/report/table.h"

enum { TEXT = 640, TEAMS_SHOWN = 40, PROBLEMS_SHOWN = 5, ARITHMETIC_SHOWN = 4 };

/* What the flows of one direction say about a team. */
struct team_use {
    const struct hash_selector *policy;
    enum hash_status status;
    enum topo_origin inputs;
    bool used, observed;
    double flows, busiest; /* all, and those of the fullest member */
};

struct summary {
    struct path_site *s;
    struct team_use *uses[2]; /* by direction and team */
    size_t n_broken;
};

static void note_hop(struct team_use *uses, const struct path_hop *hop)
{
    struct team_use *u;

    if (hop->team < 0)
        return;
    u = &uses[hop->team];
    u->policy = hop->policy;
    u->used = true;
    u->observed |= hop->observed;
    if (hop->n < 2)
        return;
    u->status = hop->status > u->status ? hop->status : u->status;
    u->inputs = hop->inputs > u->inputs ? hop->inputs : u->inputs;
}

static void count_members(struct summary *m, int direction)
{
    const struct topo *t = m->s->t;

    for (size_t i = 0; i < t->n_teams; i++) {
        struct team_use *u = &m->uses[direction][i];

        for (size_t k = 0; u->used && k < t->teams[i].n_ports; k++) {
            int out = topo_port_out(t, t->teams[i].ports[k]);
            double n = out < 0 ? 0 : path_site_count(m->s, out, -1, (enum flow_direction)direction);

            u->flows += n;
            u->busiest = fmax(u->busiest, n);
        }
    }
}

/* Walks everything once more, now for rules and labels. */
static int summarise(struct summary *m, struct path_site *s, FILE *out)
{
    const struct topo *t = s->t;
    struct path *p = malloc(sizeof *p);
    int rc = p ? 0 : -ENOMEM;

    *m = (struct summary){.s = s};
    for (int d = 0; d < 2 && rc == 0; d++) {
        m->uses[d] = calloc(t->n_teams + 1, sizeof *m->uses[d]);
        if (!m->uses[d]) {
            rc = -ENOMEM;
            break;
        }
        for (size_t f = 0; f < s->n_flows; f++) {
            path_walk(t, NULL, &s->flows[f], (enum flow_direction)d, false, p);
            for (size_t h = 0; h < p->n_hops; h++)
                note_hop(m->uses[d], &p->hops[h]);
            if (p->end == PATH_OK)
                continue;
            if (m->n_broken++ < PROBLEMS_SHOWN)
                fprintf(out, " no path: %s on %s, %s: %s\n", t->datastores[t->mounts[s->flows[f].mount].datastore].name,
                        t->boxes[t->mounts[s->flows[f].mount].host].name, d == FLOW_WRITE ? "write" : "read",
                        p->problem);
        }
        count_members(m, d);
    }
    if (m->n_broken > PROBLEMS_SHOWN)
        fprintf(out, " no path: %zu more\n", m->n_broken - PROBLEMS_SHOWN);
    free(p);
    return rc;
}

/* The wire arithmetic that the rates rest on, each different one once. */
static void print_arithmetic(const struct path_site *s, FILE *out)
{
    char seen[ARITHMETIC_SHOWN][TEXT];
    size_t n = 0;

    for (size_t f = 0; f < s->n_flows && n < ARITHMETIC_SHOWN; f++) {
        size_t k = 0;

        path_words_arithmetic(s->t, &s->flows[f], seen[n], sizeof seen[n]);
        while (k < n && strcmp(seen[k], seen[n]) != 0)
            k++;
        if (k == n && seen[n][0])
            fprintf(out, " %s\n", seen[n++]);
    }
}

struct team_row {
    size_t team;
    int direction;
    double excess; /* busiest over even */
};

static int by_excess(const void *a, const void *b)
{
    const struct team_row *x = a, *y = b;

    if (x->excess > y->excess || x->excess < y->excess)
        return x->excess > y->excess ? -1 : 1;
    return x->team != y->team ? (x->team < y->team ? -1 : 1) : x->direction - y->direction;
}

static int by_place(const void *a, const void *b)
{
    const struct team_row *x = a, *y = b;

    return x->direction != y->direction ? x->direction - y->direction : x->team < y->team ? -1 : x->team > y->team;
}

static void team_row(const struct summary *m, const struct team_row *r, struct table *table)
{
    const struct topo *t = m->s->t;
    const struct topo_team *team = &t->teams[r->team];
    const struct team_use *u = &m->uses[r->direction][r->team];
    struct table_row *row = table_row(table, NULL);
    char text[TEXT] = "", idle[TEXT] = "", word[160], count[32];
    size_t at = 0, idle_at = 0;

    for (size_t k = 0; k < team->n_ports; k++) {
        const struct topo_port *p = &t->ports[team->ports[k]];
        const char *name = t->boxes[p->box].part && strchr(p->name, '.') ? strchr(p->name, '.') + 1 : p->name;
        int out = topo_port_out(t, team->ports[k]);
        double n = out < 0 ? 0 : path_site_count(m->s, out, -1, (enum flow_direction)r->direction);

        path_words_count(n, count, sizeof count);
        snprintf(word, sizeof word, "%s:%s", name, count);
        if (at + strlen(word) + 2 < sizeof text)
            at += (size_t)snprintf(text + at, sizeof text - at, "%s%s", at ? " " : "", word);
        if (n <= 0 && idle_at + strlen(name) + 2 < sizeof idle)
            idle_at += (size_t)snprintf(idle + idle_at, sizeof idle - idle_at, "%s%s", idle_at ? " " : "", name);
    }
    table_cell(table, row, 0, r->direction == FLOW_WRITE ? "write" : "read");
    table_cellf(table, row, 1, "%s %s", t->boxes[team->box].name, team->name);
    if (u->policy) {
        hash_selector_text(u->policy, false, word, sizeof word);
        table_cell(table, row, 2, word);
    }
    table_cell(table, row, 3, path_label(u->status, u->inputs));
    table_cell(table, row, 4, text);
    path_words_count(u->flows / (double)team->n_ports, count, sizeof count);
    table_cell(table, row, 5, count);
    table_cell(table, row, 6, idle[0] ? idle : "-");
}

static int print_teams(const struct summary *m, FILE *out)
{
    static const struct table_column columns[] = {{"", TABLE_LEFT},      {"sender", TABLE_LEFT}, {"rule", TABLE_LEFT},
                                                  {"label", TABLE_LEFT}, {"flows", TABLE_LEFT},  {"even", TABLE_RIGHT},
                                                  {"idle", TABLE_LEFT}};
    const struct topo *t = m->s->t;
    struct team_row *rows = malloc((2 * t->n_teams + 1) * sizeof *rows);
    struct table *table = table_new(columns, sizeof columns / sizeof columns[0]);
    size_t n = 0, shown;
    int rc;

    if (!rows) {
        table_free(table);
        return -ENOMEM;
    }
    for (int d = 0; d < 2; d++)
        for (size_t i = 0; i < t->n_teams; i++)
            if (m->uses[d][i].used && t->teams[i].n_ports > 1)
                rows[n++] =
                    (struct team_row){i, d, m->uses[d][i].busiest * (double)t->teams[i].n_ports / m->uses[d][i].flows};
    qsort(rows, n, sizeof *rows, by_excess);
    shown = n > TEAMS_SHOWN ? TEAMS_SHOWN : n;
    qsort(rows, shown, sizeof *rows, by_place);
    for (size_t i = 0; i < shown; i++)
        team_row(m, &rows[i], table);
    free(rows);
    rc = table_print(table, out, TABLE_TEXT, 1);
    table_free(table);
    if (n > shown)
        fprintf(out, " the %zu most uneven of %zu; --host shows a host's own\n", shown, n);
    return rc;
}

/* Smallest and largest total of a host that is busy alone. */
static int host_range(struct path_site *s, enum flow_direction d, double *least, double *most)
{
    const struct topo *t = s->t;
    int rc = 0;

    *least = (double)INFINITY;
    *most = 0;
    for (size_t box = 0; box < t->n_boxes && rc == 0; box++) {
        enum topo_kind kind = t->nodes[t->boxes[box].node].kind;
        double rate;

        if (kind != TOPO_ESXI && kind != TOPO_LINUX)
            continue;
        rc = path_site_host_rate(s, (int)box, d, &rate);
        if (s->n_host_flows == 0)
            continue;
        *least = fmin(*least, rate);
        *most = fmax(*most, rate);
    }
    return rc;
}

/* The mount that gets least when everything is busy, and how much. */
static int slowest(const struct path_site *s, enum flow_direction d, double *rate)
{
    int worst = -1;

    for (size_t m = 0; m < s->t->n_mounts; m++) {
        double sum = 0;

        if (s->first_flow[m] == s->first_flow[m + 1])
            continue;
        for (size_t f = s->first_flow[m]; f < s->first_flow[m + 1]; f++)
            sum += s->all[d][f];
        if (worst < 0 || sum < *rate * (1 - 1e-9)) {
            worst = (int)m;
            *rate = sum;
        }
    }
    return worst;
}

static int print_throughput(struct path_site *s, FILE *out)
{
    static const struct table_column columns[] = {
        {"MB/s of NFS data", TABLE_LEFT}, {"write", TABLE_RIGHT}, {"read", TABLE_RIGHT}};
    struct table *table = table_new(columns, 3);
    struct table_row *rows[3];
    char a[32], b[32];
    int rc = 0;

    for (int i = 0; i < 3; i++)
        rows[i] = table_row(table, NULL);
    table_cell(table, rows[0], 0, "one host busy");
    table_cell(table, rows[1], 0, "every host busy");
    table_cell(table, rows[2], 0, "slowest datastore then");
    for (int d = 0; d < 2 && rc == 0; d++) {
        double least, most, total = 0, rate = 0;
        int mount;

        rc = host_range(s, (enum flow_direction)d, &least, &most);
        if (rc)
            break;
        unit_print_mbps(a, sizeof a, most > 0 ? least : 0);
        unit_print_mbps(b, sizeof b, most);
        if (strcmp(a, b) == 0)
            table_cell(table, rows[0], 1 + (size_t)d, a);
        else
            table_cellf(table, rows[0], 1 + (size_t)d, "%s - %s", a, b);
        for (size_t f = 0; f < s->n_flows; f++)
            total += s->all[d][f];
        table_cell(table, rows[1], 1 + (size_t)d, unit_print_mbps(a, sizeof a, total));
        mount = slowest(s, (enum flow_direction)d, &rate);
        if (mount >= 0)
            table_cellf(table, rows[2], 1 + (size_t)d, "%s on %s  %s",
                        s->t->datastores[s->t->mounts[mount].datastore].name,
                        s->t->boxes[s->t->mounts[mount].host].name, unit_print_mbps(a, sizeof a, rate));
    }
    if (rc == 0)
        rc = table_print(table, out, TABLE_TEXT, 1);
    table_free(table);
    return rc;
}

int path_text_summary(struct path_site *s, FILE *out)
{
    const struct topo *t = s->t;
    struct summary m;
    size_t hosts = 0;
    int rc;

    for (size_t i = 0; i < t->n_nodes; i++)
        hosts += t->nodes[i].kind == TOPO_ESXI || t->nodes[i].kind == TOPO_LINUX;
    fprintf(out, "%s", t->name ? t->name : t->file);
    if (t->title)
        fprintf(out, ": %s", t->title);
    if (t->case_name)
        fprintf(out, " (case %s)", t->case_name);
    fprintf(out, "\n %zu host%s, %zu datastore%s, %zu flow%s; %s\n", hosts, hosts == 1 ? "" : "s", t->n_datastores,
            t->n_datastores == 1 ? "" : "s", s->n_flows, s->n_flows == 1 ? "" : "s",
            t->network_only ? "network only" : "storage limits count");
    print_arithmetic(s, out);
    rc = summarise(&m, s, out);
    fputc('\n', out);
    if (rc == 0)
        rc = print_teams(&m, out);
    fputc('\n', out);
    if (rc == 0)
        rc = print_throughput(s, out);
    free(m.uses[0]);
    free(m.uses[1]);
    return rc;
}

/* --- link directions --- */

/* Of one kind of flow on a link direction, everything busy. */
struct link_use {
    double flows, least, most, total, utilisation;
};

static void use_of(const struct path_site *s, int linkdir, enum flow_direction d, struct link_use *u)
{
    size_t n;
    const struct predict_load *loads = predict_loads(s->predict[d], linkdir, &n);

    *u = (struct link_use){.least = (double)INFINITY};
    for (size_t i = 0; i < n; i++) {
        double rate = s->all[d][loads[i].flow];

        u->flows += loads[i].share * s->counts[loads[i].flow];
        u->total += loads[i].share * rate;
        u->least = fmin(u->least, rate);
        u->most = fmax(u->most, rate);
    }
    predict_wire(s->predict[d], linkdir, &u->utilisation);
}

/* True when a chosen mount's flows, or those of the chosen host, are on the link direction, or it could carry them. */
static bool shown(const struct path_site *s, const struct path_choice *c, int linkdir)
{
    const struct topo *t = s->t;

    if (c->host < 0)
        return true;
    if (t->ports[topo_linkdir_from(t, linkdir)].box == c->host || t->ports[topo_linkdir_to(t, linkdir)].box == c->host)
        return true;
    for (int d = 0; d < 2; d++) {

        if (path_site_count(s, linkdir, c->host, (enum flow_direction)d) > 0)
            return true;
    }
    return false;
}

static void link_row(const struct topo *t, int linkdir, const struct link_use use[2], struct table *table)
{
    struct table_row *row = table_row(table, NULL);
    char text[32], more[32];
    bool idle = use[0].flows <= 0 && use[1].flows <= 0;

    table_cell(table, row, 0, topo_linkdir_name(t, linkdir));
    for (size_t d = 0; d < 2; d++) {
        if (use[d].flows <= 0)
            continue;
        path_words_count(use[d].flows, text, sizeof text);
        table_cell(table, row, 1 + 3 * d, text);
        unit_print_mbps(text, sizeof text, use[d].least);
        unit_print_mbps(more, sizeof more, use[d].most);
        if (strcmp(text, more) == 0)
            table_cell(table, row, 2 + 3 * d, text);
        else
            table_cellf(table, row, 2 + 3 * d, "%s - %s", text, more);
        table_cell(table, row, 3 + 3 * d, unit_print_mbps(text, sizeof text, use[d].total));
    }
    table_cellf(table, row, 7, "%.0f", 100 * fmax(use[0].utilisation, use[1].utilisation));
    table_cell(table, row, 8, idle ? "idle" : "");
}

int path_text_links(struct path_site *s, const struct path_choice *choice, FILE *out)
{
    static const struct table_column columns[] = {
        {"link direction", TABLE_LEFT}, {"writes", TABLE_RIGHT}, {"MB/s each", TABLE_RIGHT},
        {"MB/s", TABLE_RIGHT},          {"reads", TABLE_RIGHT},  {"MB/s each", TABLE_RIGHT},
        {"MB/s", TABLE_RIGHT},          {"wire %", TABLE_RIGHT}, {"", TABLE_LEFT}};
    struct table *table = table_new(columns, sizeof columns / sizeof columns[0]);
    int rc = path_site_all_busy(s);

    for (size_t d = 0; d < 2 * s->t->n_links && rc == 0; d++) {
        struct link_use use[2];

        if (!shown(s, choice, (int)d))
            continue;
        use_of(s, (int)d, FLOW_WRITE, &use[0]);
        use_of(s, (int)d, FLOW_READ, &use[1]);
        link_row(s->t, (int)d, use, table);
    }
    if (rc == 0)
        rc = table_print(table, out, TABLE_TEXT, 1);
    table_free(table);
    return rc;
}
