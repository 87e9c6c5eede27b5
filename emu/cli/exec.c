/* emu exec and emu shell: programs in a node of a live lab. needs: full */
#include "emu/cli/commands.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "emu/cli/cli.h"
#include "emu/cli/options.h"
#include "emu/live/enter.h"
#include "emu/live/lab.h"
#include "emu/model/diag.h"

/* As shells have it. */
enum { NOT_FOUND = 127, NOT_EXECUTABLE = 126 };

static const struct option_table exec_table = {
    .operands = "LAB NODE [--] COMMAND [ARGUMENT]...",
    .min_operands = 3,
    .max_operands = SIZE_MAX,
    .about = "Runs a program in the network namespace of a host or NAS controller. Ends as the program ends.",
};

static const struct option_table shell_table = {
    .operands = "LAB NODE",
    .min_operands = 2,
    .max_operands = 2,
    .about = "Starts a shell ($SHELL, else /bin/sh) in the network namespace of a host or NAS controller.",
};

static int no_node(const char *command, const struct lab *lab, const char *name)
{
    const char *near = NULL;

    for (size_t i = 0; i < lab->n_nodes && !near; i++) {
        const char *one = lab->nodes[i].name;

        near = diag_nearest(name, &one, 1);
    }
    if (near)
        return cli_error(CLI_USAGE, command, "lab %s has no node `%s`; did you mean `%s`?", lab->name, name, near);
    return cli_error(CLI_USAGE, command, "lab %s has no node `%s`; `emu list` shows them", lab->name, name);
}

/* Returns only when it can't. */
static int run(const char *command, const char *lab_name, const char *node_name, char **argv)
{
    char problem[512];
    struct lab *lab = lab_open(lab_name, problem, sizeof problem);
    const struct lab_node *node;
    int rc;

    if (!lab)
        return cli_error(CLI_USAGE, command, "%s", problem);
    node = lab_node(lab, node_name);
    if (!node) {
        rc = no_node(command, lab, node_name);
    } else if (!lab_alive(lab)) {
        rc = cli_error(CLI_FAILED, command,
                       "lab `%s` is dead: its process was killed; `emu clean` removes what is left", lab_name);
    } else if (enter_node(lab, node, problem, sizeof problem) < 0) {
        rc = cli_error(CLI_FAILED, command, "%s", problem);
    } else {
        signal(SIGPIPE, SIG_DFL); /* ours to ignore, not the program's */
        execvp(argv[0], argv);
        rc = cli_error(errno == ENOENT ? NOT_FOUND : NOT_EXECUTABLE, command, "%s: %s", argv[0], strerror(errno));
    }
    lab_free(lab);
    return rc;
}

int cmd_exec(int argc, char **argv)
{
    struct option_list operands = {0};
    int rc = option_parse(&exec_table, argc, argv, NULL, &operands);

    /* What follows the node is the program's own, and stands at the end of argv. */
    if (rc == OPTION_GO_ON)
        rc = run(argv[0], operands.items[0], operands.items[1], argv + argc - (operands.n - 2));
    option_free(&exec_table, NULL, &operands);
    return rc;
}

int cmd_shell(int argc, char **argv)
{
    struct option_list operands = {0};
    int rc = option_parse(&shell_table, argc, argv, NULL, &operands);
    static char standard[] = "/bin/sh";
    char *shell = getenv("SHELL"), *words[] = {shell && shell[0] ? shell : standard, NULL};

    if (rc == OPTION_GO_ON)
        rc = run(argv[0], operands.items[0], operands.items[1], words);
    option_free(&shell_table, NULL, &operands);
    return rc;
}
