/* nfsbal diff: the way from today's mounts to a plan's. */
#include <stdlib.h>
#include <string.h>

#include "emu/cli/cli.h"
#include "emu/cli/options.h"
#include "emu/model/topology.h"
#include "emu/model/topology_file.h"
#include "emu/report/plan_file.h"
#include "nfsbal/cli/commands.h"
#include "nfsbal/cli/diff_text.h"
#include "nfsbal/emit/emit.h"
#include "nfsbal/emit/mount.h"
#include "nfsbal/emit/quote.h"
#include "nfsbal/plan/diff.h"

enum { PROBLEM = 512 };

struct options {
    const char *case_name, *plan, *host, *unmount;
    bool exit_code, json;
    int format; /* enum emit_format, or -1 */
    int way;    /* enum diff_way */
};

static const char *const ways[] = {"copy", "outage", NULL};

static const struct option_spec rows[] = {
    OPTION_STRING(struct options, plan, "plan", 'p', "PLAN", "the plan, as nfsbal plan -o wrote it (needed)"),
    OPTION_STRING(struct options, case_name, "case", 0, "C", "the topology of this case; default: the plan's"),
    OPTION_ENUM(struct options, way, "way", 0, "W", ways,
                "where a datastore can move by a copy (Storage vMotion) or by an outage: only\n"
                "copy or outage; default: both, the cheaper first"),
    OPTION_FLAG(struct options, exit_code, "exit-code", 0, "end with 1 when there is something to do"),
    OPTION_FLAG(struct options, json, "json", 0, "print JSON (nfsbal-diff/1)"),
    OPTION_ENUM(struct options, format, "format", 'f', "F", emit_format_names,
                "print the mounts of the plan for a tool instead: esxcli, powercli, fstab,\n"
                "systemd, nfsbal-fstab, nfsbal-systemd, proxmox, ansible, hosts, zone, govc,\n"
                "terraform, autofs, libvirt, kubernetes; or what it needs around: switch, nas"),
    OPTION_STRING(struct options, host, "host", 0, "H", "with --format: only the mounts of this host"),
    OPTION_STRING(struct options, unmount, "with-unmount", 0, "D",
                  "print the guarded script that unmounts datastore D from its ESXi hosts\n"
                  "instead, for step b"),
};

static const struct option_table table = {
    .operands = "FILE",
    .min_operands = 1,
    .max_operands = 1,
    .about =
        "Prints what to do, datastore by datastore, to get from today's mounts to a plan's: what each step stops,\n"
        "what to check before, and how to go back. It changes nothing itself, and prints what unmounts only when "
        "asked.",
    .rows = rows,
    .n_rows = sizeof rows / sizeof rows[0],
};

/* Commands are printed for a shell: no name may hold what a line can't. */
static const char *impossible_name(const struct topo *t)
{
    for (size_t i = 0; i < t->n_datastores; i++)
        if (!quote_possible(t->datastores[i].name))
            return "a datastore's name";
    for (size_t m = 0; m < t->n_mounts; m++)
        if (!quote_possible(t->mounts[m].server) || !quote_possible(t->mounts[m].path))
            return "a mount's server or path";
    return NULL;
}

static bool has_case(const struct topo_file *f, const char *name)
{
    for (size_t i = 0; i < topo_file_cases(f); i++)
        if (!strcmp(topo_file_case(f, i), name))
            return true;
    return false;
}

/* The script for the steps of one datastore, which must be outages on ESXi hosts. */
static int print_unmount(const char *command, const char *name, const struct diff *x)
{
    int datastore = topo_find_datastore(x->today, name), rc = CLI_USAGE;
    const struct topo_mount **mounts = calloc(x->today->n_mounts + 1, sizeof *mounts);
    size_t n = 0;
    if (!mounts)
        return cli_error(CLI_FAILED, command, "out of memory");
    for (size_t i = 0; i < x->n_steps; i++)
        for (size_t m = 0; m < x->steps[i].n_mounts && x->steps[i].datastore == datastore; m++)
            if (x->steps[i].cost == PLAN_OUTAGE && x->steps[i].mounts[m].today)
                mounts[n++] = x->steps[i].mounts[m].today;
    size_t linux_hosts = 0;
    for (size_t i = 0; i < n; i++)
        linux_hosts += !emit_is_esxi(x->today, mounts[i]->host);
    if (datastore < 0)
        cli_error(rc, command, "--with-unmount: there is no datastore `%s`", name);
    else if (n == 0)
        cli_error(rc, command, "--with-unmount %s: the plan unmounts it nowhere", name);
    else if (linux_hosts > 0)
        cli_error(rc, command,
                  "--with-unmount %s: it is mounted on Linux hosts, whose mount points the file doesn't say", name);
    else {
        emit_unmount(stdout, x->today, mounts, n);
        rc = CLI_OK;
    }
    free(mounts);
    return rc;
}

/* The plan's changes of the site: free(). NULL after an error. */
static struct plan_change *changes_of(const char *command, const struct plan_file *plan)
{
    struct plan_change *changes = calloc(plan->n_changes + 1, sizeof *changes);
    if (!changes)
        cli_error(CLI_FAILED, command, "out of memory");
    for (size_t i = 0; changes && i < plan->n_changes; i++) {
        int lever = plan_lever_find(plan->levers[i]);
        if (lever < 0) {
            cli_error(CLI_USAGE, command, "--plan %s: there is no lever `%s`", plan->path, plan->levers[i]);
            free(changes);
            return NULL;
        }
        changes[i] = (struct plan_change){(enum plan_lever)lever, plan->changes[i], plan->from[i]};
    }
    return changes;
}

static int print(const char *command, const struct options *o, const struct topo_file *f, const struct plan_file *plan,
                 const struct topo *today, const struct topo *goal, struct diag *d)
{
    const char *name = impossible_name(goal);
    if (!name)
        name = impossible_name(today);
    if (name)
        return cli_error(CLI_USAGE, command, "%s holds a control character, which no command line can", name);
    struct plan_change *changes = changes_of(command, plan);
    if (!changes)
        return CLI_USAGE;
    struct diff *x = diff_new(f, today, goal, changes, plan->n_changes, d);
    if (!x) {
        free(changes);
        diag_print_text(d, stderr, true);
        return cli_error(CLI_FAILED, command, "the plan can't be followed step by step");
    }
    int rc = o->exit_code && x->n_steps + x->n_changes > 0 ? CLI_FAILED : CLI_OK;
    if (o->unmount)
        rc = print_unmount(command, o->unmount, x);
    else if (o->json)
        diff_json(x, o->plan, stdout);
    else
        diff_text(x, o->plan, (enum diff_way)o->way, stdout);
    diff_free(x);
    free(changes);
    return rc;
}

static int print_format(const char *command, const struct options *o, const struct topo *goal)
{
    char problem[PROBLEM];
    struct emit e = {.t = goal, .format = (enum emit_format)o->format, .host = -1};
    if (o->host) {
        e.host = topo_find_box(goal, o->host);
        if (e.host < 0)
            return cli_error(CLI_USAGE, command, "there is no host `%s`", o->host);
    }
    return emit_print(&e, stdout, problem, sizeof problem) ? CLI_OK : cli_error(CLI_USAGE, command, "%s", problem);
}

static int run(const char *command, const struct options *o, const char *path)
{
    char problem[PROBLEM];
    struct diag d;
    struct topo_file *f = NULL;
    struct topo *today = NULL, *goal = NULL;
    int rc = CLI_USAGE;
    struct plan_file *plan = plan_file_load(o->plan, problem, sizeof problem);
    if (!plan)
        return cli_error(CLI_USAGE, command, "--plan %s", problem);
    const char *case_name = o->case_name ? o->case_name : plan->case_name;
    diag_init(&d, path);
    f = topo_file_open(path, &d);
    if (f && case_name && !has_case(f, case_name)) {
        cli_error(CLI_USAGE, command, "%s has no case `%s`", path, case_name);
        goto out;
    }
    today = f ? topo_load(f, case_name, &d) : NULL;
    goal = today && diag_count(&d, DIAG_ERROR) == 0 ? plan_file_topo(plan, f, case_name, &d) : NULL;
    if (!goal || diag_count(&d, DIAG_ERROR) > 0)
        diag_print_text(&d, stderr, true);
    else if (o->format >= 0)
        rc = print_format(command, o, goal);
    else
        rc = print(command, o, f, plan, today, goal, &d);
out:
    topo_free(goal);
    topo_free(today);
    topo_file_close(f);
    diag_free(&d);
    plan_file_free(plan);
    return rc;
}

int command_diff(int argc, char **argv)
{
    struct options options = {.format = -1, .way = DIFF_BOTH};
    struct option_list operands;
    int rc = option_parse(&table, argc, argv, &options, &operands);
    if (rc == OPTION_GO_ON && !options.plan)
        rc = cli_error(CLI_USAGE, argv[0], "--plan is missing: nfsbal plan %s --max-changes N -o plan.json makes one",
                       operands.items[0]);
    if (rc == OPTION_GO_ON && options.format >= 0 && (options.json || options.exit_code))
        rc = cli_error(CLI_USAGE, argv[0], "--format: not with --json or --exit-code, which are about the steps");
    if (rc == OPTION_GO_ON && options.unmount && (options.json || options.exit_code || options.format >= 0))
        rc = cli_error(CLI_USAGE, argv[0], "--with-unmount: not with --json, --exit-code or --format");
    if (rc == OPTION_GO_ON && options.way != DIFF_BOTH && (options.json || options.unmount || options.format >= 0))
        rc = cli_error(CLI_USAGE, argv[0], "--way: not with --json, --format or --with-unmount");
    if (rc == OPTION_GO_ON && options.host && options.format < 0)
        rc = cli_error(CLI_USAGE, argv[0], "--host %s: it needs --format", options.host);
    if (rc == OPTION_GO_ON)
        rc = run(argv[0], &options, operands.items[0]);
    option_free(&table, &options, &operands);
    return rc;
}
