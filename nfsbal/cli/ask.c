/* nfsbal ask: what to ask the devices of a site so that its uncertain choices become certain. */
#include "nfsbal/site/ask.h"

#include <stdio.h>
#include <string.h>

#include "emu/cli/cli.h"
#include "emu/cli/options.h"
#include "emu/model/path_proof.h"
#include "emu/model/topology_file.h"
#include "emu/report/json.h"
#include "nfsbal/cli/commands.h"
#include "nfsbal/site/site.h"

struct ask_options {
    const char *case_name, *node;
    bool mtu, json;
};

static const struct option_spec rows[] = {
    OPTION_STRING(struct ask_options, case_name, "case", 0, "CASE",
                  "the topology of this case; default: as the file stands"),
    OPTION_STRING(struct ask_options, node, "node", 'n', "NODE", "only what to ask this switch, host or NAS"),
    OPTION_FLAG(struct ask_options, mtu, "mtu", 0, "pings that prove the largest frame instead"),
    OPTION_FLAG(struct ask_options, json, "json", 0, "print JSON (nfsbal-ask/1)"),
};

static const struct option_table table = {
    .operands = "FILE",
    .min_operands = 1,
    .max_operands = 1,
    .about = "Prints the read-only commands whose answers settle the choices of links that FILE leaves uncertain,\n"
             "by device, each once. `nfsbal tell FILE` reads a session with the answers below the commands.",
    .rows = rows,
    .n_rows = sizeof rows / sizeof rows[0],
};

static const char *form_name(enum path_proof_form form)
{
    return form == PATH_PROOF_TELL ? "tell" : form == PATH_PROOF_SHOW ? "show" : "advice";
}

static bool wanted(const struct topo *t, const struct ask_question *q, int node)
{
    return node < 0 || t->boxes[q->box].node == node;
}

static void print_json(const struct topo *t, const struct ask *a, int node)
{
    struct json_out j;
    char team[160];

    json_out_init(&j, stdout);
    json_out_object(&j, NULL, JSON_ON_LINES);
    json_out_string(&j, "schema", "nfsbal-ask/1");
    json_out_array(&j, "questions", JSON_ON_LINES);
    for (size_t i = 0; i < a->n; i++) {
        const struct ask_question *q = &a->items[i];

        if (!wanted(t, q, node))
            continue;
        json_out_object(&j, NULL, JSON_ON_ONE_LINE);
        json_out_string(&j, "device", t->boxes[q->box].name);
        json_out_string(&j, "model", t->nodes[t->boxes[q->box].node].model);
        json_out_string(&j, "team", q->team >= 0 ? site_team_name(t, q->team, team, sizeof team) : NULL);
        json_out_string(&j, "label", *q->label ? q->label : NULL);
        json_out_string(&j, "form", form_name(q->form));
        json_out_string(&j, q->form == PATH_PROOF_ADVICE ? "advice" : "command", q->text);
        json_out_bool(&j, "confirmed", path_proof_confirmed(&t->nodes[t->boxes[q->box].node]));
        json_out_count(&j, "choices", q->flows);
        json_out_end(&j);
    }
    json_out_end(&j);
    json_out_end(&j);
}

/* "# po11: approximate, 36 choices" above the questions that go from `from` to `to`. */
static void print_group(const struct topo *t, const struct ask *a, size_t from, size_t to)
{
    const struct ask_question *first = &a->items[from];
    size_t choices = 0;
    char team[160] = "";

    for (size_t i = from; i < to; i++)
        choices += a->items[i].flows;
    if (first->team >= 0 && t->teams[first->team].kind != TOPO_TEAM_SINGLE)
        snprintf(team, sizeof team,
                 "%s%s%s: ", t->teams[first->team].box != first->box ? t->boxes[t->teams[first->team].box].name : "",
                 t->teams[first->team].box != first->box ? " " : "", t->teams[first->team].name);
    if (*first->label)
        printf("# %s%s, %zu choice%s\n", team, first->label, choices, choices == 1 ? "" : "s");
    for (size_t i = from; i < to; i++)
        printf("%s%s\n", a->items[i].form == PATH_PROOF_ADVICE ? "#   " : "", a->items[i].text);
}

static void print_text(const struct topo *t, const struct ask *a, int node)
{
    int box = -1;

    for (size_t i = 0, end; i < a->n; i = end) {
        const struct ask_question *q = &a->items[i];
        const char *model = t->nodes[t->boxes[q->box].node].model;

        for (end = i + 1; end < a->n && a->items[end].box == q->box && a->items[end].team == q->team;)
            end++;
        if (!wanted(t, q, node))
            continue;
        if (q->box != box)
            printf("%s## %s%s%s%s\n%s", box >= 0 ? "\n" : "", t->boxes[q->box].name, model ? " (" : "",
                   model ? model : "", model ? ")" : "",
                   path_proof_confirmed(&t->nodes[t->boxes[q->box].node])
                       ? ""
                       : "# worded after the model's reference, not confirmed on a box: where it objects, its `?` "
                         "helps\n");
        box = q->box;
        print_group(t, a, i, end);
    }
    if (box < 0)
        puts(node < 0 ? "# nothing to ask" : "# nothing to ask there");
}

static int run(const char *command, const struct ask_options *o, const char *file)
{
    struct topo *t = site_load(file, o->case_name);
    struct ask questions;
    int node = -1, rc = CLI_OK;

    if (!t)
        return CLI_USAGE;
    if (o->node && (node = site_node(t, o->node, strlen(o->node))) < 0) {
        topo_free(t);
        return cli_error(CLI_USAGE, command, "there is no node `%s`", o->node);
    }
    if ((o->mtu ? ask_mtu(t, &questions) : ask_choices(t, &questions)) != 0)
        rc = cli_error(CLI_FAILED, command, "out of memory");
    else if (o->json)
        print_json(t, &questions, node);
    else
        print_text(t, &questions, node);
    ask_free(&questions);
    topo_free(t);
    return rc;
}

int command_ask(int argc, char **argv)
{
    struct ask_options options = {.json = false};
    struct option_list operands = {0};
    int rc = option_parse(&table, argc, argv, &options, &operands);

    if (rc == OPTION_GO_ON)
        rc = run(argv[0], &options, operands.items[0]);
    option_free(&table, &options, &operands);
    return rc;
}
