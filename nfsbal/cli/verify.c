/* nfsbal verify: does the network do what the file says? Counters at two times tell. */
#include "nfsbal/site/verify.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "emu/cli/cli.h"
#include "emu/cli/options.h"
#include "emu/model/topology_file.h"
#include "emu/report/json.h"
#include "emu/report/path_words.h"
#include "emu/report/table.h"
#include "nfsbal/cli/commands.h"
#include "nfsbal/site/collect.h"
#include "nfsbal/site/site.h"

struct verify_options {
    const char *case_name, *observed;
    bool how, all, json;
};

static const struct option_spec rows[] = {
    OPTION_STRING(struct verify_options, observed, "observed", 0, "T0 T1",
                  "counters at two times: two files, or two folders of files by node"),
    OPTION_FLAG(struct verify_options, how, "how", 0, "print the commands that collect them, by device"),
    OPTION_STRING(struct verify_options, case_name, "case", 0, "CASE",
                  "the topology of this case; default: as the file stands"),
    OPTION_FLAG(struct verify_options, all, "all", 0, "print every link direction, not only where it differs"),
    OPTION_FLAG(struct verify_options, json, "json", 0, "print JSON (nfsbal-verify/1)"),
};

static const struct option_table table = {
    .operands = "FILE [T1]",
    .min_operands = 1,
    .max_operands = 2,
    .about = "Holds byte counters of hosts, switches and NAS at two times against the links that FILE says the mounts\n"
             "take: idle links, loaded ones, the likely cause. Exit code 0: as planned, 1: it differs, 2: bad input.",
    .rows = rows,
    .n_rows = sizeof rows / sizeof rows[0],
};

static const char *const verdicts[] = {
    [VERIFY_AGREES] = "agrees",         [VERIFY_DIFFERS] = "differs", [VERIFY_UNPLANNED] = "unplanned",
    [VERIFY_TOO_LITTLE] = "too-little", [VERIFY_UNUSED] = "unused",   [VERIFY_NOT_COUNTED] = "not-counted",
};
static const char *const findings[] = {
    [VERIFY_FINE] = NULL, [VERIFY_IDLE_LINK] = "idle", [VERIFY_LOADED_LINK] = "loaded"};
static const char *const causes[] = {
    [CAUSE_ORDER] = "order",         [CAUSE_DOWN] = "down",       [CAUSE_HASH] = "hash",   [CAUSE_VIP] = "vip",
    [CAUSE_ELSEWHERE] = "elsewhere", [CAUSE_LEARNED] = "learned", [CAUSE_QUIET] = "quiet", [CAUSE_NONE] = "none",
};
static const char *const states[] = {
    [COUNTER_NONE] = "none",   [COUNTER_STEADY] = "steady",         [COUNTER_WRAPPED] = "wrapped",
    [COUNTER_RESET] = "reset", [COUNTER_IMPOSSIBLE] = "impossible",
};

/* ---- how ---- */

static void print_how(const struct topo *t)
{
    char text[4096];
    bool advice, first = true;

    for (size_t b = 0; b < t->n_boxes; b++) {
        const char *model = t->nodes[t->boxes[b].node].model;

        if (!collect_box(t, (int)b, text, sizeof text, &advice))
            continue;
        printf("%s## %s%s%s%s\n%s%s\n", first ? "" : "\n", t->boxes[b].name, model ? " (" : "", model ? model : "",
               model ? ")" : "", advice ? "# " : "", text);
        first = false;
    }
}

/* ---- text ---- */

/* "stack1 po3": who sends over the group, or who receives where the sender has no team. */
static void group_name(const struct topo *t, const struct verify_group *g, char *out, size_t size)
{
    int from = topo_linkdir_from(t, g->links[0].linkdir), team = g->team >= 0 ? g->team : g->receiver;

    if (team < 0)
        snprintf(out, size, "%s", t->ports[from].full);
    else
        snprintf(out, size, "%s%s %s", g->team >= 0 ? "from " : "to ", t->boxes[t->teams[team].box].name,
                 t->teams[team].name);
}

static void print_link(const struct topo *t, const struct verify_group *g, const struct verify_link *l, const char *why)
{
    char name[160], group[200], planned[2][32], carried[32], all[32];

    path_words_count(l->planned, planned[0], sizeof planned[0]);
    path_words_count(g->planned, planned[1], sizeof planned[1]);
    group_name(t, g, group, sizeof group);
    printf("%s (%s): planned %s of %s, carries %s of %s MB%s%s\n", verify_member_name(t, l->linkdir, name, sizeof name),
           group, planned[0], planned[1], unit_print_mbps(carried, sizeof carried, l->bytes),
           unit_print_mbps(all, sizeof all, g->bytes), why ? " -> " : "", why ? why : "");
}

/* Idle members, then loaded ones; the likeliest cause on the first line, the others below. */
static void print_group(const struct topo *t, const struct verify_group *g)
{
    const char *why = g->n_causes ? g->causes[0].text : NULL;

    for (int finding = VERIFY_IDLE_LINK; finding <= VERIFY_LOADED_LINK; finding++)
        for (size_t i = 0; i < g->n; i++)
            if ((int)g->links[i].finding == finding) {
                print_link(t, g, &g->links[i], why);
                why = NULL;
            }
    if (g->verdict == VERIFY_UNPLANNED)
        print_link(t, g, &g->links[0], why);
    for (size_t i = 1; i < g->n_causes; i++)
        printf("    %s%s\n", g->causes[i].kind == CAUSE_QUIET ? "" : "or ", g->causes[i].text);
}

static int print_all(const struct topo *t, const struct verify *v)
{
    static const struct table_column columns[] = {
        {"group", TABLE_LEFT},  {"member", TABLE_LEFT}, {"planned", TABLE_RIGHT}, {"MB", TABLE_RIGHT},
        {"share", TABLE_RIGHT}, {"even", TABLE_RIGHT},  {"verdict", TABLE_LEFT}};
    struct table *tab = table_new(columns, sizeof columns / sizeof columns[0]);
    int rc;

    for (size_t i = 0; i < v->n; i++)
        for (size_t k = 0; k < v->groups[i].n; k++) {
            const struct verify_group *g = &v->groups[i];
            const struct verify_link *l = &g->links[k];
            struct table_row *row = table_row(tab, NULL);
            char text[200];

            group_name(t, g, text, sizeof text);
            table_cell(tab, row, 0, k ? "" : text);
            table_cell(tab, row, 1, verify_member_name(t, l->linkdir, text, sizeof text));
            path_words_count(l->planned, text, sizeof text);
            table_cell(tab, row, 2, text);
            if (l->state != COUNTER_NONE)
                table_cell(tab, row, 3, unit_print_mbps(text, sizeof text, l->bytes));
            if (g->bytes > 0)
                table_cellf(tab, row, 4, "%.1f %%", 100 * l->bytes / g->bytes);
            if (g->planned > 0)
                table_cellf(tab, row, 5, "%.1f %%", 100 * l->planned / g->planned);
            table_cell(tab, row, 6, findings[l->finding] ? findings[l->finding] : verdicts[g->verdict]);
        }
    rc = table_print(tab, stdout, TABLE_TEXT, 0);
    table_free(tab);
    return rc;
}

static void print_count(const char **separator, size_t n, const char *what)
{
    if (!n)
        return;
    printf("%s%zu %s", *separator, n, what);
    *separator = ", ";
}

static void print_summary(const struct verify *v)
{
    const char *separator = "teams and links: ";

    print_count(&separator, v->count[VERIFY_AGREES], "as planned");
    print_count(&separator, v->count[VERIFY_DIFFERS] + v->count[VERIFY_UNPLANNED], "differ");
    print_count(&separator, v->count[VERIFY_TOO_LITTLE], "with too little traffic to judge");
    print_count(&separator, v->count[VERIFY_NOT_COUNTED], "without all counters");
    print_count(&separator, v->count[VERIFY_UNUSED], "not used");
    putchar('\n');
    separator = "counters: ";
    print_count(&separator, v->wrapped, "wrapped");
    print_count(&separator, v->reset, "began again in between");
    if (v->wrapped || v->reset)
        putchar('\n');
    if (v->wrap_seconds > 0)
        printf("counters of 32 bits may have wrapped more than once: read them within %.0f s\n", v->wrap_seconds);
}

/* ---- JSON ---- */

static void json_group(struct json_out *j, const struct topo *t, const struct verify_group *g)
{
    json_out_object(j, NULL, JSON_ON_LINES);
    json_out_string(j, "box", t->boxes[g->box].name);
    json_out_string(j, "team", g->team >= 0 ? t->teams[g->team].name : NULL);
    json_out_string(j, "verdict", verdicts[g->verdict]);
    json_out_real(j, "planned", g->planned);
    json_out_real(j, "bytes", g->bytes);
    json_out_array(j, "links", JSON_ON_LINES);
    for (size_t i = 0; i < g->n; i++) {
        const struct verify_link *l = &g->links[i];

        json_out_object(j, NULL, JSON_ON_ONE_LINE);
        json_out_string(j, "link", topo_linkdir_name(t, l->linkdir));
        json_out_real(j, "planned", l->planned);
        json_out_real(j, "certain", l->certain);
        json_out_real(j, "bytes", l->state == COUNTER_NONE ? (double)NAN : l->bytes);
        json_out_string(j, "counter", states[l->state]);
        json_out_string(j, "finding", findings[l->finding]);
        json_out_string(j, "moved_to", l->moved >= 0 ? topo_linkdir_name(t, l->moved) : NULL);
        json_out_end(j);
    }
    json_out_end(j);
    json_out_array(j, "causes", JSON_ON_LINES);
    for (size_t i = 0; i < g->n_causes; i++) {
        json_out_object(j, NULL, JSON_ON_ONE_LINE);
        json_out_string(j, "kind", causes[g->causes[i].kind]);
        json_out_real(j, "distance", g->causes[i].distance);
        json_out_string(j, "text", g->causes[i].text);
        json_out_end(j);
    }
    json_out_end(j);
    json_out_end(j);
}

static void print_json(const struct topo *t, const struct verify *v)
{
    struct json_out j;

    json_out_init(&j, stdout);
    json_out_object(&j, NULL, JSON_ON_LINES);
    json_out_string(&j, "schema", "nfsbal-verify/1");
    json_out_bool(&j, "agrees", v->count[VERIFY_DIFFERS] + v->count[VERIFY_UNPLANNED] == 0);
    json_out_count(&j, "wrapped", v->wrapped);
    json_out_count(&j, "reset", v->reset);
    json_out_bool(&j, "wraps_ambiguous", v->wrap_seconds > 0);
    json_out_array(&j, "groups", JSON_ON_LINES);
    for (size_t i = 0; i < v->n; i++)
        json_group(&j, t, &v->groups[i]);
    json_out_end(&j);
    json_out_end(&j);
}

/* ---- command ---- */

static int print(const struct topo *t, const struct verify *v, const struct verify_options *o)
{
    if (o->json) {
        print_json(t, v);
        return 0;
    }
    for (size_t i = 0; i < v->n; i++)
        if (v->groups[i].verdict == VERIFY_DIFFERS || v->groups[i].verdict == VERIFY_UNPLANNED)
            print_group(t, &v->groups[i]);
    if (o->all && print_all(t, v) != 0)
        return -ENOMEM;
    print_summary(v);
    return 0;
}

static int compare(const char *command, const struct topo *t, const struct verify_options *o, const char *second)
{
    struct counters before = {NULL, 0}, after = {NULL, 0};
    struct path_site *site = NULL;
    struct flow *flows = NULL;
    struct verify v = {.site = NULL};
    char problem[320];
    long n = flow_list(t, &flows);
    int rc = n < 0 ? (int)n : counters_read(t, o->observed, &before);

    if (rc == 0)
        rc = counters_read(t, second, &after);
    if (rc == -EINVAL) { /* said already */
        rc = CLI_USAGE;
        goto out;
    }
    if (rc == 0 && !(site = path_site_new(t, flows, (size_t)n)))
        rc = -ENOMEM;
    if (rc == 0)
        rc = verify_run(site, &before, &after, &v, problem, sizeof problem);
    if (rc == 0)
        rc = print(t, &v, o);
    if (rc == -EINVAL)
        rc = cli_error(CLI_USAGE, command, "%s", problem);
    else if (rc < 0)
        rc = cli_error(CLI_FAILED, command, "%s", strerror(-rc));
    else if (v.count[VERIFY_DIFFERS] + v.count[VERIFY_UNPLANNED] > 0)
        rc = CLI_FAILED;
    else if (v.count[VERIFY_AGREES] == 0)
        rc = cli_error(CLI_USAGE, command,
                       "nothing can be judged: too little traffic between the readings, or too few counters");
out:
    verify_free(&v);
    path_site_free(site);
    counters_free(&before);
    counters_free(&after);
    free(flows);
    return rc;
}

/* What does not go together, or NULL. */
static const char *contradiction(const struct verify_options *o, const struct option_list *operands)
{
    if (o->how && (o->observed || o->all || o->json || operands->n > 1))
        return "--how prints commands only: it takes FILE and --case";
    if (!o->how && !o->observed)
        return "give --observed T0 T1, counters at two times; --how prints how to collect them";
    if (!o->how && operands->n != 2)
        return "--observed takes two readings: --observed T0 T1";
    if (o->all && o->json)
        return "--json has every link in it: it goes without --all";
    return NULL;
}

/* `--observed T0 T1 FILE` and `FILE --observed T0 T1` both read well: FILE is the operand that isn't behind T0. */
static const char *second_reading(int argc, char **argv, const struct verify_options *o, struct option_list *operands)
{
    for (int i = 1; i + 1 < argc; i++)
        if (o->observed >= argv[i] && o->observed <= argv[i] + strlen(argv[i]) && argv[i + 1] == operands->items[0]) {
            const char *swap = operands->items[0];

            operands->items[0] = operands->items[1];
            operands->items[1] = swap;
        }
    return operands->items[1];
}

int command_verify(int argc, char **argv)
{
    struct verify_options options = {.how = false};
    struct option_list operands = {0};
    struct topo *t;
    const char *problem, *second = NULL;
    int rc = option_parse(&table, argc, argv, &options, &operands);

    if (rc == OPTION_GO_ON) {
        problem = contradiction(&options, &operands);
        if (!problem && !options.how)
            second = second_reading(argc, argv, &options, &operands);
        if (problem) {
            rc = cli_error(CLI_USAGE, argv[0], "%s", problem);
        } else if (!(t = site_load(operands.items[0], options.case_name))) {
            rc = CLI_USAGE;
        } else {
            rc = CLI_OK;
            if (options.how)
                print_how(t);
            else
                rc = compare(argv[0], t, &options, second);
            topo_free(t);
        }
    }
    option_free(&table, &options, &operands);
    return rc;
}
