/* The cases of a topology file, the result of each, and the report: what `emu run` and `emu live` have in common.
 *
 * Everything is read and every expectation checked for mistakes before anything runs; then the command makes a result of
 * each wanted case; then everything is printed.
 */
#ifndef EMU_CLI_CASES_H
#define EMU_CLI_CASES_H

#include <stdbool.h>
#include <stddef.h>

#include "emu/cli/options.h"
#include "emu/model/diag.h"
#include "emu/report/outfile.h"

struct expect_case;
struct plan_file;
struct result;
struct topo;
struct topo_file;

/* What the command line asks for; the lists and texts are those of the options. */
struct cases_options {
    const struct option_list *names; /* --case; none: all */
    const char *plan, *host;         /* or NULL */
    bool compare;                    /* with plan: each case as the file has it, too */
    const char *json;                /* or NULL */
    bool tsv, check, quiet;
};

struct cases {
    const char *command; /* as messages begin */
    struct cases_options options;
    struct diag diag;
    struct topo_file *file;
    struct plan_file *plan; /* or NULL */
    char **names;           /* of cases that are compared */
    size_t n_names;
    struct expect_case *cases; /* all of the file, in its order */
    struct topo **topos;       /* of those not run yet; a result owns its topology */
    struct result **results;   /* of those run, in order */
    bool *wanted;              /* per case */
    size_t n_cases;
    size_t to_do, done; /* wanted, and run */
    struct outfile json;
};

/* Reads `path`. OPTION_GO_ON, or an exit code after the errors were printed. cases_free() in any case. */
int cases_load(struct cases *c, const char *command, const char *path, const struct cases_options *o);
/* How many errors `emu check` has on the file are mentioned on stderr, unless quiet; --json is opened. As above. */
int cases_begin(struct cases *c);
/* The topology of case i, to be made into a result: whoever takes it owns it. */
struct topo *cases_take(struct cases *c, size_t i);
/* ... and its result, owned by c. */
void cases_put(struct cases *c, size_t i, struct result *r);
/* Judges the expectations and prints everything. The command's exit code; `interrupted` is the signal that ended it, or 0. */
int cases_report(struct cases *c, int interrupted);
void cases_free(struct cases *c);

#endif
