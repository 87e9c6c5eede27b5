/* emu reproduce: plays every file of the documents and holds all results against theirs.
 *
 * A file gives groups of runs: its cases as they stand, its cases with other seeds, and, for sensitivities, its cases with one
 * input smaller or larger. Every run is one piece of work; as many threads as asked for take them in order. When the last run
 * of a file is over its expectations are judged, group by group, and its results go: the memory is that of one file or two.
 * A case that an input does not touch is not run again, the result of the first group stands for it.
 *
 * Reading a case (the trees of a file are shared) and judging happen under one lock, running does not.
 */
#include "emu/cli/commands.h"

#include <dirent.h>
#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "emu/cli/cli.h"
#include "emu/cli/interrupt.h"
#include "emu/cli/options.h"
#include "emu/cli/progress.h"
#if !BUILD_MINIMAL
#include "emu/cli/reproduce_live.h"
#endif
#include "emu/model/expect.h"
#include "emu/model/result.h"
#include "emu/model/topology.h"
#include "emu/model/topology_file.h"
#include "emu/model/topology_scale.h"
#include "emu/report/outfile.h"
#include "emu/report/reproduction.h"
#include "emu/sim/run.h"

struct reproduce_options {
    const char *json, *markdown;
    int64_t seeds, jobs;
    double scale, images;
    ps_t longest;
    bool sensitivity, live, check, quiet;
};

static const char *parse_scale(const char *text, void *member)
{
    double *scale = member;
    const char *expected = unit_parse_count(text, scale);
    return expected ? expected : *scale > 0 && *scale <= 1 ? NULL : "a share above 0 and at most 1, such as 0.25";
}

static const char *parse_longest(const char *text, void *member) { return unit_parse_time(text, member); }

static const struct option_spec rows[] = {
    OPTION_INTEGER(struct reproduce_options, seeds, "seeds", 0, "N", 1, 1000,
                   "run everything with the seeds 1 to N and show the spread"),
    OPTION_FLAG(struct reproduce_options, sensitivity, "sensitivity", 0,
                "also show how far each result moves when an input that no\n"
                "document states is a fifth smaller or larger"),
    OPTION_FLAG(struct reproduce_options, live, "live", 0,
                "also run what is traffic only with real frames and real NFS,\n"
                "one case after the other, as root"),
    OPTION_VALUE(struct reproduce_options, scale, "scale", 0, "R", parse_scale, "live: at rates times R; 1"),
    OPTION_VALUE(struct reproduce_options, images, "images", 0, "R", parse_scale,
                 "live: with a part of what is copied, times divided by it; 1"),
    OPTION_VALUE(struct reproduce_options, longest, "longest", 0, "TIME", parse_longest,
                 "live: no workload runs longer; as the files say"),
    OPTION_STRING(struct reproduce_options, markdown, "markdown", 'm', "FILE", "also write the results as Markdown"),
    OPTION_STRING(struct reproduce_options, json, "json", 0, "FILE", "also write the results as JSON"),
    OPTION_INTEGER(struct reproduce_options, jobs, "jobs", 'j', "N", 1, 256, "runs at a time; one per processor"),
    OPTION_FLAG(struct reproduce_options, check, "check", 0,
                "exit with 1 when a claimed result is not as in the document"),
    OPTION_FLAG(struct reproduce_options, quiet, "quiet", 'q', "no tables, only the summary; no progress bar"),
};

static const struct option_table table = {
    .operands = "[FILE|FOLDER]...",
    .min_operands = 0,
    .max_operands = 4096,
    .about =
        "Runs topology files in virtual time and holds every number that their documents give against ours. Without\n"
        "FILE or FOLDER: topologies/fs7500, xendesktop, fluidcache and nexenta.",
    .rows = rows,
    .n_rows = sizeof rows / sizeof rows[0],
};

static const char *const folders[] = {"topologies/fs7500", "topologies/xendesktop", "topologies/fluidcache",
                                      "topologies/nexenta"};

struct group {
    uint64_t seed;
    int input; /* that is moved; -1: none */
    double factor;
    struct result **results; /* per case; NULL: not over yet, or that of group 0 where `same` */
    bool *same;              /* per case: the input does not touch it */
};

struct document {
    char *path;
    struct diag diag;
    struct topo_file *file;
    struct topo *topo; /* of the first case, for expectations and inputs */
    struct group *groups;
    size_t n_groups, n_cases, runs_left;
    bool *live;        /* per case: it can be run so */
    char problem[320]; /* of the first run that failed */
    struct reproduction_result *results;
    const char **inputs;
};

struct piece {
    struct document *document;
    size_t group, case_;
};

struct reproduce {
    const char *command;
    struct reproduce_options options;
    struct document *documents;
    size_t n_documents, room;
    struct piece *pieces;
    size_t n_pieces, next, done;
    pthread_mutex_t lock;
    struct progress progress;
    const volatile sig_atomic_t *interrupted;
};

/* NULL never comes back: without memory the program ends. */
static void *sure(void *memory)
{
    if (!memory)
        abort();
    return memory;
}

static void add_document(struct reproduce *r, const char *path)
{
    if (r->n_documents == r->room) {
        r->room = r->room ? 2 * r->room : 16;
        r->documents = sure(realloc(r->documents, r->room * sizeof *r->documents));
    }
    r->documents[r->n_documents++] = (struct document){.path = sure(strdup(path))};
}

static int is_topology(const struct dirent *e)
{
    size_t n = strlen(e->d_name);
    return n > 5 && e->d_name[0] != '.' && !strcmp(e->d_name + n - 5, ".yaml");
}

static int add_folder(struct reproduce *r, const char *folder)
{
    struct dirent **names;
    int n = scandir(folder, &names, is_topology, alphasort);
    if (n < 0)
        return cli_error(CLI_USAGE, r->command, "%s: %s", folder, strerror(errno));
    for (int i = 0; i < n; i++) {
        size_t size = strlen(folder) + strlen(names[i]->d_name) + 2;
        char *path = sure(malloc(size));
        snprintf(path, size, "%s/%s", folder, names[i]->d_name);
        add_document(r, path);
        free(path);
        free(names[i]);
    }
    free(names);
    return n ? OPTION_GO_ON : cli_error(CLI_USAGE, r->command, "%s: no topology file (*.yaml) in it", folder);
}

static int add_operand(struct reproduce *r, const char *path)
{
    struct stat st;
    size_t n = strlen(path);
    if (stat(path, &st))
        return cli_error(CLI_USAGE, r->command, "%s: %s", path, strerror(errno));
    if (!S_ISDIR(st.st_mode)) {
        add_document(r, path);
        return OPTION_GO_ON;
    }
    char *folder = sure(strndup(path, n > 1 && path[n - 1] == '/' ? n - 1 : n));
    int rc = add_folder(r, folder);
    free(folder);
    return rc;
}

static int find_documents(struct reproduce *r, const struct option_list *operands)
{
    int rc = OPTION_GO_ON;
    for (size_t i = 0; i < operands->n && rc == OPTION_GO_ON; i++)
        rc = add_operand(r, operands->items[i]);
    for (size_t i = 0; i < sizeof folders / sizeof folders[0] && !operands->n && rc == OPTION_GO_ON; i++)
        if (!access(folders[i], F_OK))
            rc = add_folder(r, folders[i]);
    if (rc == OPTION_GO_ON && !r->n_documents)
        return cli_error(CLI_USAGE, r->command, "there is no %s here; name files or folders", folders[0]);
    return rc;
}

static const char *case_of(const struct document *doc, size_t i)
{
    return topo_file_cases(doc->file) ? topo_file_case(doc->file, i) : NULL;
}

static void add_group(struct document *doc, uint64_t seed, int input, double factor)
{
    doc->groups[doc->n_groups++] = (struct group){.seed = seed,
                                                  .input = input,
                                                  .factor = factor,
                                                  .results = sure(calloc(doc->n_cases, sizeof(struct result *))),
                                                  .same = sure(calloc(doc->n_cases, sizeof(bool)))};
}

static bool has_mistakes(struct document *doc)
{
    expect_check_file(doc->file, &doc->diag);
    return diag_count(&doc->diag, DIAG_ERROR) > 0;
}

static bool suits_live(const struct topo *t)
{
#if BUILD_MINIMAL
    (void)t;
    return false;
#else
    return reproduce_live_suits(t);
#endif
}

/* Reads a file, finds all its mistakes, and lists what is to be run. */
static int open_document(struct reproduce *r, struct document *doc)
{
    diag_init(&doc->diag, doc->path);
    doc->file = topo_file_open(doc->path, &doc->diag);
    if (doc->file) {
        size_t named = topo_file_cases(doc->file);
        doc->n_cases = named ? named : 1;
        doc->live = sure(calloc(doc->n_cases, sizeof *doc->live));
        for (size_t i = 0; i < doc->n_cases; i++) {
            struct topo *t = topo_load(doc->file, case_of(doc, i), &doc->diag);
            doc->live[i] = t && suits_live(t);
            if (!doc->topo)
                doc->topo = t;
            else
                topo_free(t);
        }
    }
    if (!doc->topo || diag_count(&doc->diag, DIAG_ERROR) || has_mistakes(doc)) {
        diag_print_text(&doc->diag, stderr, true);
        return CLI_USAGE;
    }
    if (!doc->topo->n_expects)
        return cli_error(CLI_USAGE, r->command, "%s expects nothing (`expect:`)", doc->path);
    const struct topo *t = doc->topo;
    doc->results = sure(calloc(t->n_expects, sizeof *doc->results));
    doc->inputs = sure(calloc(t->n_inputs + 1, sizeof *doc->inputs));
    for (size_t i = 0; i < t->n_inputs; i++)
        doc->inputs[i] = topo_input_text(doc->file, &t->inputs[i]);
    size_t seeds = (size_t)r->options.seeds, most = seeds + 2 * t->n_inputs;
    doc->groups = sure(calloc(most, sizeof *doc->groups));
    for (size_t s = 1; s <= seeds; s++)
        add_group(doc, s, -1, 1);
    for (size_t i = 0; i < t->n_inputs && r->options.sensitivity; i++) {
        add_group(doc, 1, (int)i, 1 - REPRODUCTION_STEP);
        add_group(doc, 1, (int)i, 1 + REPRODUCTION_STEP);
    }
    doc->runs_left = doc->n_groups * doc->n_cases;
    r->n_pieces += doc->runs_left;
    return OPTION_GO_ON;
}

static void list_pieces(struct reproduce *r)
{
    size_t n = 0;
    r->pieces = sure(calloc(r->n_pieces, sizeof *r->pieces));
    for (size_t d = 0; d < r->n_documents; d++)
        for (size_t g = 0; g < r->documents[d].n_groups; g++)
            for (size_t c = 0; c < r->documents[d].n_cases; c++)
                r->pieces[n++] = (struct piece){&r->documents[d], g, c};
}

static void judge_group(struct document *doc, size_t g, struct expect_case *cases)
{
    const struct group *group = &doc->groups[g];
    for (size_t c = 0; c < doc->n_cases; c++) {
        const struct result *result = group->same[c] ? doc->groups[0].results[c] : group->results[c];
        cases[c] = (struct expect_case){case_of(doc, c), result ? result->topo : doc->topo, result};
    }
    for (size_t i = 0; i < doc->topo->n_expects; i++) {
        struct reproduction_result *into = &doc->results[i];
        struct expect_outcome o;
        expect_judge(&doc->topo->expects[i], cases, doc->n_cases, &o, &doc->diag);
        if (g == 0) {
            into->outcome = o;
            into->least = into->most = o.value;
        } else if (group->input < 0) {
            into->least = fmin(into->least, o.value);
            into->most = fmax(into->most, o.value);
        } else if (group->factor < 1) {
            into->moves[group->input].low = o.value;
        } else {
            into->moves[group->input].high = o.value;
        }
    }
}

static void free_groups(struct document *doc)
{
    for (size_t g = 0; g < doc->n_groups; g++) {
        for (size_t c = 0; c < doc->n_cases; c++)
            result_free(doc->groups[g].results[c]);
        free(doc->groups[g].results);
        free(doc->groups[g].same);
    }
    free(doc->groups);
    doc->groups = NULL;
    doc->n_groups = 0;
}

/* All runs of a file are over. */
static void judge(struct document *doc, bool sensitivity)
{
    struct expect_case *cases = sure(calloc(doc->n_cases, sizeof *cases));
    for (size_t i = 0; i < doc->topo->n_expects && sensitivity; i++)
        doc->results[i].moves = sure(calloc(doc->topo->n_inputs + 1, sizeof *doc->results[i].moves));
    for (size_t g = 0; g < doc->n_groups; g++)
        judge_group(doc, g, cases);
    free(cases);
    free_groups(doc);
}

/* The topology of a run; NULL when there is nothing to run, or after an error. Under the lock. */
static struct topo *topo_of(const struct piece *p)
{
    struct document *doc = p->document;
    struct group *g = &doc->groups[p->group];
    struct diag d;
    struct topo *t;
    diag_init(&d, doc->path);
    if (g->input < 0) {
        t = topo_load(doc->file, case_of(doc, p->case_), &d);
    } else {
        bool moved;
        t = topo_load_scaled(doc->file, case_of(doc, p->case_), &doc->topo->inputs[g->input], g->factor, &moved, &d);
        if (t && !moved) {
            g->same[p->case_] = true;
            topo_free(t);
            t = NULL;
        } /* a value out of its limits: no result, so no number */
    }
    diag_free(&d);
    return t;
}

static void note_problem(struct document *doc, const struct piece *p, const char *problem)
{
    const char *name = case_of(doc, p->case_);
    if (!*doc->problem && doc->groups[p->group].input < 0)
        snprintf(doc->problem, sizeof doc->problem, "%.60s%s%.250s", name ? name : "", name ? ": " : "", problem);
}

static void *work(void *context)
{
    struct reproduce *r = context;
    pthread_mutex_lock(&r->lock);
    while (r->next < r->n_pieces && !*r->interrupted) {
        const struct piece *p = &r->pieces[r->next++];
        const struct group *g = &p->document->groups[p->group];
        struct topo *t = topo_of(p);
        if (t) {
            struct sim_options o = {.detail = sim_detail_of(t), .seed = g->seed, .interrupted = r->interrupted};
            char problem[256] = "";
            pthread_mutex_unlock(&r->lock);
            struct result *result = sim_run(t, &o, problem, sizeof problem);
            pthread_mutex_lock(&r->lock);
            g->results[p->case_] = result;
            if (!result)
                note_problem(p->document, p, problem);
        }
        r->done++;
        progress_show(&r->progress, (double)r->done / (double)r->n_pieces, p->document->path);
        if (!--p->document->runs_left && !*r->interrupted)
            judge(p->document, r->options.sensitivity);
    }
    pthread_mutex_unlock(&r->lock);
    return NULL;
}

/* True when all was run. */
static bool run_all(struct reproduce *r)
{
    long processors = sysconf(_SC_NPROCESSORS_ONLN);
    size_t n = r->options.jobs ? (size_t)r->options.jobs : processors > 0 ? (size_t)processors : 1, started = 0;
    pthread_t *threads = sure(calloc(n, sizeof *threads));
    r->interrupted = interrupt_catch();
    progress_begin(&r->progress, !r->options.quiet);
    for (; started + 1 < n; started++)
        if (pthread_create(&threads[started], NULL, work, r))
            break; /* fewer will do */
    work(r);
    while (started)
        pthread_join(threads[--started], NULL);
    progress_end(&r->progress);
    free(threads);
    return !*r->interrupted;
}

#if !BUILD_MINIMAL
static void free_results(const struct document *doc, struct result **results)
{
    for (size_t c = 0; c < doc->n_cases; c++) {
        result_free(results[c]);
        results[c] = NULL;
    }
}

/* What the results with real frames, or those alike in virtual time, make of the expectations. */
static void judge_live(struct document *doc, struct result *const *results, struct expect_case *cases, bool alike)
{
    for (size_t c = 0; c < doc->n_cases; c++)
        cases[c] = (struct expect_case){case_of(doc, c), results[c] ? results[c]->topo : doc->topo, results[c]};
    for (size_t i = 0; i < doc->topo->n_expects; i++) {
        struct expect_outcome o;
        expect_judge(&doc->topo->expects[i], cases, doc->n_cases, &o, &doc->diag);
        *(alike ? &doc->results[i].alike : &doc->results[i].live) = o.value;
    }
}

/* All cases of a file with real frames; what they make of its expectations. */
static int run_live(struct reproduce *r, struct document *doc)
{
    const struct reproduce_live live = {.command = r->command,
                                        .file = doc->path,
                                        .scale = r->options.scale,
                                        .images = r->options.images,
                                        .longest = r->options.longest,
                                        .interrupted = r->interrupted};
    struct expect_case *cases = sure(calloc(doc->n_cases, sizeof *cases));
    struct result **results = sure(calloc(doc->n_cases, sizeof *results));
    int rc = OPTION_GO_ON;
    for (size_t c = 0; c < doc->n_cases && rc == OPTION_GO_ON; c++)
        if (doc->live[c])
            rc = reproduce_live_case(&live, doc->file, case_of(doc, c), &results[c]);
    if (rc == OPTION_GO_ON)
        judge_live(doc, results, cases, false);
    free_results(doc, results);
    bool alike = false;
    for (size_t c = 0; c < doc->n_cases && rc == OPTION_GO_ON; c++)
        if (doc->live[c])
            alike |= (results[c] = reproduce_live_alike(&live, doc->file, case_of(doc, c))) != NULL;
    if (alike)
        judge_live(doc, results, cases, true);
    free_results(doc, results);
    free(results);
    free(cases);
    return rc;
}

static bool any_live(const struct document *doc)
{
    bool any = false;
    for (size_t c = 0; c < doc->n_cases; c++)
        any |= doc->live[c];
    return any;
}
#endif

/* Those that can be run so, one after the other: the machine is one. */
static int run_all_live(struct reproduce *r)
{
    int rc = OPTION_GO_ON;
    for (size_t i = 0; i < r->n_documents; i++)
        for (size_t k = 0; k < r->documents[i].topo->n_expects; k++)
            r->documents[i].results[k].live = r->documents[i].results[k].alike = nan("");
#if !BUILD_MINIMAL
    for (size_t i = 0; i < r->n_documents && rc == OPTION_GO_ON && r->options.live; i++)
        if (any_live(&r->documents[i]))
            rc = run_live(r, &r->documents[i]);
#else
    if (r->options.live)
        rc = cli_error(CLI_USAGE, r->command, "--live: this is a minimal build, made without live labs");
#endif
    return rc;
}

static int write_file(const struct reproduce *r, const char *option, const char *path,
                      const struct reproduction *report, int (*print)(const struct reproduction *, FILE *))
{
    struct outfile out;
    int error = outfile_open(&out, path);
    if (!error)
        error = print(report, out.file);
    if (!error)
        error = outfile_commit(&out);
    if (error)
        return cli_error(CLI_FAILED, r->command, "--%s %s: %s", option, path, strerror(-error));
    return OPTION_GO_ON;
}

static int report(const struct reproduce *r)
{
    struct reproduction_file *files = sure(calloc(r->n_documents, sizeof *files));
    struct reproduction report = {files,
                                  r->n_documents,
                                  (unsigned)r->options.seeds,
                                  r->options.sensitivity,
                                  r->options.live,
                                  r->options.live && r->options.images * r->options.scale < 1};
    struct reproduction_counts counts;
    int rc = OPTION_GO_ON;
    for (size_t i = 0; i < r->n_documents; i++) {
        const struct document *doc = &r->documents[i];
        files[i] = (struct reproduction_file){doc->path, doc->topo, doc->results, doc->inputs,
                                              *doc->problem ? doc->problem : NULL};
    }
    reproduction_count(&report, &counts);
    if (r->options.markdown)
        rc = write_file(r, "markdown", r->options.markdown, &report, reproduction_markdown);
    if (rc == OPTION_GO_ON && r->options.json)
        rc = write_file(r, "json", r->options.json, &report, reproduction_json);
    bool to_stdout = (r->options.json && !strcmp(r->options.json, "-")) ||
                     (r->options.markdown && !strcmp(r->options.markdown, "-"));
    if (rc == OPTION_GO_ON && !to_stdout &&
        (r->options.quiet ? reproduction_summary(&report, stdout) : reproduction_text(&report, stdout)))
        rc = cli_error(CLI_FAILED, r->command, "%s", strerror(ENOMEM));
    free(files);
    if (rc != OPTION_GO_ON)
        return rc;
    return r->options.check && (counts.failed || counts.apart) ? CLI_FAILED : CLI_OK;
}

static int reproduce(struct reproduce *r, const struct option_list *operands)
{
    int rc = find_documents(r, operands);
    for (size_t i = 0; i < r->n_documents && rc == OPTION_GO_ON; i++)
        rc = open_document(r, &r->documents[i]);
    if (rc != OPTION_GO_ON)
        return rc;
    list_pieces(r);
    if (!run_all(r))
        return 128 + *r->interrupted;
    rc = run_all_live(r);
    return rc == OPTION_GO_ON ? report(r) : rc;
}

static void reproduce_free(struct reproduce *r)
{
    for (size_t i = 0; i < r->n_documents; i++) {
        struct document *doc = &r->documents[i];
        free_groups(doc);
        for (size_t k = 0; doc->results && k < doc->topo->n_expects; k++)
            free(doc->results[k].moves);
        free(doc->results);
        free(doc->inputs);
        free(doc->live);
        topo_free(doc->topo);
        topo_file_close(doc->file);
        diag_free(&doc->diag);
        free(doc->path);
    }
    free(r->documents);
    free(r->pieces);
    pthread_mutex_destroy(&r->lock);
}

int cmd_reproduce(int argc, char **argv)
{
    struct reproduce r = {
        .command = argv[0], .options = {.seeds = 1, .scale = 1, .images = 1}, .lock = PTHREAD_MUTEX_INITIALIZER};
    struct option_list operands;
    int rc = option_parse(&table, argc, argv, &r.options, &operands);
    if (rc == OPTION_GO_ON) {
        rc = reproduce(&r, &operands);
        reproduce_free(&r);
    }
    option_free(&table, &r.options, &operands);
    return rc;
}
