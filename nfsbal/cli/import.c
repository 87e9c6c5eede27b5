/* nfsbal import: a topology file from what the devices print. */
#include "nfsbal/site/import.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "emu/cli/cli.h"
#include "emu/cli/options.h"
#include "emu/model/diag.h"
#include "emu/model/topology_file.h"
#include "emu/report/outfile.h"
#include "nfsbal/cli/commands.h"

enum { PROBLEM = 4400 };

struct import_options {
    const char *output;
    int script; /* enum import_script, or -1 */
    bool quiet;
};

static const struct option_spec rows[] = {
    OPTION_STRING(struct import_options, output, "output", 'o', "FILE",
                  "write the topology file here; default: standard output"),
    OPTION_FLAG(struct import_options, quiet, "quiet", 'q', "don't list the gaps on standard error"),
    OPTION_ENUM(struct import_options, script, "script", 0, "KIND", import_script_names,
                "print a script instead that collects what is read of such a device, and\n"
                "that changes nothing: esxi, ontap, pve, linux"),
};

static const struct option_table table = {
    .operands = "DIR",
    .min_operands = 0,
    .max_operands = 1,
    .about =
        "Makes a topology file of what the devices of a site print: DIR has a folder for each, named as the device,\n"
        "with any of the outputs that can be read in it. What none of them tells is a comment at its place.",
    .rows = rows,
    .n_rows = sizeof rows / sizeof rows[0],
};

/* The folder's name. */
static char *name_of(const char *path, char *out, size_t size)
{
    size_t n = strlen(path), from;

    while (n > 1 && path[n - 1] == '/')
        n--;
    for (from = n; from > 0 && path[from - 1] != '/'; from--)
        ;
    snprintf(out, size, "%.*s", (int)(n - from), path + from);
    if (!*out || strcmp(out, ".") == 0 || strcmp(out, "..") == 0 || strcmp(out, "/") == 0)
        snprintf(out, size, "site");
    return out;
}

static int put(const char *command, const struct import_options *o, const char *text, size_t n)
{
    struct outfile file;
    int rc;

    if (!o->output) {
        fwrite(text, 1, n, stdout);
        return CLI_OK;
    }
    rc = outfile_open(&file, o->output);
    if (rc == 0) {
        fwrite(text, 1, n, file.file);
        rc = outfile_commit(&file);
    }
    if (rc == 0)
        return CLI_OK;
    outfile_abandon(&file);
    return cli_error(CLI_FAILED, command, "%s: %s", o->output, strerror(-rc));
}

/* What was made must be read again. */
static int read_back(const char *command, const char *text, size_t n)
{
    struct diag d;
    struct topo_file *f;
    struct topo *t = NULL;
    int rc = CLI_OK;

    diag_init(&d, "the file that was made");
    f = topo_file_parse("the file that was made", text, n, &d);
    if (f)
        t = topo_load(f, NULL, &d);
    if (!t || diag_count(&d, DIAG_ERROR) > 0) {
        diag_print_text(&d, stderr, true);
        rc = cli_error(CLI_FAILED, command, "what the devices print can't be put together; the file needs a hand");
    }
    topo_free(t);
    topo_file_close(f);
    diag_free(&d);
    return rc;
}

static int write_site(const char *command, const struct import_options *o, struct import *m, const char *path)
{
    char name[256], *text = NULL, *list = NULL;
    size_t n = 0, list_size = 0, gaps;
    FILE *out = open_memstream(&text, &n), *said = open_memstream(&list, &list_size);
    int rc, checked;

    if (!out || !said) {
        rc = cli_error(CLI_FAILED, command, "out of memory");
        goto out;
    }
    if (!import_write(m, name_of(path, name, sizeof name), out, said, &gaps)) {
        rc = cli_error(CLI_USAGE, command, "%s: no device in it mounts NFS, serves it or has an address that could",
                       path);
        goto out;
    }
    if (fflush(out) != 0 || fflush(said) != 0) {
        rc = cli_error(CLI_FAILED, command, "out of memory");
        goto out;
    }
    if (!o->quiet && gaps)
        fprintf(stderr, "%s", list);
    fprintf(stderr, "%zu gap%s%s\n", gaps, gaps == 1 ? "" : "s", gaps ? ": lines with `# unknown:` in the file" : "");
    rc = put(command, o, text, n);
    checked = read_back(command, text, n);
    rc = rc != CLI_OK ? rc : checked;
out:
    if (out)
        fclose(out);
    if (said)
        fclose(said);
    free(text);
    free(list);
    return rc;
}

static int run(const char *command, const struct import_options *o, const char *path)
{
    struct import *m = import_new();
    char problem[PROBLEM];
    int rc = import_folder(m, path, problem, sizeof problem);

    if (rc == -EINVAL)
        rc = CLI_USAGE;
    else if (rc != 0)
        rc = cli_error(CLI_USAGE, command, "%s", problem);
    else
        rc = write_site(command, o, m, path);
    import_free(m);
    return rc;
}

int command_import(int argc, char **argv)
{
    struct import_options options = {.script = -1};
    struct option_list operands = {0};
    int rc = option_parse(&table, argc, argv, &options, &operands);

    if (rc == OPTION_GO_ON && options.script >= 0 && (operands.n > 0 || options.output || options.quiet))
        rc = cli_error(CLI_USAGE, argv[0], "--script: it stands alone");
    if (rc == OPTION_GO_ON && options.script < 0 && operands.n == 0)
        rc = cli_error(CLI_USAGE, argv[0], "DIR is missing: the folder that has a folder for each device");
    if (rc == OPTION_GO_ON && options.script >= 0) {
        import_script_print((enum import_script)options.script, stdout);
        rc = CLI_OK;
    } else if (rc == OPTION_GO_ON) {
        rc = run(argv[0], &options, operands.items[0]);
    }
    option_free(&table, &options, &operands);
    return rc;
}
