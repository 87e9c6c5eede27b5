/* emu clean: removes what killed labs have left behind. needs: full */
#include "emu/cli/commands.h"

#include <stdio.h>
#include <string.h>

#include "emu/cli/cli.h"
#include "emu/cli/options.h"
#include "emu/live/lab.h"

struct clean_options {
    bool quiet;
};

static const struct option_spec rows[] = {
    OPTION_FLAG(struct clean_options, quiet, "quiet", 'q', "only errors"),
};

static const struct option_table table = {
    .operands = NULL,
    .about = "Removes what labs left behind whose process was killed: namespaces, processes in them, servers, files. "
             "Labs that\n"
             "run are left alone, and so is everything that no lab made.",
    .rows = rows,
    .n_rows = sizeof rows / sizeof rows[0],
};

static int clean(const char *command, const char *name, const struct clean_options *o)
{
    char problem[1024];
    int rc = lab_clean(name, problem, sizeof problem);

    if (rc < 0)
        return cli_error(CLI_FAILED, command, "lab %s: %s", name, problem);
    if (rc > 0 && !o->quiet)
        printf("lab %s is gone\n", name);
    return CLI_OK;
}

int cmd_clean(int argc, char **argv)
{
    struct clean_options options = {.quiet = false};
    struct option_list operands = {0};
    char **names = NULL;
    int rc = option_parse(&table, argc, argv, &options, &operands);
    long n = rc == OPTION_GO_ON ? lab_names(&names) : 0;

    if (n < 0)
        rc = cli_error(CLI_FAILED, argv[0], "the folder of labs: %s", strerror((int)-n));
    else if (rc == OPTION_GO_ON)
        rc = CLI_OK;
    for (long i = 0; i < n; i++) {
        int one = clean(argv[0], names[i], &options);

        rc = rc == CLI_OK ? one : rc;
    }
    if (n > 0)
        lab_names_free(names, (size_t)n);
    option_free(&table, &options, &operands);
    return rc;
}
