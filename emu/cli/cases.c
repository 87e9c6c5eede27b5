#include "emu/cli/cases.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "emu/cli/cli.h"
#include "emu/model/check.h"
#include "emu/model/expect.h"
#include "emu/model/result.h"
#include "emu/model/topology.h"
#include "emu/model/topology_file.h"
#include "emu/report/plan_file.h"
#include "emu/report/report.h"

/* True when --case names it, or nothing and it is the plan's or there is no plan. */
static bool is_wanted(const struct cases *c, const char *name)
{
    const struct option_list *names = c->options.names;
    if (!names->n && c->plan && c->plan->case_name)
        return name && !strcmp(name, c->plan->case_name);
    for (size_t n = 0; n < names->n; n++)
        if (name && !strcmp(name, names->items[n]))
            return true;
    return !names->n;
}

static int check_host(const struct cases *c, const struct topo *t)
{
    const char *host = c->options.host, *near = NULL;
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
        return cli_error(CLI_USAGE, c->command, "--host %s: no such host; did you mean %s?", host, near);
    return cli_error(CLI_USAGE, c->command, "--host %s: no such host in %s", host, c->diag.file);
}

/* The name under which a case stands beside itself as planned; NULL on lack of memory. */
static const char *name_for_comparison(struct cases *c, const char *name, bool planned)
{
    const char *what = planned ? "plan" : "today";
    size_t size = (name ? strlen(name) + 2 : 0) + strlen(what) + 1;
    char *text = malloc(size);
    if (text) {
        snprintf(text, size, "%s%s%s", name ? name : "", name ? ", " : "", what);
        c->names[c->n_names++] = text;
    }
    return text;
}

/* One more case: of this name, as the file has it or as the plan wants it. */
static int load_case(struct cases *c, const char *name, bool planned, bool compared)
{
    size_t i = c->n_cases++;
    c->topos[i] = planned ? plan_file_topo(c->plan, c->file, name, &c->diag) : topo_load(c->file, name, &c->diag);
    if (!c->topos[i])
        return CLI_USAGE;
    if (compared && !(name = c->topos[i]->case_name = name_for_comparison(c, name, planned)))
        return cli_error(CLI_FAILED, c->command, "%s", strerror(ENOMEM));
    c->cases[i] = (struct expect_case){.name = name, .topo = c->topos[i]};
    return OPTION_GO_ON;
}

/* All cases of the file, in its order, as topologies; the first that can't be read ends it. */
static int load_cases(struct cases *c)
{
    size_t in_file = topo_file_cases(c->file), most;
    bool nameless = !in_file;
    int rc = OPTION_GO_ON;
    in_file += nameless;
    most = 2 * in_file;
    c->cases = calloc(most, sizeof *c->cases);
    c->wanted = calloc(most, sizeof *c->wanted);
    c->topos = calloc(most, sizeof *c->topos);
    c->results = calloc(most, sizeof *c->results);
    c->names = calloc(most, sizeof *c->names);
    if (!c->cases || !c->wanted || !c->topos || !c->results || !c->names)
        return cli_error(CLI_FAILED, c->command, "%s", strerror(ENOMEM));
    for (size_t i = 0; i < in_file && rc == OPTION_GO_ON; i++) {
        const char *name = nameless ? NULL : topo_file_case(c->file, i);
        bool wanted = is_wanted(c, name), compare = wanted && c->options.compare;
        size_t first = c->n_cases;
        if (compare)
            rc = load_case(c, name, false, true);
        if (rc == OPTION_GO_ON)
            rc = load_case(c, name, wanted && c->plan, compare);
        for (size_t k = first; k < c->n_cases; k++) {
            c->wanted[k] = wanted;
            c->to_do += wanted;
        }
    }
    return rc;
}

/* How many errors `emu check` would report; none of them keeps the file from running. */
static size_t count_lint(const struct cases *c)
{
    struct diag d;
    diag_init(&d, c->diag.file);
    check_file(c->file, c->options.names->items, c->options.names->n, &d, NULL);
    size_t n = diag_count(&d, DIAG_ERROR);
    diag_free(&d);
    return n;
}

static int check_options(const char *command, const struct cases_options *o)
{
    if (o->compare && !o->plan)
        return cli_error(CLI_USAGE, command, "--compare: with what? It goes with --plan");
    if (o->check && o->plan)
        return cli_error(CLI_USAGE, command, "--check is about the file's mounts, --plan %s has others", o->plan);
    if (o->tsv && o->json && !strcmp(o->json, "-"))
        return cli_error(CLI_USAGE, command, "--tsv and --json -: both want standard output");
    return OPTION_GO_ON;
}

/* Every mistake is found before anything runs. */
static int load(struct cases *c)
{
    int rc = check_options(c->command, &c->options);
    char problem[512];
    if (rc != OPTION_GO_ON)
        return rc;
    if (c->options.plan && !(c->plan = plan_file_load(c->options.plan, problem, sizeof problem)))
        return cli_error(CLI_USAGE, c->command, "--plan %s", problem);
    c->file = topo_file_open(c->diag.file, &c->diag);
    if (!c->file)
        return CLI_USAGE;
    for (size_t i = 0; i < c->options.names->n; i++)
        if (!check_case_exists(c->file, c->options.names->items[i], &c->diag))
            rc = CLI_USAGE;
    if (c->plan && c->plan->case_name && !check_case_exists(c->file, c->plan->case_name, &c->diag))
        rc = CLI_USAGE;
    if (rc == OPTION_GO_ON)
        rc = load_cases(c);
    for (size_t i = 0; i < c->n_cases && rc == OPTION_GO_ON; i++)
        if (c->wanted[i])
            rc = check_host(c, c->cases[i].topo);
    const struct topo *first = rc == OPTION_GO_ON ? c->cases[0].topo : NULL;
    for (size_t i = 0; first && !c->plan && i < first->n_expects; i++) {
        struct expect_outcome outcome;
        if (!expect_judge(&first->expects[i], c->cases, c->n_cases, &outcome, &c->diag))
            rc = CLI_USAGE;
    }
    return rc;
}

static int print_report(struct cases *c, const struct report *report)
{
    const char *json = c->options.json;
    int error = 0;
    if (json)
        error = report_json(report, c->json.file);
    if (!error && json) {
        error = outfile_commit(&c->json);
        if (error)
            return cli_error(CLI_FAILED, c->command, "--json %s: %s", json, strerror(-error));
    }
    if (!error && c->options.tsv)
        error = report_tsv(report, stdout);
    else if (!error && !(json && !strcmp(json, "-")))
        error = report_text(report, stdout, c->options.quiet);
    return error ? cli_error(CLI_FAILED, c->command, "%s", strerror(-error)) : OPTION_GO_ON;
}

int cases_report(struct cases *c, int interrupted)
{
    const struct topo *t = c->results[0]->topo;
    struct expect_outcome *outcomes = calloc(t->n_expects + 1, sizeof *outcomes);
    bool holds = true;
    int rc;
    if (!outcomes)
        return cli_error(CLI_FAILED, c->command, "%s", strerror(ENOMEM));
    size_t n_expects = c->plan ? 0 : t->n_expects; /* of the file's mounts, not of a plan's */
    for (size_t i = 0; i < n_expects; i++) {
        expect_judge(&t->expects[i], c->cases, c->n_cases, &outcomes[i], &c->diag);
        holds &= outcomes[i].verdict != EXPECT_FAIL && outcomes[i].verdict != EXPECT_UNDEFINED;
    }
    const struct report r = {.file = t->file,
                             .name = t->name,
                             .title = t->title,
                             .results = (const struct result *const *)c->results,
                             .n_results = c->done,
                             .outcomes = outcomes,
                             .n_outcomes = n_expects};
    rc = print_report(c, &r);
    free(outcomes);
    if (rc != OPTION_GO_ON)
        return rc;
    if (interrupted)
        return 128 + interrupted;
    return c->options.check && !holds ? CLI_FAILED : CLI_OK;
}

int cases_load(struct cases *c, const char *command, const char *path, const struct cases_options *o)
{
    *c = (struct cases){.command = command, .options = *o};
    diag_init(&c->diag, path);
    int rc = load(c);
    if (rc != OPTION_GO_ON)
        diag_print_text(&c->diag, stderr, true);
    return rc;
}

int cases_begin(struct cases *c)
{
    size_t lint = c->options.quiet ? 0 : count_lint(c);
    if (lint)
        cli_error(CLI_OK, c->command, "`emu check` finds %zu error%s in %s; this is what comes of %s", lint,
                  lint == 1 ? "" : "s", c->diag.file, lint == 1 ? "it" : "them");
    if (c->options.json) {
        int error = outfile_open(&c->json, c->options.json);
        if (error)
            return cli_error(CLI_FAILED, c->command, "--json %s: %s", c->options.json, strerror(-error));
    }
    return OPTION_GO_ON;
}

struct topo *cases_take(struct cases *c, size_t i)
{
    struct topo *t = c->topos[i];
    c->topos[i] = NULL;
    return t;
}

void cases_put(struct cases *c, size_t i, struct result *r)
{
    c->results[c->done++] = r;
    c->cases[i].topo = r->topo;
    c->cases[i].result = r;
}

void cases_free(struct cases *c)
{
    for (size_t i = 0; c->results && i < c->done; i++)
        result_free(c->results[i]);
    for (size_t i = 0; c->topos && i < c->n_cases; i++)
        topo_free(c->topos[i]);
    free(c->results);
    free(c->topos);
    free(c->cases);
    free(c->wanted);
    outfile_abandon(&c->json);
    for (size_t i = 0; i < c->n_names; i++)
        free(c->names[i]);
    free(c->names);
    plan_file_free(c->plan);
    topo_file_close(c->file);
    diag_free(&c->diag);
}
