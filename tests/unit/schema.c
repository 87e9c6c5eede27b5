/* The schema's three forms agree: the table, docs/topology.schema.json and docs/topology.md.
 *
 * The JSON file is written by this program: `UPDATE=1 build/tests/unit/schema` from the repository's root.
 */
#include "emu/model/schema.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

static char *slurp(const char *path)
{
    FILE *in = fopen(path, "rb");
    if (!in)
        fail_msg("%s: cannot be opened", path);
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    for (int c; (c = fgetc(in)) != EOF;)
        fputc(c, out);
    fclose(in);
    fclose(out);
    return text;
}

static void json_is_current(void **state)
{
    (void)state;
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    schema_print_json(out);
    fclose(out);
    if (getenv("UPDATE")) {
        FILE *file = fopen("docs/topology.schema.json", "wb");
        assert_non_null(file);
        assert_int_equal(fwrite(text, 1, size, file), size);
        assert_int_equal(fclose(file), 0);
    }
    char *kept = slurp("docs/topology.schema.json");
    assert_string_equal(kept, text);
    free(kept);
    free(text);
}

static void look_up(const struct schema_key *keys, const char *manual, unsigned depth)
{
    assert_true(depth < 12);
    for (; keys->name; keys++) {
        char quoted[64];
        snprintf(quoted, sizeof(quoted), "`%s`", keys->name);
        if (!(keys->flags & SCHEMA_ANY_KEY) && !strstr(manual, quoted))
            fail_msg("docs/topology.md does not explain %s", quoted);
        if (!keys->help || !*keys->help)
            fail_msg("%s has no help text", keys->name);
        if (keys->keys && !(keys->flags & SCHEMA_PARTIAL))
            look_up(keys->keys, manual, depth + 1);
    }
}

static void manual_is_complete(void **state)
{
    (void)state;
    char *manual = slurp("docs/topology.md");
    look_up(schema_topology, manual, 0);
    free(manual);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(json_is_current),
        cmocka_unit_test(manual_is_complete),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
