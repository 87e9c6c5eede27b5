/* Diagnostics: order, carets, what terminals must not see, and near names. */
#include "emu/model/diag.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

static char *printed(struct diag *d, bool carets)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    diag_print_text(d, out, carets);
    fclose(out);
    return text;
}

static void give_source(struct diag *d, const char *text)
{
    d->source = strdup(text);
    d->source_size = strlen(text);
}

static void sorted_with_carets(void **state)
{
    (void)state;
    struct diag d;
    diag_init(&d, "a.yaml");
    give_source(&d, "one: 1\n\ttwo\xC3\xA4: {teming: x}\n");
    diag_add(&d, DIAG_ERROR, NULL, (struct diag_mark){2, 9, 6}, "did you mean `teaming`?", "unknown key `%s`",
             "teming");
    diag_add(&d, DIAG_WARNING, "vip-unused", (struct diag_mark){1, 1, 3}, NULL, "first");
    diag_add(&d, DIAG_NOTE, NULL, (struct diag_mark){1, 1, 3}, NULL, "second at the same place");
    char *text = printed(&d, true);
    assert_string_equal(text, "a.yaml:1:1: warning  vip-unused  first\n"
                              "    1 | one: 1\n"
                              "      | ^~~\n"
                              "a.yaml:1:1: note     second at the same place\n"
                              "    1 | one: 1\n"
                              "      | ^~~\n"
                              "a.yaml:2:9: error    unknown key `teming`\n"
                              "    2 | \ttwo\xC3\xA4: {teming: x}\n"
                              "      | \t       ^~~~~~\n"
                              "        did you mean `teaming`?\n");
    free(text);
    assert_int_equal(diag_count(&d, DIAG_ERROR), 1);
    diag_allow(&d, 0, "as it is");
    assert_int_equal(diag_count(&d, DIAG_WARNING), 0);
    text = printed(&d, false);
    assert_non_null(strstr(text, "a.yaml:1:1: allowed  vip-unused  first (as it is)\n"));
    free(text);
    diag_free(&d);
}

static void no_escape_sequences(void **state)
{
    (void)state;
    struct diag d;
    diag_init(&d, "a.yaml");
    give_source(&d, "a\x1b[31mb");
    diag_add(&d, DIAG_ERROR, NULL, (struct diag_mark){1, 1, 1}, NULL, "value `%s`", "a\x1b[31m\nb");
    char *text = printed(&d, true);
    assert_null(strchr(text, 0x1b));
    assert_non_null(strstr(text, "value `a?[31m?b`"));
    free(text);
    diag_free(&d);
}

/* Places that the source does not have, and lines far too long to print. */
static void odd_places(void **state)
{
    (void)state;
    struct diag d;
    diag_init(&d, "a.yaml");
    char line[5001];
    memset(line, 'x', 5000);
    line[5000] = '\0';
    give_source(&d, line);
    diag_add(&d, DIAG_ERROR, NULL, (struct diag_mark){9, 1, 1}, NULL, "no such line");
    diag_add(&d, DIAG_ERROR, NULL, (struct diag_mark){1, 4000, 3000}, NULL, "far right");
    diag_add(&d, DIAG_ERROR, NULL, (struct diag_mark){1, 9000, 3}, NULL, "behind the end");
    diag_add(&d, DIAG_ERROR, NULL, (struct diag_mark){0}, NULL, "nowhere");
    char *text = printed(&d, true);
    assert_true(strlen(text) < 1000);
    assert_true(strncmp(text, "a.yaml: error    nowhere\n", 25) == 0);
    free(text);
    diag_free(&d);
}

static void near_names(void **state)
{
    (void)state;
    static const char *const names[] = {"teaming", "uplinks", "mtu", "active"};
    assert_string_equal(diag_nearest("teming", names, 4), "teaming");
    assert_string_equal(diag_nearest("mut", names, 4), "mtu");
    assert_string_equal(diag_nearest("uplink", names, 4), "uplinks");
    assert_null(diag_nearest("vmknics", names, 4));
    assert_null(diag_nearest("", names, 4));
    char endless[200];
    memset(endless, 'a', 199);
    endless[199] = '\0';
    assert_null(diag_nearest(endless, names, 4));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sorted_with_carets),
        cmocka_unit_test(no_escape_sequences),
        cmocka_unit_test(odd_places),
        cmocka_unit_test(near_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
