/* emu list: the live labs of this machine. needs: full */
#include "emu/cli/commands.h"

#include <stdio.h>
#include <string.h>

#include "emu/cli/cli.h"
#include "emu/cli/options.h"
#include "emu/live/lab.h"
#include "emu/report/json.h"

struct list_options {
    bool json;
};

static const struct option_spec rows[] = {
    OPTION_FLAG(struct list_options, json, "json", 0, "print JSON (emu-labs/1)"),
};

static const struct option_table table = {
    .operands = NULL,
    .about = "Lists the live labs with their nodes, and those that were left behind by a killed run.",
    .rows = rows,
    .n_rows = sizeof rows / sizeof rows[0],
};

static void print_text(const struct lab *lab)
{
    printf("%s  %s  %s", lab->name, lab_alive(lab) ? "up" : "dead", lab->topology);
    if (lab->case_name)
        printf("  case %s", lab->case_name);
    if (strcmp(lab->scale, "1") != 0)
        printf("  scale %s", lab->scale);
    if (strcmp(lab->detail, "train") != 0)
        printf("  detail %s", lab->detail);
    if (lab->rootless)
        printf("  rootless");
    putchar('\n');
    for (size_t i = 0; i < lab->n_nodes; i++) {
        printf("  %s  %s", lab->nodes[i].name, lab->nodes[i].kind);
        for (size_t k = 0; k < lab->nodes[i].n_addresses; k++)
            printf("%s%s", k ? " " : "  ", lab->nodes[i].addresses[k]);
        putchar('\n');
    }
}

static void print_json(struct json_out *j, const struct lab *lab)
{
    json_out_object(j, NULL, JSON_ON_LINES);
    json_out_string(j, "name", lab->name);
    json_out_bool(j, "up", lab_alive(lab));
    json_out_integer(j, "pid", lab->pid);
    json_out_string(j, "topology", lab->topology);
    json_out_string(j, "case", lab->case_name);
    json_out_string(j, "scale", lab->scale);
    json_out_string(j, "detail", lab->detail);
    json_out_bool(j, "rootless", lab->rootless);
    json_out_array(j, "nodes", JSON_ON_LINES);
    for (size_t i = 0; i < lab->n_nodes; i++) {
        const struct lab_node *n = &lab->nodes[i];

        json_out_object(j, NULL, JSON_ON_ONE_LINE);
        json_out_string(j, "node", n->name);
        json_out_string(j, "kind", n->kind);
        json_out_string(j, "netns", n->netns);
        json_out_array(j, "addresses", JSON_ON_ONE_LINE);
        for (size_t k = 0; k < n->n_addresses; k++)
            json_out_string(j, NULL, n->addresses[k]);
        json_out_end(j);
        json_out_end(j);
    }
    json_out_end(j);
    json_out_end(j);
}

static int list(const char *command, const struct list_options *o)
{
    struct json_out j;
    char **names;
    long n = lab_names(&names);

    if (n < 0)
        return cli_error(CLI_FAILED, command, "the folder of labs: %s", strerror((int)-n));
    json_out_init(&j, stdout);
    if (o->json) {
        json_out_object(&j, NULL, JSON_ON_LINES);
        json_out_string(&j, "schema", "emu-labs/1");
        json_out_array(&j, "labs", JSON_ON_LINES);
    }
    for (long i = 0; i < n; i++) {
        char problem[512];
        struct lab *lab = lab_open(names[i], problem, sizeof problem);

        if (lab && o->json)
            print_json(&j, lab);
        else if (lab)
            print_text(lab);
        else if (!o->json)
            printf("%s  dead: it has just begun, or is a remainder that emu clean removes\n", names[i]);
        lab_free(lab);
    }
    if (o->json) {
        json_out_end(&j);
        json_out_end(&j);
    }
    if (n > 0)
        lab_names_free(names, (size_t)n);
    return CLI_OK;
}

int cmd_list(int argc, char **argv)
{
    struct list_options options = {.json = false};
    struct option_list operands = {0};
    int rc = option_parse(&table, argc, argv, &options, &operands);

    if (rc == OPTION_GO_ON)
        rc = list(argv[0], &options);
    option_free(&table, &options, &operands);
    return rc;
}
