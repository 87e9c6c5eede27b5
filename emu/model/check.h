/* Checks: what a topology file that reads without errors still says that would not work, or not as one thinks.
 *
 * A rule has an id that stays ("server-string-drift"), a severity, one line of reason and a longer explanation
 * with the way to prove the matter on the real site. `allow: {ID: reason}` in the file acknowledges a rule. The
 * rules live in check_*.c, one group a file, behind the table that check_rule_at() shows.
 */
#ifndef EMU_MODEL_CHECK_H
#define EMU_MODEL_CHECK_H

#include <stddef.h>

#include "emu/model/diag.h"

struct check;
struct topo;
struct topo_file;

struct check_rule {
    const char *id;
    enum diag_severity severity;
    const char *reason;           /* one line: what is wrong where it fires */
    const char *explanation;      /* why it matters, how to prove it, what to do; lines of at most 100 columns */
    void (*run)(struct check *c); /* adds a finding for each place; NULL: the engine's own */
};

size_t check_rule_count(void);
const struct check_rule *check_rule_at(size_t i); /* in the order of the documentation; NULL past the end */
const struct check_rule *check_rule_find(const char *id);
const char *check_rule_nearest(const char *id); /* for "did you mean"; NULL when nothing is near */

/* Runs every rule on `t` and applies its `allow:`. Findings are added to d. */
void check_topo(const struct topo *t, struct diag *d);

/* The command that shows on the real network whether the largest frame gets through, and how often it has to be
 * run. */
struct check_proof {
    char command[128]; /* "": nothing is mounted */
    size_t hosts, vips;
};

/* Loads and checks the named cases of a file; n 0: all that it has, or the file itself when it has none. A finding
 * that only some of the cases have names them. Errors of reading come into d with the rest. `proof` may be NULL.
 * False when a named case does not exist (it is in d). */
bool check_file(const struct topo_file *f, const char *const *cases, size_t n, struct diag *d,
                struct check_proof *proof);

/* Whether the file has that case; otherwise an error with the nearest one is in d. */
bool check_case_exists(const struct topo_file *f, const char *name, struct diag *d);

#endif
