/* emu size: how many desktops (or how much of anything else) a storage carries: by a formula over its capacity, and by running
 * more and more of them until a criterion fails. */
#include "emu/cli/commands.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "emu/cli/cli.h"
#include "emu/cli/interrupt.h"
#include "emu/cli/options.h"
#include "emu/cli/progress.h"
#include "emu/model/expect.h"
#include "emu/model/result.h"
#include "emu/model/sizing.h"
#include "emu/model/topology.h"
#include "emu/model/topology_file.h"
#include "emu/model/topology_scale.h"
#include "emu/report/expect_text.h"
#include "emu/report/json.h"
#include "emu/sim/run.h"

struct size_options {
    uint64_t capacity, image, memory, write_cache;
    int64_t images, seed, most;
    double reserve, headroom, max;
    const char *case_name, *raise, *value;
    bool json, quiet;
};

static const char *parse_size(const char *text, void *member) { return unit_parse_size(text, member); }
static const char *parse_share(const char *text, void *member) { return unit_parse_percent(text, member); }

/* A limit as expectations have it: a number, bytes per second or a time. */
static const char *parse_limit(const char *text, void *member)
{
    double *limit = member;
    ps_t time;
    if (!unit_parse_count(text, limit) || !unit_parse_byte_rate(text, limit))
        return NULL;
    if (unit_parse_time(text, &time))
        return "a number such as 20k, bytes per second such as 118MB/s, or a time such as 20ms";
    *limit = (double)time / (double)PS_PER_S;
    return NULL;
}

static const struct option_spec rows[] = {
    OPTION_VALUE(struct size_options, capacity, "capacity", 0, "SIZE", parse_size, "formula: of the array, 2480GB"),
    OPTION_VALUE(struct size_options, memory, "memory", 0, "SIZE", parse_size, "formula: of a desktop"),
    OPTION_VALUE(struct size_options, write_cache, "write-cache", 0, "SIZE", parse_size, "formula: of a desktop"),
    OPTION_VALUE(struct size_options, image, "image", 0, "SIZE", parse_size, "formula: of a master image"),
    OPTION_INTEGER(struct size_options, images, "images", 0, "N", 0, 1000000, "formula: master images; 1"),
    OPTION_VALUE(struct size_options, reserve, "reserve", 0, "SHARE", parse_share,
                 "formula: of the capacity, kept free; 15%"),
    OPTION_VALUE(struct size_options, headroom, "headroom", 0, "SHARE", parse_share,
                 "formula: on memory and write cache; 25%"),
    OPTION_STRING(struct size_options, raise, "raise", 0, "PLACE",
                  "run: the number of the file to raise, as in\nvm-groups/desktops/total"),
    OPTION_STRING(struct size_options, value, "value", 0, "VALUE",
                  "run: what must stay below --max, as in\n'run.latency_mean[desktops]'"),
    OPTION_VALUE(struct size_options, max, "max", 0, "LIMIT", parse_limit, "run: the limit of --value; 20ms"),
    OPTION_INTEGER(struct size_options, most, "most", 0, "N", 1, 100000000, "run: look no further; 100000"),
    OPTION_STRING(struct size_options, case_name, "case", 'c', "CASE", "run: of the file"),
    OPTION_INTEGER(struct size_options, seed, "seed", 0, "N", 0, INT64_MAX, "run: of all that is drawn; 1"),
    OPTION_FLAG(struct size_options, json, "json", 0, "print JSON"),
    OPTION_FLAG(struct size_options, quiet, "quiet", 'q', "no progress bar"),
};

static const struct option_table table = {
    .operands = "[FILE]",
    .min_operands = 0,
    .max_operands = 1,
    .about =
        "How many desktops an array carries: by its capacity (--capacity and what a desktop takes), and by running a\n"
        "topology FILE with more and more of them until --value is above --max.",
    .rows = rows,
    .n_rows = sizeof rows / sizeof rows[0],
};

struct search {
    const char *command;
    const struct size_options *o;
    struct topo_file *file;
    struct diag diag;
    struct progress progress;
    const volatile sig_atomic_t *interrupted;
    unsigned runs;
    uint64_t good, bad; /* the most that holds, the least that does not (0: none yet) */
    double good_value, bad_value;
    enum expect_unit unit;
};

/* Runs the file with n at the place. CLI code; OPTION_GO_ON: *value is there. */
static int run_with(struct search *s, uint64_t n, double *value)
{
    char text[32], problem[256] = "";
    snprintf(text, sizeof text, "%" PRIu64, n);
    struct topo *t = topo_load_with(s->file, s->o->case_name, s->o->raise, text, &s->diag);
    if (!t)
        return CLI_USAGE;
    struct sim_options run = {.detail = sim_detail_of(t), .seed = (uint64_t)s->o->seed, .interrupted = s->interrupted};
    struct result *r = sim_run(t, &run, problem, sizeof problem);
    s->runs++;
    if (!r)
        return cli_error(CLI_FAILED, s->command, "with %" PRIu64 ": %s", n, problem);
    const struct expect_case c = {s->o->case_name, r->topo, r};
    struct expect_outcome o = {0};
    size_t at;
    int rc = OPTION_GO_ON;
    if (*s->interrupted)
        rc = 128 + *s->interrupted;
    else if (!expect_evaluate(s->o->value, &c, 1, &o, &at))
        rc = cli_error(CLI_USAGE, s->command, "--value %s: %s", s->o->value, o.problem);
    else if (o.verdict != EXPECT_PASS)
        rc = cli_error(CLI_FAILED, s->command, "--value %s with %" PRIu64 ": %s", s->o->value, n, o.problem);
    *value = o.value;
    s->unit = o.unit;
    result_free(r);
    return rc;
}

static int try(struct search *s, uint64_t n)
{
    char what[64];
    double value = 0;
    snprintf(what, sizeof what, "%" PRIu64, n);
    progress_show(&s->progress, 0, what);
    int rc = run_with(s, n, &value);
    if (rc != OPTION_GO_ON)
        return rc;
    bool holds = value <= s->o->max;
    if (holds) {
        s->good = n;
        s->good_value = value;
    } else {
        s->bad = n;
        s->bad_value = value;
    }
    return OPTION_GO_ON;
}

/* Doubles until the criterion fails, then halves the gap down to one, or a thousandth. */
static int find(struct search *s)
{
    int rc = OPTION_GO_ON;
    uint64_t most = (uint64_t)s->o->most;
    for (uint64_t n = most < 64 ? most : 64; rc == OPTION_GO_ON && !s->bad; n = n > most / 2 ? most : 2 * n) {
        rc = try(s, n);
        if (n == most)
            break;
    }
    while (rc == OPTION_GO_ON && s->bad && s->bad - s->good > 1 + s->good / 1000)
        rc = try(s, s->good + (s->bad - s->good) / 2);
    return rc;
}

static int simulate(struct search *s, const char *path)
{
    diag_init(&s->diag, path);
    s->file = topo_file_open(path, &s->diag);
    int rc = CLI_USAGE;
    if (s->file) {
        s->interrupted = interrupt_catch();
        progress_begin(&s->progress, !s->o->quiet);
        rc = find(s);
        progress_end(&s->progress);
    }
    if (diag_count(&s->diag, DIAG_ERROR))
        diag_print_text(&s->diag, stderr, true);
    topo_file_close(s->file);
    diag_free(&s->diag);
    return rc;
}

static void print_json(const struct size_options *o, uint64_t by_formula, const struct search *s)
{
    struct json_out j;
    json_out_init(&j, stdout);
    json_out_object(&j, NULL, JSON_ON_LINES);
    json_out_string(&j, "schema", "emu-size/1");
    if (o->capacity)
        json_out_count(&j, "by_formula", by_formula);
    else
        json_out_null(&j, "by_formula");
    if (s) {
        json_out_object(&j, "by_run", JSON_ON_ONE_LINE);
        json_out_count(&j, "most", s->good);
        json_out_real(&j, "value", s->good ? s->good_value : nan(""));
        json_out_real(&j, "beyond", s->bad ? (double)s->bad : nan(""));
        json_out_real(&j, "value_beyond", s->bad ? s->bad_value : nan(""));
        json_out_count(&j, "runs", s->runs);
        json_out_end(&j);
    } else {
        json_out_null(&j, "by_run");
    }
    json_out_end(&j);
}

static void print_text(const struct size_options *o, uint64_t by_formula, const struct search *s)
{
    char at[48], beyond[48], limit[48];
    if (o->capacity)
        printf("by capacity     %" PRIu64 "\n", by_formula);
    if (!s)
        return;
    expect_print_value(at, sizeof at, s->good_value, s->unit);
    expect_print_value(beyond, sizeof beyond, s->bad_value, s->unit);
    expect_print_value(limit, sizeof limit, o->max, s->unit);
    if (!s->good)
        printf("by running it   none: %s is %s with %" PRIu64 ", the limit is %s\n", o->value, beyond, s->bad, limit);
    else if (!s->bad)
        printf("by running it   at least %" PRIu64 ": %s is %s, the limit is %s\n", s->good, o->value, at, limit);
    else
        printf("by running it   %" PRIu64 ": %s is %s; with %" PRIu64 " it is %s, the limit is %s\n", s->good, o->value,
               at, s->bad, beyond, limit);
    if (o->capacity && s->good)
        printf("together        %" PRIu64 "\n", by_formula < s->good ? by_formula : s->good);
}

static int check(const char *command, const struct size_options *o, const struct option_list *operands)
{
    if (!operands->n && !o->capacity)
        return cli_error(CLI_USAGE, command, "nothing to size: --capacity for the formula, a FILE to run, or both");
    if (!operands->n && (o->raise || o->value))
        return cli_error(CLI_USAGE, command, "--%s goes with a FILE", o->raise ? "raise" : "value");
    if (operands->n && (!o->raise || !o->value))
        return cli_error(CLI_USAGE, command, "%s: what to raise (--raise), and what must stay below --max (--value)?",
                         operands->items[0]);
    if (o->capacity && !(o->memory + o->write_cache))
        return cli_error(CLI_USAGE, command, "--capacity: what does a desktop take? --memory and --write-cache");
    return OPTION_GO_ON;
}

static int size(const char *command, const struct size_options *o, const struct option_list *operands)
{
    const struct sizing formula = {.capacity = o->capacity,
                                   .image = o->image,
                                   .images = (uint64_t)o->images,
                                   .memory = o->memory,
                                   .write_cache = o->write_cache,
                                   .reserve = o->reserve,
                                   .headroom = o->headroom};
    struct search s = {.command = command, .o = o};
    int rc = check(command, o, operands);
    if (rc == OPTION_GO_ON && operands->n)
        rc = simulate(&s, operands->items[0]);
    if (rc != OPTION_GO_ON)
        return rc;
    (o->json ? print_json : print_text)(o, sizing_desktops(&formula), operands->n ? &s : NULL);
    return CLI_OK;
}

int cmd_size(int argc, char **argv)
{
    struct size_options o = {
        .images = 1, .seed = 1, .most = 100000, .reserve = SIZING_RESERVE, .headroom = SIZING_HEADROOM, .max = 0.020};
    struct option_list operands;
    int rc = option_parse(&table, argc, argv, &o, &operands);
    if (rc == OPTION_GO_ON)
        rc = size(argv[0], &o, &operands);
    option_free(&table, &o, &operands);
    return rc;
}
