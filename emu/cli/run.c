/* emu run: plays the cases of a topology file and reports. */
#include "emu/cli/commands.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "emu/cli/cases.h"
#include "emu/cli/cli.h"
#include "emu/cli/interrupt.h"
#include "emu/cli/options.h"
#include "emu/cli/progress.h"
#include "emu/model/expect.h"
#include "emu/model/result.h"
#include "emu/model/topology.h"
#if !BUILD_MINIMAL
#include "emu/report/pcap.h"
#endif
#include "emu/sim/run.h"

struct run_options {
    struct option_list cases;
    const char *plan, *host, *json, *pcap;
    int detail;
    int64_t seed;
    bool compare, tsv, check, quiet;
};

static const char *const details[] = {"fluid", "train", "frame", "call", NULL}; /* as enum sim_detail */

static const struct option_spec rows[] = {
    OPTION_LIST(struct run_options, cases, "case", 'c', "CASE", "only this case; may be given several times"),
    OPTION_STRING(struct run_options, plan, "plan", 0, "P", "mounts as this plan wants them (nfsbal plan -o P)"),
    OPTION_FLAG(struct run_options, compare, "compare", 0, "with --plan: today's mounts too, side by side"),
    OPTION_STRING(struct run_options, host, "host", 0, "HOST", "only this host works, the others stand still"),
    OPTION_ENUM(struct run_options, detail, "detail", 0, "LEVEL", details,
                "what moves: trains of frames (train), each frame by itself\n"
                "(frame), whole calls and replies (call), or rates only\n"
                "(fluid); as the file says, else train, with vm-groups call"),
    OPTION_INTEGER(struct run_options, seed, "seed", 0, "N", 0, INT64_MAX, "of all that is drawn; 1 by default"),
    OPTION_STRING(struct run_options, json, "json", 0, "FILE",
                  "also write the results as JSON; - is standard output, instead\n"
                  "of the tables"),
    OPTION_FLAG(struct run_options, tsv, "tsv", 0, "tab-separated values instead of the tables"),
    OPTION_STRING(struct run_options, pcap, "pcap", 0, "FOLDER", "write what each cable carries, a capture per cable"),
    OPTION_FLAG(struct run_options, check, "check", 0, "exit with 1 when an expectation of the file does not hold"),
    OPTION_FLAG(struct run_options, quiet, "quiet", 'q', "only the summary of the cases, no progress bar"),
};

static const struct option_table table = {
    .operands = "FILE",
    .min_operands = 1,
    .max_operands = 1,
    .about = "Runs every case of a topology file in virtual time, shows what each datastore, host and link got, and\n"
             "compares it with what the file expects. FILE - is standard input.",
    .rows = rows,
    .n_rows = sizeof rows / sizeof rows[0],
};

struct run {
    const char *command;
    struct run_options options;
    struct cases cases;
    size_t current; /* for the progress bar: case at hand */
    struct progress progress;
    struct capture *capture;
    bool made_pcap; /* the folder of --pcap was not there before */
    const volatile sig_atomic_t *interrupted;
};

static int check_options(const struct run *run)
{
#if BUILD_MINIMAL
    if (run->options.pcap)
        return cli_error(CLI_USAGE, run->command, "--pcap %s: this is a minimal build, made without libpcap",
                         run->options.pcap);
#else
    (void)run;
#endif
    return OPTION_GO_ON;
}

static enum sim_detail detail_of(const struct run *run, const struct topo *t)
{
    return run->options.detail < 0 ? sim_detail_of(t) : (enum sim_detail)run->options.detail;
}

static int check_pcap(const struct run *run, const struct topo *t)
{
    enum sim_detail detail = detail_of(run, t);
    if (!run->options.pcap || detail == SIM_TRAIN || detail == SIM_FRAME)
        return OPTION_GO_ON;
    return cli_error(CLI_USAGE, run->command, "--pcap %s: %s moves no frames; take --detail train or frame",
                     run->options.pcap, sim_detail_name(detail));
}

static void show_progress(void *context, ps_t now, double share)
{
    struct run *run = context;
    char what[128], time[32];
    const char *name = run->cases.cases[run->current].name;
    unit_print_time(time, sizeof time, now / PS_PER_MS * PS_PER_MS);
    snprintf(what, sizeof what, "%s%s%.60s", time, name ? " of case " : "", name ? name : "");
    progress_show(&run->progress, ((double)run->cases.done + share) / (double)run->cases.to_do, what);
}

#if !BUILD_MINIMAL
static void tap(void *context, int linkdir, const struct train *t, ps_t start)
{
    struct run *run = context;
    (void)start;
    capture_train(run->capture, linkdir, t);
}

/* Captures of a case with a name go to a folder of that name. */
static int begin_capture(struct run *run, const struct topo *t)
{
    char problem[256], *folder;
    const char *name = t->case_name;
    size_t size = strlen(run->options.pcap) + (name ? strlen(name) : 0) + 2;
    folder = malloc(size);
    if (!folder)
        return cli_error(CLI_FAILED, run->command, "%s", strerror(ENOMEM));
    snprintf(folder, size, "%s%s%s", run->options.pcap, name ? "/" : "", name ? name : "");
    for (char *c = folder + strlen(run->options.pcap) + 1; name && *c; c++) /* no case leads out of the folder */
        *c = *c == '/' || *c == '.' ? '_' : *c;
    if (name && !mkdir(run->options.pcap, 0777))
        run->made_pcap = true;
    run->capture = capture_new(folder, t, problem, sizeof problem);
    free(folder);
    return run->capture ? OPTION_GO_ON : cli_error(CLI_FAILED, run->command, "--pcap %s", problem);
}
#endif

static int run_case(struct run *run)
{
    const struct expect_case *c = &run->cases.cases[run->current];
    struct sim_options o = {.detail = detail_of(run, c->topo),
                            .seed = (uint64_t)run->options.seed,
                            .host = run->options.host,
                            .progress = show_progress,
                            .interrupted = run->interrupted,
                            .context = run};
    char problem[256] = "";
#if !BUILD_MINIMAL
    if (run->options.pcap) {
        int rc = begin_capture(run, c->topo);
        if (rc != OPTION_GO_ON)
            return rc;
        o.tap = tap;
    }
#endif
    struct result *r = sim_run(cases_take(&run->cases, run->current), &o, problem, sizeof problem);
    progress_end(&run->progress);
    if (!r)
        return cli_error(CLI_FAILED, run->command, "%s%s%s", c->name ? c->name : "", c->name ? ": " : "", problem);
    cases_put(&run->cases, run->current, r);
    return OPTION_GO_ON;
}

static int end_capture(struct run *run)
{
#if !BUILD_MINIMAL
    char problem[256];
    struct capture *capture = run->capture;
    run->capture = NULL;
    if (capture && capture_close(capture, problem, sizeof problem))
        return cli_error(CLI_FAILED, run->command, "--pcap %s", problem);
#else
    (void)run;
#endif
    return OPTION_GO_ON;
}

/* All wanted cases; an interruption ends the one at hand and lets the others be. */
static int run_cases(struct run *run)
{
    int rc = OPTION_GO_ON;
    run->interrupted = interrupt_catch();
    progress_begin(&run->progress, !run->options.quiet);
    for (run->current = 0; run->current < run->cases.n_cases && rc == OPTION_GO_ON && !*run->interrupted;
         run->current++) {
        if (!run->cases.wanted[run->current])
            continue;
        rc = run_case(run);
        if (rc == OPTION_GO_ON)
            rc = end_capture(run);
    }
    return rc;
}

static int load_and_run(struct run *run, const char *path)
{
    const struct run_options *o = &run->options;
    const struct cases_options options = {.names = &o->cases,
                                          .plan = o->plan,
                                          .host = o->host,
                                          .compare = o->compare,
                                          .json = o->json,
                                          .tsv = o->tsv,
                                          .check = o->check,
                                          .quiet = o->quiet};
    int rc = check_options(run);
    if (rc == OPTION_GO_ON)
        rc = cases_load(&run->cases, run->command, path, &options);
    for (size_t i = 0; i < run->cases.n_cases && rc == OPTION_GO_ON; i++)
        if (run->cases.wanted[i])
            rc = check_pcap(run, run->cases.cases[i].topo);
    if (rc == OPTION_GO_ON)
        rc = cases_begin(&run->cases);
    if (rc != OPTION_GO_ON)
        return rc;
    rc = run_cases(run);
    if (rc == OPTION_GO_ON && run->cases.done)
        return cases_report(&run->cases, *run->interrupted);
    return rc == OPTION_GO_ON ? 128 + *run->interrupted : rc;
}

static void run_free(struct run *run)
{
#if !BUILD_MINIMAL
    capture_abandon(run->capture);
    if (run->made_pcap)
        rmdir(run->options.pcap); /* unless there is something in it */
#endif
    cases_free(&run->cases);
}

int cmd_run(int argc, char **argv)
{
    struct run run = {.command = argv[0], .options = {.detail = -1, .seed = 1}};
    struct option_list operands;
    int rc = option_parse(&table, argc, argv, &run.options, &operands);
    if (rc == OPTION_GO_ON) {
        rc = load_and_run(&run, operands.items[0]);
        run_free(&run);
    }
    option_free(&table, &run.options, &operands);
    return rc;
}
