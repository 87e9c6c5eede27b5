/* Why a datastore has its VIP: the bits, who shares its links, what the next best VIP would cost. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "nfsbal/cli/plan_view.h"

/* The hops of a unit's writes and reads on one host, with the arithmetic. */
static void explain_way(const struct plan_view *v, int datastore, int host, int vip, FILE *out)
{
    const struct plan_problem *p = v->plan->problem;
    struct flow flow = plan_flow(p, plan_pair_of(p, datastore, host, vip));
    for (int d = 0; d < 2; d++) {
        struct path path;
        enum path_end end = path_walk(&p->site, NULL, &flow, (enum flow_direction)d, true, &path);
        for (size_t h = 0; h < path.n_hops; h++) {
            const struct path_hop *hop = &path.hops[h];
            if (hop->n < 2)
                continue;
            fprintf(out, "    %-5s %s  %s  [%s]\n", d == FLOW_WRITE ? "write" : "read",
                    hop->index < 0 ? v->t->boxes[hop->box].name : topo_linkdir_name(v->t, hop->linkdir), hop->why,
                    path_label(hop->status, hop->inputs));
        }
        if (end != PATH_OK)
            fprintf(out, "    %s\n", path.problem);
    }
}

/* The vector by which a unit loads the site as planned, or NULL. */
static const struct plan_vector *vector_of(const struct plan_view *v, size_t unit)
{
    const struct plan_problem *p = v->plan->problem;
    const struct plan_class *c = &p->classes[p->class_of[unit]];
    for (size_t o = 0; o < c->n_options; o++)
        if (c->options[o].vip == v->chosen->row->vips[unit])
            return c->options[o].vector;
    return NULL;
}

static bool loads(const struct plan_vector *vector, int resource)
{
    for (size_t i = 0; vector && i < vector->n; i++)
        if (vector->uses[i].resource == resource)
            return true;
    return false;
}

/* Others of the site on the unit's fullest link, as far as these are known. */
static void explain_company(const struct plan_view *v, size_t unit, FILE *out)
{
    enum { NAMES_SHOWN = 12 };
    const struct plan_layout *l = v->chosen->row->layout;
    const struct plan_problem *p = l->p;
    const struct plan_vector *own = vector_of(v, unit);
    int worst = -1, before = -1;
    size_t others = 0;
    for (size_t i = 0; own && i < own->n; i++)
        if (worst < 0 || plan_compare_real(l->loads[own->uses[i].resource], l->loads[worst]) > 0)
            worst = own->uses[i].resource;
    if (worst < 0)
        return;
    fprintf(out, "    its fullest link is %s with %.4g flows", topo_linkdir_name(v->t, p->resources[worst].linkdir),
            plan_layout_flows(l, worst));
    for (size_t u = 0; u < v->plan->n_units; u++) {
        int datastore = v->plan->units[u].datastore;
        if (u == unit || datastore == v->plan->units[unit].datastore || datastore == before ||
            !loads(vector_of(v, u), worst))
            continue;
        before = datastore;
        if (others++ < NAMES_SHOWN)
            fprintf(out, "%s%s", others == 1 ? ", shared with " : " ", v->t->datastores[datastore].name);
    }
    if (others > NAMES_SHOWN)
        fprintf(out, " and %zu more", others - NAMES_SHOWN);
    fputc('\n', out);
}

/* The fullest link with this one unit elsewhere, everything else as planned. */
static int explain_others(const struct plan_view *v, size_t unit, FILE *out)
{
    const struct plan_problem *p = v->plan->problem;
    size_t class_ = (size_t)p->class_of[unit], from = 0;
    const struct plan_class *c = &p->classes[class_];
    struct plan_layout *l = plan_layout_copy(v->chosen->row->layout);
    if (!l)
        return -ENOMEM;
    while (c->options[from].vip != v->chosen->row->vips[unit])
        from++;
    double now = plan_layout_max(l);
    for (size_t o = 0; o < c->n_options; o++) {
        char a[32], b[32];
        if (o == from || c->options[o].vip < 0)
            continue;
        long wrong = plan_layout_clash(l, class_, from, o);
        plan_layout_move(l, class_, from, o, 1);
        double then = plan_layout_max(l);
        plan_layout_move(l, class_, o, from, 1);
        fprintf(out, "    %s instead: ", v->t->vips[c->options[o].vip].text);
        if (wrong > 0)
            fputs("would share a link with what must be apart\n", out);
        else if (plan_compare_real(then, now) == 0)
            fputs("the fullest link stays as full\n", out);
        else
            fprintf(out, "the slowest would get %s MB/s instead of %s\n",
                    unit_print_mbps(a, sizeof a, then > 0 ? 1 / then : 0),
                    unit_print_mbps(b, sizeof b, now > 0 ? 1 / now : 0));
    }
    plan_layout_free(l);
    return 0;
}

int plan_explain(const struct plan_view *v, int datastore, FILE *out)
{
    int rc = 0;
    for (size_t u = 0; u < v->plan->n_units && rc == 0; u++) {
        const struct plan_unit *unit = &v->plan->units[u];
        const struct topo_datastore *ds = &v->t->datastores[unit->datastore];
        size_t n;
        const int *hosts = plan_unit_hosts(v->plan->problem, unit, &n);
        if (datastore >= 0 && unit->datastore != datastore)
            continue;
        int vip = plan_vip(v->plan, v->chosen->row, u, hosts[0]);
        bool stays =
            unit->mounted && (v->chosen->row->vips[u] == PLAN_AS_TODAY || v->chosen->row->vips[u] == unit->today);
        fprintf(out, "%s%s%s: %s%s\n", ds->name, unit->host >= 0 ? " on " : "",
                unit->host >= 0 ? v->t->boxes[unit->host].name : "", vip < 0 ? "-" : v->t->vips[vip].text,
                stays          ? ", as today"
                : ds->pin >= 0 ? ", pinned"
                               : "");
        for (size_t h = 0; h < n; h++) {
            int its = plan_vip(v->plan, v->chosen->row, u, hosts[h]);
            if (its < 0)
                continue;
            fprintf(out, "  %s\n", v->t->boxes[hosts[h]].name);
            explain_way(v, unit->datastore, hosts[h], its, out);
        }
        fputs("  the choice\n", out);
        explain_company(v, u, out);
        rc = explain_others(v, u, out);
    }
    return rc;
}
