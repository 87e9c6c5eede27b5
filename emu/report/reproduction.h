/* The results of documents beside ours: what `emu reproduce` found, as a table for people, as Markdown (docs/results.md)
 * and as JSON ("emu-reproduction/1", docs/emu-reproduction.schema.json).
 *
 * Nothing here depends on the machine, the time or how long it took: equal files give equal bytes.
 */
#ifndef EMU_REPORT_REPRODUCTION_H
#define EMU_REPORT_REPRODUCTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "emu/model/expect.h"

struct topo;

/* How far a result moves with an input of its file: its value with the input smaller and larger by REPRODUCTION_STEP.
 * NaN: there is no value, or the input cannot be moved so far. */
struct reproduction_move {
    double low, high;
};
#define REPRODUCTION_STEP 0.2

struct reproduction_result {
    struct expect_outcome outcome;   /* with the first seed */
    double least, most;              /* over all seeds */
    double live;                     /* with real frames and real NFS; NaN: not asked for, or it can't be run so */
    double alike;                    /* in virtual time with the amounts of the live run; 0 or NaN: that is `outcome` */
    struct reproduction_move *moves; /* one per input of the file; NULL: not asked for */
};

struct reproduction_file {
    const char *path;
    const struct topo *topo;             /* expectations and inputs are its */
    struct reproduction_result *results; /* one per expectation */
    const char *const *inputs;           /* what the file says, one text per input: "64KiB" */
    const char *problem;                 /* a case that could not be run, in words; NULL: all were */
};

struct reproduction {
    const struct reproduction_file *files;
    size_t n_files;
    unsigned seeds;
    bool sensitivity, live;
    bool alike; /* live runs were made with a part of the amounts */
};

/* How far real frames and virtual time may be apart. */
#define REPRODUCTION_LIVE_WITHIN 0.10
/* Whether they are not; false where there is nothing to compare. */
bool reproduction_apart(const struct reproduction_result *r);

enum reproduction_kind { REPRODUCTION_PREDICTED, REPRODUCTION_CALIBRATED, REPRODUCTION_NOT_CLAIMED };
enum reproduction_kind reproduction_kind(const struct topo_expect *e);
const char *reproduction_kind_name(enum reproduction_kind kind);

/* How many results of which kind and verdict there are. */
struct reproduction_counts {
    size_t total, predicted, calibrated, not_claimed, failed; /* failed: of those predicted or calibrated; or not run */
    size_t live, apart;                                       /* compared with real frames; and not in agreement */
};
void reproduction_count(const struct reproduction *r, struct reproduction_counts *counts);

/* Each returns 0 or -ENOMEM; errors of writing stay in `out`. */
int reproduction_text(const struct reproduction *r, FILE *out);
int reproduction_summary(const struct reproduction *r, FILE *out); /* the last line of that */
int reproduction_markdown(const struct reproduction *r, FILE *out);
int reproduction_json(const struct reproduction *r, FILE *out);

/* The input that moves a result most, and how far as shares of the value; false when none moves it or it is not known. */
bool reproduction_strongest(const struct reproduction_file *f, const struct reproduction_result *r, size_t *input,
                            double *low, double *high);

#endif
