#include "emu/report/reproduction.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#include "emu/model/topology.h"
#include "emu/report/expect_text.h"
#include "emu/report/json.h"
#include "emu/report/table.h"

static const char *const kind_names[] = {"predicted", "calibrated", "not claimed"};
static_assert(sizeof kind_names / sizeof kind_names[0] == REPRODUCTION_NOT_CLAIMED + 1, "a name per kind");

const char *reproduction_kind_name(enum reproduction_kind kind) { return kind_names[kind]; }

enum reproduction_kind reproduction_kind(const struct topo_expect *e)
{
    if (e->not_claimed)
        return REPRODUCTION_NOT_CLAIMED;
    return e->n_calibrated ? REPRODUCTION_CALIBRATED : REPRODUCTION_PREDICTED;
}

void reproduction_count(const struct reproduction *r, struct reproduction_counts *counts)
{
    *counts = (struct reproduction_counts){0};
    for (size_t f = 0; f < r->n_files; f++) {
        for (size_t i = 0; i < r->files[f].topo->n_expects; i++) {
            const struct expect_outcome *o = &r->files[f].results[i].outcome;
            enum reproduction_kind kind = reproduction_kind(o->expect);
            counts->total++;
            counts->predicted += kind == REPRODUCTION_PREDICTED;
            counts->calibrated += kind == REPRODUCTION_CALIBRATED;
            counts->not_claimed += kind == REPRODUCTION_NOT_CLAIMED;
            counts->failed += kind != REPRODUCTION_NOT_CLAIMED && o->verdict != EXPECT_PASS;
            counts->live += r->live && !isnan(r->files[f].results[i].live);
            counts->apart += r->live && reproduction_apart(&r->files[f].results[i]);
        }
    }
}

/* What a live result is held against. */
static double beside_live(const struct reproduction_result *r)
{
    return isnan(r->alike) || r->alike == 0 ? r->outcome.value : r->alike;
}

bool reproduction_apart(const struct reproduction_result *r)
{
    double here = beside_live(r);
    return !isnan(r->live) && !isnan(here) && fabs(r->live - here) > REPRODUCTION_LIVE_WITHIN * fabs(here);
}

bool reproduction_strongest(const struct reproduction_file *f, const struct reproduction_result *r, size_t *input,
                            double *low, double *high)
{
    double value = r->outcome.value, most = 0;
    for (size_t i = 0; r->moves && i < f->topo->n_inputs; i++) {
        double l = r->moves[i].low / value - 1, h = r->moves[i].high / value - 1;
        double far = fmax(isfinite(l) ? fabs(l) : 0, isfinite(h) ? fabs(h) : 0);
        if (far <= most)
            continue;
        most = far;
        *input = i;
        *low = l;
        *high = h;
    }
    return most >= 0.0005;
}

/* "vm-size -19 %, +20 %"; empty where nothing moves it. */
static void print_strongest(char *buf, size_t size, const struct reproduction_file *f,
                            const struct reproduction_result *r)
{
    size_t input = 0;
    double low = 0, high = 0;
    buf[0] = '\0';
    if (!r->moves || isnan(r->outcome.value))
        return;
    if (!reproduction_strongest(f, r, &input, &low, &high))
        snprintf(buf, size, "none");
    else if (!isfinite(low) || !isfinite(high))
        snprintf(buf, size, "%s %+.1f %%", f->topo->inputs[input].name, (isfinite(low) ? low : high) * 100);
    else
        snprintf(buf, size, "%s %+.1f %%, %+.1f %%", f->topo->inputs[input].name, low * 100, high * 100);
}

static void print_spread(char *buf, size_t size, const struct reproduction_result *r)
{
    char least[48], most[48];
    snprintf(buf, size, "%s to %s", expect_print_value(least, sizeof least, r->least, r->outcome.unit),
             expect_print_value(most, sizeof most, r->most, r->outcome.unit));
}

/* "calibrated: vm-size" */
static void print_kind(char *buf, size_t size, const struct reproduction_file *f, const struct topo_expect *e)
{
    int used = snprintf(buf, size, "%s", reproduction_kind_name(reproduction_kind(e)));
    for (size_t i = 0; i < e->n_calibrated && used > 0 && (size_t)used < size; i++)
        used +=
            snprintf(buf + used, size - (size_t)used, "%s %s", i ? "," : ":", f->topo->inputs[e->calibrated[i]].name);
}

static const char *remark(const struct expect_outcome *o)
{
    return *o->problem ? o->problem : o->expect->not_claimed ? o->expect->not_claimed : o->expect->note;
}

enum column {
    FIGURE,
    VALUE,
    DOCUMENT,
    BASIS,
    HERE,
    ERROR,
    KIND,
    VERDICT,
    ALIKE,
    LIVE,
    APART,
    SPREAD,
    MOVES,
    REMARK,
    COLUMNS
};

/* The cells of a result; `cell` gets each with its text. */
struct cells {
    char text[COLUMNS][512];
};

static void fill(struct cells *c, const struct reproduction_file *f, const struct reproduction_result *r)
{
    const struct expect_outcome *o = &r->outcome;
    snprintf(c->text[FIGURE], sizeof c->text[0], "%s", o->expect->figure ? o->expect->figure : "");
    snprintf(c->text[VALUE], sizeof c->text[0], "%s", o->expect->value);
    expect_print_document(c->text[DOCUMENT], sizeof c->text[0], o);
    snprintf(c->text[BASIS], sizeof c->text[0], "%s", o->expect->basis);
    expect_print_value(c->text[HERE], sizeof c->text[0], o->value, o->unit);
    expect_print_error(c->text[ERROR], sizeof c->text[0], o);
    print_kind(c->text[KIND], sizeof c->text[0], f, o->expect);
    snprintf(c->text[VERDICT], sizeof c->text[0], "%s",
             o->verdict == EXPECT_NOT_CLAIMED ? "-" : expect_verdict_name(o->verdict));
    expect_print_value(c->text[LIVE], sizeof c->text[0], r->live, o->unit);
    c->text[APART][0] = '\0';
    expect_print_value(c->text[ALIKE], sizeof c->text[0], isnan(r->live) ? r->live : beside_live(r), o->unit);
    if (!isnan(r->live) && beside_live(r) != 0)
        snprintf(c->text[APART], sizeof c->text[0], "%+.1f %%%s", 100 * (r->live / beside_live(r) - 1),
                 reproduction_apart(r) ? " APART" : "");
    print_spread(c->text[SPREAD], sizeof c->text[0], r);
    print_strongest(c->text[MOVES], sizeof c->text[0], f, r);
    snprintf(c->text[REMARK], sizeof c->text[0], "%s", remark(o) ? remark(o) : "");
}

static const char *const titles[COLUMNS] = {"source",
                                            "value",
                                            "document",
                                            "basis",
                                            "here",
                                            "error",
                                            "claim",
                                            "verdict",
                                            "in part",
                                            "live",
                                            "apart",
                                            "seeds",
                                            "with an input -20 %, +20 %",
                                            ""};
static const bool right[COLUMNS] = {
    [DOCUMENT] = true, [HERE] = true, [ERROR] = true, [ALIKE] = true, [LIVE] = true, [APART] = true};

static bool shown(const struct reproduction *r, enum column c)
{
    if ((c == LIVE || c == APART) && !r->live)
        return false;
    if (c == ALIKE && !r->alike)
        return false;
    return (c != SPREAD || r->seeds > 1) && (c != MOVES || r->sensitivity);
}

static int text_of_file(const struct reproduction *r, const struct reproduction_file *f, FILE *out)
{
    struct table_column columns[COLUMNS];
    size_t n = 0;
    for (enum column c = 0; c < COLUMNS; c++)
        if (shown(r, c))
            columns[n++] = (struct table_column){titles[c], right[c] ? TABLE_RIGHT : TABLE_LEFT};
    struct table *t = table_new(columns, n);
    for (size_t i = 0; i < f->topo->n_expects; i++) {
        struct cells cells;
        struct table_row *row = table_row(t, NULL);
        fill(&cells, f, &f->results[i]);
        n = 0;
        for (enum column c = 0; c < COLUMNS; c++)
            if (shown(r, c))
                table_cell(t, row, n++, cells.text[c]);
    }
    fprintf(out, "%s%s%s\n", f->path, f->topo->title ? ": " : "", f->topo->title ? f->topo->title : "");
    if (f->problem)
        fprintf(out, " could not be run: %s\n", f->problem);
    int rc = table_print(t, out, TABLE_TEXT, 1);
    table_free(t);
    fputc('\n', out);
    return rc;
}

int reproduction_summary(const struct reproduction *r, FILE *out)
{
    struct reproduction_counts n;
    reproduction_count(r, &n);
    fprintf(out, "%zu results: %zu predicted, %zu calibrated, %zu not claimed; ", n.total, n.predicted, n.calibrated,
            n.not_claimed);
    if (n.failed)
        fprintf(out, "%zu NOT as in the document\n", n.failed);
    else
        fprintf(out, "all that is claimed is as in the document\n");
    if (r->live)
        fprintf(out, "%zu also with real frames and real NFS; %zu of them more than %g %% from virtual time\n", n.live,
                n.apart, REPRODUCTION_LIVE_WITHIN * 100);
    return 0;
}

int reproduction_text(const struct reproduction *r, FILE *out)
{
    int rc = 0;
    for (size_t i = 0; i < r->n_files && !rc; i++)
        rc = text_of_file(r, &r->files[i], out);
    reproduction_summary(r, out);
    return rc;
}

/* Text in a cell of a Markdown table. */
static void markdown_cell(FILE *out, const char *text)
{
    for (; *text; text++) {
        if (strchr("|<*_`[", *text))
            fputc('\\', out);
        fputc(*text == '\n' ? ' ' : *text, out);
    }
}

static void markdown_inputs(const struct reproduction_file *f, FILE *out)
{
    if (!f->topo->n_inputs)
        return;
    fputs("\nInputs that no document states:\n\n| input | value | basis | |\n| --- | --- | --- | --- |\n", out);
    for (size_t i = 0; i < f->topo->n_inputs; i++) {
        const struct topo_input *in = &f->topo->inputs[i];
        fputs("| ", out);
        markdown_cell(out, in->name);
        fputs(" | ", out);
        markdown_cell(out, f->inputs[i]);
        fprintf(out, " | %s%s", in->basis, in->fitted_to ? " to " : "");
        markdown_cell(out, in->fitted_to ? in->fitted_to : "");
        fputs(" | ", out);
        markdown_cell(out, in->note ? in->note : "");
        fputs(" |\n", out);
    }
}

static void markdown_of_file(const struct reproduction *r, const struct reproduction_file *f, FILE *out)
{
    fprintf(out, "\n## %s\n\n`%s`\n\n", f->topo->title ? f->topo->title : f->topo->name, f->path);
    if (f->problem)
        fprintf(out, "Could not be run: %s\n\n", f->problem);
    fputc('|', out);
    for (enum column c = 0; c < COLUMNS; c++)
        if (shown(r, c))
            fprintf(out, " %s |", titles[c]);
    fputs("\n|", out);
    for (enum column c = 0; c < COLUMNS; c++)
        if (shown(r, c))
            fputs(right[c] ? " ---: |" : " --- |", out);
    fputc('\n', out);
    for (size_t i = 0; i < f->topo->n_expects; i++) {
        struct cells cells;
        fill(&cells, f, &f->results[i]);
        fputc('|', out);
        for (enum column c = 0; c < COLUMNS; c++) {
            if (!shown(r, c))
                continue;
            fputc(' ', out);
            markdown_cell(out, cells.text[c]);
            fputs(" |", out);
        }
        fputc('\n', out);
    }
    markdown_inputs(f, out);
}

int reproduction_markdown(const struct reproduction *r, FILE *out)
{
    fputs("# Results of the documents, and ours\n\n"
          "Written by `emu reproduce`; emu-reproduce(1) says with which options. *predicted*: nothing was fitted to "
          "this number. "
          "*calibrated*: the inputs named\nwere fitted to this very number, it shows the fit. *not claimed*: shown, "
          "and why "
          "the model does not claim it. The basis is that of the\ndocument's value: stated in it, read from a chart's "
          "axis, "
          "inferred from it, or derived by arithmetic of ours. *Here* is virtual time; what real frames, real NFS\n"
          "servers and the same storage under them make of it, and what is real in that, is in docs/live.md, section "
          "6.\n\n",
          out);
    reproduction_summary(r, out);
    for (size_t i = 0; i < r->n_files; i++)
        markdown_of_file(r, &r->files[i], out);
    return 0;
}

static void json_result(struct json_out *j, const struct reproduction *r, const struct reproduction_file *f,
                        const struct reproduction_result *result)
{
    const struct expect_outcome *o = &result->outcome;
    const struct topo_expect *e = o->expect;
    json_out_object(j, NULL, JSON_ON_LINES);
    json_out_string(j, "figure", e->figure);
    json_out_string(j, "value", e->value);
    json_out_string(j, "basis", e->basis);
    json_out_string(j, "kind", reproduction_kind_name(reproduction_kind(e)));
    json_out_array(j, "calibrated", JSON_ON_ONE_LINE);
    for (size_t i = 0; i < e->n_calibrated; i++)
        json_out_string(j, NULL, f->topo->inputs[e->calibrated[i]].name);
    json_out_end(j);
    json_out_real(j, "near", e->near);
    json_out_real(j, "within", isnan(e->near) || e->exact ? nan("") : e->within);
    json_out_real(j, "min", e->min);
    json_out_real(j, "max", e->max);
    json_out_real(j, "here", o->value);
    json_out_real(j, "error", o->error);
    json_out_string(j, "verdict", o->verdict == EXPECT_FAIL ? "fail" : expect_verdict_name(o->verdict));
    json_out_string(j, "remark", remark(o));
    json_out_real(j, "least", r->seeds > 1 ? result->least : nan(""));
    json_out_real(j, "most", r->seeds > 1 ? result->most : nan(""));
    json_out_real(j, "live", r->live ? result->live : nan(""));
    json_out_real(j, "in_part", r->alike && !isnan(result->live) ? beside_live(result) : nan(""));
    json_out_array(j, "moves", JSON_ON_LINES);
    for (size_t i = 0; result->moves && i < f->topo->n_inputs; i++) {
        json_out_object(j, NULL, JSON_ON_ONE_LINE);
        json_out_string(j, "input", f->topo->inputs[i].name);
        json_out_real(j, "low", result->moves[i].low);
        json_out_real(j, "high", result->moves[i].high);
        json_out_end(j);
    }
    json_out_end(j);
    json_out_end(j);
}

static void json_file(struct json_out *j, const struct reproduction *r, const struct reproduction_file *f)
{
    json_out_object(j, NULL, JSON_ON_LINES);
    json_out_string(j, "file", f->path);
    json_out_string(j, "name", f->topo->name);
    json_out_string(j, "title", f->topo->title);
    json_out_string(j, "problem", f->problem);
    json_out_array(j, "inputs", JSON_ON_LINES);
    for (size_t i = 0; i < f->topo->n_inputs; i++) {
        const struct topo_input *in = &f->topo->inputs[i];
        json_out_object(j, NULL, JSON_ON_ONE_LINE);
        json_out_string(j, "name", in->name);
        json_out_string(j, "value", f->inputs[i]);
        json_out_string(j, "basis", in->basis);
        json_out_string(j, "fitted_to", in->fitted_to);
        json_out_string(j, "note", in->note);
        json_out_end(j);
    }
    json_out_end(j);
    json_out_array(j, "results", JSON_ON_LINES);
    for (size_t i = 0; i < f->topo->n_expects; i++)
        json_result(j, r, f, &f->results[i]);
    json_out_end(j);
    json_out_end(j);
}

int reproduction_json(const struct reproduction *r, FILE *out)
{
    struct json_out j;
    json_out_init(&j, out);
    json_out_object(&j, NULL, JSON_ON_LINES);
    json_out_string(&j, "schema", "emu-reproduction/1");
    json_out_count(&j, "seeds", r->seeds);
    json_out_real(&j, "step", r->sensitivity ? REPRODUCTION_STEP : nan(""));
    json_out_array(&j, "files", JSON_ON_LINES);
    for (size_t i = 0; i < r->n_files; i++)
        json_file(&j, r, &r->files[i]);
    json_out_end(&j);
    json_out_end(&j);
    return 0;
}
