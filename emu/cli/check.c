/* emu check: what is wrong with a topology file, beyond what keeps it from being read. */
#include "emu/cli/cli.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "emu/cli/commands.h"
#include "emu/cli/options.h"
#include "emu/model/check.h"
#include "emu/model/diag.h"
#include "emu/model/topology_file.h"
#include "emu/report/json.h"
#include "emu/report/json_diag.h"
#include "emu/report/table.h"

struct check_options {
    struct option_list cases;
    bool json, expand, strict, list;
    const char *explain;
};

static const struct option_spec rows[] = {
    OPTION_LIST(struct check_options, cases, "case", 'c', "CASE", "check this case only (may be repeated)"),
    OPTION_FLAG(struct check_options, strict, "strict", 0, "exit 1 when there are warnings"),
    OPTION_FLAG(struct check_options, json, "json", 0, "print the findings as JSON"),
    OPTION_FLAG(struct check_options, expand, "expand", 0, "print the file with its ranges expanded instead"),
    OPTION_STRING(struct check_options, explain, "explain", 0, "ID", "say more about a rule, or about `all`"),
    OPTION_FLAG(struct check_options, list, "list", 0, "list all rules"),
};

static const struct option_table table = {
    .operands = "[FILE]",
    .min_operands = 0,
    .max_operands = 1,
    .about = "Checks a topology file: how it is written, and whether the network it describes works.\n"
             "Exit code 0: clean or not worse than warnings, 1: warnings with --strict, 2: errors.",
    .rows = rows,
    .n_rows = sizeof rows / sizeof rows[0],
};

/* ---- rules ---- */

static int list_rules(bool json)
{
    static const struct table_column columns[] = {{"id", TABLE_LEFT}, {"severity", TABLE_LEFT}, {"reason", TABLE_LEFT}};
    struct table *t;
    struct json_out j;
    const struct check_rule *r;
    int rc;

    if (json) {
        json_out_init(&j, stdout);
        json_out_object(&j, NULL, JSON_ON_LINES);
        json_out_string(&j, "schema", "emu-check-rules/1");
        json_out_array(&j, "rules", JSON_ON_LINES);
        for (size_t i = 0; (r = check_rule_at(i)); i++) {
            json_out_object(&j, NULL, JSON_ON_ONE_LINE);
            json_out_string(&j, "id", r->id);
            json_out_string(&j, "severity", diag_severity_name(r->severity));
            json_out_string(&j, "reason", r->reason);
            json_out_end(&j);
        }
        json_out_end(&j);
        json_out_end(&j);
        return CLI_OK;
    }
    t = table_new(columns, sizeof columns / sizeof columns[0]);
    for (size_t i = 0; (r = check_rule_at(i)); i++) {
        struct table_row *row = table_row(t, NULL);
        table_cell(t, row, 0, r->id);
        table_cell(t, row, 1, diag_severity_name(r->severity));
        table_cell(t, row, 2, r->reason);
    }
    rc = table_print(t, stdout, TABLE_TEXT, 0);
    table_free(t);
    return rc < 0 ? CLI_FAILED : CLI_OK;
}

/* Markdown that reads well on a terminal; docs/checks.md is made of it. */
static void print_rule(const struct check_rule *r)
{
    printf("## %s\n\n*%s*: %s\n\n%s", r->id, diag_severity_name(r->severity), r->reason, r->explanation);
}

static int explain_rule(const char *command, const char *id)
{
    const struct check_rule *r = check_rule_find(id);

    if (strcmp(id, "all") == 0) {
        for (size_t i = 0; (r = check_rule_at(i)); i++) {
            if (i)
                putchar('\n');
            print_rule(r);
        }
        return CLI_OK;
    }
    if (!r) {
        const char *near = check_rule_nearest(id);
        if (near)
            return cli_error(CLI_USAGE, command, "no rule `%s`; did you mean `%s`?", id, near);
        return cli_error(CLI_USAGE, command, "no rule `%s`; %s --list shows all", id, command);
    }
    print_rule(r);
    return CLI_OK;
}

/* ---- findings ---- */

static size_t count_allowed(const struct diag *d)
{
    size_t n = 0;
    for (size_t i = 0; i < d->count; i++)
        n += d->entries[i].allowed;
    return n;
}

static void print_count(const char **separator, size_t n, const char *one, const char *many)
{
    if (!n)
        return;
    printf("%s%zu %s", *separator, n, n == 1 ? one : many);
    *separator = ", ";
}

static void print_summary(const struct diag *d, const struct check_proof *proof)
{
    const char *separator = "";

    print_count(&separator, diag_count(d, DIAG_ERROR), "error", "errors");
    print_count(&separator, diag_count(d, DIAG_WARNING), "warning", "warnings");
    print_count(&separator, diag_count(d, DIAG_NOTE), "note", "notes");
    print_count(&separator, count_allowed(d), "acknowledged", "acknowledged");
    fputs(*separator ? "" : "clean", stdout);
    if (*proof->command)
        printf("            to prove the MTU: %s  (%zu VIP%s x %zu host%s)", proof->command, proof->vips,
               proof->vips == 1 ? "" : "s", proof->hosts, proof->hosts == 1 ? "" : "s");
    putchar('\n');
}

static void print_json(struct diag *d, const struct check_proof *proof)
{
    struct json_out j;

    json_out_init(&j, stdout);
    json_out_object(&j, NULL, JSON_ON_LINES);
    json_out_string(&j, "schema", "emu-check/1");
    json_out_string(&j, "file", d->file);
    json_out_count(&j, "errors", diag_count(d, DIAG_ERROR));
    json_out_count(&j, "warnings", diag_count(d, DIAG_WARNING));
    json_out_count(&j, "notes", diag_count(d, DIAG_NOTE));
    json_out_count(&j, "allowed", count_allowed(d));
    json_out_string(&j, "proof", *proof->command ? proof->command : NULL);
    json_diag(&j, "findings", d);
    json_out_end(&j);
}

static int check_one(const char *path, const struct check_options *o)
{
    struct diag d;
    struct topo_file *f;
    struct check_proof proof = {.command = ""};
    int rc;

    diag_init(&d, path);
    f = topo_file_open(path, &d);
    if (f)
        check_file(f, o->cases.items, o->cases.n, &d, &proof);
    if (o->json) {
        print_json(&d, &proof);
    } else {
        diag_print_text(&d, stdout, true);
        print_summary(&d, &proof);
    }
    rc = diag_count(&d, DIAG_ERROR) ? CLI_USAGE : o->strict && diag_count(&d, DIAG_WARNING) ? CLI_FAILED : CLI_OK;
    topo_file_close(f);
    diag_free(&d);
    return rc;
}

static int expand(const char *path, const char *case_name)
{
    struct diag d;
    struct topo_file *f;
    int rc = CLI_OK;

    diag_init(&d, path);
    f = topo_file_open(path, &d);
    if (!f || (case_name && !check_case_exists(f, case_name, &d))) {
        diag_print_text(&d, stderr, true);
        rc = CLI_USAGE;
    } else if (topo_file_print_expanded(f, case_name, stdout) < 0) {
        rc = CLI_FAILED;
    }
    topo_file_close(f);
    diag_free(&d);
    return rc;
}

/* What does not go together, or NULL. */
static const char *contradiction(const struct check_options *o, size_t files)
{
    if ((o->explain || o->list) && files)
        return "--explain and --list take no file";
    if (o->explain && o->list)
        return "--explain and --list do not go together";
    if ((o->explain || o->list) && (o->cases.n || o->strict || o->expand))
        return "--explain and --list take no other option";
    if (o->explain && o->json)
        return "--explain prints text only";
    if (!o->explain && !o->list && !files)
        return "which file?";
    if (o->expand && (o->json || o->strict))
        return "--expand prints the file only; leave --json and --strict";
    if (o->expand && o->cases.n > 1)
        return "--expand prints one case";
    return NULL;
}

int cmd_check(int argc, char **argv)
{
    struct check_options o = {0};
    struct option_list files = {0};
    const char *problem;
    int rc = option_parse(&table, argc, argv, &o, &files);

    if (rc == OPTION_GO_ON) {
        problem = contradiction(&o, files.n);
        if (problem)
            rc = cli_error(CLI_USAGE, argv[0], "%s", problem);
        else if (o.list)
            rc = list_rules(o.json);
        else if (o.explain)
            rc = explain_rule(argv[0], o.explain);
        else if (o.expand)
            rc = expand(files.items[0], o.cases.n ? o.cases.items[0] : NULL);
        else
            rc = check_one(files.items[0], &o);
    }
    option_free(&table, &o, &files);
    return rc;
}
