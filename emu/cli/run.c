/* emu run: plays the cases of a topology file and reports. */
#include "emu/cli/commands.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "emu/cli/cli.h"
#include "emu/cli/interrupt.h"
#include "emu/cli/options.h"
#include "emu/cli/progress.h"
#include "emu/model/check.h"
#include "emu/model/expect.h"
#include "emu/model/result.h"
#include "emu/model/topology.h"
#include "emu/model/topology_file.h"
#include "emu/report/outfile.h"
#include "emu/report/plan_file.h"
#if !BUILD_MINIMAL
#include "emu/report/pcap.h"
#endif
#include "emu/report/report.h"
#include "emu/sim/run.h"

struct run_options {
    struct option_list cases;
    const char *plan, *host, *json, *pcap;
    int detail;
    int64_t seed;
    bool compare, tsv, check, quiet;
};

static const char *const details[] = {"fluid", "train", "frame", NULL}; /* as enum sim_detail */

static const struct option_spec rows[] = {
    OPTION_LIST(struct run_options, cases, "case", 'c', "CASE", "only this case; may be given several times"),
    OPTION_STRING(struct run_options, plan, "plan", 0, "P", "mounts as this plan wants them (nfsbal plan -o P)"),
    OPTION_FLAG(struct run_options, compare, "compare", 0, "with --plan: today's mounts too, side by side"),
    OPTION_STRING(struct run_options, host, "host", 0, "HOST", "only this host works, the others stand still"),
    OPTION_ENUM(struct run_options, detail, "detail", 0, "LEVEL", details,
                "what moves: trains of frames (train), each frame by itself\n"
                "(frame), or rates only (fluid); as the file says, else train"),
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
    struct diag diag;
    struct topo_file *file;
    struct plan_file *plan; /* or NULL */
    char **names;           /* of cases that are compared */
    size_t n_names;
    struct expect_case *cases; /* all of the file, in its order */
    struct topo **topos;       /* of those not run yet; a result owns its topology */
    struct result **results;   /* of those run, in order */
    bool *wanted;              /* per case */
    size_t n_cases;
    size_t current, to_do, done; /* for the progress bar: case at hand; cases to run and run */
    struct progress progress;
    struct capture *capture;
    bool made_pcap; /* the folder of --pcap was not there before */
    struct outfile json;
    const volatile sig_atomic_t *interrupted;
};

static int check_options(const struct run *run)
{
    const struct run_options *o = &run->options;
    if (o->compare && !o->plan)
        return cli_error(CLI_USAGE, run->command, "--compare: with what? It goes with --plan");
    if (o->check && o->plan)
        return cli_error(CLI_USAGE, run->command, "--check is about the file's mounts, --plan %s has others", o->plan);
    if (o->tsv && o->json && !strcmp(o->json, "-"))
        return cli_error(CLI_USAGE, run->command, "--tsv and --json -: both want standard output");
    if (!o->pcap)
        return OPTION_GO_ON;
#if BUILD_MINIMAL
    return cli_error(CLI_USAGE, run->command, "--pcap %s: this is a minimal build, made without libpcap", o->pcap);
#else
    return OPTION_GO_ON;
#endif
}

static enum sim_detail detail_of(const struct run *run, const struct topo *t)
{
    return run->options.detail < 0 ? sim_detail_of(t) : (enum sim_detail)run->options.detail;
}

static int check_pcap(const struct run *run, const struct topo *t)
{
    if (!run->options.pcap || detail_of(run, t) != SIM_FLUID)
        return OPTION_GO_ON;
    return cli_error(CLI_USAGE, run->command, "--pcap %s: fluid moves no frames; take --detail train or frame",
                     run->options.pcap);
}

/* True when --case names it, or nothing and it is the plan's or there is no plan. */
static bool is_wanted(const struct run *run, const char *name)
{
    const struct option_list *names = &run->options.cases;
    if (!names->n && run->plan && run->plan->case_name)
        return name && !strcmp(name, run->plan->case_name);
    for (size_t n = 0; n < names->n; n++)
        if (name && !strcmp(name, names->items[n]))
            return true;
    return !names->n;
}

static int check_host(const struct run *run, const struct topo *t)
{
    const char *host = run->options.host, *near = NULL;
    for (size_t i = 0; host && i < t->n_nodes; i++) {
        if (t->nodes[i].kind != TOPO_ESXI && t->nodes[i].kind != TOPO_LINUX)
            continue;
        if (!strcmp(t->nodes[i].name, host))
            return OPTION_GO_ON;
        near = near ? near : diag_nearest(host, &t->nodes[i].name, 1);
    }
    if (!host)
        return OPTION_GO_ON;
    if (near)
        return cli_error(CLI_USAGE, run->command, "--host %s: no such host; did you mean %s?", host, near);
    return cli_error(CLI_USAGE, run->command, "--host %s: no such host in %s", host, run->diag.file);
}

/* The name under which a case stands beside itself as planned; NULL on lack of memory. */
static const char *name_for_comparison(struct run *run, const char *name, bool planned)
{
    const char *what = planned ? "plan" : "today";
    size_t size = (name ? strlen(name) + 2 : 0) + strlen(what) + 1;
    char *text = malloc(size);
    if (text) {
        snprintf(text, size, "%s%s%s", name ? name : "", name ? ", " : "", what);
        run->names[run->n_names++] = text;
    }
    return text;
}

/* One more case: of this name, as the file has it or as the plan wants it. */
static int load_case(struct run *run, const char *name, bool planned, bool compared)
{
    size_t i = run->n_cases++;
    run->topos[i] =
        planned ? plan_file_topo(run->plan, run->file, name, &run->diag) : topo_load(run->file, name, &run->diag);
    if (!run->topos[i])
        return CLI_USAGE;
    if (compared && !(name = run->topos[i]->case_name = name_for_comparison(run, name, planned)))
        return cli_error(CLI_FAILED, run->command, "%s", strerror(ENOMEM));
    run->cases[i] = (struct expect_case){.name = name, .topo = run->topos[i]};
    return OPTION_GO_ON;
}

/* All cases of the file, in its order, as topologies; the first that can't be read ends it. */
static int load_cases(struct run *run)
{
    size_t in_file = topo_file_cases(run->file), most;
    bool nameless = !in_file;
    int rc = OPTION_GO_ON;
    in_file += nameless;
    most = 2 * in_file;
    run->cases = calloc(most, sizeof *run->cases);
    run->wanted = calloc(most, sizeof *run->wanted);
    run->topos = calloc(most, sizeof *run->topos);
    run->results = calloc(most, sizeof *run->results);
    run->names = calloc(most, sizeof *run->names);
    if (!run->cases || !run->wanted || !run->topos || !run->results || !run->names)
        return cli_error(CLI_FAILED, run->command, "%s", strerror(ENOMEM));
    for (size_t i = 0; i < in_file && rc == OPTION_GO_ON; i++) {
        const char *name = nameless ? NULL : topo_file_case(run->file, i);
        bool wanted = is_wanted(run, name), compare = wanted && run->options.compare;
        size_t first = run->n_cases;
        if (compare)
            rc = load_case(run, name, false, true);
        if (rc == OPTION_GO_ON)
            rc = load_case(run, name, wanted && run->plan, compare);
        for (size_t k = first; k < run->n_cases; k++) {
            run->wanted[k] = wanted;
            run->to_do += wanted;
        }
    }
    return rc;
}

/* How many errors `emu check` would report; none of them keeps the file from running. */
static size_t count_lint(const struct run *run)
{
    struct diag d;
    diag_init(&d, run->diag.file);
    check_file(run->file, run->options.cases.items, run->options.cases.n, &d, NULL);
    size_t n = diag_count(&d, DIAG_ERROR);
    diag_free(&d);
    return n;
}

/* Every mistake is found before anything runs. */
static int load(struct run *run)
{
    int rc = OPTION_GO_ON;
    char problem[512];
    if (run->options.plan && !(run->plan = plan_file_load(run->options.plan, problem, sizeof problem)))
        return cli_error(CLI_USAGE, run->command, "--plan %s", problem);
    run->file = topo_file_open(run->diag.file, &run->diag);
    if (!run->file)
        return CLI_USAGE;
    for (size_t i = 0; i < run->options.cases.n; i++)
        if (!check_case_exists(run->file, run->options.cases.items[i], &run->diag))
            rc = CLI_USAGE;
    if (run->plan && run->plan->case_name && !check_case_exists(run->file, run->plan->case_name, &run->diag))
        rc = CLI_USAGE;
    if (rc == OPTION_GO_ON)
        rc = load_cases(run);
    for (size_t i = 0; i < run->n_cases && rc == OPTION_GO_ON; i++)
        if (run->wanted[i]) {
            rc = check_host(run, run->cases[i].topo);
            rc = rc == OPTION_GO_ON ? check_pcap(run, run->cases[i].topo) : rc;
        }
    const struct topo *first = rc == OPTION_GO_ON ? run->cases[0].topo : NULL;
    for (size_t i = 0; first && !run->plan && i < first->n_expects; i++) {
        struct expect_outcome outcome;
        if (!expect_judge(&first->expects[i], run->cases, run->n_cases, &outcome, &run->diag))
            rc = CLI_USAGE;
    }
    return rc;
}

static void show_progress(void *context, ps_t now, double share)
{
    struct run *run = context;
    char what[128], time[32];
    const char *name = run->cases[run->current].name;
    unit_print_time(time, sizeof time, now / PS_PER_MS * PS_PER_MS);
    snprintf(what, sizeof what, "%s%s%.60s", time, name ? " of case " : "", name ? name : "");
    progress_show(&run->progress, ((double)run->done + share) / (double)run->to_do, what);
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
    struct expect_case *c = &run->cases[run->current];
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
    struct result *r = sim_run(run->topos[run->current], &o, problem, sizeof problem);
    run->topos[run->current] = NULL;
    progress_end(&run->progress);
    if (!r)
        return cli_error(CLI_FAILED, run->command, "%s%s%s", c->name ? c->name : "", c->name ? ": " : "", problem);
    run->results[run->done++] = r;
    c->topo = r->topo;
    c->result = r;
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
    for (run->current = 0; run->current < run->n_cases && rc == OPTION_GO_ON && !*run->interrupted; run->current++) {
        if (!run->wanted[run->current])
            continue;
        rc = run_case(run);
        if (rc == OPTION_GO_ON)
            rc = end_capture(run);
    }
    return rc;
}

static int print_report(struct run *run, const struct report *report)
{
    const char *json = run->options.json;
    int error = 0;
    if (json)
        error = report_json(report, run->json.file);
    if (!error && json) {
        error = outfile_commit(&run->json);
        if (error)
            return cli_error(CLI_FAILED, run->command, "--json %s: %s", json, strerror(-error));
    }
    if (!error && run->options.tsv)
        error = report_tsv(report, stdout);
    else if (!error && !(json && !strcmp(json, "-")))
        error = report_text(report, stdout, run->options.quiet);
    return error ? cli_error(CLI_FAILED, run->command, "%s", strerror(-error)) : OPTION_GO_ON;
}

/* Judges the expectations, prints everything; the exit code says how it went. */
static int report(struct run *run)
{
    const struct topo *t = run->results[0]->topo;
    struct expect_outcome *outcomes = calloc(t->n_expects + 1, sizeof *outcomes);
    bool holds = true;
    int rc;
    if (!outcomes)
        return cli_error(CLI_FAILED, run->command, "%s", strerror(ENOMEM));
    size_t n_expects = run->plan ? 0 : t->n_expects; /* of the file's mounts, not of a plan's */
    for (size_t i = 0; i < n_expects; i++) {
        expect_judge(&t->expects[i], run->cases, run->n_cases, &outcomes[i], &run->diag);
        holds &= outcomes[i].verdict != EXPECT_FAIL && outcomes[i].verdict != EXPECT_UNDEFINED;
    }
    const struct report r = {.file = t->file,
                             .name = t->name,
                             .title = t->title,
                             .results = (const struct result *const *)run->results,
                             .n_results = run->done,
                             .outcomes = outcomes,
                             .n_outcomes = n_expects};
    rc = print_report(run, &r);
    free(outcomes);
    if (rc != OPTION_GO_ON)
        return rc;
    if (*run->interrupted)
        return 128 + *run->interrupted;
    return run->options.check && !holds ? CLI_FAILED : CLI_OK;
}

static int load_and_run(struct run *run)
{
    int rc = check_options(run);
    if (rc == OPTION_GO_ON)
        rc = load(run);
    if (rc != OPTION_GO_ON) {
        diag_print_text(&run->diag, stderr, true);
        return rc;
    }
    size_t lint = run->options.quiet ? 0 : count_lint(run);
    if (lint)
        cli_error(CLI_OK, run->command, "`emu check` finds %zu error%s in %s; this is what comes of %s", lint,
                  lint == 1 ? "" : "s", run->diag.file, lint == 1 ? "it" : "them");
    if (run->options.json) {
        int error = outfile_open(&run->json, run->options.json);
        if (error)
            return cli_error(CLI_FAILED, run->command, "--json %s: %s", run->options.json, strerror(-error));
    }
    rc = run_cases(run);
    if (rc == OPTION_GO_ON && run->done)
        return report(run);
    return rc == OPTION_GO_ON ? 128 + *run->interrupted : rc;
}

static void run_free(struct run *run)
{
    for (size_t i = 0; run->results && i < run->done; i++)
        result_free(run->results[i]);
    for (size_t i = 0; run->topos && i < run->n_cases; i++)
        topo_free(run->topos[i]);
    free(run->results);
    free(run->topos);
    free(run->cases);
    free(run->wanted);
#if !BUILD_MINIMAL
    capture_abandon(run->capture);
    if (run->made_pcap)
        rmdir(run->options.pcap); /* unless there is something in it */
#endif
    outfile_abandon(&run->json);
    for (size_t i = 0; i < run->n_names; i++)
        free(run->names[i]);
    free(run->names);
    plan_file_free(run->plan);
    topo_file_close(run->file);
    diag_free(&run->diag);
}

int cmd_run(int argc, char **argv)
{
    struct run run = {.command = argv[0], .options = {.detail = -1, .seed = 1}};
    struct option_list operands;
    int rc = option_parse(&table, argc, argv, &run.options, &operands);
    if (rc == OPTION_GO_ON) {
        diag_init(&run.diag, operands.items[0]);
        rc = load_and_run(&run);
        run_free(&run);
    }
    option_free(&table, &run.options, &operands);
    return rc;
}
