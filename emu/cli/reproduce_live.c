/* needs: full */
#include "emu/cli/reproduce_live.h"

#include "emu/cli/cli.h"
#include "emu/cli/options.h"
#include "emu/live/run.h"
#include "emu/model/result.h"
#include "emu/model/topology.h"
#include "emu/model/topology_file.h"
#include "emu/model/topology_images.h"
#include "emu/sim/run.h"

/* One machine on a mount, that starts with the run, and of no phase that takes operations as they come. */
static bool live_machines(const struct topo *t)
{
    for (size_t i = 0; i < t->n_vm_groups; i++) {
        const struct topo_vm_group *g = &t->vm_groups[i];
        if (g->n_vms > t->workloads[g->workload].n_mounts || g->rate > 0 || g->at_most || g->length)
            return false;
        for (size_t k = 0; k < g->n_phases; k++)
            if (g->phases[k].iops > 0 || g->phases[k].share < 1)
                return false;
    }
    return true;
}

bool reproduce_live_suits(const struct topo *t)
{
    bool storage = false, suits = true;
    for (size_t i = 0; i < t->n_nodes; i++)
        storage |= t->nodes[i].storage != NULL;
    for (size_t i = 0; i < t->n_datastores; i++)
        suits &= !t->datastores[i].iscsi;
    for (size_t i = 0; i < t->n_workloads; i++) /* what ends by time says nothing of disks that it doesn't wait for */
        suits &= (t->workloads[i].duration > 0) != storage;
    return suits && live_machines(t) && t->raise_until == 0;
}

/* Storage is played where the run is as long as it makes it. */
static bool ends_by_amount(const struct topo *t)
{
    for (size_t i = 0; i < t->n_workloads; i++)
        if (t->workloads[i].duration > 0 && t->workloads[i].vm_group < 0)
            return false;
    return true;
}

int reproduce_live_case(const struct reproduce_live *l, const struct topo_file *f, const char *name,
                        struct result **out)
{
    struct diag d;
    char problem[1024] = "";
    diag_init(&d, l->file);
    struct topo *t = topo_load(f, name, &d);
    diag_free(&d);
    if (!t)
        return cli_error(CLI_FAILED, l->command, "%s: %s cannot be read", l->file, name ? name : "it");
    for (size_t i = 0; i < t->n_workloads && l->longest; i++)
        if (t->workloads[i].duration > l->longest)
            t->workloads[i].duration = l->longest;
    bool bytes = ends_by_amount(t);
    if (bytes && l->images < 1)
        topo_images(t, l->images);
    const struct live_options o = {
        .file = l->file, .scale = l->scale, .sink = !bytes, .storage = bytes, .seed = 1, .interrupted = l->interrupted};
    struct live_report report = {0};
    struct result *r = live_run(t, &o, &report, problem, sizeof problem);
    if (!r && *l->interrupted)
        return 128 + *l->interrupted;
    if (!r)
        return cli_error(CLI_FAILED, l->command, "%s: %s%s%s", l->file, name ? name : "", name ? ": " : "", problem);
    if (!report.kept_up)
        cli_error(CLI_OK, l->command, "%s: %s%s%s", l->file, name ? name : "", name ? ": " : "",
                  live_shortfall(&report, problem, sizeof problem));
    result_images(r);
    *out = r;
    return OPTION_GO_ON;
}

struct result *reproduce_live_alike(const struct reproduce_live *l, const struct topo_file *f, const char *name)
{
    struct diag d;
    char problem[1024] = "";
    double part = l->images * l->scale;
    diag_init(&d, l->file);
    struct topo *t = topo_load(f, name, &d);
    diag_free(&d);
    if (!t || part >= 1 || !ends_by_amount(t)) {
        topo_free(t);
        return NULL;
    }
    topo_images(t, part);
    struct sim_options o = {.detail = sim_detail_of(t), .seed = 1, .interrupted = l->interrupted};
    if (o.detail == SIM_FLUID) /* rates know nothing of begins and ends */
        o.detail = SIM_TRAIN;
    struct result *r = sim_run(t, &o, problem, sizeof problem);
    if (r)
        result_images(r);
    return r;
}
