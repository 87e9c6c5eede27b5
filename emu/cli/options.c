#include "emu/cli/options.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "emu/cli/cli.h"
#include "emu/model/diag.h"

struct parse {
    const struct option_table *table;
    const char *command;
    char *config;
    struct option_list *operands;
    bool *given; /* per row */
};

static int out_of_memory(const struct parse *p) { return cli_error(CLI_FAILED, p->command, "%s", strerror(ENOMEM)); }

static bool list_add(struct option_list *list, const char *item)
{
    const char **items = realloc(list->items, (list->n + 1) * sizeof *items);
    if (!items)
        return false;
    items[list->n++] = item;
    list->items = items;
    return true;
}

bool option_parse_integer(const char *text, int64_t min, int64_t max, int64_t *out)
{
    char *end;
    const char *digits = text + (*text == '-');
    if (*digits < '0' || *digits > '9') /* strtoll would take blanks and a plus */
        return false;
    errno = 0;
    long long value = strtoll(text, &end, 10);
    if (errno || *end || value < min || value > max)
        return false;
    *out = value;
    return true;
}

/* "--seed" or "-s", for messages. */
static const char *display(const struct option_spec *row, bool is_short, char buf[static 64])
{
    if (is_short)
        snprintf(buf, 64, "-%c", row->letter);
    else
        snprintf(buf, 64, "--%s", row->name);
    return buf;
}

static int bad_choice(const struct parse *p, const struct option_spec *row, const char *name, const char *value)
{
    char all[256] = "";
    size_t n = 0, used = 0;
    for (; row->choices[n]; n++)
        if (used < sizeof all)
            used += (size_t)snprintf(all + used, sizeof all - used, "%s%s", n ? ", " : "", row->choices[n]);
    const char *near = diag_nearest(value, row->choices, n);
    if (near)
        return cli_error(CLI_USAGE, p->command, "%s: no `%s`; did you mean `%s`? (%s)", name, value, near, all);
    return cli_error(CLI_USAGE, p->command, "%s: no `%s`; it is one of %s", name, value, all);
}

/* Stores the value of a row; `value` is NULL for flags. */
static int store(struct parse *p, const struct option_spec *row, bool is_short, const char *value)
{
    char buf[64];
    const char *name = display(row, is_short, buf);
    void *member = p->config + row->offset;
    bool *given = &p->given[row - p->table->rows];

    if (*given && row->type != OPTION_IS_FLAG && row->type != OPTION_IS_LIST)
        return cli_error(CLI_USAGE, p->command, "%s: given twice, the second time with `%s`", name, value);
    *given = true;

    switch (row->type) {
    case OPTION_IS_FLAG:
        *(bool *)member = true;
        break;
    case OPTION_IS_STRING:
    case OPTION_IS_OPTIONAL:
        *(const char **)member = value;
        break;
    case OPTION_IS_LIST:
        if (!list_add(member, value))
            return out_of_memory(p);
        break;
    case OPTION_IS_INTEGER:
        if (!option_parse_integer(value, row->min, row->max, member))
            return cli_error(CLI_USAGE, p->command, "%s: `%s` is no integer from %" PRId64 " to %" PRId64, name, value,
                             row->min, row->max);
        break;
    case OPTION_IS_ENUM: {
        int i = 0;
        while (row->choices[i] && strcmp(row->choices[i], value))
            i++;
        if (!row->choices[i])
            return bad_choice(p, row, name, value);
        *(int *)member = i;
        break;
    }
    case OPTION_IS_VALUE: {
        const char *expected = row->parse(value, member);
        if (expected)
            return cli_error(CLI_USAGE, p->command, "%s: `%s` is not %s", name, value, expected);
        break;
    }
    }
    return OPTION_GO_ON;
}

static int unknown(const struct parse *p, const char *argument, const char *name)
{
    const char *names[64], *near;
    size_t n = 0;
    for (; n < p->table->n_rows && n < 63; n++)
        names[n] = p->table->rows[n].name;
    names[n++] = "help";
    near = diag_nearest(name, names, n);
    if (near)
        return cli_error(CLI_USAGE, p->command, "%s: unknown option; did you mean --%s?", argument, near);
    return cli_error(CLI_USAGE, p->command, "%s: unknown option; %s --help lists them", argument, p->command);
}

static void print_help(const struct option_table *t, const char *command)
{
    printf("usage: %s%s%s%s\n", command, t->operands ? " " : "", t->operands ? t->operands : "",
           t->n_rows ? " [OPTION]..." : "");
    if (t->about)
        printf("\n%s\n", t->about);
    fputs("\n", stdout);

    size_t width = strlen("--help"), i;
    for (i = 0; i < t->n_rows; i++) {
        const struct option_spec *row = &t->rows[i];
        size_t w = strlen(row->name) + 2 + (row->argument ? strlen(row->argument) + 1 : 0) +
                   (row->type == OPTION_IS_OPTIONAL ? 2 : 0);
        width = w > width ? w : width;
    }
    for (i = 0; i < t->n_rows; i++) {
        const struct option_spec *row = &t->rows[i];
        char left[80], letter[8] = "    ";
        if (row->letter)
            snprintf(letter, sizeof letter, "-%c, ", row->letter);
        snprintf(left, sizeof left, row->type == OPTION_IS_OPTIONAL ? "--%s%s%s]" : "--%s%s%s", row->name,
                 row->type == OPTION_IS_OPTIONAL ? "[="
                 : row->argument                 ? " "
                                                 : "",
                 row->argument ? row->argument : "");
        printf("  %s%-*s  ", letter, (int)width, left);
        for (const char *line = row->help; line;) {
            size_t n = strcspn(line, "\n");
            printf("%.*s\n", (int)n, line);
            line = line[n] ? line + n + 1 : NULL;
            if (line)
                printf("%*s", (int)width + 8, "");
        }
    }
    printf("  -h, %-*s  show this\n", (int)width, "--help");
}

/* One `--name`, `--name=value` or `--name value` at argv[*i]. */
static int parse_long(struct parse *p, int argc, char **argv, int *i)
{
    char name[64];
    const char *text = argv[*i] + 2, *equals = strchr(text, '=');
    size_t length = equals ? (size_t)(equals - text) : strlen(text), r = 0;
    snprintf(name, sizeof name, "%.*s", (int)(length < sizeof name ? length : sizeof name - 1), text);

    while (r < p->table->n_rows && !(strlen(p->table->rows[r].name) == length && !strcmp(p->table->rows[r].name, name)))
        r++;
    if (r == p->table->n_rows)
        return unknown(p, argv[*i], name);
    const struct option_spec *row = &p->table->rows[r];
    if (row->type == OPTION_IS_FLAG)
        return equals ? cli_error(CLI_USAGE, p->command, "--%s: takes no value, got `%s`", name, equals + 1)
                      : store(p, row, false, NULL);
    if (row->type == OPTION_IS_OPTIONAL)
        return store(p, row, false, equals ? equals + 1 : "");
    if (!equals && *i + 1 >= argc)
        return cli_error(CLI_USAGE, p->command, "--%s: needs a value, %s", name, row->argument);
    return store(p, row, false, equals ? equals + 1 : argv[++*i]);
}

/* A group of flags `-ab`, or `-n VALUE`, `-nVALUE` at argv[*i]. */
static int parse_short(struct parse *p, int argc, char **argv, int *i)
{
    const char *argument = argv[*i];
    for (const char *c = argument + 1; *c; c++) {
        size_t r = 0;
        if (*c == 'h') {
            print_help(p->table, p->command);
            return 0;
        }
        while (r < p->table->n_rows && p->table->rows[r].letter != *c)
            r++;
        if (r == p->table->n_rows)
            return unknown(p, argument, argument + 1);
        const struct option_spec *row = &p->table->rows[r];
        if (row->type != OPTION_IS_FLAG && row->type != OPTION_IS_OPTIONAL) {
            if (!c[1] && *i + 1 >= argc)
                return cli_error(CLI_USAGE, p->command, "-%c: needs a value, %s", *c, row->argument);
            return store(p, row, true, c[1] ? c + 1 : argv[++*i]);
        }
        int rc = store(p, row, true, row->type == OPTION_IS_OPTIONAL ? "" : NULL);
        if (rc != OPTION_GO_ON)
            return rc;
    }
    return OPTION_GO_ON;
}

static int check_operands(const struct parse *p)
{
    const struct option_table *t = p->table;
    if (p->operands->n > t->max_operands)
        return cli_error(CLI_USAGE, p->command, "`%s`: one operand too many; usage: %s%s%s",
                         p->operands->items[t->max_operands], p->command, t->operands ? " " : "",
                         t->operands ? t->operands : "");
    if (p->operands->n < t->min_operands)
        return cli_error(CLI_USAGE, p->command, "an operand is missing; usage: %s %s", p->command, t->operands);
    return OPTION_GO_ON;
}

int option_parse(const struct option_table *table, int argc, char **argv, void *config, struct option_list *operands)
{
    struct parse p = {.table = table, .command = argv[0], .config = config, .operands = operands};
    bool only_operands = false;
    int rc = OPTION_GO_ON;

    *operands = (struct option_list){0};
    p.given = calloc(table->n_rows + 1, sizeof *p.given);
    if (!p.given)
        return out_of_memory(&p);
    for (int i = 1; i < argc && rc == OPTION_GO_ON; i++) {
        const char *a = argv[i];
        if (only_operands || a[0] != '-' || !a[1]) {
            if (!list_add(operands, a))
                rc = out_of_memory(&p);
        } else if (!strcmp(a, "--")) {
            only_operands = true;
        } else if (!strcmp(a, "--help")) {
            print_help(table, p.command);
            rc = 0;
        } else {
            rc = a[1] == '-' ? parse_long(&p, argc, argv, &i) : parse_short(&p, argc, argv, &i);
        }
    }
    if (rc == OPTION_GO_ON)
        rc = check_operands(&p);
    free(p.given);
    return rc;
}

void option_free(const struct option_table *table, void *config, struct option_list *operands)
{
    for (size_t r = 0; r < table->n_rows; r++) {
        if (table->rows[r].type == OPTION_IS_LIST) {
            struct option_list *list = (void *)((char *)config + table->rows[r].offset);
            free(list->items);
            *list = (struct option_list){0};
        }
    }
    free(operands->items);
    *operands = (struct option_list){0};
}
