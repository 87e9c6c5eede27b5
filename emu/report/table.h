/* Tables for people and, from the same rows, tab-separated text for programs.
 *
 * A table is filled row by row and printed once. For people: columns padded to their widest cell,
 * numbers right-aligned, rows below a parent drawn as a tree, no line cut or wrapped, no blanks at
 * line ends. For programs: a header line and one line per row, cells divided by tabs (a tab,
 * newline or backslash inside a cell is written \t, \n, \\). Markdown: a pipe table.
 *
 * Running out of memory is remembered and reported by table_print(), so that filling needs no
 * checks.
 */
#ifndef EMU_REPORT_TABLE_H
#define EMU_REPORT_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

struct table;
struct table_row;

enum {
    TABLE_LEFT = 0,
    TABLE_RIGHT = 1,
    TABLE_TREE = 2 /* rows with a parent are drawn as its branches in this column */
};

struct table_column {
    const char *title;
    unsigned flags;
};

enum table_format { TABLE_TEXT, TABLE_TEXT_NO_TITLES, TABLE_TSV, TABLE_TSV_NO_TITLES, TABLE_MARKDOWN };

/* NULL on lack of memory; every other function accepts that NULL. */
struct table *table_new(const struct table_column *columns, size_t n);
void table_free(struct table *t);

/* A new last row; `parent` NULL: at the top level. Cells that are not set are empty. */
struct table_row *table_row(struct table *t, struct table_row *parent);
void table_cell(struct table *t, struct table_row *row, size_t column, const char *text); /* copies */
void table_cellf(struct table *t, struct table_row *row, size_t column, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* Prints with `indent` blanks before each line (text only). A table without rows prints nothing as
 * text. 0 or -ENOMEM; errors of writing stay in `out`. */
int table_print(struct table *t, FILE *out, enum table_format format, unsigned indent);

#endif
