#include "emu/model/diag.h"

#include <assert.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static const char *const severity_names[] = {"note", "warning", "error"};
static_assert(sizeof(severity_names) / sizeof(severity_names[0]) == DIAG_ERROR + 1, "a name per severity");

const char *diag_severity_name(enum diag_severity severity) { return severity_names[severity]; }

void diag_init(struct diag *d, const char *file)
{
    memset(d, 0, sizeof(*d));
    d->file = file;
}

void diag_free(struct diag *d)
{
    for (size_t i = 0; i < d->count; i++) {
        free(d->entries[i].text);
        free(d->entries[i].hint);
        free(d->entries[i].reason);
    }
    free(d->entries);
    free(d->source);
    diag_init(d, d->file);
}

/* A message quotes what stands in the file: bytes that would drive a terminal are made visible. */
static void defuse(char *text)
{
    for (; *text; text++)
        if ((unsigned char)*text < 0x20 || *text == 0x7f)
            *text = '?';
}

/* A harmless copy; NULL of NULL. */
static char *copy(const char *text)
{
    char *new = text ? strdup(text) : NULL;
    if (text && !new)
        abort();
    if (new)
        defuse(new);
    return new;
}

void diag_add(struct diag *d, enum diag_severity severity, const char *id, struct diag_mark mark, const char *hint,
              const char *format, ...)
{
    if (d->count == d->capacity) {
        size_t capacity = d->capacity ? 2 * d->capacity : 16;
        struct diag_entry *grown = realloc(d->entries, capacity * sizeof(*grown));
        if (!grown)
            abort();
        d->entries = grown;
        d->capacity = capacity;
    }
    char *text = NULL;
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(NULL, 0, format, arguments);
    va_end(arguments);
    if (length < 0 || !(text = malloc((size_t)length + 1)))
        abort();
    va_start(arguments, format);
    vsnprintf(text, (size_t)length + 1, format, arguments);
    va_end(arguments);
    defuse(text);
    d->entries[d->count++] =
        (struct diag_entry){.severity = severity, .id = id, .mark = mark, .text = text, .hint = copy(hint)};
}

void diag_allow(struct diag *d, size_t i, const char *reason)
{
    free(d->entries[i].reason);
    d->entries[i].allowed = true;
    d->entries[i].reason = copy(reason);
}

size_t diag_count(const struct diag *d, enum diag_severity severity)
{
    size_t n = 0;
    for (size_t i = 0; i < d->count; i++)
        n += d->entries[i].severity == severity && !d->entries[i].allowed;
    return n;
}

struct placed {
    struct diag_entry entry;
    size_t order;
};

/* By place; findings of one place stay in the order in which they were added. */
static int by_place(const void *left, const void *right)
{
    const struct placed *a = left, *b = right;
    if (a->entry.mark.line != b->entry.mark.line)
        return a->entry.mark.line < b->entry.mark.line ? -1 : 1;
    if (a->entry.mark.column != b->entry.mark.column)
        return a->entry.mark.column < b->entry.mark.column ? -1 : 1;
    return a->order < b->order ? -1 : a->order > b->order;
}

void diag_sort(struct diag *d)
{
    if (d->count < 2)
        return;
    struct placed *all = malloc(d->count * sizeof(*all));
    if (!all)
        abort();
    for (size_t i = 0; i < d->count; i++)
        all[i] = (struct placed){d->entries[i], i};
    qsort(all, d->count, sizeof(*all), by_place);
    for (size_t i = 0; i < d->count; i++)
        d->entries[i] = all[i].entry;
    free(all);
}

static bool continues(char byte)
{
    return ((unsigned char)byte & 0xC0) == 0x80; /* the second and later bytes of a UTF-8 character */
}

/* Start of the line, or NULL when the source has fewer; *end is its end. */
static const char *find_line(const struct diag *d, int line, const char **end)
{
    const char *p = d->source, *stop = d->source + d->source_size;
    for (int i = 1; i < line && p; i++) {
        p = memchr(p, '\n', (size_t)(stop - p));
        if (p)
            p++;
    }
    if (!p || p >= stop)
        return NULL;
    const char *newline = memchr(p, '\n', (size_t)(stop - p));
    *end = newline ? newline : stop;
    if (*end > p && (*end)[-1] == '\r')
        --*end;
    return p;
}

/* The source line and a caret beneath the place. A very long line is shown from a little before the place on. */
static void print_caret(const struct diag *d, struct diag_mark mark, FILE *out)
{
    enum { WIDTH = 150, BEFORE = 60 };
    const char *end, *line = d->source && mark.line > 0 ? find_line(d, mark.line, &end) : NULL;
    if (!line)
        return;
    int skipped = mark.column > WIDTH - 20 ? mark.column - BEFORE : 0;
    for (int i = 0; i < skipped && line < end; i++)
        for (line++; line < end && continues(*line);)
            line++;
    fprintf(out, "%5d | ", mark.line);
    int column = skipped;
    for (const char *p = line; p < end; p++) {
        if (!continues(*p) && ++column > skipped + WIDTH)
            break;
        fputc((unsigned char)*p < 0x20 && *p != '\t' ? '?' : *p == 0x7f ? '?' : *p, out);
    }
    fputs("\n      | ", out);
    const char *p = line;
    for (column = skipped + 1; column < mark.column && p < end; column++) {
        fputc(*p == '\t' ? '\t' : ' ', out);
        for (p++; p < end && continues(*p);)
            p++;
    }
    fputc('^', out);
    for (int i = 1; i < mark.length && column + i <= skipped + WIDTH; i++)
        fputc('~', out);
    fputc('\n', out);
}

size_t diag_print_text(struct diag *d, FILE *out, bool carets)
{
    diag_sort(d);
    for (size_t i = 0; i < d->count; i++) {
        const struct diag_entry *e = &d->entries[i];
        fputs(d->file, out);
        if (e->mark.line > 0)
            fprintf(out, ":%d:%d", e->mark.line, e->mark.column);
        fprintf(out, ": %-7s  ", e->allowed ? "allowed" : severity_names[e->severity]);
        if (e->id)
            fprintf(out, "%s  ", e->id);
        fputs(e->text, out);
        if (e->allowed && e->reason)
            fprintf(out, " (%s)", e->reason);
        fputc('\n', out);
        if (carets)
            print_caret(d, e->mark, out);
        if (e->hint)
            fprintf(out, "        %s\n", e->hint);
    }
    return d->count;
}

/* Edit distance with transposition of neighbours, in the three-row form. */
static size_t distance(const char *a, const char *b)
{
    enum { LONGEST = 63 };
    size_t length_a = strlen(a), length_b = strlen(b);
    if (length_a > LONGEST || length_b > LONGEST)
        return SIZE_MAX;
    size_t rows[3][LONGEST + 1], *before = rows[0], *last = rows[1], *row = rows[2];
    for (size_t j = 0; j <= length_b; j++)
        last[j] = before[j] = j;
    for (size_t i = 1; i <= length_a; i++) {
        row[0] = i;
        for (size_t j = 1; j <= length_b; j++) {
            size_t best = last[j - 1] + (a[i - 1] != b[j - 1]);
            if (last[j] + 1 < best)
                best = last[j] + 1;
            if (row[j - 1] + 1 < best)
                best = row[j - 1] + 1;
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] && before[j - 2] + 1 < best)
                best = before[j - 2] + 1;
            row[j] = best;
        }
        size_t *spare = before;
        before = last;
        last = row;
        row = spare;
    }
    return last[length_b];
}

const char *diag_nearest(const char *word, const char *const *names, size_t n)
{
    size_t nearest = (strlen(word) + 1) / 3;
    const char *found = NULL;
    for (size_t i = 0; i < n; i++) {
        size_t far = distance(word, names[i]);
        if (far <= nearest && (!found || far < nearest)) {
            nearest = far;
            found = names[i];
        }
    }
    return found;
}
