/* A plan as JSON, docs/nfsbal-plan.schema.json. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "emu/model/path.h"
#include "emu/report/json.h"
#include "emu/model/predict_tcp.h"
#include "nfsbal/cli/plan_view.h"

static void assignments(struct json_out *j, const struct plan_view *v)
{
    struct topo_assignment *all;
    long n = plan_frontier_assignments(v->frontier, v->chosen, &all);
    json_out_array(j, "assignments", JSON_ON_LINES);
    for (long i = 0, end; i < n; i = end) {
        int ds = topo_find_datastore(v->t, all[i].datastore);
        for (end = i; end < n && !strcmp(all[end].datastore, all[i].datastore) &&
                      !strcmp(all[end].server, all[i].server) && !strcmp(all[end].vip, all[i].vip);)
            end++;
        json_out_object(j, NULL, JSON_ON_ONE_LINE);
        json_out_string(j, "datastore", all[i].datastore);
        json_out_string(j, "export", v->t->exports[v->t->datastores[ds].export_].path);
        json_out_string(j, "vip", all[i].vip);
        json_out_string(j, "server", all[i].server);
        json_out_array(j, "hosts", JSON_ON_ONE_LINE);
        for (long h = i; h < end; h++)
            json_out_string(j, NULL, all[h].host);
        json_out_end(j);
        json_out_end(j);
    }
    json_out_end(j);
    if (n >= 0)
        free(all);
}

static void change(struct json_out *j, const struct plan_change *c)
{
    json_out_object(j, NULL, JSON_ON_ONE_LINE);
    json_out_string(j, "lever", plan_lever_name(c->lever));
    json_out_integer(j, "class", plan_lever_cost(c->lever));
    json_out_string(j, "support", plan_support_name(plan_way(plan_lever_way(c->lever))->support));
    json_out_string(j, "since", plan_way(plan_lever_way(c->lever))->since);
    json_out_string(j, "from", c->from);
    json_out_array(j, "do", JSON_ON_ONE_LINE);
    for (size_t i = 0; i < TOPO_CHANGE_WORDS && c->words.words[i]; i++)
        json_out_string(j, NULL, c->words.words[i]);
    json_out_end(j);
    json_out_end(j);
}

/* Besides VIPs, of the chosen row. */
static void site_changes(struct json_out *j, const struct plan_view *v)
{
    json_out_array(j, "site_changes", JSON_ON_LINES);
    for (size_t i = 0; i < v->chosen->n_changes; i++)
        change(j, &v->chosen->changes[i]);
    json_out_end(j);
}

/* null: not known over what these rows change. */
static void bound_of(struct json_out *j, const struct plan_frontier_row *row)
{
    double bound;
    if (plan_bound(row, &bound))
        json_out_real(j, "bound", bound);
    else
        json_out_null(j, "bound");
}

static void frontier(struct json_out *j, const struct plan_view *v)
{
    json_out_array(j, "frontier", JSON_ON_LINES);
    for (size_t i = 0; i < v->frontier->n_rows; i++) {
        const struct plan_frontier_row *row = &v->frontier->rows[i];
        json_out_object(j, NULL, JSON_ON_ONE_LINE);
        json_out_count(j, "changes", row->total);
        json_out_count(j, "vips", row->row->changes);
        json_out_integer(j, "class", row->cost);
        json_out_count(j, "vms", row->vms);
        json_out_real(j, "objective", row->max_load);
        bound_of(j, row);
        json_out_real(j, "host_ratio", row->max_host);
        json_out_bool(j, "uneven", row->uneven);
        json_out_array(j, "site_changes", JSON_ON_ONE_LINE);
        for (size_t c = 0; c < row->n_changes - row->n_names; c++)
            json_out_string(j, NULL, plan_lever_name(row->changes[c].lever));
        json_out_end(j);
        json_out_array(j, "same_by", JSON_ON_ONE_LINE);
        if (row->cost == PLAN_OUTAGE)
            json_out_integer(j, NULL, PLAN_COPY);
        for (size_t c = 0; c < row->n_others; c++)
            json_out_integer(j, NULL, row->others[c].cost);
        json_out_end(j);
        json_out_end(j);
    }
    json_out_end(j);
}

/* The weakest label of the flows on each link direction. */
static void find_labels(const struct plan_scene *s, enum flow_direction d, const char **labels)
{
    static const char *const order[] = {"exact", "approximate", "reverse-engineered", "assumed", "drawn", "unknown"};
    for (size_t f = 0; f < s->site->n_flows; f++) {
        struct path path;
        path_walk(s->t, NULL, &s->site->flows[f], d, false, &path);
        for (size_t h = 0; h < path.n_hops; h++) {
            const struct path_hop *hop = &path.hops[h];
            const char *label = hop->n > 1 ? path_label(hop->status, hop->inputs) : "exact";
            size_t rank = 0, old = 0;
            while (rank + 1 < sizeof order / sizeof order[0] && strcmp(order[rank], label) != 0)
                rank++;
            for (int k = 0; k < hop->n; k++) {
                int linkdir = hop->index >= 0 ? hop->linkdir : topo_port_out(s->t, hop->candidates[k]);
                for (old = 0; labels[linkdir] && labels[linkdir] != order[old];)
                    old++;
                if (!labels[linkdir] || old < rank)
                    labels[linkdir] = order[rank];
            }
        }
    }
}

static void links(struct json_out *j, const struct plan_view *v)
{
    const struct plan_scene *s = plan_made(v);
    size_t n = 2 * s->t->n_links;
    const char **labels[2] = {calloc(n + 1, sizeof *labels[0]), calloc(n + 1, sizeof *labels[1])};
    json_out_array(j, "links", JSON_ON_LINES);
    for (int d = 0; d < 2 && labels[d]; d++)
        find_labels(s, (enum flow_direction)d, labels[d]);
    path_site_all_busy(s->site);
    for (size_t i = 0; i < n; i++)
        for (int d = 0; d < 2 && labels[d]; d++) {
            double flows = path_site_count(s->site, (int)i, -1, (enum flow_direction)d), utilisation;
            double load = predict_wire(s->site->predict[d], (int)i, &utilisation);
            if (!(flows > 0))
                continue;
            json_out_object(j, NULL, JSON_ON_ONE_LINE);
            json_out_string(j, "name", topo_linkdir_name(s->t, (int)i));
            json_out_string(j, "direction", d == FLOW_WRITE ? "write" : "read");
            json_out_real(j, "load", load);
            json_out_real(j, "capacity", (double)s->t->links[i / 2].rate / 8);
            json_out_real(j, "flows", flows);
            json_out_real(j, "share", utilisation);
            json_out_string(j, "label", labels[d][i]);
            json_out_end(j);
        }
    json_out_end(j);
    json_out_array(j, "idle_links", JSON_ON_LINES);
    for (size_t i = 0; i < n; i++)
        if (!(path_site_count(s->site, (int)i, -1, FLOW_WRITE) > 0) &&
            !(path_site_count(s->site, (int)i, -1, FLOW_READ) > 0))
            json_out_string(j, NULL, topo_linkdir_name(s->t, (int)i));
    json_out_end(j);
    free(labels[0]);
    free(labels[1]);
}

static void objective(struct json_out *j, const struct plan_view *v)
{
    const struct plan_frontier_row *row = v->chosen;
    char name[256];
    double bound;
    json_out_object(j, "objective", JSON_ON_LINES);
    json_out_real(j, "max_load", row->max_load);
    bound_of(j, row);
    if (plan_bound(row, &bound))
        json_out_real(j, "gap", bound > 0 ? fmax(row->max_load / bound - 1, 0) : 0);
    else
        json_out_null(j, "gap");
    json_out_object(j, "levers", JSON_ON_ONE_LINE);
    json_out_count(j, "settings", v->frontier->n_settings);
    json_out_bool(j, "proven", v->frontier->proven);
    if (v->frontier->bound > 0)
        json_out_real(j, "bound", v->frontier->bound);
    else
        json_out_null(j, "bound");
    json_out_end(j);
    json_out_string(j, "fullest", row->fullest_linkdir < 0 ? NULL : topo_linkdir_name(v->t, row->fullest_linkdir));
    json_out_object(j, "worst_failure", JSON_ON_ONE_LINE);
    json_out_string(j, "element", plan_failure_name(v->t, &v->worst, name, sizeof name));
    json_out_real(j, "max_load", v->worst.max_load);
    json_out_count(j, "cut_off", v->worst.cut);
    json_out_end(j);
    json_out_count(j, "changes", row->total);
    json_out_end(j);
}

static void rates(struct json_out *j, const struct plan_scene *s, const char *key)
{
    if (!s->site)
        return;
    json_out_object(j, key, JSON_ON_LINES);
    json_out_array(j, "one_host", JSON_ON_LINES);
    for (size_t h = 0; h < s->row->row->layout->p->n_hosts; h++) {
        int box = s->row->row->layout->p->hosts[h].box;
        json_out_object(j, NULL, JSON_ON_ONE_LINE);
        json_out_string(j, "host", s->t->boxes[box].name);
        json_out_real(j, "write", plan_host_rate(s, box, FLOW_WRITE));
        json_out_real(j, "read", plan_host_rate(s, box, FLOW_READ));
        json_out_end(j);
    }
    json_out_end(j);
    json_out_object(j, "all_hosts", JSON_ON_ONE_LINE);
    json_out_real(j, "write", plan_all_rate(s, FLOW_WRITE));
    json_out_real(j, "read", plan_all_rate(s, FLOW_READ));
    for (int d = 0; d < 2; d++) {
        size_t between;
        double rate = plan_tcp_rate(s, (enum flow_direction)d, &between);
        json_out_real(j, d == FLOW_WRITE ? "write_tcp" : "read_tcp", rate);
        json_out_count(j, d == FLOW_WRITE ? "write_between" : "read_between", between);
    }
    json_out_string(j, "tcp_basis", PREDICT_TCP_BASIS);
    json_out_real(j, "slowest_write", plan_slowest_rate(s, FLOW_WRITE));
    json_out_real(j, "slowest_read", plan_slowest_rate(s, FLOW_READ));
    json_out_end(j);
    json_out_end(j);
}

void plan_json(const struct plan_view *v, FILE *out)
{
    struct json_out j;
    char hash[32];
    json_out_init(&j, out);
    json_out_object(&j, NULL, JSON_ON_LINES);
    json_out_string(&j, "schema", PLAN_SCHEMA);
    json_out_string(&j, "file", v->file);
    json_out_string(&j, "case", v->t->case_name);
    json_out_bool(&j, "proposed", v->proposed);
    json_out_string(&j, "support", plan_support_name(v->ways[0]->support));
    json_out_array(&j, "rests_on", JSON_ON_LINES);
    for (size_t i = 0; i < v->n_ways; i++) {
        json_out_object(&j, NULL, JSON_ON_ONE_LINE);
        json_out_string(&j, "id", v->ways[i]->id);
        json_out_string(&j, "support", plan_support_name(v->ways[i]->support));
        json_out_string(&j, "since", v->ways[i]->since);
        json_out_string(&j, "why", v->ways[i]->why);
        json_out_end(&j);
    }
    json_out_end(&j);
    assignments(&j, v);
    site_changes(&j, v);
    frontier(&j, v);
    links(&j, v);
    objective(&j, v);
    json_out_object(&j, "scenarios", JSON_ON_LINES);
    rates(&j, &v->today, "today");
    rates(&j, plan_made(v), "plan");
    json_out_end(&j);
    json_out_array(&j, "warnings", JSON_ON_LINES);
    for (size_t i = 0; i < v->n_warnings; i++) {
        json_out_object(&j, NULL, JSON_ON_ONE_LINE);
        json_out_string(&j, "id", v->warnings[i].id);
        json_out_string(&j, "text", v->warnings[i].text);
        json_out_end(&j);
    }
    json_out_end(&j);
    json_out_array(&j, "fingerprint", JSON_ON_LINES);
    for (size_t i = 0; i < v->n_parts; i++) {
        snprintf(hash, sizeof hash, "%016" PRIx64, v->parts[i].hash);
        json_out_object(&j, NULL, JSON_ON_ONE_LINE);
        json_out_string(&j, "part", v->parts[i].name);
        json_out_string(&j, "hash", hash);
        json_out_end(&j);
    }
    json_out_end(&j);
    json_out_end(&j);
}
