/* emu live: plays the cases of a topology file with real frames and real NFS, and reports. needs: full */
#include "emu/cli/commands.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "emu/cli/cases.h"
#include "emu/cli/cli.h"
#include "emu/cli/interrupt.h"
#include "emu/cli/live_topo.h"
#include "emu/cli/options.h"
#include "emu/cli/progress.h"
#include "emu/live/nas.h"
#include "emu/live/run.h"
#include "emu/model/expect.h"
#include "emu/model/result.h"
#include "emu/model/topology.h"

struct live_command {
    struct option_list cases;
    const char *plan, *host, *exports, *json;
    double scale;
    int detail;
    int64_t seed;
    bool compare, storage, sink, tsv, check, strict, quiet;
};

enum { TRAIN, FRAME };
static const char *const details[] = {"train", "frame", NULL};

static const struct option_spec rows[] = {
    OPTION_LIST(struct live_command, cases, "case", 'c', "CASE", "only this case; may be given several times"),
    OPTION_STRING(struct live_command, plan, "plan", 0, "P", "mounts as this plan wants them (nfsbal plan -o P)"),
    OPTION_FLAG(struct live_command, compare, "compare", 0, "with --plan: today's mounts too, side by side"),
    OPTION_VALUE(struct live_command, scale, "scale", 0, "R", live_parse_scale,
                 "rates times R, delays divided by it; results as at full\nrate; 1 by default"),
    OPTION_ENUM(struct live_command, detail, "detail", 0, "LEVEL", details,
                "what kernels hand over: trains of frames (train, the\ndefault) or each frame by itself (frame)"),
    OPTION_STRING(struct live_command, host, "host", 0, "HOST", "only this host works, the others stand still"),
    OPTION_STRING(struct live_command, exports, "exports", 0, "FOLDER",
                  "where the exports are: FOLDER/NAS/PATH; by default in memory"),
    OPTION_FLAG(struct live_command, storage, "storage", 0,
                "the file's `storage:` is played: reads and writes are\nanswered when it would have; else by memory"),
    OPTION_FLAG(struct live_command, sink, "sink", 0, "work on sinks in memory that keep nothing"),
    OPTION_INTEGER(struct live_command, seed, "seed", 0, "N", 0, INT64_MAX, "of all that is drawn; 1 by default"),
    OPTION_STRING(struct live_command, json, "json", 0, "FILE",
                  "also write the results as JSON; - is standard output, instead\nof the tables"),
    OPTION_FLAG(struct live_command, tsv, "tsv", 0, "tab-separated values instead of the tables"),
    OPTION_FLAG(struct live_command, check, "check", 0, "exit with 1 when an expectation of the file does not hold"),
    OPTION_FLAG(struct live_command, strict, "strict", 0, "exit with 1 when the machine did not keep up"),
    OPTION_FLAG(struct live_command, quiet, "quiet", 'q', "only the summary of the cases, no progress bar"),
};

static const struct option_table table = {
    .operands = "FILE",
    .min_operands = 1,
    .max_operands = 1,
    .about = "Plays every case of a topology file with real frames between network namespaces and real NFS between "
             "kernels' TCP,\n"
             "in real time, and shows what `emu run` shows. FILE - is standard input.",
    .rows = rows,
    .n_rows = sizeof rows / sizeof rows[0],
};

struct live_cases {
    const char *command;
    const struct live_command *options;
    struct cases cases;
    size_t current;
    struct progress progress;
    const volatile sig_atomic_t *interrupted;
    bool behind; /* a case did not keep up */
};

static int check_options(const char *command, const struct live_command *o)
{
    struct stat s;
    if (o->sink && o->exports)
        return cli_error(CLI_USAGE, command, "--exports %s: --sink works on no files", o->exports);
    if (o->sink && o->storage)
        return cli_error(CLI_USAGE, command, "--storage: --sink works on none");
    if (o->exports && (stat(o->exports, &s) < 0 || !S_ISDIR(s.st_mode)))
        return cli_error(CLI_USAGE, command, "--exports %s: no such folder", o->exports);
    return OPTION_GO_ON;
}

/* What can't be played is said before anything is. */
static int check_cases(const struct live_cases *l)
{
    char problem[256];
    for (size_t i = 0; i < l->cases.n_cases; i++) {
        const struct topo *t = l->cases.cases[i].topo;
        if (!l->cases.wanted[i])
            continue;
        for (size_t w = 0; w < t->n_workloads; w++)
            if (t->workloads[w].vm_group >= 0)
                return cli_error(CLI_USAGE, l->command,
                                 "%s: machines of `vm-groups` can only be run in virtual time (emu run)",
                                 t->workloads[w].name);
        for (size_t d = 0; d < t->n_datastores; d++)
            if (t->datastores[d].iscsi)
                return cli_error(CLI_USAGE, l->command,
                                 "%s: volumes over iSCSI can only be run in virtual time (emu run)",
                                 t->datastores[d].name);
        if (nas_refuses(t, problem, sizeof problem))
            return cli_error(CLI_FAILED, l->command, "%s", problem);
    }
    return OPTION_GO_ON;
}

static void show_progress(void *context, ps_t now, double share)
{
    struct live_cases *l = context;
    char what[128], time[32];
    const char *name = l->cases.cases[l->current].name;
    unit_print_time(time, sizeof time, now / PS_PER_S * PS_PER_S);
    snprintf(what, sizeof what, "%s%s%.60s", time, name ? " of case " : "", name ? name : "");
    progress_show(&l->progress, ((double)l->cases.done + share) / (double)l->cases.to_do, what);
}

static int run_case(struct live_cases *l)
{
    const struct live_command *c = l->options;
    const char *name = l->cases.cases[l->current].name;
    const struct live_options o = {.file = l->cases.diag.file,
                                   .scale = c->scale,
                                   .seed = (uint64_t)c->seed,
                                   .frames = c->detail == FRAME,
                                   .storage = c->storage,
                                   .sink = c->sink,
                                   .exports = c->exports,
                                   .host = c->host,
                                   .progress = show_progress,
                                   .interrupted = l->interrupted,
                                   .context = l};
    struct live_report report = {0};
    char problem[1024] = "";
    struct result *r = live_run(cases_take(&l->cases, l->current), &o, &report, problem, sizeof problem);
    progress_end(&l->progress);
    if (!r && *l->interrupted)
        return 128 + *l->interrupted;
    if (!r)
        return cli_error(CLI_FAILED, l->command, "%s%s%s", name ? name : "", name ? ": " : "", problem);
    if (!report.kept_up) {
        char sentence[LIVE_SENTENCE];
        cli_error(CLI_OK, l->command, "%s%s%s", name ? name : "", name ? ": " : "",
                  live_shortfall(&report, sentence, sizeof sentence));
        l->behind = true;
    }
    cases_put(&l->cases, l->current, r);
    return OPTION_GO_ON;
}

static int run_cases(struct live_cases *l)
{
    int rc = OPTION_GO_ON;
    l->interrupted = interrupt_catch();
    progress_begin(&l->progress, !l->options->quiet);
    for (l->current = 0; l->current < l->cases.n_cases && rc == OPTION_GO_ON && !*l->interrupted; l->current++)
        if (l->cases.wanted[l->current])
            rc = run_case(l);
    return rc;
}

static int load_and_run(struct live_cases *l, const char *path)
{
    const struct live_command *c = l->options;
    const struct cases_options options = {.names = &c->cases,
                                          .plan = c->plan,
                                          .compare = c->compare,
                                          .host = c->host,
                                          .json = c->json,
                                          .tsv = c->tsv,
                                          .check = c->check,
                                          .quiet = c->quiet};
    int rc = check_options(l->command, c);
    if (rc == OPTION_GO_ON)
        rc = cases_load(&l->cases, l->command, path, &options);
    if (rc == OPTION_GO_ON)
        rc = check_cases(l);
    if (rc == OPTION_GO_ON)
        rc = cases_begin(&l->cases);
    if (rc != OPTION_GO_ON)
        return rc;
    rc = run_cases(l);
    if (rc != OPTION_GO_ON && !(rc > 128 && l->cases.done))
        return rc;
    rc = l->cases.done ? cases_report(&l->cases, *l->interrupted) : 128 + *l->interrupted;
    return rc == CLI_OK && l->behind && c->strict ? CLI_FAILED : rc;
}

int cmd_live(int argc, char **argv)
{
    struct live_command c = {.scale = 1, .seed = 1, .detail = TRAIN};
    struct live_cases l = {.command = argv[0], .options = &c};
    struct option_list operands;
    int rc = option_parse(&table, argc, argv, &c, &operands);
    if (rc == OPTION_GO_ON) {
        rc = load_and_run(&l, operands.items[0]);
        cases_free(&l.cases);
    }
    option_free(&table, &c, &operands);
    return rc;
}
