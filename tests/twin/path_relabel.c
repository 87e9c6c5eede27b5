/* Names and the order of a file mean nothing: renaming every node, writing nodes, cables and datastores in the opposite order,
 * and turning cables round change no path and no rate but for the names in them. (MAC addresses made up from names would; the
 * random sites give all of theirs.) */
#include "emu/model/path_site.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "emu/model/topology_file.h"
#include "tests/support/path_site.h"
#include "tests/support/random_site.h"

enum { SITES = 400, NAME = 256 };

/* The name with the words of the other look put back; each word begins a name or stands behind '>'. */
static void original_name(char out[NAME], const char *name)
{
    static const struct {
        const char *other, *word;
    } words[] = {{RANDOM_SITE_HOST, "h"}, {RANDOM_SITE_SWITCH, "sw"}, {RANDOM_SITE_NAS, "nas"}};
    size_t at = 0;

    while (*name && at + 8 < NAME) {
        size_t i = 0;

        while (i < 3 && strncmp(name, words[i].other, strlen(words[i].other)) != 0)
            i++;
        if (i == 3) {
            out[at++] = *name++;
            continue;
        }
        at += (size_t)snprintf(out + at, NAME - at, "%s", words[i].word);
        name += strlen(words[i].other);
    }
    out[at] = '\0';
}

/* A site with the source port of each flow made from its datastore, not from its place in the file. */
struct site {
    struct topo *t;
    struct path_site *s;
};

static struct site make(uint64_t seed, unsigned looks)
{
    char *text = random_site(seed, looks);
    struct site site = {.t = site_parse(text, NULL)};
    struct flow *flows;
    long n = flow_list(site.t, &flows);

    for (long i = 0; i < n; i++) {
        const struct topo_mount *m = &site.t->mounts[flows[i].mount];

        flows[i].sport = (uint16_t)(700 + 10 * atoi(site.t->datastores[m->datastore].name + 1));
        flows[i].sport_origin = TOPO_GIVEN;
    }
    site.s = path_site_new(site.t, flows, (size_t)n);
    assert_non_null(site.s);
    free(flows);
    free(text);
    return site;
}

static void release(struct site *site)
{
    path_site_free(site->s);
    topo_free(site->t);
}

/* The flow of b that is flow f of a. */
static size_t counterpart(const struct site *a, size_t f, const struct site *b)
{
    const struct topo_mount *m = &a->t->mounts[a->s->flows[f].mount];

    for (size_t i = 0; i < b->s->n_flows; i++) {
        const struct topo_mount *o = &b->t->mounts[b->s->flows[i].mount];
        char host[NAME];

        original_name(host, b->t->boxes[o->host].name);
        if (strcmp(b->t->datastores[o->datastore].name, a->t->datastores[m->datastore].name) == 0 &&
            strcmp(host, a->t->boxes[m->host].name) == 0)
            return i;
    }
    fail_msg("a flow is missing");
    return 0;
}

static void compare(const struct site *a, const struct site *b, uint64_t seed, unsigned looks)
{
    for (size_t f = 0; f < a->s->n_flows; f++) {
        size_t o = counterpart(a, f, b);

        for (int d = 0; d < 2; d++) {
            struct path p, q;

            path_walk(a->t, NULL, &a->s->flows[f], (enum flow_direction)d, true, &p);
            path_walk(b->t, NULL, &b->s->flows[o], (enum flow_direction)d, true, &q);
            assert_int_equal(p.end, q.end);
            assert_int_equal(p.n_hops, q.n_hops);
            for (size_t h = 0; h < p.n_hops; h++) {
                char name[NAME];

                original_name(name, topo_linkdir_name(b->t, q.hops[h].linkdir));
                if (strcmp(name, topo_linkdir_name(a->t, p.hops[h].linkdir)) != 0)
                    fail_msg("seed %u looks %u: %s, not %s", (unsigned)seed, looks, name,
                             topo_linkdir_name(a->t, p.hops[h].linkdir));
                assert_int_equal(p.hops[h].index, q.hops[h].index);
                assert_string_equal(path_label(p.hops[h].status, p.hops[h].inputs),
                                    path_label(q.hops[h].status, q.hops[h].inputs));
            }
            assert_true(fabs(a->s->all[d][f] - b->s->all[d][o]) <= 1e-9 * a->s->all[d][f]);
        }
    }
}

static void test_relabel(void **unused)
{
    (void)unused;
    for (uint64_t seed = 0; seed < SITES; seed++) {
        struct site a = make(seed, 0);

        for (unsigned looks = 1; looks < 8; looks++) {
            struct site b = make(seed, looks);

            assert_int_equal(a.s->n_flows, b.s->n_flows);
            compare(&a, &b, seed, looks);
            release(&b);
        }
        release(&a);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_relabel)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
