/* `emu path --json`: "emu-path/1". Rates are bytes/s of NFS data; links are named as in every other result. */
#include "emu/report/path_report.h"

#include <errno.h>
#include <stdlib.h>

#include "emu/model/path_proof.h"
#include "emu/model/path_site.h"
#include "emu/report/json.h"
#include "emu/report/path_words.h"

static const char *const origins[] = {"given", "derived", "assumed", "drawn"};
static const char *const ends[] = {"ok", "no-link", "blackhole", "no-route", "loop", "vip-down"};
static const char *const directions[] = {"write", "read"};

static void link_name(struct json_out *j, const char *key, const struct topo *t, int linkdir)
{
    json_out_string(j, key, linkdir >= 0 ? topo_linkdir_name(t, linkdir) : NULL);
}

static void add_hop(struct json_out *j, const struct topo *t, const struct flow *flow, enum flow_direction direction,
                    const struct path_hop *hop)
{
    char text[512];
    int box;

    json_out_object(j, NULL, JSON_ON_ONE_LINE);
    json_out_string(j, "box", t->boxes[hop->box].name);
    json_out_string(j, "team", hop->team >= 0 ? t->teams[hop->team].name : NULL);
    link_name(j, "link", t, hop->linkdir);
    json_out_string(j, "via", path_words_via(hop->via));
    if (hop->policy)
        hash_selector_text(hop->policy, false, text, sizeof text);
    json_out_string(j, "policy", hop->policy ? text : NULL);
    json_out_string(j, "why", hop->why[0] ? hop->why : NULL);
    json_out_string(j, "label", path_words_label(hop));
    json_out_string(j, "status", hash_status_name(hop->status));
    json_out_string(j, "inputs", origins[hop->inputs]);
    json_out_bool(j, "observed", hop->observed);
    json_out_bool(j, "conditional", hop->conditional);
    if (hop->index >= 0)
        json_out_integer(j, "index", hop->index);
    else
        json_out_null(j, "index");
    json_out_array(j, "candidates", JSON_ON_ONE_LINE);
    for (int i = 0; i < hop->n; i++) {
        json_out_object(j, NULL, JSON_ON_ONE_LINE);
        link_name(j, "link", t, topo_port_out(t, hop->candidates[i]));
        json_out_real(j, "share", hop->share[i]);
        json_out_end(j);
    }
    json_out_end(j);
    json_out_string(j, "proof", path_proof(t, flow, direction, hop, &box, NULL, text, sizeof text) ? text : NULL);
    json_out_end(j);
}

static void add_flow(struct json_out *j, const struct path_site *s, size_t f, struct path *path)
{
    const struct topo *t = s->t;
    const struct flow *flow = &s->flows[f];
    const struct topo_mount *m = &t->mounts[flow->mount];
    char address[64];

    json_out_object(j, NULL, JSON_ON_LINES);
    json_out_string(j, "datastore", t->datastores[m->datastore].name);
    json_out_string(j, "host", t->boxes[m->host].name);
    json_out_integer(j, "connection", flow->connection + 1);
    json_out_string(j, "client", topo_addr_print(address, sizeof address, &t->ifaces[flow->iface].addr, false));
    json_out_string(j, "vip", t->vips[flow->vip].text);
    if (flow->sport_origin == TOPO_DRAWN)
        json_out_null(j, "sport");
    else
        json_out_integer(j, "sport", flow->sport);
    for (int d = 0; d < 2; d++) {
        path_walk(t, NULL, flow, (enum flow_direction)d, true, path);
        json_out_object(j, directions[d], JSON_ON_LINES);
        json_out_string(j, "end", ends[path->end]);
        json_out_string(j, "problem", path->end == PATH_OK ? NULL : path->problem);
        json_out_array(j, "hops", JSON_ON_LINES);
        for (size_t h = 0; h < path->n_hops; h++)
            add_hop(j, t, flow, (enum flow_direction)d, &path->hops[h]);
        json_out_end(j);
        json_out_end(j);
    }
    json_out_end(j);
}

static int add_mount(struct json_out *j, struct path_site *s, int mount)
{
    const struct topo *t = s->t;
    int owner = path_site_owner(t, mount), rc = 0;

    json_out_object(j, NULL, JSON_ON_ONE_LINE);
    json_out_string(j, "datastore", t->datastores[t->mounts[mount].datastore].name);
    json_out_string(j, "host", t->boxes[t->mounts[mount].host].name);
    json_out_string(j, "connections_of", owner == mount ? NULL : t->datastores[t->mounts[owner].datastore].name);
    json_out_count(j, "connections", s->first_flow[owner + 1] - s->first_flow[owner]);
    for (int d = 0; d < 2 && rc == 0; d++) {
        struct path_rates r;

        rc = path_site_rates(s, mount, (enum flow_direction)d, &r);
        json_out_object(j, directions[d], JSON_ON_ONE_LINE);
        json_out_real(j, "alone", r.alone);
        json_out_real(j, "alone_least", r.least);
        json_out_real(j, "host_busy", r.host);
        json_out_real(j, "all_busy", r.all);
        json_out_end(j);
    }
    json_out_end(j);
    return rc;
}

static void add_link(struct json_out *j, const struct path_site *s, int linkdir)
{
    bool idle = true;

    json_out_object(j, NULL, JSON_ON_ONE_LINE);
    link_name(j, "name", s->t, linkdir);
    json_out_real(j, "rate", (double)s->t->links[linkdir / 2].rate / 8);
    for (int d = 0; d < 2; d++) {
        size_t n;
        const struct predict_load *loads = predict_loads(s->predict[d], linkdir, &n);
        double flows = 0, total = 0, utilisation;

        for (size_t i = 0; i < n; i++) {
            flows += loads[i].share * s->counts[loads[i].flow];
            total += loads[i].share * s->all[d][loads[i].flow];
        }
        idle &= n == 0;
        predict_wire(s->predict[d], linkdir, &utilisation);
        json_out_object(j, directions[d], JSON_ON_ONE_LINE);
        json_out_real(j, "flows", flows);
        json_out_real(j, "rate", total);
        json_out_real(j, "utilisation", utilisation);
        json_out_end(j);
    }
    json_out_bool(j, "idle", idle);
    json_out_end(j);
}

static int add_links(struct json_out *j, struct path_site *s)
{
    int rc = path_site_all_busy(s);

    json_out_array(j, "links", JSON_ON_LINES);
    for (size_t d = 0; d < 2 * s->t->n_links && rc == 0; d++)
        add_link(j, s, (int)d);
    json_out_end(j);
    return rc;
}

int path_json(struct path_site *s, const struct path_choice *choice, FILE *out)
{
    struct path *path = malloc(sizeof *path);
    struct json_out j;
    int rc = path ? 0 : -ENOMEM;

    json_out_init(&j, out);
    json_out_object(&j, NULL, JSON_ON_LINES);
    json_out_string(&j, "schema", "emu-path/1");
    json_out_string(&j, "file", s->t->file);
    json_out_string(&j, "name", s->t->name);
    json_out_string(&j, "case", s->t->case_name);
    json_out_bool(&j, "network_only", s->t->network_only);
    json_out_array(&j, "mounts", JSON_ON_LINES);
    for (size_t i = 0; i < choice->n_mounts && rc == 0; i++)
        rc = add_mount(&j, s, choice->mounts[i]);
    json_out_end(&j);
    json_out_array(&j, "flows", JSON_ON_LINES);
    for (size_t i = 0; i < choice->n_mounts && rc == 0; i++)
        for (size_t f = s->first_flow[choice->mounts[i]]; f < s->first_flow[choice->mounts[i] + 1]; f++)
            add_flow(&j, s, f, path);
    json_out_end(&j);
    if (rc == 0)
        rc = add_links(&j, s);
    json_out_end(&j);
    free(path);
    return rc;
}
