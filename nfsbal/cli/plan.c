/* nfsbal plan: which VIP for which datastore, what each change buys, and how good that is. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "emu/cli/cli.h"
#include "emu/cli/options.h"
#include "emu/model/topology_change.h"
#include "emu/model/topology_file.h"
#include "emu/report/outfile.h"
#include "nfsbal/cli/commands.h"
#include "nfsbal/cli/plan_suggest.h"
#include "nfsbal/cli/plan_view.h"

enum { PROBLEM = 16384 };

struct options {
    const char *case_name, *out, *explain, *reserved;
    struct option_list from, what_if;
    int64_t max_changes, suggest;
    double worth;
    bool best, vmk, indirect, json, tsv, why;
};

static const char *parse_percent(const char *text, void *member)
{
    double *fraction = member;
    const char *expected = unit_parse_percent(text, fraction);
    if (expected || !(*fraction > 0) || *fraction > 1)
        return "a percentage such as 5%";
    return NULL;
}

static const struct option_spec rows[] = {
    OPTION_STRING(struct options, case_name, "case", 0, "C", "the topology of this case; default: as the file stands"),
    OPTION_STRING(struct options, out, "output", 'o', "FILE",
                  "write the plan as JSON (nfsbal-plan/1); - is standard output,\n"
                  "instead of the tables"),
    OPTION_INTEGER(struct options, max_changes, "max-changes", 0, "N", 0, 1000000,
                   "propose the best layout that changes no more than N datastores"),
    OPTION_VALUE(struct options, worth, "worth", 0, "P", parse_percent,
                 "propose changes as long as each takes P % off the fullest link"),
    OPTION_FLAG(struct options, best, "best", 0, "propose the best layout, whatever it changes"),
    OPTION_FLAG(struct options, indirect, "allow-indirect", 0,
                "also VIPs on another controller than the owner of the export"),
    OPTION_FLAG(struct options, why, "explain", 'e',
                "why each datastore of the plan has its VIP, who shares its links, and\n"
                "what the next best VIP would cost"),
    OPTION_STRING(struct options, explain, "datastore", 0, "D", "with --explain: only this datastore"),
    OPTION_LIST(struct options, what_if, "what-if", 0, "CHANGE",
                "plan as if: 'add-host NAME ADDRESS', 'uplinks N',\n"
                "'speed [NODE] RATE', 'fail PORT|NODE'; may be given several times"),
    OPTION_INTEGER(struct options, suggest, "suggest-vips", 0, "N", 1, 4096,
                   "addresses that make N VIPs with those that are there, so that\n"
                   "every host's uplinks and every LAG are even"),
    OPTION_FLAG(struct options, vmk, "suggest-vmk", 0,
                "addresses for hosts' interfaces that make today's mounts, or the\n"
                "proposed ones, more even: a change that is rolling"),
    OPTION_LIST(struct options, from, "from", 0, "RANGE",
                "with the two above: out of these, such as 10.0.0.[101-199];\n"
                "may be given several times"),
    OPTION_STRING(struct options, reserved, "reserved", 0, "FILE",
                  "with the same: but none of these, an address or range a line"),
    OPTION_FLAG(struct options, json, "json", 0, "print JSON (nfsbal-plan/1)"),
    OPTION_FLAG(struct options, tsv, "tsv", 0, "tab-separated: a row per datastore and host"),
};

static const struct option_table table = {
    .operands = "FILE",
    .min_operands = 1,
    .max_operands = 1,
    .about = "Finds the VIP for each datastore that uses every link, shows what 0, 1, 2 ... changes of today's mounts "
             "would\n"
             "buy, and proves how good that is. Nothing is proposed for a site that is mounted unless it is asked for.",
    .rows = rows,
    .n_rows = sizeof rows / sizeof rows[0],
};

static int check_options(const char *command, const struct options *o)
{
    if ((o->max_changes >= 0) + (o->worth > 0) + o->best > 1)
        return cli_error(CLI_USAGE, command, "--max-changes, --worth and --best: one of them");
    if (o->json + o->tsv + o->why > 1)
        return cli_error(CLI_USAGE, command, "--json, --tsv and --explain: one of them");
    if (o->suggest < 0 && !o->vmk && (o->from.n || o->reserved))
        return cli_error(CLI_USAGE, command, "--from and --reserved go with --suggest-vips and --suggest-vmk");
    if (o->vmk && !o->from.n)
        return cli_error(CLI_USAGE, command, "--suggest-vmk: out of which addresses? --from RANGE");
    if (o->vmk && (o->suggest >= 0 || o->json || o->tsv || o->why || o->out))
        return cli_error(CLI_USAGE, command,
                         "--suggest-vmk is a question of its own: without --json, --tsv, --explain, -o");
    if (o->suggest >= 0 && !o->from.n)
        return cli_error(CLI_USAGE, command, "--suggest-vips %lld: out of which addresses? --from RANGE",
                         (long long)o->suggest);
    if (o->suggest >= 0 && (o->max_changes >= 0 || o->worth > 0 || o->best || o->json || o->tsv || o->why || o->out))
        return cli_error(CLI_USAGE, command,
                         "--suggest-vips is a question of its own: it goes with --case, --from and --reserved");
    if (o->what_if.n && (o->out || o->json))
        return cli_error(CLI_USAGE, command,
                         "--what-if: a plan for what is not in the file can't be written: change a copy of the file");
    if (o->explain && !o->why)
        return cli_error(CLI_USAGE, command, "--datastore %s: it says what --explain is about", o->explain);
    if (o->out && !strcmp(o->out, "-") && (o->json || o->tsv || o->why))
        return cli_error(CLI_USAGE, command, "-o -: it wants standard output for itself");
    return OPTION_GO_ON;
}

/* The predictions of a layout. False on lack of memory. */
static bool set_scene(struct plan_scene *s, const struct plan_row *row, struct topo *t)
{
    struct flow *flows = NULL;
    long n = flow_list(t, &flows);
    *s = (struct plan_scene){.row = row, .t = t};
    s->site = n < 0 ? NULL : path_site_new(t, flows, (size_t)n);
    free(flows);
    return s->site != NULL;
}

/* The topology with a row's mounts; NULL with errors in d. */
static struct topo *apply(const struct topo_file *f, const struct plan_view *v, const struct plan_row *row,
                          struct diag *d)
{
    struct topo_assignment *all;
    long n = plan_assignments(v->plan, row, &all);
    if (n < 0)
        return NULL;
    struct topo *t = topo_load_assigned(f, v->t->case_name, all, (size_t)n, d);
    free(all);
    return t;
}

static bool make_scenes(struct plan_view *v, const struct topo_file *f, struct topo *t, struct diag *d)
{
    const struct plan *plan = v->plan;
    bool new_site = true, new_units = false;
    for (size_t u = 0; u < plan->n_units; u++) {
        new_site &= !plan->units[u].mounted;
        new_units |= !plan->units[u].mounted;
    }
    v->best = &plan->rows[plan->best];
    v->chosen = &plan->rows[plan->chosen];
    v->proposed = new_units || plan->chosen > 0;
    if (!new_site && !set_scene(&v->today, &plan->rows[0], t))
        return false;
    const struct plan_row *row = v->proposed ? v->chosen : v->best;
    struct topo *goal = apply(f, v, row, d);
    if (!goal || !set_scene(&v->goal, row, goal)) {
        if (!v->goal.t)
            topo_free(goal);
        return false;
    }
    plan_failure_worst(v->chosen->layout, &v->worst);
    return true;
}

static int write_plan(const char *command, const struct plan_view *v, const char *path)
{
    struct outfile out;
    int rc = outfile_open(&out, path);
    if (rc == 0) {
        plan_json(v, out.file);
        rc = outfile_commit(&out);
    }
    outfile_abandon(&out);
    return rc ? cli_error(CLI_FAILED, command, "%s: %s", path, strerror(-rc)) : CLI_OK;
}

static int print(const char *command, const struct plan_view *v, const struct options *o)
{
    int datastore = o->explain ? topo_find_datastore(v->t, o->explain) : -1, rc = 0;
    if (o->explain && datastore < 0)
        return cli_error(CLI_USAGE, command, "there is no datastore `%s`", o->explain);
    if (o->out) {
        int written = write_plan(command, v, o->out);
        if (written != CLI_OK || !strcmp(o->out, "-"))
            return written;
    }
    if (o->json)
        plan_json(v, stdout);
    else if (o->tsv)
        rc = plan_tsv(v, stdout);
    else if (o->why)
        rc = plan_explain(v, datastore, stdout);
    else {
        for (size_t i = 0; i < o->what_if.n; i++)
            printf("%s%s%s", i ? ", " : "what if: ", o->what_if.items[i], i + 1 == o->what_if.n ? "\n" : "");
        rc = plan_text(v, stdout);
    }
    return rc ? cli_error(CLI_FAILED, command, "%s", strerror(-rc)) : CLI_OK;
}

static int plan_file(const char *command, const struct options *o, const struct topo_file *f, struct topo *t,
                     struct diag *d)
{
    const struct plan_options wanted = {.max_changes = o->max_changes > 0 ? (size_t)o->max_changes : 0,
                                        .worth = o->worth,
                                        .best = o->best,
                                        .allow_indirect = o->indirect};
    char problem[PROBLEM];
    struct plan_view v = {.file = d->file, .t = t};
    struct plan *plan = plan_make(t, &wanted, problem, sizeof problem);
    int rc;
    if (!plan)
        return cli_error(CLI_FAILED, command, "%s: %s", d->file, problem);
    v.plan = plan;
    long n = plan_parts(f, t->case_name, &v.parts, d);
    if (n < 0 || !make_scenes(&v, f, t, d)) {
        diag_print_text(d, stderr, true);
        rc = cli_error(CLI_FAILED, command, "the plan can't be applied to %s", d->file);
    } else {
        v.n_parts = (size_t)n;
        rc = o->vmk ? plan_suggest_vmks(command, plan, &o->from, o->reserved) : print(command, &v, o);
    }
    plan_parts_free(v.parts, v.n_parts);
    path_site_free(v.today.site);
    path_site_free(v.goal.site);
    topo_free(v.goal.t);
    plan_free(plan);
    return rc;
}

static int run(const char *command, const struct options *o, const char *path)
{
    struct diag d;
    int rc = CLI_USAGE;
    diag_init(&d, path);
    struct topo_file *f = topo_file_open(path, &d);
    bool changed = f != NULL;
    for (size_t i = 0; changed && i < o->what_if.n; i++)
        changed = topo_file_change(f, o->what_if.items[i], &d);
    struct topo *t = changed ? topo_load(f, o->case_name, &d) : NULL;
    if (t && diag_count(&d, DIAG_ERROR) == 0)
        rc = o->suggest >= 0 ? plan_suggest_vips(command, t, o->suggest, &o->from, o->reserved)
                             : plan_file(command, o, f, t, &d);
    else
        diag_print_text(&d, stderr, true);
    topo_free(t);
    topo_file_close(f);
    diag_free(&d);
    return rc;
}

int command_plan(int argc, char **argv)
{
    struct options options = {.max_changes = -1, .suggest = -1};
    struct option_list operands;
    int rc = option_parse(&table, argc, argv, &options, &operands);
    if (rc == OPTION_GO_ON)
        rc = check_options(argv[0], &options);
    if (rc == OPTION_GO_ON)
        rc = run(argv[0], &options, operands.items[0]);
    option_free(&table, &options, &operands);
    return rc;
}
