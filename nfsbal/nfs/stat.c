/* nfsbal stat: how a mount is doing. nfsbal vip: its paths, changed while it is mounted. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "emu/cli/cli.h"
#include "emu/cli/interrupt.h"
#include "emu/cli/options.h"
#include "nfsbal/nfs/commands.h"
#include "nfsbal/client/control.h"

struct stat_options {
    bool json, prometheus, watch;
    int64_t interval;
};

static const struct option_spec rows[] = {
    OPTION_FLAG(struct stat_options, json, "json", 0, "print JSON"),
    OPTION_FLAG(struct stat_options, prometheus, "prometheus", 0, "print as Prometheus reads it"),
    OPTION_FLAG(struct stat_options, watch, "watch", 'w', "again and again, until Ctrl-C"),
    OPTION_INTEGER(struct stat_options, interval, "interval", 'i', "SECONDS", 1, 3600, "between two of --watch (1)"),
};

static const struct option_table table = {
    .operands = "DIR",
    .min_operands = 1,
    .max_operands = 1,
    .about = "Prints state, load and latency of each path of a mount, and what is cached and not yet written. It asks\n"
             "the mount's process, never its servers.",
    .rows = rows,
    .n_rows = sizeof rows / sizeof rows[0],
};

static int print(const char *command, const struct stat_options *o, const char *directory)
{
    char problem[400];
    const char *request = o->json ? "stat json" : o->prometheus ? "stat prometheus" : "stat text";

    if (!control_ask(directory, request, stdout, problem, sizeof problem))
        return cli_error(CLI_FAILED, command, "%s", problem);
    return CLI_OK;
}

static int watch(const char *command, const struct stat_options *o, const char *directory)
{
    const volatile sig_atomic_t *stop = interrupt_catch();
    bool clear = isatty(STDOUT_FILENO) && !o->json && !o->prometheus;
    int rc = CLI_OK;

    while (rc == CLI_OK && !*stop) {
        if (clear)
            fputs("\033[H\033[J", stdout);
        rc = print(command, o, directory);
        if (fflush(stdout) != 0)
            return CLI_FAILED;
        if (rc == CLI_OK && !*stop)
            sleep((unsigned)o->interval);
    }
    return rc == CLI_OK ? CLI_INTERRUPTED : rc;
}

int command_stat(int argc, char **argv)
{
    struct stat_options o = {.interval = 1};
    struct option_list operands = {0};
    int rc = option_parse(&table, argc, argv, &o, &operands);

    if (rc == OPTION_GO_ON && o.json && o.prometheus)
        rc = cli_error(CLI_USAGE, argv[0], "--json and --prometheus: one of them");
    if (rc == OPTION_GO_ON)
        rc = o.watch ? watch(argv[0], &o, operands.items[0]) : print(argv[0], &o, operands.items[0]);
    option_free(&table, &o, &operands);
    return rc;
}

static const struct option_table vip_table = {
    .operands = "DIR add|remove|down|up VIP",
    .min_operands = 3,
    .max_operands = 3,
    .about =
        "Changes the VIPs of a mount while it is in use. What was under way on one that goes is issued on another.",
    .rows = NULL,
    .n_rows = 0,
};

int command_vip(int argc, char **argv)
{
    struct option_list operands = {0};
    char problem[400], request[600];
    int none, rc = option_parse(&vip_table, argc, argv, &none, &operands);

    if (rc == OPTION_GO_ON) {
        const char *verb = operands.items[1], *vip = operands.items[2];

        if (strcmp(verb, "add") != 0 && strcmp(verb, "remove") != 0 && strcmp(verb, "down") != 0 &&
            strcmp(verb, "up") != 0)
            rc = cli_error(CLI_USAGE, argv[0], "%s: expected add, remove, down or up", verb);
        else if (strlen(vip) > 400 || strpbrk(vip, " \n"))
            rc = cli_error(CLI_USAGE, argv[0], "%s: expected an address or a name", vip);
        else {
            snprintf(request, sizeof request, "vip %s %s", verb, vip);
            rc = control_ask(operands.items[0], request, stdout, problem, sizeof problem)
                     ? CLI_OK
                     : cli_error(CLI_FAILED, argv[0], "%s", problem);
        }
    }
    option_free(&vip_table, &none, &operands);
    return rc;
}
