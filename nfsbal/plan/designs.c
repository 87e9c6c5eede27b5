#include "nfsbal/plan/designs.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "emu/model/path_site.h"
#include "emu/model/topology_file.h"
#include "nfsbal/plan/problem.h"

enum { VARIANTS = 8 };
#define FAILURE_WORK 3e6 /* flows times cables that are failed one by one */

static const struct plan_design_facts facts[] = {
    [PLAN_DESIGN_TODAY] = {"today", "today", {PLAN_WAYS, PLAN_WAYS}, NULL, NULL, NULL, NULL},
    [PLAN_DESIGN_VIPS] = {"vips-ip-hash",
                          "VIPs + IP hash",
                          {PLAN_WAY_IP_HASH, PLAN_WAY_VIPS},
                          "vSwitch: route based on IP hash, all uplinks active, none on standby",
                          "a static EtherChannel per host on one switch, stack or MLAG pair; hash over addresses",
                          "several addresses per controller; one datastore, one address",
                          "the host's switch ports change together with its teaming: the wrong order cuts it off"},
    [PLAN_DESIGN_SUBNETS] = {"subnets-port-id",
                             "subnets + port ID",
                             {PLAN_WAY_SUBNETS, PLAN_WAYS},
                             "a vmknic, VLAN and port group per uplink: that one active, the others on standby",
                             "no LAG to hosts; a VLAN per uplink; independent switches will do",
                             "an address per subnet, each on a port of its own",
                             "all hosts need the same subnets; the loss of a NAS port is the NAS's own failover, not "
                             "counted here"},
    [PLAN_DESIGN_BINDING] = {"vmk-binding",
                             "vmknic binding",
                             {PLAN_WAY_VMK_BINDING_3, PLAN_WAYS},
                             "a vmknic per uplink in one subnet, each datastore bound to one",
                             "no LAG to hosts; independent switches will do",
                             "several addresses where its LAG hashes over addresses",
                             "every datastore must be bound: what is not goes where routing says (KB 2010877); NFS 4.1 "
                             "can since 8.0 U3"},
    [PLAN_DESIGN_LACP] =
        {"lacp-nconnect",
         "LACP L4 + nconnect 4",
         {PLAN_WAY_NCONNECT, PLAN_WAY_LACP},
         "distributed switch with an LACP LAG that hashes over ports; nconnect 4, the same on all hosts",
         "LACP per host on one switch, stack or MLAG pair; hash over ports towards hosts and NAS",
         "LACP with a hash over ports",
         "ports are drawn at every connect: rates are the average at best, a link may stay idle; 256 "
         "connections per host"},
    [PLAN_DESIGN_TEN_GIG] = {"two-fast-links",
                             "2 x 10 GbE, no hash",
                             {PLAN_WAY_NO_HASH, PLAN_WAYS},
                             "two 10 GbE uplinks, one active, one on standby",
                             "10 GbE ports, no LAG; independent switches will do",
                             "two 10 GbE ports per controller, addresses dealt over them",
                             "new hardware on hosts, switch and NAS"},
};
static_assert(sizeof facts / sizeof facts[0] == PLAN_DESIGNS, "facts for each design");

const struct plan_design_facts *plan_design_facts(enum plan_design design) { return &facts[design]; }

/* ---- what a topology gives ---- */

static double slowest(const struct path_site *s, const double *rates)
{
    double least = 0;
    bool any = false;
    for (size_t m = 0; m < s->t->n_mounts; m++) {
        double rate = 0;
        for (size_t f = s->first_flow[m]; f < s->first_flow[m + 1]; f++)
            rate += rates[f];
        if (s->first_flow[m] < s->first_flow[m + 1] && (!any || rate < least)) {
            least = rate;
            any = true;
        }
    }
    return least;
}

/* The slowest datastore after the worst loss of one cable that leaves everything a way. */
static double after_loss(const struct path_site *s)
{
    const struct topo *t = s->t;
    bool *down = calloc(2 * t->n_links + 1, sizeof *down);
    double *rates = calloc(s->n_flows + 1, sizeof *rates), least = 0;
    bool any = false;
    for (size_t l = 0; down && rates && l < t->n_links; l++) {
        struct path_state state = {.linkdir_down = down};
        for (size_t i = 0; i < t->n_links; i++)
            down[2 * i] = down[2 * i + 1] = t->links[i].down || i == l;
        for (int d = 0; d < 2; d++) {
            struct predict *p = predict_new(t, &state, s->flows, s->weights, s->n_flows, (enum flow_direction)d);
            bool broken = !p || predict_rates(p, NULL, 0, rates) != 0;
            for (size_t f = 0; f < s->n_flows && !broken; f++)
                broken = predict_broken(p, f);
            double rate = broken ? 0 : slowest(s, rates);
            if (!broken && (!any || rate < least)) {
                least = rate;
                any = true;
            }
            predict_free(p);
        }
    }
    free(down);
    free(rates);
    return least;
}

bool plan_design_rates(const struct topo *t, struct plan_design_rates *out)
{
    struct flow *flows = NULL;
    long n = flow_list(t, &flows);
    struct path_site *s = n < 0 ? NULL : path_site_new(t, flows, (size_t)n);
    free(flows);
    *out = (struct plan_design_rates){0};
    if (!s)
        return false;
    for (int d = 0; d < 2; d++) {
        bool any = false;
        for (size_t b = 0; b < t->n_boxes; b++) {
            double rate = 0;
            size_t flows_of;
            path_site_flows_of(s, (int)b, &flows_of);
            if (flows_of == 0 || path_site_host_rate(s, (int)b, (enum flow_direction)d, &rate) != 0)
                continue;
            out->host[d] = any ? fmin(out->host[d], rate) : rate;
            any = true;
        }
        for (size_t f = 0; f < s->n_flows; f++)
            out->all[d] += s->all[d][f];
        out->slowest[d] = slowest(s, s->all[d]);
    }
    if ((double)s->n_flows * (double)t->n_links <= FAILURE_WORK)
        out->after = after_loss(s);
    path_site_free(s);
    return true;
}

/* Each datastore of a host over the next of its interfaces in that subnet; `by_vip`: each of a VIP. */
static void bind(struct topo *t, bool by_vip)
{
    for (size_t m = 0; m < t->n_mounts; m++) {
        struct topo_mount *mount = &t->mounts[m];
        size_t n = 0, before = 0;
        int ifaces[64];
        for (int i = 0; i < (int)t->n_ifaces && n < 64; i++)
            if (t->ifaces[i].box == mount->host && mount->iface >= 0 &&
                topo_addr_same_subnet(&t->ifaces[i].addr, &t->ifaces[mount->iface].addr, t->ifaces[i].addr.prefix))
                ifaces[n++] = i;
        for (size_t k = 0; k < m; k++)
            before += t->mounts[k].host == mount->host && (!by_vip || t->mounts[k].vip == mount->vip);
        if (n > 1)
            mount->iface = ifaces[before % n];
        mount->iface_origin = TOPO_GIVEN;
        mount->bound = true;
    }
}

static bool try_design(const struct topo *t, enum plan_design design, unsigned variant, struct plan_design_rates *out,
                       char *problem, size_t size)
{
    const struct plan_options options = {.best = true, .allow_indirect = true};
    char *text = plan_design_draw(t, design, variant / 2, problem, size);
    struct diag d;
    struct topo *site = NULL, *goal = NULL;
    struct plan *plan = NULL;
    bool ok = false;
    if (!text)
        return false;
    diag_init(&d, facts[design].id);
    struct topo_file *f = topo_file_parse(facts[design].id, text, strlen(text), &d);
    site = f ? topo_load(f, NULL, &d) : NULL;
    if (site && diag_count(&d, DIAG_ERROR) == 0)
        plan = plan_make(site, &options, problem, size);
    else
        snprintf(problem, size, "it can't be drawn for this site%s%s", d.count ? ": " : "",
                 d.count ? d.entries[0].text : "");
    if (plan) {
        struct topo_assignment *all;
        long n = plan_assignments(plan, &plan->rows[plan->best], &all);
        goal = n < 0 ? NULL : topo_load_assigned(f, NULL, all, (size_t)n, &d);
        if (n >= 0)
            free(all);
        if (goal && design == PLAN_DESIGN_BINDING)
            bind(goal, variant % 2);
        ok = goal && plan_design_rates(goal, out);
        if (!ok)
            snprintf(problem, size, "out of memory");
    }
    plan_free(plan);
    topo_free(goal);
    topo_free(site);
    topo_file_close(f);
    diag_free(&d);
    free(text);
    return ok;
}

bool plan_design(const struct topo *t, enum plan_design design, struct plan_design_rates *out, char *problem,
                 size_t size)
{
    if (design != PLAN_DESIGN_BINDING)
        return try_design(t, design, 0, out, problem, size);
    /* The addresses of the further vmknics are free to choose: the best of some. */
    bool any = false;
    for (unsigned v = 0; v < VARIANTS; v++) {
        struct plan_design_rates rates;
        if (!try_design(t, design, v, &rates, problem, size))
            continue;
        double now = fmin(rates.slowest[0], rates.slowest[1]), best = fmin(out->slowest[0], out->slowest[1]);
        if (!any || now > best * (1 + 1e-9) || (now >= best * (1 - 1e-9) && rates.host[0] > out->host[0]))
            *out = rates;
        any = true;
    }
    return any;
}
