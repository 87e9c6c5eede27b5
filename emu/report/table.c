#include "emu/report/table.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <libsmartcols/libsmartcols.h>

/* struct table_row is libsmartcols' line under our name: the library owns it, we hand the pointer
 * through. */

struct table {
    struct libscols_table *scols;
    size_t n_columns;
    bool failed;
};

static struct libscols_line *line_of(struct table_row *row) { return (struct libscols_line *)(void *)row; }

struct table *table_new(const struct table_column *columns, size_t n)
{
    struct table *t = calloc(1, sizeof *t);
    if (!t)
        return NULL;
    t->n_columns = n;
    t->scols = scols_new_table();
    if (!t->scols) {
        free(t);
        return NULL;
    }
    for (size_t i = 0; i < n; i++) {
        int flags =
            (columns[i].flags & TABLE_RIGHT ? SCOLS_FL_RIGHT : 0) | (columns[i].flags & TABLE_TREE ? SCOLS_FL_TREE : 0);
        if (!scols_table_new_column(t->scols, columns[i].title, 0, flags))
            t->failed = true;
    }
    scols_table_enable_ascii(t->scols, 1);
    scols_table_set_column_separator(t->scols, "  ");
    /* The same on a terminal as in a file: never fitted to a width. */
    scols_table_set_termforce(t->scols, SCOLS_TERMFORCE_NEVER);
    return t;
}

void table_free(struct table *t)
{
    if (!t)
        return;
    scols_unref_table(t->scols);
    free(t);
}

struct table_row *table_row(struct table *t, struct table_row *parent)
{
    if (!t)
        return NULL;
    struct libscols_line *line = scols_table_new_line(t->scols, parent ? line_of(parent) : NULL);
    if (!line)
        t->failed = true;
    return (struct table_row *)(void *)line;
}

void table_cell(struct table *t, struct table_row *row, size_t column, const char *text)
{
    if (t && row && scols_line_set_data(line_of(row), column, text))
        t->failed = true;
}

void table_cellf(struct table *t, struct table_row *row, size_t column, const char *format, ...)
{
    va_list args, again;
    char *text;
    if (!t || !row)
        return;
    va_start(args, format);
    va_copy(again, args);
    int n = vsnprintf(NULL, 0, format, args);
    text = n < 0 ? NULL : malloc((size_t)n + 1);
    if (text)
        vsnprintf(text, (size_t)n + 1, format, again);
    va_end(again);
    va_end(args);
    if (!text || scols_line_refer_data(line_of(row), column, text)) {
        free(text);
        t->failed = true;
    }
    // NOLINTNEXTLINE(clang-analyzer-unix.Malloc): the cell owns the text now
}

static void print_escaped(FILE *out, const char *text)
{
    for (; text && *text; text++) {
        if (*text == '\t')
            fputs("\\t", out);
        else if (*text == '\n')
            fputs("\\n", out);
        else if (*text == '\\')
            fputs("\\\\", out);
        else
            fputc(*text, out);
    }
}

static void print_tsv(struct table *t, FILE *out, bool titles)
{
    for (size_t c = 0; titles && c < t->n_columns; c++) {
        struct libscols_cell *cell = scols_column_get_header(scols_table_get_column(t->scols, c));
        print_escaped(out, scols_cell_get_data(cell));
        fputc(c + 1 < t->n_columns ? '\t' : '\n', out);
    }
    for (size_t l = 0; l < scols_table_get_nlines(t->scols); l++) {
        struct libscols_line *line = scols_table_get_line(t->scols, l);
        for (size_t c = 0; c < t->n_columns; c++) {
            print_escaped(out, scols_cell_get_data(scols_line_get_cell(line, c)));
            fputc(c + 1 < t->n_columns ? '\t' : '\n', out);
        }
    }
}

/* A cell of a pipe table: what would be markup is written so that it is none. */
static void print_markdown_cell(FILE *out, const char *text)
{
    fputs("| ", out);
    for (; text && *text; text++) {
        if (strchr("\\|*_`<[]", *text))
            fputc('\\', out);
        fputc(*text == '\n' ? ' ' : *text, out);
    }
    fputc(' ', out);
}

static void print_markdown(struct table *t, FILE *out)
{
    if (scols_table_is_empty(t->scols))
        return;
    for (size_t c = 0; c < t->n_columns; c++)
        print_markdown_cell(out, scols_cell_get_data(scols_column_get_header(scols_table_get_column(t->scols, c))));
    fputs("|\n", out);
    for (size_t c = 0; c < t->n_columns; c++)
        fputs(scols_column_is_right(scols_table_get_column(t->scols, c)) ? "| ---: " : "| --- ", out);
    fputs("|\n", out);
    for (size_t l = 0; l < scols_table_get_nlines(t->scols); l++) {
        struct libscols_line *line = scols_table_get_line(t->scols, l);
        for (size_t c = 0; c < t->n_columns; c++)
            print_markdown_cell(out, scols_cell_get_data(scols_line_get_cell(line, c)));
        fputs("|\n", out);
    }
}

static int print_text(struct table *t, FILE *out, bool titles, unsigned indent)
{
    char *text = NULL;
    if (scols_table_is_empty(t->scols))
        return 0;
    scols_table_enable_noheadings(t->scols, !titles);
    if (scols_print_table_to_string(t->scols, &text))
        return -ENOMEM;
    for (char *line = text; line && *line;) {
        size_t n = strcspn(line, "\n"), shown = n;
        while (shown && line[shown - 1] == ' ')
            shown--;
        if (shown)
            fprintf(out, "%*s%.*s", (int)indent, "", (int)shown, line);
        fputc('\n', out);
        line += n + (line[n] == '\n');
    }
    free(text);
    return 0;
}

int table_print(struct table *t, FILE *out, enum table_format format, unsigned indent)
{
    if (!t || t->failed)
        return -ENOMEM;
    if (format == TABLE_TEXT || format == TABLE_TEXT_NO_TITLES)
        return print_text(t, out, format == TABLE_TEXT, indent);
    if (format == TABLE_MARKDOWN)
        print_markdown(t, out);
    else
        print_tsv(t, out, format == TABLE_TSV);
    return 0;
}
