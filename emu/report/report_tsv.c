/* One value per line: case, kind, name, metric, value. The kind is the list that an object stands in ("datastores"), `file`
 * and `run` outside of all lists; the name its naming strings, joined by blanks; the metric the keys down to the value,
 * joined by points, elements of a list by position. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "emu/report/fields.h"
#include "emu/report/report.h"

#define DEEPEST 8

struct tsv_sink {
    struct report_sink sink;
    FILE *file;
    int depth;
    struct {
        const char *key;
        bool array;
        unsigned elements;
    } open[DEEPEST];
    char case_name[128], name[512]; /* of the case; of the thing or expectation */
};

/* Depths of the structure that report_fields() tells: 1 file, 2 list of cases or expectations, 3 one case or expectation,
 * 4 list of things, 5 one thing. */
enum { CASE_LIST = 2, CASE = 3, THING = 5 };

static struct tsv_sink *self(struct report_sink *s) { return (struct tsv_sink *)(void *)s; }

static bool in_case(const struct tsv_sink *t) { return t->depth >= CASE && !strcmp(t->open[1].key, "cases"); }

/* Depth of the object whose values are being told; what is open below it is part of the metric. */
static int row_depth(const struct tsv_sink *t)
{
    if (!in_case(t))
        return t->depth >= CASE ? CASE : 1;
    bool thing = t->depth >= THING && t->open[3].array && !t->open[4].array;
    return thing ? THING : CASE;
}

static void begin(struct report_sink *s, const char *key, bool array, bool one_line)
{
    (void)one_line;
    struct tsv_sink *t = self(s);
    if (t->depth)
        t->open[t->depth - 1].elements++;
    t->open[t->depth].key = key;
    t->open[t->depth].array = array;
    t->open[t->depth].elements = 0;
    t->depth++;
    if (!array && t->depth == row_depth(t)) {
        t->name[0] = 0;
        if (t->depth == CASE)
            t->case_name[0] = 0;
    }
}

static void end(struct report_sink *s) { self(s)->depth--; }

static void print_text(FILE *file, const char *text)
{
    for (; *text; text++)
        fputc(*text == '\t' || *text == '\n' ? ' ' : *text, file);
}

static void name(struct report_sink *s, const char *key, const char *text)
{
    (void)key;
    struct tsv_sink *t = self(s);
    if (t->depth == CASE && in_case(t)) {
        snprintf(t->case_name, sizeof t->case_name, "%s", text ? text : "");
        return;
    }
    size_t have = strlen(t->name);
    snprintf(t->name + have, sizeof t->name - have, "%s%s", have ? " " : "", text ? text : "");
}

/* Everything before the value. */
static void lead(struct tsv_sink *t, const char *key)
{
    bool point = false;
    int row = row_depth(t);
    bool is_case = row == CASE && in_case(t);
    const char *kind = row == 1 ? "file" : is_case ? "run" : t->open[row - 2].key;
    print_text(t->file, in_case(t) ? t->case_name : "");
    fprintf(t->file, "\t%s\t", kind);
    if (row == THING && !*t->name) /* things without a name are counted */
        fprintf(t->file, "%u", t->open[row - 2].elements - 1);
    else
        print_text(t->file, row == 1 || is_case ? "" : t->name);
    fputc('\t', t->file);
    for (int d = row; d < t->depth; d++) {
        if (t->open[d].key) {
            fprintf(t->file, "%s%s", point ? "." : "", t->open[d].key);
            point = true;
        }
    }
    if (key)
        fprintf(t->file, "%s%s", point ? "." : "", key);
    else
        fprintf(t->file, "%s%u", point ? "." : "", t->open[t->depth - 1].elements++);
    fputc('\t', t->file);
}

static void text(struct report_sink *s, const char *key, const char *value)
{
    lead(self(s), key);
    print_text(self(s)->file, value ? value : "");
    fputc('\n', self(s)->file);
}

static void count(struct report_sink *s, const char *key, uint64_t value)
{
    lead(self(s), key);
    fprintf(self(s)->file, "%" PRIu64 "\n", value);
}

static void real(struct report_sink *s, const char *key, double value)
{
    lead(self(s), key);
    if (isfinite(value))
        fprintf(self(s)->file, "%.15g\n", value);
    else
        fputc('\n', self(s)->file);
}

static void truth(struct report_sink *s, const char *key, bool value)
{
    lead(self(s), key);
    fprintf(self(s)->file, "%d\n", value);
}

int report_tsv(const struct report *r, FILE *out)
{
    struct tsv_sink t = {
        .sink = {.begin = begin, .end = end, .name = name, .text = text, .count = count, .real = real, .truth = truth},
        .file = out};
    fputs("case\tkind\tname\tmetric\tvalue\n", out);
    report_fields(r, &t.sink);
    return 0;
}
