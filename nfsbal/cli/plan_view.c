#include "nfsbal/cli/plan_view.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "emu/model/predict_tcp.h"
#include "emu/model/topology_arena.h"

const struct plan_scene *plan_made(const struct plan_view *v) { return v->proposed ? &v->goal : &v->today; }

double plan_host_rate(const struct plan_scene *s, int host, enum flow_direction d)
{
    double rate = 0;
    return path_site_host_rate(s->site, host, d, &rate) == 0 ? rate : 0;
}

double plan_all_rate(const struct plan_scene *s, enum flow_direction d)
{
    double sum = 0;
    for (size_t f = 0; f < s->site->n_flows; f++)
        sum += s->site->all[d][f];
    return sum;
}

double plan_tcp_rate(const struct plan_scene *s, enum flow_direction d, size_t *between)
{
    double *rates = calloc(s->site->n_flows + 1, sizeof *rates), sum = 0;
    *between = 0;
    if (!rates || predict_tcp(s->site, d, rates, between) < 0) {
        free(rates);
        return plan_all_rate(s, d);
    }
    for (size_t f = 0; f < s->site->n_flows; f++)
        sum += rates[f];
    free(rates);
    return sum;
}

double plan_slowest_rate(const struct plan_scene *s, enum flow_direction d)
{
    double slowest = 0;
    bool any = false;
    for (size_t m = 0; m < s->t->n_mounts; m++) {
        double rate = 0;
        size_t first = s->site->first_flow[m], end = s->site->first_flow[m + 1];
        for (size_t f = first; f < end; f++)
            rate += s->site->all[d][f];
        if (first < end && (!any || rate < slowest))
            slowest = rate;
        any |= first < end;
    }
    return slowest;
}

bool plan_bound(const struct plan_frontier_row *row, double *bound)
{
    *bound = row->row->bound;
    return row->n_changes == row->n_names && plan_compare_real(row->max_load, row->row->max_load) == 0;
}

/* ---- what the layout rests on ---- */

enum { NAMED_MAX = 8, WARNINGS = NAMED_MAX + 16 };

struct judging {
    struct plan_view *v;
    const struct plan_way_facts **ways;
    struct plan_warning *warnings;
    size_t n_ways, n_warnings;
};

static void add_way(struct judging *j, enum plan_way way)
{
    const struct plan_way_facts *facts = plan_way(way);
    size_t at = 0;
    for (size_t i = 0; i < j->n_ways; i++)
        if (j->ways[i] == facts)
            return;
    while (at < j->n_ways && j->ways[at]->support >= facts->support)
        at++;
    memmove(j->ways + at + 1, j->ways + at, (j->n_ways - at) * sizeof *j->ways);
    j->ways[at] = facts;
    j->n_ways++;
}

static void warn(struct judging *j, const char *id, const char *format, ...) __attribute__((format(printf, 3, 4)));
static void warn(struct judging *j, const char *id, const char *format, ...)
{
    va_list args;
    struct plan_warning *w = &j->warnings[j->n_warnings++];
    w->id = id;
    va_start(args, format);
    vsnprintf(w->text, sizeof w->text, format, args);
    va_end(args);
}

/* 8.0u2 is 8.02, 7.0 is 7.0; 0: not said. */
static double release_of(const char *version)
{
    double release = 0, update = 0;
    char *end;
    if (!version)
        return 0;
    release = (double)strtol(version, &end, 10);
    if (*end == '.')
        release += 0.1 * (double)strtol(end + 1, &end, 10);
    while (*end && *end != 'u' && *end != 'U')
        end++;
    if (*end)
        update = (double)strtol(end + 1, NULL, 10);
    return release + 0.01 * update;
}

static void judge_mounts(struct judging *j, const struct topo *t)
{
    bool alias = false, indirect = false, several = false;
    for (size_t a = 0; a < t->n_datastores; a++)
        for (size_t b = 0; b < a && !alias; b++)
            alias = t->datastores[a].export_ == t->datastores[b].export_ && t->datastores[a].n_mounts > 0 &&
                    t->datastores[b].n_mounts > 0;
    for (size_t m = 0; m < t->n_mounts; m++) {
        const struct topo_mount *mount = &t->mounts[m];
        const struct topo_node *node = &t->nodes[t->boxes[mount->host].node];
        int owner = t->exports[t->datastores[mount->datastore].export_].owner;
        indirect |= mount->vip >= 0 && owner >= 0 && t->vips[mount->vip].home != owner;
        several |= mount->iface_origin == TOPO_ASSUMED;
        if (mount->bound)
            add_way(j,
                    t->datastores[mount->datastore].nfs == TOPO_NFS3 ? PLAN_WAY_VMK_BINDING_3 : PLAN_WAY_VMK_BINDING);
        if (node->kind == TOPO_ESXI && mount->asked > 1 && t->datastores[mount->datastore].nfs == TOPO_NFS3)
            add_way(j, release_of(node->version) > 8.015 ? PLAN_WAY_NCONNECT : PLAN_WAY_NCONNECT_PREVIEW);
    }
    if (alias)
        add_way(j, PLAN_WAY_ALIAS);
    if (indirect)
        add_way(j, PLAN_WAY_INDIRECT);
    if (several)
        warn(j, "vmknic-assumed",
             "a host has several interfaces in the subnet of a VIP: exactly one is used, which one is assumed");
}

static void judge_choices(struct judging *j)
{
    const struct plan_view *v = j->v;
    const struct plan_scene *s = plan_made(v);
    enum hash_status worst = HASH_EXACT;
    enum topo_origin inputs = TOPO_GIVEN;
    for (size_t f = 0; f < s->site->n_flows; f++)
        for (int d = 0; d < 2; d++) {
            struct path path;
            path_walk(s->t, NULL, &s->site->flows[f], (enum flow_direction)d, false, &path);
            for (size_t h = 0; h < path.n_hops; h++)
                if (path.hops[h].n > 1 && !path.hops[h].observed) {
                    worst = path.hops[h].status > worst ? path.hops[h].status : worst;
                    inputs = path.hops[h].inputs > inputs ? path.hops[h].inputs : inputs;
                    if (path.hops[h].policy && path.hops[h].policy->policy &&
                        !strcmp(path.hops[h].policy->policy->name, "esxi-ip-hash"))
                        add_way(j, PLAN_WAY_IP_HASH);
                }
        }
    if (worst > HASH_EXACT)
        warn(j, "hash-unconfirmed",
             "at least one choice of a link is %s: nfsbal ask %s prints the commands that make it certain",
             hash_status_name(worst), v->file);
    if (inputs > TOPO_DERIVED)
        warn(j, "inputs-unknown", "at least one choice of a link reads what is %s: it ranks no layout",
             inputs == TOPO_DRAWN ? "drawn at every connection" : "assumed");
}

/* Mounts of a host to one VIP that will share connections. */
static void judge_connections(struct judging *j, const struct topo *t)
{
    size_t hosts = 0;
    for (int b = 0; b < (int)t->n_boxes; b++) {
        const struct topo_node *node = &t->nodes[t->boxes[b].node];
        bool given, over = false;
        unsigned limit = node->kind == TOPO_ESXI ? topo_connections_per_ip(node, &given) : 0;
        for (int v = 0; v < (int)t->n_vips && limit && !over; v++) {
            unsigned n = 0;
            for (size_t m = 0; m < t->n_mounts; m++)
                n += t->mounts[m].host == b && t->mounts[m].vip == v;
            over = n > limit;
        }
        hosts += over;
    }
    if (hosts > 0)
        warn(j, "connections-shared",
             "%zu host%s mount more datastores from one VIP than SunRPC.MaxConnPerIP allows connections: some share",
             hosts, hosts == 1 ? "" : "s");
}

static void judge_site(struct judging *j)
{
    const struct plan_view *v = j->v;
    const struct topo *t = plan_made(v)->t;
    size_t unused = 0;
    for (size_t d = 0, named = 0; d < t->n_datastores && named < NAMED_MAX; d++) {
        const struct topo_datastore *ds = &t->datastores[d];
        bool differs = false;
        for (int m = ds->first_mount + 1; m < ds->first_mount + ds->n_mounts; m++)
            differs |= strcmp(t->mounts[m].server, t->mounts[ds->first_mount].server) != 0;
        if (!differs || ds->per_host)
            continue;
        named++;
        warn(j, "server-string-drift",
             "%s is mounted by different server strings: two datastores to vCenter, vMotion between these hosts fails",
             ds->name);
    }
    for (size_t i = 0; i < t->n_vips; i++) {
        bool used = !t->vips[i].up;
        for (size_t m = 0; m < t->n_mounts; m++)
            used |= t->mounts[m].vip == (int)i;
        unused += !used;
    }
    if (unused > 0)
        warn(j, "vip-unused", "%zu VIP%s up and serve%s nothing", unused, unused == 1 ? " is" : "s are",
             unused == 1 ? "s" : "");
    if (v->frontier->levers_left_out)
        warn(j, "levers-left-out", "the site is large: controllers, volumes and switch hashes were not looked at");
    if (v->t->network_only)
        warn(j, "network-only", "storage is taken as never limiting");
    if (v->proposed && v->worst.what != PLAN_FAIL_NONE && v->worst.cut > 0) {
        char name[256];
        warn(j, "single-point", "%s cuts off %zu mounts when it fails",
             plan_failure_name(v->t, &v->worst, name, sizeof name), v->worst.cut);
    }
}

void plan_judge(struct plan_view *v, struct topo_arena *arena)
{
    struct judging j = {.v = v};
    struct judging before = {.v = v};
    const struct topo *t = plan_made(v)->t;
    before.ways = arena_alloc(arena, (PLAN_WAYS + 1) * sizeof *before.ways);
    before.warnings = arena_alloc(arena, (PLAN_WAYS + WARNINGS) * sizeof *before.warnings);
    judge_mounts(&before, v->t);
    j.ways = arena_alloc(arena, (PLAN_WAYS + 1) * sizeof *j.ways);
    j.warnings = arena_alloc(arena, (PLAN_WAYS + WARNINGS) * sizeof *j.warnings);
    add_way(&j, PLAN_WAY_VIPS);
    for (size_t i = 0; i < v->chosen->n_changes; i++)
        if (v->chosen->changes[i].lever != PLAN_LEVER_VMK_BINDING) /* by the version of NFS: judge_mounts() */
            add_way(&j, plan_lever_way(v->chosen->changes[i].lever));
    judge_mounts(&j, t);
    judge_site(&j);
    judge_choices(&j);
    judge_connections(&j, t);
    for (size_t i = 0; i < j.n_ways; i++)
        if (j.ways[i]->support != PLAN_SUPPORTED)
            warn(&j, j.ways[i]->id, "%s: %s", plan_support_name(j.ways[i]->support), j.ways[i]->why);
    v->ways = j.ways;
    v->n_ways = j.n_ways;
    v->warnings = j.warnings;
    v->n_warnings = j.n_warnings;
    v->ways_today = before.ways;
    v->n_ways_today = before.n_ways;
}
