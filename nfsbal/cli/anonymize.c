/* nfsbal anonymize: a topology file that can be shown to others. */
#include "nfsbal/site/anonymize.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "emu/cli/cli.h"
#include "emu/cli/options.h"
#include "emu/model/topology_file.h"
#include "emu/report/outfile.h"
#include "nfsbal/cli/commands.h"

struct anonymize_options {
    const char *map;
    int64_t seed;
};

static const struct option_spec rows[] = {
    OPTION_STRING(struct anonymize_options, map, "map", 0, "NAMES", "write old and new names here, to keep"),
    OPTION_INTEGER(struct anonymize_options, seed, "seed", 0, "N", 0, INT64_MAX,
                   "repeatable addresses; who knows N can undo them"),
};

static const struct option_table table = {
    .operands = "FILE",
    .min_operands = 1,
    .max_operands = 1,
    .about = "Prints FILE with other names and other addresses, by an XOR that keeps what rules over addresses make\n"
             "of them, and says on standard error which choices of links are others all the same.",
    .rows = rows,
    .n_rows = sizeof rows / sizeof rows[0],
};

/* Says which teams choose otherwise now, in the file or one of its cases. */
static int warn_case(const char *command, const struct topo *before, const struct topo *after)
{
    struct anonymize_change *changes;
    long n = anonymize_compare(before, after, &changes);

    for (long i = 0; i < n; i++) {
        const struct topo_team *team = &before->teams[changes[i].team];
        const struct hash_policy *p = team->teaming.policy.policy;

        fprintf(stderr, "%s: warning  %s %s%s%s%s: %zu of %zu choices are others: %s\n", command,
                before->boxes[team->box].name, team->name, before->case_name ? " (case " : "",
                before->case_name ? before->case_name : "", before->case_name ? ")" : "", changes[i].changed,
                changes[i].choices, p ? p->name : "no rule");
    }
    free(changes);
    return n < 0 ? -ENOMEM : 0;
}

/* Loads both files in every case. 0, -ENOMEM, or -EINVAL when the new text doesn't read. */
static int warn(const char *command, const struct topo_file *f, const char *text, size_t n)
{
    struct diag d;
    struct topo_file *g;
    int rc = 0;

    diag_init(&d, "anonymized");
    g = topo_file_parse("anonymized", text, n, &d);
    for (size_t c = 0; rc == 0 && g && c <= topo_file_cases(f); c++) {
        struct topo *before = topo_load(f, c ? topo_file_case(f, c - 1) : NULL, &d);
        struct topo *after = topo_load(g, c ? topo_file_case(g, c - 1) : NULL, &d);

        rc = before && after && diag_count(&d, DIAG_ERROR) == 0 ? warn_case(command, before, after) : -EINVAL;
        topo_free(before);
        topo_free(after);
    }
    if (!g || rc == -EINVAL) {
        diag_print_text(&d, stderr, true);
        rc = -EINVAL;
    }
    topo_file_close(g);
    diag_free(&d);
    return rc;
}

static int write_out(const char *command, const struct topo_file *f, const struct anonymize_options *o, uint64_t seed)
{
    struct outfile map = {.file = NULL};
    char problem[200] = "", *text = NULL;
    size_t n = 0;
    FILE *out = open_memstream(&text, &n);
    int rc = out ? 0 : -ENOMEM;

    if (rc == 0 && o->map && (rc = outfile_open(&map, o->map)) != 0)
        snprintf(problem, sizeof problem, "%s: %s", o->map, strerror(-rc));
    if (rc == 0)
        rc = anonymize(f, seed, out, map.file, problem, sizeof problem);
    if (out && fclose(out) != 0 && rc == 0)
        rc = -ENOMEM;
    if (rc == 0 && (rc = warn(command, f, text, n)) == -EINVAL)
        snprintf(problem, sizeof problem, "the anonymized file would not be read");
    if (rc == 0 && o->map && (rc = outfile_commit(&map)) != 0)
        snprintf(problem, sizeof problem, "%s: %s", o->map, strerror(-rc));
    if (rc == 0)
        fwrite(text, 1, n, stdout);
    else
        outfile_abandon(&map);
    free(text);
    return rc == 0 ? CLI_OK : cli_error(CLI_FAILED, command, "%s", *problem ? problem : strerror(-rc));
}

static int run(const char *command, const struct anonymize_options *o, const char *path)
{
    struct diag d;
    struct topo_file *f;
    struct topo *t = NULL;
    uint64_t seed = (uint64_t)o->seed;
    int rc = CLI_USAGE;

    diag_init(&d, path);
    f = topo_file_open(path, &d);
    if (f)
        t = topo_load(f, NULL, &d);
    if (!t || diag_count(&d, DIAG_ERROR) > 0)
        diag_print_text(&d, stderr, true);
    else if (o->seed < 0 && getrandom(&seed, sizeof seed, 0) != (ssize_t)sizeof seed)
        rc = cli_error(CLI_FAILED, command, "no random numbers: %s", strerror(errno));
    else
        rc = write_out(command, f, o, seed);
    topo_free(t);
    topo_file_close(f);
    diag_free(&d);
    return rc;
}

int command_anonymize(int argc, char **argv)
{
    struct anonymize_options options = {.map = NULL, .seed = -1};
    struct option_list operands = {0};
    int rc = option_parse(&table, argc, argv, &options, &operands);

    if (rc == OPTION_GO_ON && options.map && strcmp(options.map, "-") == 0)
        rc = cli_error(CLI_USAGE, argv[0], "--map -: the file itself goes to standard output");
    if (rc == OPTION_GO_ON)
        rc = run(argv[0], &options, operands.items[0]);
    option_free(&table, &options, &operands);
    return rc;
}
