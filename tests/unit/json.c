/* JSON out and in: layout, escaping, numbers, and that what we write can be read back. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "emu/model/diag.h"
#include "emu/report/json.h"
#include "emu/report/json_diag.h"

static char *text;
static size_t size;

static FILE *begin(struct json_out *j)
{
    FILE *out = open_memstream(&text, &size);
    json_out_init(j, out);
    return out;
}

static void expect_text(FILE *out, const char *expected)
{
    fclose(out);
    assert_string_equal(text, expected);
    free(text);
}

static void layout(void **state)
{
    (void)state;
    struct json_out j;
    FILE *out = begin(&j);
    json_out_object(&j, NULL, JSON_ON_LINES);
    json_out_string(&j, "name", "a \"b\"\n\\ ö");
    json_out_array(&j, "empty", JSON_ON_LINES);
    json_out_end(&j);
    json_out_array(&j, "rows", JSON_ON_LINES);
    for (int i = 0; i < 2; i++) {
        json_out_object(&j, NULL, JSON_ON_ONE_LINE);
        json_out_integer(&j, "i", i - 1);
        json_out_array(&j, "v", JSON_ON_LINES); /* inside a line it stays on it */
        json_out_bool(&j, NULL, true);
        json_out_null(&j, NULL);
        json_out_end(&j);
        json_out_end(&j);
    }
    json_out_end(&j);
    json_out_end(&j);
    expect_text(out, "{\n"
                     " \"name\": \"a \\\"b\\\"\\n\\\\ ö\",\n"
                     " \"empty\": [],\n"
                     " \"rows\": [\n"
                     "  {\"i\": -1, \"v\": [true, null]},\n"
                     "  {\"i\": 0, \"v\": [true, null]}\n"
                     " ]\n"
                     "}\n");
}

static void numbers(void **state)
{
    (void)state;
    struct json_out j;
    FILE *out = begin(&j);
    json_out_array(&j, NULL, JSON_ON_ONE_LINE);
    json_out_real(&j, NULL, 0.1);
    json_out_real(&j, NULL, -0.0);
    json_out_real(&j, NULL, 117699115.04424779);
    json_out_real(&j, NULL, nan(""));
    json_out_real(&j, NULL, -(double)INFINITY);
    json_out_count(&j, NULL, UINT64_MAX);
    json_out_integer(&j, NULL, INT64_MIN);
    json_out_string(&j, NULL, NULL);
    json_out_string(&j, NULL,
                    "\xff"
                    "e");
    json_out_end(&j);
    expect_text(out, "[0.1, 0.0, 117699115.044248, null, null, 9223372036854775807, -9223372036854775808, null, "
                     "\"?e\"]\n");
}

static void reading(void **state)
{
    (void)state;
    char path[] = "/tmp/json-test-XXXXXX", problem[256];
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    FILE *file = fdopen(fd, "w");
    fputs("{\"a\": [1, 2.5, \"x\"], \"b\": null}", file);
    fclose(file);
    struct json_in *root = json_in_load(path, problem, sizeof problem);
    assert_non_null(root);
    const struct json_in *a = json_in_member(root, "a");
    double number = 0;
    assert_int_equal(json_in_size(a), 3);
    assert_true(json_in_number(json_in_element(a, 1), &number) && number == 2.5);
    assert_string_equal(json_in_text(json_in_element(a, 2)), "x");
    assert_null(json_in_text(json_in_element(a, 0)));
    assert_null(json_in_element(a, 3));
    assert_null(json_in_member(a, "a"));
    assert_false(json_in_number(json_in_member(root, "b"), &number));
    assert_int_equal(json_in_size(NULL), 0);
    json_in_free(root);

    file = fopen(path, "w");
    fputs("{\"a\": 1,\n \"a\": 2}", file);
    fclose(file);
    assert_null(json_in_load(path, problem, sizeof problem));
    assert_non_null(strstr(problem, ":2:"));
    unlink(path);
    assert_null(json_in_load(path, problem, sizeof problem));
}

static void reading_memory(void **state)
{
    (void)state;
    static const char memory[] =
        "{\"n\": 9007199254740993, \"less\": -1, \"real\": 1.0, \"yes\": true, \"no\": false} x";
    char problem[256];
    uint64_t count = 7;
    struct json_in *root = json_in_parse(memory, sizeof memory - 3, problem, sizeof problem);
    assert_non_null(root);
    assert_true(json_in_count(json_in_member(root, "n"), &count));
    assert_true(count == 9007199254740993);
    assert_false(json_in_count(json_in_member(root, "less"), &count));
    assert_false(json_in_count(json_in_member(root, "real"), &count));
    assert_false(json_in_count(NULL, &count));
    assert_true(json_in_true(json_in_member(root, "yes")));
    assert_false(json_in_true(json_in_member(root, "no")));
    assert_false(json_in_true(json_in_member(root, "n")));
    assert_false(json_in_true(NULL));
    json_in_free(root);
    assert_null(json_in_parse(memory, sizeof memory - 1, problem, sizeof problem)); /* something after the value */
    assert_null(json_in_parse("", 0, problem, sizeof problem));
    assert_string_equal(problem, "1:0: '[' or '{' expected near end of file");
}

static void diagnostics(void **state)
{
    (void)state;
    struct json_out j;
    struct diag d;
    diag_init(&d, "a.yaml");
    diag_add(&d, DIAG_WARNING, "mtu", (struct diag_mark){9, 3, 4}, NULL, "frames of %d bytes", 9018);
    diag_add(&d, DIAG_ERROR, NULL, (struct diag_mark){2, 1, 1}, "did you mean `links`?", "no `link`");
    diag_add(&d, DIAG_NOTE, "vip-unused", (struct diag_mark){0, 0, 0}, NULL, "idle");
    diag_allow(&d, 0, "known");
    FILE *out = begin(&j);
    json_diag(&j, NULL, &d);
    expect_text(out,
                "[\n"
                " {\"severity\": \"note\", \"id\": \"vip-unused\", \"line\": null, \"column\": null, \"length\": "
                "null, \"text\": \"idle\", \"hint\": null, \"allowed\": false, \"reason\": null},\n"
                " {\"severity\": \"error\", \"id\": null, \"line\": 2, \"column\": 1, \"length\": 1, \"text\": "
                "\"no `link`\", \"hint\": \"did you mean `links`?\", \"allowed\": false, \"reason\": null},\n"
                " {\"severity\": \"warning\", \"id\": \"mtu\", \"line\": 9, \"column\": 3, \"length\": 4, \"text\": "
                "\"frames of 9018 bytes\", \"hint\": null, \"allowed\": true, \"reason\": \"known\"}\n"
                "]\n");
    diag_free(&d);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(layout),         cmocka_unit_test(numbers),     cmocka_unit_test(reading),
        cmocka_unit_test(reading_memory), cmocka_unit_test(diagnostics),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
