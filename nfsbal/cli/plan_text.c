/* A plan for people: what it gains, the frontier, and for a proposed row who goes where. */
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "emu/model/predict_tcp.h"
#include "emu/report/table.h"
#include "nfsbal/cli/plan_view.h"

enum { WORDS = 256, GROUPS = 6, NAMES_SHOWN = 8, MANY_VIPS = 64 };

/* A line; in Markdown a paragraph. */
static void say(const struct plan_view *v, FILE *out, const char *format, ...) __attribute__((format(printf, 3, 4)));
static void say(const struct plan_view *v, FILE *out, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    /* NOLINTNEXTLINE(clang-analyzer-valist.Uninitialized): it is, in the line above */
    vfprintf(out, format, args);
    va_end(args);
    fputs(v->format == TABLE_MARKDOWN ? "\n\n" : "\n", out);
}

/* Between parts; in Markdown a heading. */
static void part(const struct plan_view *v, const char *title, FILE *out)
{
    if (v->format == TABLE_MARKDOWN)
        fprintf(out, "\n## %s\n\n", title);
    else
        fputc('\n', out);
}

/* "esx1 ... esx4" of hosts from..to of the problem, "esx1, esx2" of two. */
static void host_words(const struct plan_view *v, const int *hosts, size_t n, char *out, size_t size)
{
    const char *first = v->t->boxes[hosts[0]].name, *last = v->t->boxes[hosts[n - 1]].name;
    if (n == 1)
        snprintf(out, size, "%s", first);
    else
        snprintf(out, size, n == 2 ? "%s, %s" : "%s ... %s", first, last);
}

static void rate_cell(struct table *t, struct table_row *row, size_t column, double rate)
{
    char text[32];
    if (isfinite(rate) && rate > 0)
        table_cell(t, row, column, unit_print_mbps(text, sizeof text, rate));
    else
        table_cell(t, row, column, "-");
}

/* Hosts that mount something, as boxes. */
static size_t mounting_hosts(const struct plan_view *v, int *hosts)
{
    const struct plan_problem *p = v->frontier->plan->problem;
    size_t n = 0;
    for (size_t h = 0; h < p->n_hosts; h++)
        if (p->hosts[h].even[FLOW_WRITE] > 0 || p->hosts[h].even[FLOW_READ] > 0)
            hosts[n++] = p->hosts[h].box;
    return n;
}

static void head(const struct plan_view *v, size_t n_hosts, FILE *out)
{
    size_t controllers = 0, up = 0;
    bool weights = false;
    for (size_t b = 0; b < v->t->n_boxes; b++)
        controllers += v->t->nodes[v->t->boxes[b].node].kind == TOPO_NAS;
    for (size_t i = 0; i < v->t->n_vips; i++)
        up += v->t->vips[i].up;
    for (size_t d = 0; d < v->t->n_datastores; d++)
        weights |= v->t->datastores[d].weight_given;
    if (v->format == TABLE_MARKDOWN)
        fprintf(out, "# Plan for %s\n\n", v->t->name);
    say(v, out, "%s%s%s   %zu host%s, %zu datastore%s, %zu VIP%s, %zu NAS controller%s   %s", v->t->name,
        v->t->case_name ? " " : "", v->t->case_name ? v->t->case_name : "", n_hosts, n_hosts == 1 ? "" : "s",
        v->t->n_datastores, v->t->n_datastores == 1 ? "" : "s", up, up == 1 ? "" : "s", controllers,
        controllers == 1 ? "" : "s", weights ? "by weight" : "no weights: every datastore counts 1");
}

/* Where a choice is made: host, switch towards a NAS or a host, NAS. */
enum place { AT_HOST, TO_NAS, AT_NAS, TO_HOST, PLACES };

/* How sure the choices are at each place, the weakest label of all ways of the plan. */
static void labels(const struct plan_view *v, FILE *out)
{
    static const char *const names[PLACES] = {"host uplinks", "switch -> NAS", "NAS -> switch", "switch -> host"};
    static const char *const order[] = {"exact", "approximate", "reverse-engineered", "assumed", "drawn", "unknown"};
    enum { RANKED = 2 };
    int weakest[PLACES] = {-1, -1, -1, -1};
    const struct plan_scene *s = &v->goal;
    for (size_t f = 0; f < s->site->n_flows; f++)
        for (int d = 0; d < 2; d++) {
            struct path path;
            path_walk(s->t, NULL, &s->site->flows[f], (enum flow_direction)d, false, &path);
            for (size_t h = 0; h < path.n_hops; h++) {
                const struct path_hop *hop = &path.hops[h];
                int place = d == FLOW_WRITE ? (h ? TO_NAS : AT_HOST) : h ? TO_HOST : AT_NAS, rank = 0;
                if (hop->n < 2)
                    continue;
                while (rank + 1 < (int)(sizeof order / sizeof order[0]) &&
                       strcmp(order[rank], path_label(hop->status, hop->inputs)) != 0)
                    rank++;
                weakest[place] = rank > weakest[place] ? rank : weakest[place];
            }
        }
    const char *lead = "labels    ";
    for (int i = 0; i < PLACES; i++) {
        if (weakest[i] < 0)
            continue;
        fprintf(out, "%s%s %s%s", lead, names[i], order[weakest[i]], weakest[i] < RANKED ? "" : " (not used to rank)");
        lead = " | ";
    }
    if (lead[0] == ' ')
        fputc('\n', out);
    part(v, "Gain", out);
}

static const char *goal_title(const struct plan_view *v) { return v->proposed ? "plan" : "best"; }

static bool same_rates(double a, double b)
{
    return plan_compare_real(a * (1 - 1e-4), b) <= 0 && plan_compare_real(b * (1 - 1e-4), a) <= 0;
}

/* One line per group of neighbouring hosts that get the same. */
static void one_host(const struct plan_view *v, enum flow_direction d, const int *hosts, size_t n, struct table *t)
{
    size_t groups = 0;
    for (size_t i = 0, end; i < n; i = end) {
        double today = v->today.site ? plan_host_rate(&v->today, hosts[i], d) : 0,
               goal = plan_host_rate(&v->goal, hosts[i], d);
        char words[WORDS];
        for (end = i + 1; end < n; end++)
            if ((v->today.site && !same_rates(today, plan_host_rate(&v->today, hosts[end], d))) ||
                !same_rates(goal, plan_host_rate(&v->goal, hosts[end], d)))
                break;
        struct table_row *row = table_row(t, NULL);
        if (groups++ == GROUPS) {
            table_cellf(t, row, 0, "  one host busy, %zu more", n - i);
            for (size_t c = 1; c <= 1 + (v->today.site != NULL); c++)
                table_cell(t, row, c, "...");
            return;
        }
        host_words(v, hosts + i, end - i, words, sizeof words);
        table_cellf(t, row, 0, "  one host busy, %s", words);
        if (v->today.site)
            rate_cell(t, row, 1, today);
        rate_cell(t, row, 1 + (v->today.site != NULL), goal);
    }
}

/* Where flows meet two full links TCP shares otherwise than max-min. */
static bool tcp_row(const struct plan_view *v, enum flow_direction d, struct table *t)
{
    size_t between[2] = {0, 0};
    double today = v->today.site ? plan_tcp_rate(&v->today, d, &between[0]) : 0,
           goal = plan_tcp_rate(&v->goal, d, &between[1]);
    if (between[0] + between[1] == 0)
        return false;
    struct table_row *row = table_row(t, NULL);
    table_cell(t, row, 0, "  all hosts busy, as TCP shares *");
    if (v->today.site)
        rate_cell(t, row, 1, today);
    rate_cell(t, row, 1 + (v->today.site != NULL), goal);
    return true;
}

static int gains(const struct plan_view *v, const int *hosts, size_t n, FILE *out)
{
    struct table_column columns[] = {
        {"what it would gain, MB/s", TABLE_LEFT}, {"today", TABLE_RIGHT}, {"best", TABLE_RIGHT}};
    columns[0].title =
        v->today.site ? v->proposed ? "what it gains, MB/s" : "what it would gain, MB/s" : "what it gives, MB/s";
    columns[2].title = goal_title(v);
    bool today = v->today.site, tcp = false;
    if (!today)
        columns[1] = columns[2];
    struct table *t = table_new(columns, today ? 3 : 2);
    for (int i = 0; i < 2; i++) {
        enum flow_direction d = (enum flow_direction)i;
        struct table_row *row = table_row(t, NULL);
        table_cell(t, row, 0, d == FLOW_WRITE ? "writes" : "reads");
        one_host(v, d, hosts, n, t);
        row = table_row(t, NULL);
        table_cell(t, row, 0, "  all hosts busy");
        if (today)
            rate_cell(t, row, 1, plan_all_rate(&v->today, d));
        rate_cell(t, row, 1 + today, plan_all_rate(&v->goal, d));
        tcp |= tcp_row(v, d, t);
        row = table_row(t, NULL);
        table_cell(t, row, 0, "  slowest datastore, all busy");
        if (today)
            rate_cell(t, row, 1, plan_slowest_rate(&v->today, d));
        rate_cell(t, row, 1 + today, plan_slowest_rate(&v->goal, d));
    }
    int rc = table_print(t, out, v->format, 0);
    table_free(t);
    if (tcp)
        fprintf(out, "%s* %s\n", v->format == TABLE_MARKDOWN ? "\n" : "", PREDICT_TCP_BASIS);
    if (v->t->network_only)
        fprintf(out, "%snetwork only: storage is taken as never limiting\n", v->format == TABLE_MARKDOWN ? "\n" : "");
    return rc;
}

/* Weights are rates: loads are parts of capacity. */
static bool by_rate(const struct plan_view *v)
{
    for (size_t d = 0; d < v->t->n_datastores; d++)
        if (v->t->datastores[d].weight_is_rate)
            return true;
    return false;
}

/* Uplinks with a cable of the team that a host's mounts use. */
static size_t uplinks_of(const struct topo *t, int host)
{
    size_t n = 0;
    for (size_t m = 0; m < t->n_mounts; m++) {
        const struct topo_mount *mount = &t->mounts[m];
        if (mount->host != host || mount->iface < 0)
            continue;
        const struct topo_team *team = &t->teams[t->ifaces[mount->iface].team];
        for (size_t i = 0; i < team->n_ports; i++)
            n += t->ports[team->ports[i]].link >= 0;
        return n;
    }
    return 0;
}

/* The fullest uplink of a host, in flows of its own. */
static double busiest_uplink(const struct plan_frontier_row *frontier_row, int place, double *total)
{
    const struct plan_row *row = frontier_row->row;
    const struct plan_problem *p = row->layout->p;
    const struct plan_host *h = &p->hosts[place];
    double max = 0;
    *total = 0;
    for (size_t i = 0; i < h->n[FLOW_WRITE]; i++) {
        double flows = plan_layout_flows(row->layout, h->resources[i]);
        max = fmax(max, flows);
        *total += flows;
    }
    return max;
}

/* Places of hosts whose uplinks go alike in all rows: the first of each group. */
static size_t group_hosts(const struct plan_view *v, const int *hosts, size_t n, size_t *first)
{
    const struct plan_problem *p = v->frontier->plan->problem;
    size_t groups = 0;
    for (size_t i = 0; i < n; i++) {
        bool new = i == 0;
        for (size_t r = 0; !new &&r < v->frontier->n_rows; r++) {
            double a, b, total_a, total_b;
            a = busiest_uplink(&v->frontier->rows[r], p->host_of[hosts[i - 1]], &total_a);
            b = busiest_uplink(&v->frontier->rows[r], p->host_of[hosts[i]], &total_b);
            new = plan_compare_real(a, b) != 0 || plan_compare_real(total_a, total_b) != 0;
        }
        if (new &&groups < GROUPS)
            first[groups++] = i;
    }
    first[groups] = n;
    return groups;
}

/* "2 vmk-address, 1 lif-home + 4 VIPs" */
static void change_words(const struct plan_frontier_row *row, char *out, size_t size)
{
    size_t at = 0, counts[PLAN_LEVERS] = {0};
    out[0] = '\0';
    for (size_t i = 0; i < row->n_changes; i++)
        counts[row->changes[i].lever]++;
    counts[PLAN_LEVER_VIP] = row->row->changes;
    counts[PLAN_LEVER_NAMES] = 0;
    for (int l = 0; l < PLAN_LEVERS && at < size; l++)
        if (counts[l] > 0)
            at += (size_t)snprintf(out + at, size - at, "%s%zu %s", at ? ", " : "", counts[l],
                                   plan_lever_name((enum plan_lever)l));
    if (!at)
        snprintf(out, size, "-");
}

static bool any_esxi(const struct plan_view *v)
{
    for (size_t m = 0; m < v->t->n_mounts; m++)
        if (v->t->nodes[v->t->boxes[v->t->mounts[m].host].node].kind == TOPO_ESXI)
            return true;
    return false;
}

/* Datastores that move under a row by stopping their VMs, or by a copy; of these those that all hosts mount by ESXi; their VMs. */
static size_t moving(const struct plan_view *v, const struct plan_frontier_row *row, size_t *can_copy, unsigned *vms)
{
    size_t n = 0;
    *can_copy = 0;
    *vms = 0;
    for (size_t u = 0; u < row->plan->n_units; u++) {
        const struct plan_unit *unit = &row->plan->units[u];
        const struct topo_datastore *ds = &v->t->datastores[unit->datastore];
        bool esxi = unit->host < 0, stays = row->row->vips[u] == PLAN_AS_TODAY || row->row->vips[u] == unit->today;
        if (!unit->mounted || unit->cost < PLAN_COPY || (stays && !unit->mixed) || row->row->vips[u] == PLAN_AS_TODAY)
            continue;
        for (size_t i = 0; i < ds->n_hosts; i++)
            esxi &= v->t->nodes[v->t->boxes[ds->hosts[i]].node].kind == TOPO_ESXI;
        n++;
        *can_copy += esxi;
        *vms += ds->vms;
    }
    return n;
}

/* Ways to the same balance that stop more; what can be copied is no outage. */
static void other_words(const struct plan_view *v, const struct plan_frontier_row *row, char *out, size_t size)
{
    size_t at = 0, can_copy, n;
    unsigned vms;
    out[0] = '\0';
    n = moving(v, row, &can_copy, &vms);
    if (row->cost == PLAN_OUTAGE && can_copy > 0 && can_copy == n)
        at += (size_t)snprintf(out, size, "2 copy");
    else if (row->cost == PLAN_OUTAGE && can_copy > 0)
        at += (size_t)snprintf(out, size, "2 copy of %zu of %zu", can_copy, n);
    else if (row->cost == PLAN_COPY)
        at += (size_t)snprintf(out, size, "3 outage (%u VMs)", vms);
    for (size_t i = 0; i < row->n_others && at < size; i++)
        at += (size_t)snprintf(out + at, size - at, "%s%d %s (%zu change%s, %u VMs)", at ? "; " : "",
                               (int)row->others[i].cost, plan_cost_name(row->others[i].cost), row->others[i].total,
                               row->others[i].total == 1 ? "" : "s", row->others[i].vms);
}

static void frontier_row(const struct plan_view *v, const struct plan_frontier_row *row, const int *hosts,
                         const size_t *first, size_t groups, bool levers, bool others, struct table *t)
{
    const struct plan_problem *p = v->frontier->plan->problem;
    struct table_row *line = table_row(t, NULL);
    char words[WORDS];
    size_t c = 0;
    table_cellf(t, line, c++, "%zu%s", row->total, row->uneven ? " uneven" : "");
    if (levers) {
        change_words(row, words, sizeof words);
        table_cell(t, line, c++, words);
    }
    if (row->max_load > 0) {
        plan_flows_words(row->fullest_flows, words, sizeof words);
        table_cell(t, line, c, words);
        table_cell(t, line, c + 1, topo_linkdir_name(v->t, row->fullest_linkdir));
        if (by_rate(v))
            table_cellf(t, line, c + 2, "%.1f %%", 100 * row->max_load);
        else
            rate_cell(t, line, c + 2, 1 / row->max_load);
    }
    c += 3;
    for (size_t g = 0; g < groups; g++) {
        double total;
        plan_flows_words(busiest_uplink(row, p->host_of[hosts[first[g]]], &total), words, sizeof words);
        table_cell(t, line, c++, words);
    }
    table_cellf(t, line, c++, "%u", row->vms);
    if (row->total == 0)
        table_cell(t, line, c++, "-");
    else
        table_cellf(t, line, c++, "%d %s", (int)row->cost, plan_cost_name(row->cost));
    other_words(v, row, words, sizeof words);
    if (others)
        table_cell(t, line, c, words);
}

/* The changes besides VIPs of each row, or of what is proposed. */
static bool same_host(const struct plan_change *a, const struct plan_change *b)
{
    return a->lever == PLAN_LEVER_VMK_BINDING && b->lever == a->lever && !strcmp(a->words.words[2], b->words.words[2]);
}

/* The bindings of a host are one line: "esx2 ds1 vmk1 -> vmk2, ds2 vmk1 -> vmk3". */
static void print_bindings(const struct plan_frontier_row *row, size_t first, FILE *out)
{
    fprintf(out, "%s", row->changes[first].words.words[2]);
    const char *comma = " ";
    for (size_t i = first; i < row->n_changes; i++) {
        const struct plan_change *c = &row->changes[i];
        if (!same_host(&row->changes[first], c))
            continue;
        fprintf(out, "%s%s %s%s%s", comma, c->words.words[1], c->from ? c->from : "", c->from ? " -> " : "",
                c->words.words[3]);
        comma = ", ";
    }
}

static void lever_lines(const struct plan_view *v, const struct plan_frontier_row *row, FILE *out)
{
    for (size_t i = 0; i < row->n_changes - row->n_names; i++) {
        const struct plan_change *c = &row->changes[i];
        const struct plan_way_facts *way = plan_way(plan_change_way(v->t, c));
        bool said = false;
        for (size_t k = 0; k < i && !said; k++)
            said = same_host(&row->changes[k], c);
        if (said)
            continue;
        fprintf(out, "%s%-12s ", v->format == TABLE_MARKDOWN ? "- " : "  ", plan_lever_name(c->lever));
        if (c->lever == PLAN_LEVER_VMK_BINDING)
            print_bindings(row, i, out);
        else
            plan_change_print(c, out);
        fprintf(out, "   class %d %s, %s since %s\n", (int)plan_lever_cost(c->lever),
                plan_cost_name(plan_lever_cost(c->lever)), plan_support_name(way->support), way->since);
    }
}

static void row_lines(const struct plan_view *v, FILE *out)
{
    bool addresses = false;
    for (size_t r = 0; r < v->frontier->n_rows; r++) {
        const struct plan_frontier_row *row = &v->frontier->rows[r];
        if (row->n_changes == row->n_names)
            continue;
        fprintf(out, "%srow %zu%s, class %d:\n%s", v->format == TABLE_MARKDOWN ? "\n" : "", row->total,
                row->uneven ? " uneven" : "", (int)row->cost, v->format == TABLE_MARKDOWN ? "\n" : "");
        lever_lines(v, row, out);
        for (size_t c = 0; c < row->n_changes; c++)
            addresses |= row->changes[c].lever == PLAN_LEVER_VMK_ADDRESS;
    }
    if (addresses)
        say(v, out, "%saddresses: the file knows only its own; check with your IPAM, and on the wire: arping -D",
            v->format == TABLE_MARKDOWN ? "\n" : "");
}

static int frontier(const struct plan_view *v, const int *hosts, size_t n, FILE *out)
{
    struct table_column columns[GROUPS + 8] = {{"changes", TABLE_LEFT}};
    char titles[GROUPS][2 * WORDS];
    size_t first[GROUPS + 1], groups = group_hosts(v, hosts, n, first), c = 1;
    bool levers = false, others = false;
    for (size_t r = 0; r < v->frontier->n_rows; r++) {
        levers |= v->frontier->rows[r].n_changes > v->frontier->rows[r].n_names;
        others |= v->frontier->rows[r].n_others > 0 || (v->frontier->rows[r].cost >= PLAN_COPY && any_esxi(v));
    }
    if (levers)
        columns[c++] = (struct table_column){"of", TABLE_LEFT};
    columns[c++] = (struct table_column){"flows", TABLE_RIGHT};
    columns[c++] = (struct table_column){"on the fullest link", TABLE_LEFT};
    columns[c++] = (struct table_column){by_rate(v) ? "load" : "MB/s each", TABLE_RIGHT};
    for (size_t g = 0; g < groups; g++) {
        double total;
        char words[WORDS], count[32], even[32];
        const struct plan_problem *p = v->frontier->plan->problem;
        size_t uplinks = uplinks_of(v->t, hosts[first[g]]);
        busiest_uplink(&v->frontier->rows[0], p->host_of[hosts[first[g]]], &total);
        plan_flows_words(total, count, sizeof count);
        plan_flows_words(uplinks ? total / (double)uplinks : total, even, sizeof even);
        host_words(v, hosts + first[g], first[g + 1] - first[g], words, sizeof words);
        snprintf(titles[g], sizeof titles[g], "%s (of %s, even %s)", words, count, even);
        columns[c++] = (struct table_column){titles[g], TABLE_RIGHT};
    }
    columns[c++] = (struct table_column){"VMs to stop", TABLE_RIGHT};
    columns[c++] = (struct table_column){"class", TABLE_LEFT};
    if (others)
        columns[c++] = (struct table_column){"the same by", TABLE_LEFT};
    struct table *t = table_new(columns, c);
    for (size_t r = 0; r < v->frontier->n_rows; r++)
        frontier_row(v, &v->frontier->rows[r], hosts, first, groups, levers, others, t);
    say(v, out,
        "all hosts busy: the fullest link that mounts decide; each host busy: datastores on its fullest uplink");
    int rc = table_print(t, out, v->format, 0);
    table_free(t);
    plan_moves_text(v, out);
    if (levers)
        row_lines(v, out);
    return rc;
}

/* How far the choice of the other changes is proven. */
static void verdict_of_levers(const struct plan_view *v, const struct plan_frontier_row *row, FILE *out)
{
    const struct plan_frontier *f = v->frontier;
    bool best = row == v->best, reached = f->bound > 0 && row->max_load <= f->bound * (1 + 2e-6);
    char gap[32];
    if (f->n_settings > 1 && f->proven)
        say(v, out, "other changes: all %zu settings of the levers were looked at: every row is proven", f->n_settings);
    else if (f->n_settings > 1)
        say(v, out, "other changes: all %zu settings of the levers were looked at", f->n_settings);
    else if (f->n_settings == 1)
        return;
    else if (reached)
        say(v, out, "other changes: searched; proven that none gives the slowest datastore more: the load is even");
    else if (best && f->bound > 0) {
        snprintf(gap, sizeof gap, "%.2g %%", (row->max_load / f->bound - 1) * 100);
        say(v, out, "other changes: searched, not proven: no layout with any of them can be better by more than %s",
            gap);
    } else {
        say(v, out, "other changes: searched, not proven for this row");
    }
}

static void verdict(const struct plan_view *v, FILE *out)
{
    const struct plan_frontier_row *row = v->proposed ? v->chosen : v->best;
    char gap[32];
    double bound;
    if (!(row->max_load > 0)) {
        say(v, out, "no choice of VIPs changes the load of a link whose rule is known");
        return;
    }
    bool all = plan_bound(row, &bound);
    double load = row->row->max_load;
    const char *of = row->n_changes > row->n_names  ? " of VIPs with these other changes"
                     : !all                         ? " of VIPs"
                     : v->proposed && v->today.site ? " of as many changes"
                                                    : "";
    snprintf(gap, sizeof gap, "%.2g %%", (load / bound - 1) * 100);
    if (plan_compare_real(load, bound * (1 + 1e-6)) <= 0)
        say(v, out, "optimal: proven, no layout%s gives the slowest datastore more", of);
    else
        say(v, out, "within %s of what any layout%s can give the slowest datastore", gap, of);
    if (v->more_levers && v->today.site)
        verdict_of_levers(v, row, out);
}

/* ---- the proposed row ---- */

static void failure(const struct plan_view *v, FILE *out)
{
    char name[WORDS], rate[32];
    const struct plan_failure *f = &v->worst;
    if (f->what == PLAN_FAIL_NONE)
        return;
    plan_failure_name(v->t, f, name, sizeof name);
    if (f->cut > 0)
        say(v, out,
            "after the worst single failure that cuts nothing off, %s: there is none; this one cuts off %zu mounts",
            name, f->cut);
    else
        say(v, out, "after the worst single failure that cuts nothing off, %s: fullest link %s, %s%s%s", name,
            f->linkdir < 0 ? "-" : topo_linkdir_name(v->t, f->linkdir),
            unit_print_mbps(rate, sizeof rate,
                            by_rate(v)        ? 1e8 * f->max_load
                            : f->max_load > 0 ? 1 / f->max_load
                                              : 0),
            by_rate(v) ? " % of its capacity" : " MB/s each",
            f->assumed ? " (how teams choose again is partly assumed)" : "");
}

/* Hosts with fewer uplinks than the others, by name; 0: none. */
static size_t short_of_uplinks(const struct plan_view *v, char *names, size_t size)
{
    size_t most = 0, n = 0, at = 0;
    names[0] = '\0';
    for (int b = 0; b < (int)v->t->n_boxes; b++) {
        size_t its = uplinks_of(v->t, b);
        most = its > most ? its : most;
    }
    for (int b = 0; b < (int)v->t->n_boxes; b++) {
        size_t its = uplinks_of(v->t, b);
        if (its == most || its == 0)
            continue;
        if (n++ < NAMES_SHOWN && at < size)
            at += (size_t)snprintf(names + at, size - at, "%s%s", n > 1 ? ", " : "", v->t->boxes[b].name);
    }
    if (n > NAMES_SHOWN && at < size)
        snprintf(names + at, size - at, " and %zu more", n - NAMES_SHOWN);
    return n;
}

/* Ways that are no row. */
static void also_possible(const struct plan_view *v, FILE *out)
{
    const struct plan_row *row = v->best->row;
    char names[WORDS];
    size_t copies = 0, up = 0;
    for (size_t i = 0; i < v->t->n_vips; i++)
        up += v->t->vips[i].up;
    for (size_t u = 0; u < v->best->plan->n_units; u++) {
        const struct plan_unit *unit = &v->best->plan->units[u];
        copies += unit->mounted && unit->cost == PLAN_OUTAGE && row->vips[u] != PLAN_AS_TODAY &&
                  (unit->mixed || row->vips[u] != unit->today);
    }
    if (copies == 0 || !any_esxi(v))
        return;
    say(v, out,
        "also possible   names per datastore now (one outage of each), then every later move is rolling: nfsbal plan "
        "%s "
        "--names per-datastore",
        v->file);
    say(v, out,
        "                without an outage (class 2): new exports at the other VIPs and Storage vMotion of %zu "
        "datastore%s, one at a time, needs the space of one: nfsbal plan %s --max-class 2",
        copies, copies == 1 ? "" : "s", v->file);
    if (v->t->n_datastores > up && v->t->n_datastores <= MANY_VIPS)
        say(v, out,
            "                a VIP per datastore, even everywhere where such addresses exist (class 3, once): nfsbal "
            "plan "
            "%s --suggest-vips %zu --from RANGE",
            v->file, v->t->n_datastores);
    size_t fewer = short_of_uplinks(v, names, sizeof names);
    if (fewer > 0)
        say(v, out, "                one more cable for %s, which %s fewer uplinks than the others", names,
            fewer == 1 ? "has" : "have");
}

static void what_next(const struct plan_view *v, FILE *out)
{
    if (!v->today.site) {
        say(v, out, "%zu datastore%s to mount, nothing stops", v->plan->n_units, v->plan->n_units == 1 ? "" : "s");
        return;
    }
    if (v->proposed) {
        size_t new = 0, others = v->chosen->n_changes - v->chosen->n_names;
        char added[64] = "", levers[64] = "";
        for (size_t u = 0; u < v->plan->n_units; u++)
            new += !v->plan->units[u].mounted;
        if (new > 0)
            snprintf(added, sizeof added, "; %zu new to mount", new);
        if (others > 0)
            snprintf(levers, sizeof levers, ", %zu other change%s", others, others == 1 ? "" : "s");
        say(v, out, "%zu of %zu mounts change%s, %u VMs to stop%s", v->chosen->row->changes, v->plan->n_units, levers,
            v->chosen->vms, added);
        return;
    }
    if (v->frontier->best == 0)
        return;
    also_possible(v, out);
    say(v, out, "nothing is proposed. choose a row: nfsbal plan %s --max-changes %zu -o plan.json", v->file,
        v->best->total);
}

static void support(const struct plan_view *v, FILE *out)
{
    for (size_t i = 0; i < v->n_ways; i++)
        say(v, out, "support: %s since %s (%s)", plan_support_name(v->ways[i]->support), v->ways[i]->since,
            v->ways[i]->why);
}

int plan_text(const struct plan_view *v, FILE *out)
{
    int *hosts = calloc(v->t->n_boxes + 1, sizeof *hosts), rc = -ENOMEM;
    if (!hosts)
        return rc;
    size_t n = mounting_hosts(v, hosts);
    head(v, n, out);
    if (v->today.site && !v->proposed && v->frontier->best == 0)
        say(v, out, "nothing to gain: no other choice among these VIPs is better%s",
            v->more_levers ? ", nor another address, controller or hash" : "");
    labels(v, out);
    rc = gains(v, hosts, n, out);
    if (rc == 0 && v->today.site) {
        part(v, "Changes", out);
        rc = frontier(v, hosts, n, out);
    }
    if (rc == 0 && v->proposed) {
        part(v, "Layout", out);
        rc = plan_layout_text(v, hosts, n, out);
        part(v, "Failure and proof", out);
        lever_lines(v, v->chosen, out);
        failure(v, out);
    } else if (rc == 0) {
        part(v, "Proof", out);
    }
    verdict(v, out);
    support(v, out);
    what_next(v, out);
    free(hosts);
    return rc;
}
