/* Every published or independently computed link-selection vector, read from tests/vectors/hash-*.tsv. Each is
 * checked at three doors: the key of the flow, the key parsed from a frame of that flow, and the explanation. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "hashes/key.h"
#include "hashes/pick.h"
#include "hashes/policy.h"
#include "tests/support/hash_frame.h"
#include "tests/support/hash_text.h"

enum { COLUMNS = 6, LINE = 1024 };

struct vector {
    char *policy, *params, *flow, *hash, *links, *source;
};

static bool split(char *line, struct vector *v)
{
    char **const columns[COLUMNS] = {&v->policy, &v->params, &v->flow, &v->hash, &v->links, &v->source};

    line[strcspn(line, "\n")] = 0;
    for (int i = 0; i < COLUMNS; i++) {
        if (!line)
            return false;
        *columns[i] = strsep(&line, "\t");
    }
    return !line && *v->source;
}

/* "4:3": of four links the one with index 3; "bucket:85". */
static void check_link(const struct hash_selector *sel, const struct hash_key *key, const char *word)
{
    struct hash_members members;
    char text[1024];
    const char *colon = strchr(word, ':');
    unsigned n, place;

    assert_non_null(colon);
    place = (unsigned)strtoul(colon + 1, NULL, 10);
    if (strncmp(word, "bucket", 6) == 0) {
        assert_int_equal(hash_bucket(sel, hash_value(sel, key)), place);
        return;
    }
    n = (unsigned)strtoul(word, NULL, 10);
    hash_members_init(&members, n);
    assert_int_equal(hash_pick(sel, key, &members), place);
    assert_int_equal(hash_reduce(sel, hash_value(sel, key), n), place);
    assert_int_equal(hash_explain(sel, key, &members, text, sizeof text), place);
    assert_int_equal(strtoul(text + strlen(text) - 1, NULL, 10), place % 10);
}

static void check_key(const struct hash_selector *sel, const struct hash_key *key, const struct vector *v)
{
    char links[256], *rest = links, *word;

    if (strcmp(v->hash, "-") != 0) {
        const struct hash_word value = hash_value(sel, key);

        assert_int_equal(value.high, 0);
        assert_int_equal(value.low, strtoull(v->hash, NULL, 16));
    }
    snprintf(links, sizeof links, "%s", v->links);
    while (strcmp(v->links, "-") != 0 && (word = strsep(&rest, " ")))
        check_link(sel, key, word);
}

static void check_vector(const struct vector *v)
{
    struct hash_selector sel;
    struct hash_key key, parsed;
    struct hash_flow flow;
    uint8_t frame[HASH_FRAME_MAX];
    size_t length;

    assert_true(hash_text_selector(v->policy, v->params, &sel));
    assert_true(hash_text_key(v->flow, &key));
    check_key(&sel, &key, v);
    if (strncmp(v->flow, "arp=", 4) == 0)
        return;
    assert_true(hash_text_flow(v->flow, &flow));
    length = hash_frame_build(&flow, 0, frame);
    assert_true(hash_key_from_frame(&parsed, frame, length, hash_frame_tci(&flow)));
    if (flow.ip_version)
        hash_frame_assert_same_key(&key, &parsed);
    check_key(&sel, &parsed, v);
}

static void run_file(void **state)
{
    char path[64];
    FILE *file;
    char line[LINE], copy[LINE];
    unsigned count = 0;

    snprintf(path, sizeof path, "tests/vectors/hash-%s.tsv", (const char *)*state);
    file = fopen(path, "r");
    if (!file)
        fail_msg("%s: cannot be read", path);
    while (fgets(line, sizeof line, file)) {
        struct vector v;

        if (line[0] == '#')
            continue;
        snprintf(copy, sizeof copy, "%s", line);
        print_message("%s", copy); /* shown by ctest only when the test fails */
        if (split(line, &v))
            check_vector(&v);
        else
            fail_msg("%s: not six columns: %s", path, copy);
        count++;
    }
    fclose(file);
    assert_true(count > 5);
}

int main(void)
{
    static char names[][8] = {"esxi", "linux",  "team",    "ovs",     "cisco", "rtag7",
                              "hp",   "netapp", "illumos", "freebsd", "rss"};
    struct CMUnitTest tests[sizeof names / sizeof *names] = {{0}};

    for (unsigned i = 0; i < sizeof names / sizeof *names; i++)
        tests[i] = (struct CMUnitTest){names[i], run_file, NULL, NULL, names[i]};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
