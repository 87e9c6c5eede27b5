/* emu compare: two results laid side by side, joined on names. */
#include "emu/cli/commands.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "emu/cli/cli.h"
#include "emu/cli/options.h"
#include "emu/model/units.h"
#include "emu/report/json.h"
#include "emu/report/table.h"

struct compare_options {
    double within;
    bool tsv;
};

static const char *parse_within(const char *text, void *member) { return unit_parse_percent(text, member); }

static const struct option_spec rows[] = {
    OPTION_VALUE(struct compare_options, within, "within", 0, "PERCENT", parse_within,
                 "exit with 1 when a rate differs by more, or is missing on one side"),
    OPTION_FLAG(struct compare_options, tsv, "tsv", 0, "tab-separated values instead of tables"),
};

static const struct option_table table = {
    .operands = "A.json B.json",
    .min_operands = 2,
    .max_operands = 2,
    .about = "Lays two results of `emu run --json` side by side: cases, datastores, hosts, controllers and link\n"
             "directions of the same name. Two files with one case each are compared whatever its name.",
    .rows = rows,
    .n_rows = sizeof rows / sizeof rows[0],
};

enum side { A, B };

struct compare {
    const char *command;
    const char *paths[2];
    struct json_in *roots[2];
    struct compare_options options;
    struct table *table; /* of the case at hand */
    bool titled;         /* the header line of --tsv is out */
    const char *case_name;
    size_t beyond; /* rates that differ by more than `within`, and cases that are missing */
};

/* How a metric is shown, and how a difference of it. */
enum form { FORM_RATE, FORM_LATENCY, FORM_SHARE, FORM_COUNT };

static void cell_value(struct table *t, struct table_row *row, size_t column, enum form form, double value)
{
    char buf[32];
    if (isnan(value))
        table_cell(t, row, column, "-");
    else if (form == FORM_RATE)
        table_cell(t, row, column, unit_print_mbps(buf, sizeof buf, value));
    else if (form == FORM_LATENCY)
        table_cellf(t, row, column, "%.2f", value * 1e3);
    else if (form == FORM_SHARE)
        table_cellf(t, row, column, "%.1f", value * 100);
    else
        table_cellf(t, row, column, "%.0f", value);
}

static void cell_difference(struct table *t, struct table_row *row, size_t column, enum form form, double a, double b)
{
    double relative = (b - a) / fabs(a) * 100, points = (b - a) * 100;
    if (isnan(a) || isnan(b))
        table_cell(t, row, column, isnan(a) ? "only in B" : "only in A");
    else if (form == FORM_COUNT)
        table_cellf(t, row, column, "%+.0f", b - a);
    else if (form == FORM_SHARE)
        table_cellf(t, row, column, "%+.1f", fabs(points) < 0.05 ? 0 : points);
    else if (a == 0)
        table_cell(t, row, column, b == 0 ? "+0.0 %" : "-");
    else
        table_cellf(t, row, column, "%+.1f %%", fabs(relative) < 0.05 ? 0 : relative);
}

/* One line; none where both sides have nothing. NaN: not there. */
static void compare_values(struct compare *c, const char *metric, const char *name, enum form form, double a, double b)
{
    if ((isnan(a) && isnan(b)) || ((a == 0 || isnan(a)) && (b == 0 || isnan(b))))
        return;
    if (form == FORM_RATE && c->options.within >= 0 && !(fabs(b - a) <= c->options.within * fmax(fabs(a), fabs(b))))
        c->beyond++;
    struct table_row *row = table_row(c->table, NULL);
    size_t column = 0;
    if (c->options.tsv)
        table_cell(c->table, row, column++, c->case_name);
    table_cell(c->table, row, column++, metric);
    table_cell(c->table, row, column++, name);
    cell_value(c->table, row, column++, form, a);
    cell_value(c->table, row, column++, form, b);
    cell_difference(c->table, row, column, form, a, b);
}

static double number(const struct json_in *object, const char *key)
{
    double value;
    return json_in_number(json_in_member(object, key), &value) ? value : nan("");
}

static double rate(const struct json_in *object, const char *direction)
{
    return number(json_in_member(object, direction), "rate");
}

static double median(const struct json_in *object, const char *direction)
{
    return number(json_in_member(json_in_member(object, direction), "latency"), "p50");
}

/* Rates and median latencies of two objects with `write` and `read`; either may be NULL. */
static void compare_io(struct compare *c, const char *name, const struct json_in *a, const struct json_in *b)
{
    compare_values(c, "write MB/s", name, FORM_RATE, rate(a, "write"), rate(b, "write"));
    compare_values(c, "read MB/s", name, FORM_RATE, rate(a, "read"), rate(b, "read"));
    compare_values(c, "write p50 ms", name, FORM_LATENCY, median(a, "write"), median(b, "write"));
    compare_values(c, "read p50 ms", name, FORM_LATENCY, median(a, "read"), median(b, "read"));
}

static const struct json_in *find(const struct json_in *array, const char *name)
{
    for (size_t i = 0; i < json_in_size(array); i++) {
        const struct json_in *element = json_in_element(array, i);
        const char *its = json_in_text(json_in_member(element, "name"));
        if (its && !strcmp(its, name))
            return element;
    }
    return NULL;
}

static void compare_things(struct compare *c, const char *kind, const struct json_in *a, const struct json_in *b)
{
    if (!strcmp(kind, "links")) {
        const char *name = json_in_text(json_in_member(a ? a : b, "name"));
        compare_values(c, "load %", name, FORM_SHARE, number(a, "utilisation"), number(b, "utilisation"));
        compare_values(c, "dropped", name, FORM_COUNT, number(a, "dropped_frames"), number(b, "dropped_frames"));
    } else {
        compare_io(c, json_in_text(json_in_member(a ? a : b, "name")), a, b);
    }
}

/* Everything of a list: in the order of A, then what only B has. */
static void compare_lists(struct compare *c, const char *kind, const struct json_in *a, const struct json_in *b)
{
    const struct json_in *lists[2] = {json_in_member(a, kind), json_in_member(b, kind)};
    for (enum side side = A; side <= B; side++) {
        for (size_t i = 0; i < json_in_size(lists[side]); i++) {
            const struct json_in *here = json_in_element(lists[side], i);
            const char *name = json_in_text(json_in_member(here, "name"));
            const struct json_in *there = name ? find(lists[!side], name) : NULL;
            if (name && side == A)
                compare_things(c, kind, here, there);
            else if (name && !there)
                compare_things(c, kind, NULL, here);
        }
    }
}

static const char *name_of_case(const struct json_in *one)
{
    const char *name = json_in_text(json_in_member(one, "case"));
    return name ? name : "run";
}

static int compare_case(struct compare *c, const struct json_in *a, const struct json_in *b)
{
    static const struct table_column columns[] = {{"case", TABLE_LEFT}, {"metric", TABLE_LEFT},
                                                  {"name", TABLE_LEFT}, {"A", TABLE_RIGHT},
                                                  {"B", TABLE_RIGHT},   {"difference", TABLE_RIGHT}};
    static const char *const kinds[] = {"datastores", "hosts", "controllers", "links"};
    bool titles = !c->titled;
    size_t first = c->options.tsv ? 0 : 1;
    c->case_name = name_of_case(a);
    c->table = table_new(columns + first, sizeof columns / sizeof columns[0] - first);
    compare_io(c, "all", a, b);
    compare_values(c, "retransmitted", "all", FORM_COUNT, number(a, "retransmissions"), number(b, "retransmissions"));
    for (size_t k = 0; k < sizeof kinds / sizeof kinds[0]; k++)
        compare_lists(c, kinds[k], a, b);
    if (!c->options.tsv)
        printf("\n%s%s%s\n", c->case_name, strcmp(c->case_name, name_of_case(b)) ? " with " : "",
               strcmp(c->case_name, name_of_case(b)) ? name_of_case(b) : "");
    int rc = table_print(c->table, stdout, !c->options.tsv ? TABLE_TEXT : titles ? TABLE_TSV : TABLE_TSV_NO_TITLES, 1);
    table_free(c->table);
    c->titled = true;
    return rc;
}

static const struct json_in *find_case(const struct json_in *cases, const char *name)
{
    for (size_t i = 0; i < json_in_size(cases); i++)
        if (!strcmp(name_of_case(json_in_element(cases, i)), name))
            return json_in_element(cases, i);
    return NULL;
}

static void only_in(struct compare *c, const char *name, enum side side)
{
    fprintf(stderr, "%s: case %s is only in %s\n", c->command, name, c->paths[side]);
    c->beyond += c->options.within >= 0;
}

static int compare_files(struct compare *c)
{
    const struct json_in *cases[2];
    size_t matched = 0;
    for (enum side side = A; side <= B; side++) {
        cases[side] = json_in_member(c->roots[side], "cases");
        const struct json_in *first = json_in_element(cases[side], 0);
        const char *engine = json_in_text(json_in_member(first, "engine"));
        if (!c->options.tsv)
            printf("%c: %s, engine %s\n", side == A ? 'A' : 'B', c->paths[side], engine ? engine : "-");
    }
    bool single = json_in_size(cases[A]) == 1 && json_in_size(cases[B]) == 1;
    for (size_t i = 0; i < json_in_size(cases[A]); i++) {
        const struct json_in *a = json_in_element(cases[A], i);
        const struct json_in *b = single ? json_in_element(cases[B], 0) : find_case(cases[B], name_of_case(a));
        if (!b)
            only_in(c, name_of_case(a), A);
        else if (compare_case(c, a, b))
            return cli_error(CLI_FAILED, c->command, "out of memory");
        matched += b != NULL;
    }
    for (size_t i = 0; !single && i < json_in_size(cases[B]); i++) {
        const char *name = name_of_case(json_in_element(cases[B], i));
        if (!find_case(cases[A], name))
            only_in(c, name, B);
    }
    if (!matched)
        return cli_error(CLI_USAGE, c->command, "%s and %s have no case in common", c->paths[A], c->paths[B]);
    if (c->beyond)
        return cli_error(CLI_FAILED, c->command, "%zu rates or cases differ by more than %g %% or are missing",
                         c->beyond, c->options.within * 100);
    return CLI_OK;
}

static int load(struct compare *c, enum side side)
{
    char problem[256];
    c->roots[side] = json_in_load(c->paths[side], problem, sizeof problem);
    if (!c->roots[side])
        return cli_error(CLI_USAGE, c->command, "%s", problem);
    const char *schema = json_in_text(json_in_member(c->roots[side], "schema"));
    if (!schema)
        return cli_error(CLI_USAGE, c->command, "%s: no result of `emu run --json`: it names no schema",
                         c->paths[side]);
    if (strcmp(schema, "emu-result/1"))
        return cli_error(CLI_USAGE, c->command, "%s: schema `%s`, emu-result/1 is expected", c->paths[side], schema);
    return CLI_OK;
}

int cmd_compare(int argc, char **argv)
{
    struct compare c = {.command = argv[0], .options = {.within = -1}};
    struct option_list operands;
    int rc = option_parse(&table, argc, argv, &c.options, &operands);
    if (rc == OPTION_GO_ON) {
        rc = CLI_OK;
        for (enum side side = A; side <= B && rc == CLI_OK; side++) {
            c.paths[side] = operands.items[side];
            rc = load(&c, side);
        }
        if (rc == CLI_OK)
            rc = compare_files(&c);
        json_in_free(c.roots[A]);
        json_in_free(c.roots[B]);
    }
    option_free(&table, &c.options, &operands);
    return rc;
}
