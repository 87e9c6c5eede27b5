/* Every file below topologies/: each case reads, its expansion reads back to the same, and the order of entries, the
 * direction of cables and the locale change nothing. */
#include "emu/model/topology.h"

#include <glob.h>
#include <locale.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "emu/model/doc.h"
#include "emu/model/schema.h"
#include "emu/model/topology_file.h"
#include "emu/model/topology_yaml.h"
#include "tests/support/topo_dump.h"

struct text {
    char *bytes;
    size_t size;
};

static void no_errors(struct diag *d)
{
    if (diag_count(d, DIAG_ERROR) == 0)
        return;
    diag_print_text(d, stderr, true);
    fail();
}

static struct text dump(const struct topo *t)
{
    struct text text = {NULL, 0};
    FILE *out = open_memstream(&text.bytes, &text.size);
    topo_dump(t, out);
    fclose(out);
    return text;
}

static struct text expand(const struct topo_file *f, const char *name)
{
    struct text text = {NULL, 0};
    FILE *out = open_memstream(&text.bytes, &text.size);
    assert_int_equal(topo_file_print_expanded(f, name, out), 0);
    fclose(out);
    return text;
}

static struct text dump_of(const char *file, const char *bytes, size_t size)
{
    struct diag d;
    diag_init(&d, file);
    struct topo_file *f = topo_file_parse(file, bytes, size, &d);
    struct topo *t = f ? topo_load(f, NULL, &d) : NULL;
    no_errors(&d);
    struct text text = dump(t);
    topo_free(t);
    topo_file_close(f);
    diag_free(&d);
    return text;
}

static void for_each_file(void (*test)(const char *file))
{
    glob_t found;
    assert_int_equal(glob("topologies/*/*.yaml", 0, NULL, &found), 0);
    assert_true(found.gl_pathc >= 15);
    for (size_t i = 0; i < found.gl_pathc; i++)
        test(found.gl_pathv[i]);
    globfree(&found);
}

static void check_case(const struct topo_file *f, const char *file, const char *name)
{
    struct diag d;
    diag_init(&d, file);
    struct topo *t = topo_load(f, name, &d);
    no_errors(&d);
    assert_true(t->n_mounts > 0 && t->n_workloads > 0);
    struct text was = dump(t), text = expand(f, name), again;
    struct topo_file *expanded = topo_file_parse(file, text.bytes, text.size, &d);
    no_errors(&d);
    again = expand(expanded, NULL);
    assert_string_equal(text.bytes, again.bytes);
    if (!name) {
        struct text is = dump_of(file, text.bytes, text.size);
        assert_string_equal(was.bytes, is.bytes);
        free(is.bytes);
    }
    topo_file_close(expanded);
    topo_free(t);
    diag_free(&d);
    free(was.bytes);
    free(text.bytes);
    free(again.bytes);
}

static void check_round_trip(const char *file)
{
    struct diag d;
    diag_init(&d, file);
    struct topo_file *f = topo_file_open(file, &d);
    no_errors(&d);
    check_case(f, file, NULL);
    for (size_t i = 0; i < topo_file_cases(f); i++)
        check_case(f, file, topo_file_case(f, i));
    topo_file_close(f);
    diag_free(&d);
}

static void round_trip(void **state)
{
    (void)state;
    for_each_file(check_round_trip);
}

/* The tree with the entries of all maps, the cables and their ends in reverse order. */
static struct doc_node *reversed(struct topo_arena *a, const struct doc_node *node, bool cables)
{
    struct doc_node *copy = doc_new(a, node->type, node->mark);
    copy->text = node->text;
    for (size_t i = 0; i < node->count && node->type == DOC_MAP; i++) {
        const struct doc_pair *pair = &node->pairs[node->count - 1 - i];
        bool is_links = strcmp(pair->key, "links") == 0 || strcmp(pair->key, "ends") == 0;
        doc_put(a, copy, pair->key, pair->mark, reversed(a, pair->value, is_links));
    }
    for (size_t i = 0; i < node->count && node->type == DOC_LIST; i++)
        doc_append(a, copy, reversed(a, node->items[cables ? node->count - 1 - i : i], false));
    return copy;
}

static int by_text(const void *left, const void *right) { return strcmp(*(char *const *)left, *(char *const *)right); }

/* The lines of a dump in order, without those that say who shares whose connections: there the first counts. */
static struct text sorted(struct text text)
{
    char *lines[4096], *rest = text.bytes;
    size_t n = 0;
    for (char *line; (line = strsep(&rest, "\n"));) {
        char *mounts = strncmp(line, "workload ", 9) == 0 ? strstr(line, " mounts=") : NULL;
        char *shares = strncmp(line, "mount ", 6) == 0 ? strstr(line, " nconnect=") : NULL;
        if (mounts)
            *mounts = '\0'; /* a list in the order of the file */
        if (shares)
            *shares = '\0';
        assert_true(n < 4096);
        lines[n++] = line;
    }
    qsort(lines, n, sizeof(*lines), by_text);
    struct text out = {NULL, 0};
    FILE *stream = open_memstream(&out.bytes, &out.size);
    for (size_t i = 0; i < n; i++)
        fprintf(stream, "%s\n", lines[i]);
    fclose(stream);
    free(text.bytes);
    return out;
}

/* Like assert_string_equal(), and says which line of what file differs. */
static void same_lines(const char *file, const char *one, const char *two)
{
    for (;;) {
        size_t m = strcspn(one, "\n"), n = strcspn(two, "\n");
        if (m != n || memcmp(one, two, m) != 0)
            fail_msg("%s:\n%.*s\n%.*s", file, (int)m, one, (int)n, two);
        if (!one[m])
            return;
        one += m + 1;
        two += n + 1;
    }
}

static void check_order(const char *file)
{
    struct diag d;
    diag_init(&d, file);
    struct topo_file *f = topo_file_open(file, &d);
    no_errors(&d);
    struct text text = expand(f, NULL), turned = {NULL, 0};
    struct topo_arena *a = arena_new();
    struct doc_node *tree = topology_yaml_read(a, text.bytes, text.size, &d);
    FILE *out = open_memstream(&turned.bytes, &turned.size);
    doc_print(reversed(a, tree, false), out);
    fclose(out);
    assert_string_not_equal(text.bytes, turned.bytes);
    struct text one = sorted(dump_of(file, text.bytes, text.size));
    struct text two = sorted(dump_of(file, turned.bytes, turned.size));
    same_lines(file, one.bytes, two.bytes);
    free(one.bytes);
    free(two.bytes);
    free(text.bytes);
    free(turned.bytes);
    arena_free(a);
    topo_file_close(f);
    diag_free(&d);
}

static void order_does_not_matter(void **state)
{
    (void)state;
    for_each_file(check_order);
}

static void check_locale(const char *file)
{
    struct diag d;
    diag_init(&d, file);
    struct topo_file *f = topo_file_open(file, &d);
    struct topo *plain = topo_load(f, NULL, &d);
    assert_non_null(setlocale(LC_ALL, "de_DE.UTF-8"));
    struct topo *comma = topo_load(f, NULL, &d);
    struct text expanded = expand(f, NULL);
    setlocale(LC_ALL, "C");
    no_errors(&d);
    struct text one = dump(plain), two = dump(comma), three = dump_of(file, expanded.bytes, expanded.size);
    assert_string_equal(one.bytes, two.bytes);
    assert_string_equal(one.bytes, three.bytes);
    free(one.bytes);
    free(two.bytes);
    free(three.bytes);
    free(expanded.bytes);
    topo_free(plain);
    topo_free(comma);
    topo_file_close(f);
    diag_free(&d);
}

static void locale_does_not_matter(void **state)
{
    (void)state;
    if (!setlocale(LC_ALL, "de_DE.UTF-8")) {
        print_message("de_DE.UTF-8 is not installed: not tested\n");
        skip();
    }
    setlocale(LC_ALL, "C");
    for_each_file(check_locale);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(round_trip),
        cmocka_unit_test(order_does_not_matter),
        cmocka_unit_test(locale_does_not_matter),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
