/* needs: full */
#include "emu/cli/reproduce_live.h"

#include "emu/cli/cli.h"
#include "emu/cli/options.h"
#include "emu/live/run.h"
#include "emu/model/topology.h"
#include "emu/model/topology_file.h"

bool reproduce_live_suits(const struct topo *t)
{
    bool suits = !t->n_vm_groups;
    for (size_t i = 0; i < t->n_nodes; i++)
        suits &= !t->nodes[i].storage;
    for (size_t i = 0; i < t->n_datastores; i++)
        suits &= !t->datastores[i].iscsi;
    for (size_t i = 0; i < t->n_workloads; i++)
        suits &= t->workloads[i].duration > 0; /* by time, not by bytes */
    return suits;
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
    const struct live_options o = {
        .file = l->file, .scale = l->scale, .sink = true, .seed = 1, .interrupted = l->interrupted};
    struct live_report report = {0};
    struct result *r = live_run(t, &o, &report, problem, sizeof problem);
    if (!r && *l->interrupted)
        return 128 + *l->interrupted;
    if (!r)
        return cli_error(CLI_FAILED, l->command, "%s: %s%s%s", l->file, name ? name : "", name ? ": " : "", problem);
    if (!report.kept_up)
        cli_error(CLI_OK, l->command, "%s: %s%s%s", l->file, name ? name : "", name ? ": " : "",
                  live_shortfall(&report, problem, sizeof problem));
    *out = r;
    return OPTION_GO_ON;
}
