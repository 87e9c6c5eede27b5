/* A run of a site and of the same site with other names, another order of nodes, cables and datastores, and cables turned
 * round: every number is the same. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/support/random_site.h"
#include "tests/support/runs.h"

enum { SITES = 40 };

struct count {
    uint64_t bytes, frames, dropped;
};

static int by_count(const void *a, const void *b) { return memcmp(a, b, sizeof(struct count)); }

static struct count *counts(const struct result *r)
{
    struct count *c = calloc(r->n_links + 1, sizeof(*c));
    assert_non_null(c);
    for (size_t i = 0; i < r->n_links; i++)
        c[i] = (struct count){r->links[i].bytes, r->links[i].frames, r->links[i].dropped_frames};
    qsort(c, r->n_links, sizeof(*c), by_count);
    return c;
}

static void same(const struct result *a, const struct result *b)
{
    assert_int_equal(a->events, b->events);
    assert_int_equal(a->read.bytes, b->read.bytes);
    assert_int_equal(a->write.bytes, b->write.bytes);
    assert_int_equal(a->retransmissions, b->retransmissions);
    assert_int_equal(a->timeouts, b->timeouts);
    for (int p = 0; p <= 20; p++)
        assert_int_equal(result_latency_percentile(a->read.latency, p / 20.0),
                         result_latency_percentile(b->read.latency, p / 20.0));
    for (size_t i = 0; i < a->n_datastores; i++) {
        const struct result_entity *d = runs_datastore(b, a->datastores[i].name);
        assert_int_equal(a->datastores[i].read.bytes, d->read.bytes);
        assert_int_equal(a->datastores[i].write.bytes, d->write.bytes);
    }
    struct count *x = counts(a), *y = counts(b);
    assert_memory_equal(x, y, a->n_links * sizeof(*x));
    free(x);
    free(y);
}

static void relabelled(void **state)
{
    (void)state;
    static const unsigned looks[] = {RANDOM_SITE_RENAMED, RANDOM_SITE_PERMUTED, RANDOM_SITE_REVERSED,
                                     RANDOM_SITE_RENAMED | RANDOM_SITE_PERMUTED | RANDOM_SITE_REVERSED};
    const char *work = "workloads: {w: {op: mixed, block: 64KiB, outstanding: 8, for: 300ms}}\n";
    for (uint64_t seed = 0; seed < SITES; seed++) {
        char *site = random_site(seed, 0), *text = runs_with(site, work);
        struct result *a = runs_text(text, NULL, SIM_TRAIN, 1);
        for (int i = 0; i < 4; i++) {
            char *other_site = random_site(seed, looks[i]), *other = runs_with(other_site, work);
            struct result *b = runs_text(other, NULL, SIM_TRAIN, 1);
            same(a, b);
            result_free(b);
            free(other);
            free(other_site);
        }
        result_free(a);
        free(text);
        free(site);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(relabelled)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
