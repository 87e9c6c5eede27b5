/* emu down: takes live labs down. needs: full */
#include "emu/cli/commands.h"

#include <stdio.h>
#include <string.h>

#include "emu/cli/cli.h"
#include "emu/cli/options.h"
#include "emu/live/down.h"
#include "emu/live/lab.h"
#include "emu/live/lateness.h"

struct down_options {
    bool all, strict, quiet;
};

static const struct option_spec rows[] = {
    OPTION_FLAG(struct down_options, all, "all", 'a', "every lab of this user"),
    OPTION_FLAG(struct down_options, strict, "strict", 0, "exit with 1 when the machine could not keep up"),
    OPTION_FLAG(struct down_options, quiet, "quiet", 'q', "only errors and warnings"),
};

static const struct option_table table = {
    .operands = "[LAB]...",
    .min_operands = 0,
    .max_operands = SIZE_MAX,
    .about =
        "Ends labs: servers, processes in their namespaces, interfaces, namespaces. Says how well the machine kept up.",
    .rows = rows,
    .n_rows = sizeof rows / sizeof rows[0],
};

static void print_report(const char *command, const char *lab, const struct down_report *r, bool quiet)
{
    if (!r->known)
        return;
    if (!quiet && r->frames > 0)
        printf("lab %s: frames left at most %.0f us late half of the time, %.0f us in 99 %%, %.0f us in 99.9 %%, %.0f "
               "us ever; "
               "behind %.2f %% of %.1f s\n",
               lab, 1e6 * r->p50, 1e6 * r->p99, 1e6 * r->p999, 1e6 * r->most, 100 * r->behind, r->running);
    if (!r->kept_up)
        cli_error(
            CLI_FAILED, command,
            "warning: the machine did not keep up with lab %s: more than a millisecond behind for %.1f %% of the time. "
            "Rates and times measured in it are not those of the file; --scale makes it slower",
            lab, 100 * r->behind);
    if (r->shortage > LATENESS_SHORT)
        cli_error(
            CLI_FAILED, command,
            "warning: in %.0f %% of the time of lab %s no processor time was left while no link was full: its rates "
            "then are the machine's",
            100 * r->shortage, lab);
    if (r->unfetched > 0)
        cli_error(
            CLI_FAILED, command,
            "warning: %.0f trains of frames that were sent in lab %s were lost, because the machine did not fetch "
            "them in time",
            r->unfetched, lab);
}

static int end_lab(const char *command, const char *name, const struct down_options *o)
{
    char problem[1024];
    struct down_report report;
    struct lab *lab = lab_open(name, problem, sizeof problem);
    int rc = CLI_OK;

    if (!lab)
        return cli_error(CLI_USAGE, command, "%s", problem);
    down_ask(lab, &report);
    if (down(lab, problem, sizeof problem) < 0)
        rc = cli_error(CLI_FAILED, command, "lab %s: %s", name, problem);
    print_report(command, name, &report, o->quiet);
    if (rc == CLI_OK && o->strict && (!report.kept_up || report.unfetched > 0 || report.shortage > LATENESS_SHORT))
        rc = CLI_FAILED;
    lab_free(lab);
    return rc;
}

static int run(const char *command, const struct down_options *o, const struct option_list *labs)
{
    int rc = CLI_OK, one;
    char **names;
    long n;

    if (o->all == (labs->n > 0))
        return cli_error(CLI_USAGE, command, "expected the names of labs, or --all%s", o->all ? ", not both" : "");
    for (size_t i = 0; i < labs->n; i++) {
        one = end_lab(command, labs->items[i], o);
        rc = rc == CLI_OK ? one : rc;
    }
    if (!o->all)
        return rc;
    n = lab_names(&names);
    if (n < 0)
        return cli_error(CLI_FAILED, command, "the folder of labs: %s", strerror((int)-n));
    for (long i = 0; i < n; i++) {
        one = end_lab(command, names[i], o);
        rc = rc == CLI_OK ? one : rc;
    }
    lab_names_free(names, (size_t)n);
    return rc;
}

int cmd_down(int argc, char **argv)
{
    struct down_options options = {.all = false};
    struct option_list operands = {0};
    int rc = option_parse(&table, argc, argv, &options, &operands);

    if (rc == OPTION_GO_ON)
        rc = run(argv[0], &options, &operands);
    option_free(&table, &options, &operands);
    return rc;
}
