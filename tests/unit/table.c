/* Tables: alignment, trees, indentation, tabs. */
#include <locale.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "emu/report/table.h"

static const struct table_column columns[] = {{"link", TABLE_TREE}, {"MB/s", TABLE_RIGHT}, {"note", TABLE_LEFT}};

static struct table *sample(void)
{
    struct table *t = table_new(columns, 3);
    struct table_row *parent = table_row(t, NULL), *row;
    table_cell(t, parent, 0, "esx1");
    row = table_row(t, parent);
    table_cell(t, row, 0, "vmnic2");
    table_cellf(t, row, 1, "%.1f", 123.75);
    row = table_row(t, parent);
    table_cell(t, row, 0, "größe");
    table_cellf(t, row, 1, "%d", 7);
    table_cell(t, row, 2, "a\tb\\");
    return t;
}

static void expect_print(struct table *t, enum table_format format, unsigned indent, const char *expected)
{
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    assert_int_equal(table_print(t, out, format, indent), 0);
    fclose(out);
    assert_string_equal(text, expected);
    free(text);
}

static void text(void **state)
{
    (void)state;
    struct table *t = sample();
    expect_print(t, TABLE_TEXT, 1,
                 " link       MB/s  note\n"
                 " esx1\n"
                 " |-vmnic2  123.8\n"
                 " `-größe       7  a\\x09b\\\n");
    expect_print(t, TABLE_TEXT_NO_TITLES, 0,
                 "esx1\n"
                 "|-vmnic2  123.8\n"
                 "`-größe       7  a\\x09b\\\n");
    table_free(t);
}

static void tsv(void **state)
{
    (void)state;
    struct table *t = sample();
    expect_print(t, TABLE_TSV, 3,
                 "link\tMB/s\tnote\n"
                 "esx1\t\t\n"
                 "vmnic2\t123.8\t\n"
                 "größe\t7\ta\\tb\\\\\n");
    table_free(t);
}

static void empty(void **state)
{
    (void)state;
    struct table *t = table_new(columns, 3);
    expect_print(t, TABLE_TEXT, 0, "");
    expect_print(t, TABLE_TSV, 0, "link\tMB/s\tnote\n");
    table_free(t);
    table_free(NULL);
    assert_true(table_print(NULL, stdout, TABLE_TEXT, 0) < 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(text),
        cmocka_unit_test(tsv),
        cmocka_unit_test(empty),
    };
    setlocale(LC_CTYPE, "C.UTF-8");
    return cmocka_run_group_tests(tests, NULL, NULL);
}
