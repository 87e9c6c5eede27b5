/* The option parser: every type, both spellings, and what is refused. Messages are golden cases. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "emu/cli/options.h"
#include "emu/model/units.h"

struct config {
    bool quiet, all;
    const char *file;
    struct option_list cases;
    int64_t seed;
    int detail;
    double percent;
};

static const char *parse_half(const char *text, void *member)
{
    if (strcmp(text, "half"))
        return "the word half";
    *(double *)member = 0.5;
    return NULL;
}

static const char *const details[] = {"fluid", "train", "frame", NULL};
static const struct option_spec rows[] = {
    OPTION_FLAG(struct config, quiet, "quiet", 'q', ""),
    OPTION_FLAG(struct config, all, "all", 'a', ""),
    OPTION_STRING(struct config, file, "file", 0, "FILE", ""),
    OPTION_LIST(struct config, cases, "case", 'c', "C", ""),
    OPTION_INTEGER(struct config, seed, "seed", 's', "N", -5, 1000, ""),
    OPTION_ENUM(struct config, detail, "detail", 0, "LEVEL", details, ""),
    OPTION_VALUE(struct config, percent, "share", 0, "SHARE", parse_half, ""),
};
static const struct option_table table = {
    .operands = "FILE", .min_operands = 1, .max_operands = 2, .rows = rows, .n_rows = sizeof rows / sizeof rows[0]};

/* Splits `line` at blanks; keep the line alive. */
static int run(char *line, struct config *config, struct option_list *operands)
{
    char *argv[16] = {0};
    static char name[] = "test options";
    int argc = 1;
    argv[0] = name;
    for (char *word = strtok(line, " "); word; word = strtok(NULL, " "))
        argv[argc++] = word;
    *config = (struct config){.seed = 1};
    return option_parse(&table, argc, argv, config, operands);
}

static void accepts(void **state)
{
    (void)state;
    struct config c;
    struct option_list operands;
    char line[] = "-qa one --case x --case=y -cz -s -5 --file=- --detail frame --share half - --";
    assert_int_equal(run(line, &c, &operands), OPTION_GO_ON);
    assert_true(c.quiet && c.all);
    assert_string_equal(c.file, "-");
    assert_int_equal(c.cases.n, 3);
    assert_string_equal(c.cases.items[2], "z");
    assert_int_equal(c.seed, -5);
    assert_int_equal(c.detail, 2);
    assert_true(c.percent == 0.5);
    assert_int_equal(operands.n, 2);
    assert_string_equal(operands.items[1], "-");
    option_free(&table, &c, &operands);

    char dashes[] = "-- --quiet";
    assert_int_equal(run(dashes, &c, &operands), OPTION_GO_ON);
    assert_string_equal(operands.items[0], "--quiet");
    assert_false(c.quiet);
    option_free(&table, &c, &operands);
}

static void refuses(void **state)
{
    (void)state;
    static const char *const lines[] = {
        "",           /* operand missing */
        "a b c",      /* one too many */
        "a --sede 1", /* unknown */
        "a -x",       /* unknown letter */
        "a --seed",   /* value missing */
        "a -s",       /* the same */
        "a --seed 1 --seed 2",
        "a --seed 1001",
        "a --seed 1x",
        "a --seed 99999999999999999999",
        "a --seed +1",
        "a --seed=",
        "a --quiet=yes",
        "a --detail packet",
        "a --share third",
    };
    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++) {
        struct config c;
        struct option_list operands;
        char line[64];
        snprintf(line, sizeof line, "%s", lines[i]);
        assert_int_equal(run(line, &c, &operands), 2);
        option_free(&table, &c, &operands);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(accepts), cmocka_unit_test(refuses)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
