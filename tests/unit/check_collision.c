/* What vip-collision suggests holds: on random sites, the file with the suggested addresses has no collision left. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "emu/model/check.h"
#include "emu/model/random.h"
#include "emu/model/topology.h"
#include "emu/model/topology_file.h"

enum { HOSTS_MAX = 6, VIPS_MAX = 12, TEXT = 8192 };

struct site {
    unsigned uplinks, n_hosts, n_vips;
    unsigned host[HOSTS_MAX], vip[VIPS_MAX]; /* last octets */
};

static size_t add(char *text, size_t at, const char *format, ...) __attribute__((format(printf, 3, 4)));
static size_t add(char *text, size_t at, const char *format, ...)
{
    va_list ap;
    va_start(ap, format);
    at += (size_t)vsnprintf(text + at, TEXT - at, format, ap);
    va_end(ap);
    assert_true(at < TEXT);
    return at;
}

static size_t write_site(const struct site *s, char *text)
{
    size_t at = add(text, 0, "version: 1\nnodes:\n  sw1: {kind: switch, hash: xor-src-dst-ip, lags: {");
    for (unsigned i = 0; i < s->n_hosts; i++)
        at = add(text, at, "po%u: {to: \"esx%u:vSwitch1\", mode: static}, ", i, i);
    at = add(text, at, "po99: {to: \"nas:a.lag0\", mode: lacp}}}\n");
    for (unsigned i = 0; i < s->n_hosts; i++)
        at = add(text, at,
                 "  esx%u: {kind: esxi, vswitches: {vSwitch1: {uplinks: \"vmnic[1-%u]\", teaming: ip-hash}}, "
                 "vmknics: {vmk1: {vswitch: vSwitch1, address: 10.0.0.%u/24}}}\n",
                 i, s->uplinks, s->host[i]);
    at = add(text, at,
             "  nas:\n    kind: nas\n    controllers: {a: {nics: \"e[1-2]\", lag: {name: lag0, mode: lacp, "
             "hash: xor-src-dst-ip}}}\n    vips: {");
    for (unsigned i = 0; i < s->n_vips; i++)
        at = add(text, at, "%s10.0.0.%u/24: {home: a}", i ? ", " : "", s->vip[i]);
    at = add(text, at, "}\n    exports: {\"/v[1-%u]\": {}}\nlinks:\n", s->n_vips);
    for (unsigned i = 0; i < s->n_hosts; i++)
        at = add(text, at, "  - {ends: [\"esx%u:vmnic[1-%u]\", \"sw1:p%u_[1-%u]\"], speed: 1G}\n", i, s->uplinks, i,
                 s->uplinks);
    at = add(text, at, "  - {ends: [\"nas:a.e[1-2]\", \"sw1:q[1-2]\"], speed: 1G}\ndatastores:\n");
    for (unsigned i = 0; i < s->n_vips; i++)
        at = add(text, at, "  ds%u: {export: \"nas:/v%u\", mounted: 10.0.0.%u}\n", i + 1, i + 1, s->vip[i]);
    return at;
}

/* The hint of the first vip-collision, or false when there is none. */
static bool collision(const struct site *s, char *hint, size_t size)
{
    static char text[TEXT];
    size_t length = write_site(s, text);
    struct diag d;
    struct topo_file *f;
    struct topo *t;
    bool found = false;

    diag_init(&d, "site.yaml");
    f = topo_file_parse("site.yaml", text, length, &d);
    t = f ? topo_load(f, NULL, &d) : NULL;
    if (!t) {
        diag_print_text(&d, stdout, false);
        fail_msg("the site can't be read:\n%s", text);
    }
    check_topo(t, &d);
    for (size_t i = 0; i < d.count && !found; i++)
        if (d.entries[i].id && strcmp(d.entries[i].id, "vip-collision") == 0) {
            found = true;
            snprintf(hint, size, "%s", d.entries[i].hint);
        }
    topo_free(t);
    topo_file_close(f);
    diag_free(&d);
    return found;
}

static unsigned distinct(struct random *r, const unsigned *taken, unsigned n, const unsigned *more, unsigned m)
{
    for (;;) {
        unsigned octet = 1 + (unsigned)random_below(r, 254);
        bool again = false;
        for (unsigned i = 0; i < n; i++)
            again = again || taken[i] == octet;
        for (unsigned i = 0; i < m; i++)
            again = again || more[i] == octet;
        if (!again)
            return octet;
    }
}

/* "10.0.0.9 instead of 10.0.0.4, ...": carries the swaps out. False when the hint names none. */
static bool follow(struct site *s, const char *hint)
{
    bool any = false;
    for (const char *p = hint; (p = strstr(p, " instead of 10.0.0.")); p++) {
        const char *start = p;
        unsigned new_octet, old = (unsigned)strtoul(p + strlen(" instead of 10.0.0."), NULL, 10);
        while (start > hint && strncmp(start, "10.0.0.", 7) != 0)
            start--;
        new_octet = (unsigned)strtoul(start + 7, NULL, 10);
        for (unsigned i = 0; i < s->n_vips; i++)
            if (s->vip[i] == old) {
                s->vip[i] = new_octet;
                any = true;
                break;
            }
    }
    return any;
}

static void test_suggestions_hold(void **state)
{
    struct random r = random_stream(7, "collisions");
    unsigned collisions = 0, solved = 0;
    char hint[1024];
    (void)state;

    for (unsigned round = 0; round < 300; round++) {
        struct site s = {.uplinks = 2 + round % 7, .n_hosts = 1 + round % HOSTS_MAX};
        for (unsigned i = 0; i < s.n_hosts; i++)
            s.host[i] = distinct(&r, s.host, i, NULL, 0);
        s.n_vips = 2 + (unsigned)random_below(&r, 6); /* few enough that the hint lists every swap */
        for (unsigned i = 0; i < s.n_vips; i++)
            s.vip[i] = distinct(&r, s.host, s.n_hosts, s.vip, i);
        if (!collision(&s, hint, sizeof hint))
            continue;
        collisions++;
        if (!follow(&s, hint))
            continue;
        solved++;
        if (collision(&s, hint, sizeof hint))
            fail_msg("round %u: still a collision after following the hint, now: %s", round, hint);
    }
    print_message("%u sites with a collision, %u with a better set of addresses\n", collisions, solved);
    assert_in_range(collisions, 50, 300);
    assert_in_range(solved, collisions / 2, collisions);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_suggestions_hold)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
