#include "emu/model/expect.h"

#include <assert.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "emu/model/diag.h"
#include "emu/model/expect_metric.h"
#include "emu/model/result.h"
#include "emu/model/topology.h"
#include "emu/model/topology_file.h"
#include "emu/model/topology_scale.h"
#include "emu/model/units.h"

/* A recursive descent that evaluates as it reads. What a value needs may be missing (a case that was not run) or undefined
 * (a division by zero); that is remembered and reading goes on, so that a mistake behind it is still found. */

#define DEEPEST 64  /* parentheses */
#define LONGEST 128 /* name or number */

static const char *const verdict_names[] = {"pass", "FAIL", "not run", "undefined", "not claimed"};
static_assert(sizeof verdict_names / sizeof verdict_names[0] == EXPECT_NOT_CLAIMED + 1, "a name per verdict");

const char *expect_verdict_name(enum expect_verdict verdict) { return verdict_names[verdict]; }

struct value {
    double number;
    enum expect_unit unit;
};

struct parser {
    const char *text, *p;
    const struct expect_case *cases;
    size_t n_cases;
    struct expect_outcome *out;
    unsigned depth;
    bool wrong; /* a mistake: problem is set, reading has stopped */
    size_t at;  /* ... here */
};

static bool read_sum(struct parser *s, struct value *v);

static bool mistake(struct parser *s, const char *at, const char *format, ...) __attribute__((format(printf, 3, 4)));
static bool mistake(struct parser *s, const char *at, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(s->out->problem, sizeof s->out->problem, format, args);
    va_end(args);
    s->wrong = true;
    s->at = (size_t)(at - s->text);
    return false;
}

/* The value is not to be had; the first reason stays, and "not run" is a better one than "undefined". */
static void no_value(struct parser *s, enum expect_verdict why, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
static void no_value(struct parser *s, enum expect_verdict why, const char *format, ...)
{
    va_list args;
    if (s->out->verdict == EXPECT_NOT_RUN || s->out->verdict == why)
        return;
    va_start(args, format);
    vsnprintf(s->out->problem, sizeof s->out->problem, format, args);
    va_end(args);
    s->out->verdict = why;
}

static void skip_blanks(struct parser *s) { s->p += strspn(s->p, " \t\n"); }

static bool is_digit(char c) { return c >= '0' && c <= '9'; }

static bool is_word(char c) { return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }

static const char *case_name(const struct expect_case *c) { return c->name ? c->name : "run"; }

/* "1.5", "1e6", "20k", "118MB/s", "1Gbit/s", "4.5ms", "8%" */
static bool read_number(struct parser *s, struct value *v)
{
    char word[LONGEST];
    const char *start = s->p, *p = start;
    double scale = 1;
    ps_t time;
    bps_t bits;

    p += strspn(p, "0123456789.");
    size_t digits = (size_t)(p - start);
    if ((*p == 'e' || *p == 'E') && (is_digit(p[1]) || (p[1] == '-' && is_digit(p[2])))) {
        long exponent = strtol(p + 1, NULL, 10);
        if (exponent < -300 || exponent > 300)
            return mistake(s, start, "a number between 1e-300 and 1e300 is expected");
        scale = pow(10, exponent);
        p += 1 + (p[1] == '-');
        p += strspn(p, "0123456789");
        if (is_word(*p))
            return mistake(s, p, "a number with an exponent takes no unit");
    }
    const char *unit = p;
    while (is_word(*p) || *p == '%')
        p++;
    if (p > unit && p[0] == '/' && p[1] == 's' && !is_word(p[2]) && (p[-1] == 'B' || (p[-1] == 't' && p - unit >= 3)))
        p += 2;
    size_t length = digits + (size_t)(p - unit);
    if (length >= sizeof word)
        return mistake(s, start, "a number of %zu characters is too long", length);
    memcpy(word, start, digits);
    memcpy(word + digits, unit, (size_t)(p - unit));
    word[length] = 0;

    *v = (struct value){.unit = EXPECT_NUMBER};
    if (!unit_parse_count(word, &v->number) || !unit_parse_percent(word, &v->number)) {
        v->number *= scale;
    } else if (!unit_parse_byte_rate(word, &v->number)) {
        v->unit = EXPECT_BYTES_PER_S;
    } else if (!unit_parse_rate(word, &bits)) {
        *v = (struct value){.number = (double)bits / 8, .unit = EXPECT_BYTES_PER_S};
    } else if (!unit_parse_time(word, &time)) {
        *v = (struct value){.number = (double)time / (double)PS_PER_S, .unit = EXPECT_SECONDS};
    } else {
        return mistake(s, start, "`%s` is no number, percentage, rate such as 118MB/s or time such as 5ms", word);
    }
    s->p = p;
    return true;
}

/* The case whose name stands here before a point; the longest when several do. */
static const struct expect_case *find_case(const struct parser *s)
{
    const struct expect_case *found = NULL;
    size_t longest = 0;
    for (size_t i = 0; i < s->n_cases; i++) {
        const char *name = case_name(&s->cases[i]);
        size_t length = strlen(name);
        if ((!found || length > longest) && !strncmp(s->p, name, length) && s->p[length] == '.') {
            found = &s->cases[i];
            longest = length;
        }
    }
    return found;
}

static bool unknown_case(struct parser *s)
{
    char name[LONGEST];
    const char *p = s->p, *near = NULL;
    while (is_word(*p) || *p == '-')
        p++;
    if (p == s->p)
        return mistake(s, s->p, *s->p ? "a value is expected before `%.1s`" : "a value is expected at the end", s->p);
    snprintf(name, sizeof name, "%.*s", (int)(p - s->p), s->p);
    for (size_t i = 0; i < s->n_cases && !near; i++) {
        const char *one = case_name(&s->cases[i]);
        near = diag_nearest(name, &one, 1);
    }
    if (*p != '.')
        return mistake(s, s->p, "`%s`: a value is written CASE.METRIC, for example %s.write", name,
                       s->n_cases ? case_name(&s->cases[0]) : "run");
    if (near)
        return mistake(s, s->p, "no case `%s`; did you mean `%s`?", name, near);
    return mistake(s, s->p, "no case `%s`; the first is `%s`", name, s->n_cases ? case_name(&s->cases[0]) : "run");
}

/* METRIC [ "[" SELECTOR "]" ] behind the point */
static bool read_metric(struct parser *s, const struct expect_case *c, struct value *v)
{
    char name[LONGEST], selector[LONGEST], buf[sizeof s->out->problem];
    const char *start = s->p;
    struct expect_selection selection;

    while (is_word(*s->p))
        s->p++;
    snprintf(name, sizeof name, "%.*s", (int)(s->p - start), start);
    const struct expect_metric *m = expect_metric_find(start, (size_t)(s->p - start));
    if (!m) {
        const char *near = expect_metric_nearest(name);
        return near ? mistake(s, start, "no metric `%s`; did you mean `%s`?", name, near)
                    : mistake(s, start, "no metric `%s`; emu-run(1) lists them", name);
    }
    bool selected = *s->p == '[';
    const char *open = s->p;
    if (selected) {
        const char *close = strchr(s->p, ']');
        if (!close)
            return mistake(s, open, "`[` is not closed");
        snprintf(selector, sizeof selector, "%.*s", (int)(close - s->p - 1), s->p + 1);
        s->p = close + 1;
    }
    const char *problem = expect_select(c->topo, m, selected ? selector : NULL, &selection, buf, sizeof buf);
    if (problem)
        return mistake(s, selected ? open + 1 : start, "%s", problem);

    *v = (struct value){.number = nan(""), .unit = m->unit};
    if (!c->result) {
        no_value(s, EXPECT_NOT_RUN, "case %s was not run", case_name(c));
    } else if (!c->result->complete) {
        no_value(s, EXPECT_NOT_RUN, "case %s was interrupted", case_name(c));
    } else {
        v->number = m->value(c->result, selection, m->parameter);
        if (isnan(v->number))
            no_value(s, EXPECT_UNDEFINED, "%s.%s: nothing to measure", case_name(c), m->name);
    }
    return true;
}

static bool read_factor(struct parser *s, struct value *v)
{
    skip_blanks(s);
    const struct expect_case *c = find_case(s);
    if (c) {
        s->p += strlen(case_name(c)) + 1;
        return read_metric(s, c, v);
    }
    if (*s->p == '(' || *s->p == '-') {
        char sign = *s->p;
        if (++s->depth > DEEPEST)
            return mistake(s, s->p, "more than %d parentheses within each other", DEEPEST);
        s->p++;
        if (!(sign == '(' ? read_sum(s, v) : read_factor(s, v)))
            return false;
        s->depth--;
        if (sign == '-') {
            v->number = -v->number;
            return true;
        }
        skip_blanks(s);
        if (*s->p != ')')
            return mistake(s, s->p, "`)` is expected");
        s->p++;
        return true;
    }
    return is_digit(*s->p) ? read_number(s, v) : unknown_case(s);
}

static bool read_product(struct parser *s, struct value *v)
{
    struct value right = {0};
    if (!read_factor(s, v))
        return false;
    for (;;) {
        skip_blanks(s);
        char op = *s->p;
        if (op != '*' && op != '/')
            return true;
        s->p++;
        if (!read_factor(s, &right))
            return false;
        if (op == '*') {
            v->number *= right.number;
            v->unit = v->unit == EXPECT_NUMBER ? right.unit : right.unit == EXPECT_NUMBER ? v->unit : EXPECT_NUMBER;
        } else {
            if (right.number == 0)
                no_value(s, EXPECT_UNDEFINED, "division by zero");
            v->number = right.number == 0 ? nan("") : v->number / right.number;
            v->unit = right.unit == EXPECT_NUMBER ? v->unit : EXPECT_NUMBER;
        }
    }
}

static bool read_sum(struct parser *s, struct value *v)
{
    struct value right = {0};
    if (!read_product(s, v))
        return false;
    for (;;) {
        skip_blanks(s);
        char op = *s->p;
        if (op != '+' && op != '-')
            return true;
        s->p++;
        if (!read_product(s, &right))
            return false;
        v->number += op == '+' ? right.number : -right.number;
        v->unit = v->unit == EXPECT_NUMBER ? right.unit : v->unit;
    }
}

bool expect_evaluate(const char *text, const struct expect_case *cases, size_t n, struct expect_outcome *out,
                     size_t *at)
{
    struct parser s = {.text = text, .p = text, .cases = cases, .n_cases = n, .out = out};
    struct value v = {.number = nan(""), .unit = EXPECT_NUMBER};

    *out = (struct expect_outcome){.verdict = EXPECT_PASS, .value = nan(""), .error = nan("")};
    if (read_sum(&s, &v)) {
        skip_blanks(&s);
        if (*s.p)
            mistake(&s, s.p, "`%.1s`: an operator or the end is expected", s.p);
    }
    if (s.wrong) {
        *at = s.at;
        return false;
    }
    if (out->verdict == EXPECT_PASS && !isfinite(v.number))
        no_value(&s, EXPECT_UNDEFINED, "no finite number");
    if (out->verdict == EXPECT_PASS)
        out->value = v.number;
    out->unit = v.unit;
    return true;
}

/* Counts and their ratios are compared as they are; the slack is that of binary fractions. */
static bool equal(double a, double b) { return fabs(a - b) <= 1e-9 * fmax(1, fabs(b)); }

bool expect_judge(const struct topo_expect *expect, const struct expect_case *cases, size_t n,
                  struct expect_outcome *out, struct diag *d)
{
    size_t at = 0;
    if (!expect_evaluate(expect->value, cases, n, out, &at)) {
        struct diag_mark mark = expect->mark;
        if (mark.length == (int)strlen(expect->value)) { /* as written in the file: point into it */
            mark.column += (int)at;
            mark.length = mark.length > (int)at ? mark.length - (int)at : 1;
        }
        diag_add(d, DIAG_ERROR, NULL, mark, NULL, "expect: %s", out->problem);
        return false;
    }
    out->expect = expect;
    if (out->verdict != EXPECT_PASS)
        return true;
    bool holds = true;
    if (!isnan(expect->near)) {
        if (expect->near != 0)
            out->error = (out->value - expect->near) / fabs(expect->near);
        holds = expect->exact ? equal(out->value, expect->near)
                              : fabs(out->value - expect->near) <= expect->within * fabs(expect->near);
    }
    if (!isnan(expect->min))
        holds &= out->value >= expect->min;
    if (!isnan(expect->max))
        holds &= out->value <= expect->max;
    out->verdict = expect->not_claimed ? EXPECT_NOT_CLAIMED : holds ? EXPECT_PASS : EXPECT_FAIL;
    return true;
}

void expect_check_file(const struct topo_file *f, struct diag *d)
{
    size_t named = topo_file_cases(f), n = named ? named : 1;
    struct expect_case *cases = calloc(n, sizeof *cases);
    struct topo **topos = calloc(n, sizeof *topos);
    struct diag known; /* what reading has to say is said elsewhere */
    bool all = cases && topos;
    diag_init(&known, d->file);
    for (size_t i = 0; i < n && all; i++) {
        cases[i].name = named ? topo_file_case(f, i) : NULL;
        cases[i].topo = topos[i] = topo_load(f, cases[i].name, &known);
        all = topos[i] != NULL;
    }
    for (size_t i = 0; all && i < topos[0]->n_expects; i++) {
        struct expect_outcome outcome;
        expect_judge(&topos[0]->expects[i], cases, n, &outcome, d);
    }
    for (size_t i = 0; all && i < topos[0]->n_inputs; i++)
        topo_input_check(f, &topos[0]->inputs[i], d);
    for (size_t i = 0; topos && i < n; i++)
        topo_free(topos[i]);
    diag_free(&known);
    free(topos);
    free(cases);
}
