/* Diagnostics like a compiler's: a list of findings, each with its place in a file.
 *
 * The reader and the checks add findings; the command prints them once, sorted by place, as text with the source line
 * and a caret, or as JSON. A finding carries a rule id when a rule made it ("server-string-drift"), which `allow:` can
 * acknowledge and `emu check --explain ID` explains.
 */
#ifndef EMU_MODEL_DIAG_H
#define EMU_MODEL_DIAG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

enum diag_severity { DIAG_NOTE, DIAG_WARNING, DIAG_ERROR };

/* A place in the topology file; line and column count from 1, line 0 = no place. `length` is the caret's width. */
struct diag_mark {
    int line, column, length;
};

struct diag_entry {
    enum diag_severity severity;
    const char *id; /* rule id, or NULL for a plain reading error */
    struct diag_mark mark;
    char *text;   /* what is wrong, with the offending value */
    char *hint;   /* what to do about it, or NULL ("did you mean `teaming`?") */
    bool allowed; /* acknowledged by `allow:` */
    char *reason; /* ... with this reason */
};

struct diag {
    const char *file; /* name for messages; not owned */
    char *source;     /* text of the file for carets; owned, may be NULL */
    size_t source_size;
    struct diag_entry *entries;
    size_t count, capacity;
};

void diag_init(struct diag *d, const char *file);
void diag_free(struct diag *d);

/* Adds a finding; `id` must outlive d (a literal). `hint` is copied, may be NULL. */
void diag_add(struct diag *d, enum diag_severity severity, const char *id, struct diag_mark mark, const char *hint,
              const char *format, ...) __attribute__((format(printf, 6, 7)));

/* Marks entry i as acknowledged; the reason is copied. */
void diag_allow(struct diag *d, size_t i, const char *reason);

/* Findings of that severity that are not allowed. */
size_t diag_count(const struct diag *d, enum diag_severity severity);

/* Sorts by place; findings of one place stay in the order in which they were added. */
void diag_sort(struct diag *d);

/* Sorts by place and prints; returns the number printed. Text goes like FILE:LINE:COL: severity  id  text. */
size_t diag_print_text(struct diag *d, FILE *out, bool carets);

/* The nearest of `n` names to `word` within a third of its length, or NULL: for "did you mean". */
const char *diag_nearest(const char *word, const char *const *names, size_t n);

const char *diag_severity_name(enum diag_severity severity);

#endif
