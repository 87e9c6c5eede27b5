/* What is reported of a file: the results of its cases and the expectations held against them. Three forms of one thing:
 * tables for people, tab-separated lines, JSON ("emu-result/1", docs/emu-result.schema.json).
 */
#ifndef EMU_REPORT_REPORT_H
#define EMU_REPORT_REPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

struct expect_outcome;
struct result;

struct report {
    const char *file, *name, *title; /* title may be NULL */
    const struct result *const *results;
    size_t n_results;
    const struct expect_outcome *outcomes;
    size_t n_outcomes;
};

/* Each returns 0 or -ENOMEM; errors of writing stay in `out`. `brief` leaves out the tables of each case. */
int report_text(const struct report *r, FILE *out, bool brief);
/* Columns case, kind, name, metric, value; units as in JSON. */
int report_tsv(const struct report *r, FILE *out);
int report_json(const struct report *r, FILE *out);

#endif
