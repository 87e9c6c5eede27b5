/* nfsbal plan --names per-datastore: a DNS name for each datastore, so that another VIP for it is rolling from then on. */
#include <string.h>

#include "nfsbal/cli/plan_view.h"
#include "nfsbal/plan/names.h"

/* The name that the datastore has or could have. */
static void name_of(const struct plan_view *v, int datastore, const char *domain, char *out, size_t size)
{
    char label[PLAN_LABEL_MAX + 1];
    if (v->t->datastores[datastore].server) {
        snprintf(out, size, "%s", v->t->datastores[datastore].server);
        return;
    }
    plan_names_label(v->t, datastore, label);
    snprintf(out, size, "%s.%s", label, domain);
}

bool plan_names(const struct plan_view *v, const char *domain, FILE *out)
{
    unsigned vms = 0;
    size_t mounted = 0, new = 0, named = 0;
    if (!domain)
        domain = plan_names_domain(v->t);
    if (!domain)
        return false;
    fprintf(out,
            "; A DNS name per datastore%s. Every host must resolve it before it mounts, to the same address.\n"
            "; Try it on one test datastore first.\n\n; zone\n",
            v->proposed ? ", as the plan has them" : ", as they are mounted today");
    for (int pass = 0; pass < 2; pass++) {
        if (pass)
            fputs("\n# hosts file of every host, instead of a zone\n", out);
        for (size_t u = 0; u < v->plan->n_units; u++) {
            const struct plan_unit *unit = &v->plan->units[u];
            char name[512];
            int vip = v->chosen->row->vips[u];
            if (unit->host >= 0)
                continue;
            name_of(v, unit->datastore, domain, name, sizeof name);
            if (vip == PLAN_AS_TODAY) {
                fprintf(out, "%s %s: hosts mount it by different VIPs today: plan a change first\n", pass ? "#" : ";",
                        name);
                continue;
            }
            const struct topo_vip *to = &v->t->vips[vip];
            if (pass)
                fprintf(out, "%-39s %s\n", to->text, name);
            else
                fprintf(out, "%s. 60 IN %s %s\n", name, to->addr.version == 6 ? "AAAA" : "A", to->text);
            if (pass)
                continue;
            named += unit->mounted && unit->cost == PLAN_ROLLING;
            new += !unit->mounted;
            if (unit->mounted && unit->cost != PLAN_ROLLING) {
                mounted++;
                vms += v->t->datastores[unit->datastore].vms;
            }
        }
    }
    fprintf(
        out,
        "\n# %zu datastore%s mounted by such a name already, %zu new (class 0: nothing stops), %zu mounted otherwise:\n"
        "# to mount one of these by its name is an outage of it, once (class 3, %u VMs together); from then on another "
        "VIP\n"
        "# is another record and each host once in maintenance mode (class 1 rolling).\n"
        "# A plan that gives names to what it moves anyway: nfsbal plan %s --levers vip,names --max-changes N -o "
        "plan.json\n",
        named, named == 1 ? " is" : "s are", new, mounted, vms, v->file);
    return true;
}
