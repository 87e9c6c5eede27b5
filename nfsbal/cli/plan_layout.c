/* Who goes where: the layout of the proposed row, and which datastores move in each row of the frontier. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "emu/report/table.h"
#include "nfsbal/cli/plan_view.h"

enum { WORDS = 256, HOST_COLUMNS = 8, NAMES_SHOWN = 8, MOVES_SHOWN = 8, ROWS_SHOWN = 12 };

void plan_flows_words(double flows, char *out, size_t size)
{
    snprintf(out, size, fabs(flows - rint(flows)) < 1e-6 ? "%.0f" : "%.1f", flows);
}

/* Units with the same VIPs before and after, on the same hosts: one line. */
static bool same_line(const struct plan_view *v, size_t a, size_t b)
{
    const struct plan_unit *x = &v->plan->units[a], *y = &v->plan->units[b];
    size_t na, nb;
    const int *ha = plan_unit_hosts(v->plan->problem, x, &na), *hb = plan_unit_hosts(v->plan->problem, y, &nb);
    const struct topo *t = v->plan->t;
    for (size_t i = 0; i < na && i < nb; i++)
        if (topo_bound_iface(t, x->datastore, ha[i]) != topo_bound_iface(t, y->datastore, hb[i]))
            return false;
    return x->today == y->today && x->mixed == y->mixed && v->chosen->row->vips[a] == v->chosen->row->vips[b] &&
           !x->mixed && na == nb && !memcmp(ha, hb, na * sizeof *ha) &&
           v->t->exports[v->t->datastores[x->datastore].export_].owner ==
               v->t->exports[v->t->datastores[y->datastore].export_].owner;
}

/* The uplink by which a unit's writes leave a host: "vmnic4", "vmnic4?" where that isn't certain, "(any)". */
static void uplink_words(const struct plan_view *v, int datastore, int host, int vip, char *out, size_t size)
{
    const struct plan_problem *p = v->plan->problem;
    struct path path;
    struct flow flow = plan_flow(p, plan_pair_of(p, datastore, host, vip));
    if (path_walk(&p->site, NULL, &flow, FLOW_WRITE, false, &path) != PATH_OK) {
        snprintf(out, size, "no way");
        return;
    }
    const struct path_hop *hop = &path.hops[0];
    bool sure = hop->n == 1 || (hop->status == HASH_EXACT && hop->inputs <= TOPO_DERIVED);
    if (hop->index < 0)
        snprintf(out, size, "one of %d", hop->n);
    else
        snprintf(out, size, "%s%s", v->t->ports[topo_linkdir_from(v->t, hop->linkdir)].name, sure ? "" : "?");
    size_t n = strlen(out);
    if (p->site.mounts[flow.mount].bound)
        snprintf(out + n, size - n, " (%s)", p->t->ifaces[flow.iface].name);
}

/* The NAS port at which a unit's writes from a host come in. */
static void nas_words(const struct plan_view *v, int datastore, int host, int vip, char *out, size_t size)
{
    const struct plan_problem *p = v->plan->problem;
    struct path path;
    struct flow flow = plan_flow(p, plan_pair_of(p, datastore, host, vip));
    if (path_walk(&p->site, NULL, &flow, FLOW_WRITE, false, &path) != PATH_OK || path.n_hops == 0) {
        snprintf(out, size, "no way");
        return;
    }
    const struct path_hop *hop = &path.hops[path.n_hops - 1];
    bool sure = hop->n == 1 || hop->observed || (hop->status <= HASH_APPROXIMATE && hop->inputs <= TOPO_DERIVED);
    if (hop->index < 0)
        snprintf(out, size, "one of %d", hop->n);
    else
        snprintf(out, size, "%s%s", v->t->ports[topo_linkdir_to(v->t, hop->linkdir)].name, sure ? "" : "?");
}

/* Flows that come in at each port of each controller: "9 9 9 9 | 9 9 9 9". */
static void nas_counts(const struct plan_view *v, char *out, size_t size)
{
    const struct plan_layout *l = v->chosen->row->layout;
    size_t at = 0;
    out[0] = '\0';
    for (size_t b = 0; b < v->t->n_boxes; b++) {
        const struct topo_box *box = &v->t->boxes[b];
        bool first = true;
        for (int port = box->first_port; port < box->first_port + box->n_ports; port++) {
            int link = topo_port_out(v->t, port);
            char count[32];
            if (v->t->nodes[box->node].kind != TOPO_NAS || link < 0 || at >= size)
                continue;
            double flows = 0;
            for (size_t r = 0; r < l->p->n_resources; r++)
                if (l->p->resources[r].linkdir == (link ^ 1) && l->p->resources[r].direction == FLOW_WRITE)
                    flows = plan_layout_flows(l, (int)r);
            plan_flows_words(flows, count, sizeof count);
            at += (size_t)snprintf(out + at, size - at, "%s%s", !at ? "" : first ? " | " : " ", count);
            first = false;
        }
    }
}

static void names_of(const struct plan_view *v, size_t unit, bool *done, char *out, size_t size)
{
    size_t n = 0, at = 0;
    for (size_t u = unit; u < v->plan->n_units; u++) {
        if (done[u] || !same_line(v, unit, u))
            continue;
        done[u] = true;
        if (n++ < NAMES_SHOWN && at < size)
            at += (size_t)snprintf(out + at, size - at, "%s%s", n > 1 ? " " : "",
                                   v->t->datastores[v->plan->units[u].datastore].name);
    }
    if (n > NAMES_SHOWN && at < size)
        snprintf(out + at, size - at, " and %zu more", n - NAMES_SHOWN);
}

static const char *vip_words(const struct plan_view *v, int vip) { return vip < 0 ? "-" : v->t->vips[vip].text; }

int plan_layout_text(const struct plan_view *v, const int *hosts, size_t n, FILE *out)
{
    char title[WORDS];
    struct table_column columns[HOST_COLUMNS + 5] = {
        {"datastores", TABLE_LEFT}, {"owner", TABLE_LEFT}, {"VIP today", TABLE_LEFT}, {"VIP", TABLE_LEFT}};
    bool *done = calloc(v->plan->n_units + 1, sizeof *done);
    char words[WORDS];
    if (!done)
        return -ENOMEM;
    n = n > HOST_COLUMNS ? 0 : n;
    for (size_t h = 0; h < n; h++)
        columns[4 + h] = (struct table_column){v->t->boxes[hosts[h]].name, TABLE_LEFT};
    if (n > 0) {
        snprintf(title, sizeof title, "NAS link in (%s)", v->t->boxes[hosts[0]].name);
        columns[4 + n] = (struct table_column){title, TABLE_LEFT};
    }
    struct table *t = table_new(columns, 4 + n + (n > 0));
    for (size_t u = 0; u < v->plan->n_units; u++) {
        const struct plan_unit *unit = &v->plan->units[u];
        if (done[u])
            continue;
        int owner = v->t->exports[v->t->datastores[unit->datastore].export_].owner, vip = v->chosen->row->vips[u];
        bool moved = unit->mounted && vip != PLAN_AS_TODAY && (unit->mixed || vip != unit->today);
        struct table_row *row = table_row(t, NULL);
        names_of(v, u, done, words, sizeof words);
        table_cell(t, row, 0, words);
        table_cell(t, row, 1,
                   owner < 0                 ? "any"
                   : v->t->boxes[owner].part ? v->t->boxes[owner].part
                                             : v->t->boxes[owner].name);
        table_cell(t, row, 2, unit->mixed ? "differs by host" : vip_words(v, unit->today));
        table_cellf(t, row, 3, "%s%s", moved ? "* " : "  ", vip == PLAN_AS_TODAY ? "as today" : vip_words(v, vip));
        size_t n_own;
        const int *own = plan_unit_hosts(v->plan->problem, unit, &n_own);
        for (size_t h = 0; h < n; h++) {
            bool mounts = false;
            for (size_t i = 0; i < n_own; i++)
                mounts |= own[i] == hosts[h];
            int its = mounts ? plan_vip(v->plan, v->chosen->row, u, hosts[h]) : -1;
            if (its < 0)
                continue;
            uplink_words(v, unit->datastore, hosts[h], its, words, sizeof words);
            table_cell(t, row, 4 + h, words);
            if (h > 0)
                continue;
            nas_words(v, unit->datastore, hosts[h], its, words, sizeof words);
            table_cell(t, row, 4 + n, words);
        }
    }
    struct table_row *row = table_row(t, NULL);
    table_cell(t, row, 0, "per uplink");
    for (size_t h = 0; h < n; h++) {
        const struct plan_host *host = &v->plan->problem->hosts[v->plan->problem->host_of[hosts[h]]];
        size_t at = 0;
        for (size_t i = 0; i < host->n[FLOW_WRITE] && at < sizeof words; i++) {
            char count[32];
            plan_flows_words(plan_layout_flows(v->chosen->row->layout, host->resources[i]), count, sizeof count);
            at += (size_t)snprintf(words + at, sizeof words - at, "%s%s", i ? " " : "", count);
        }
        table_cell(t, row, 4 + h, words);
    }
    if (n > 0) {
        nas_counts(v, words, sizeof words);
        table_cell(t, row, 4 + n, words);
    }
    int rc = table_print(t, out, v->format, 0);
    table_free(t);
    free(done);
    return rc;
}

/* ---- which datastores move ---- */

static bool moves_in(const struct plan_frontier_row *row, size_t u)
{
    const struct plan_unit *unit = &row->plan->units[u];
    int vip = row->row->vips[u];
    return unit->mounted && vip != PLAN_AS_TODAY && (unit->mixed || vip != unit->today);
}

/* "row 4: + ds09 ds10": what moves, or what does so besides the row before. */
static void print_moves(const struct plan_view *v, const struct plan_frontier_row *row,
                        const struct plan_frontier_row *before, FILE *out)
{
    size_t n = 0;
    bool more = before != NULL;
    for (size_t u = 0; more && u < row->plan->n_units; u++)
        more = !moves_in(before, u) || moves_in(row, u);
    fprintf(out, "%srow %zu%s moves%s", v->format == TABLE_MARKDOWN ? "- " : "", row->total,
            row->uneven ? " uneven" : "", more ? " also" : "");
    for (size_t u = 0; u < row->plan->n_units; u++) {
        const struct plan_unit *unit = &row->plan->units[u];
        if (!moves_in(row, u) || (more && moves_in(before, u)))
            continue;
        if (n++ < MOVES_SHOWN)
            fprintf(out, " %s%s%s", v->t->datastores[unit->datastore].name, unit->host >= 0 ? "@" : "",
                    unit->host >= 0 ? v->t->boxes[unit->host].name : "");
    }
    if (n > MOVES_SHOWN)
        fprintf(out, " and %zu more", n - MOVES_SHOWN);
    fputc('\n', out);
}

void plan_moves_text(const struct plan_view *v, FILE *out)
{
    const struct plan_frontier *f = v->frontier;
    const struct plan_frontier_row *before = NULL;
    bool any = false;
    for (size_t r = 1; r < f->n_rows; r++) {
        const struct plan_frontier_row *row = &f->rows[r];
        bool moves = row->row->changes > 0;
        if (!moves || r > ROWS_SHOWN)
            continue;
        if (!any && v->format == TABLE_MARKDOWN)
            fputc('\n', out);
        print_moves(v, row, row->uneven || row->n_changes ? NULL : before, out);
        before = row->uneven || row->n_changes ? before : row;
        any = true;
    }
    if (any && f->best > 0 && f->rows[f->best].n_changes == f->rows[f->best].n_names &&
        f->rows[f->best].row->changes > 0)
        fprintf(out, "%smore moves between these VIPs than in row %zu gain nothing\n",
                v->format == TABLE_MARKDOWN ? "- " : "", f->rows[f->best].total);
}
