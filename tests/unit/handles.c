/* Nodes by number, handle and name; and which of two answers about attributes is believed. needs: full */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "nfsbal/client/handles.h"

enum { MANY = 5000 };

static struct nfs3_fh fh_of(unsigned i)
{
    struct nfs3_fh fh = {.size = (uint8_t)(4 + i % 60)};

    memcpy(fh.bytes, &i, sizeof i);
    return fh;
}

static void one_node_for_a_handle(void **state)
{
    struct handles h;
    struct nfs3_fh fh = fh_of(7), other = fh;

    (void)state;
    assert_true(handles_init(&h));
    struct node *n = handles_get(&h, &fh);
    assert_int_equal(n->id, NODE_ROOT);
    assert_ptr_equal(handles_get(&h, &fh), n);
    other.size--; /* the same bytes, shorter */
    assert_ptr_not_equal(handles_get(&h, &other), n);
    assert_ptr_equal(handles_find(&h, n->id), n);
    n->lookups = 2;
    n->holds = 1;
    n->lookups--;
    assert_false(handles_release(&h, n));
    n->lookups--;
    assert_false(handles_release(&h, n)); /* still held */
    n->holds--;
    assert_true(handles_release(&h, n));
    assert_null(handles_find(&h, NODE_ROOT)); /* its number is never used again */
    assert_int_equal(handles_get(&h, &fh)->id, 3);
    handles_free(&h);
}

static void names(void **state)
{
    struct handles h;
    struct nfs3_fh a = fh_of(1), b = fh_of(2);

    (void)state;
    assert_true(handles_init(&h));
    struct node *x = handles_get(&h, &a), *y = handles_get(&h, &b);
    handles_set_name(&h, x, 1, "f");
    assert_ptr_equal(handles_named(&h, 1, "f"), x);
    assert_null(handles_named(&h, 2, "f"));
    handles_set_name(&h, x, 1, "f"); /* no change */
    handles_set_name(&h, x, 2, "g");
    assert_null(handles_named(&h, 1, "f"));
    assert_ptr_equal(handles_named(&h, 2, "g"), x);
    handles_set_name(&h, y, 2, "g"); /* another file has the name now */
    assert_ptr_equal(handles_named(&h, 2, "g"), y);
    assert_null(x->name);
    handles_drop_name(&h, y);
    handles_drop_name(&h, y);
    assert_null(handles_named(&h, 2, "g"));
    handles_free(&h);
}

static void many(void **state)
{
    struct handles h;
    char name[16];
    unsigned found = 0;

    (void)state;
    assert_true(handles_init(&h));
    for (unsigned i = 0; i < MANY; i++) {
        struct nfs3_fh fh = fh_of(i);
        struct node *n = handles_get(&h, &fh);

        snprintf(name, sizeof name, "%u", i);
        handles_set_name(&h, n, i % 3, name);
    }
    assert_int_equal(h.count, MANY);
    for (unsigned i = 0; i < MANY; i++) {
        struct nfs3_fh fh = fh_of(i);
        struct node *n = handles_get(&h, &fh);

        snprintf(name, sizeof name, "%u", i);
        assert_ptr_equal(handles_named(&h, i % 3, name), n);
        assert_ptr_equal(handles_find(&h, n->id), n);
        if (i % 2)
            found += handles_release(&h, n);
    }
    assert_int_equal(found, MANY / 2);
    assert_int_equal(h.count, MANY - MANY / 2);
    handles_free(&h);
}

/* Times in the tests are seconds. */
enum { S = 1000000000 };

static struct nfs3_attr at(uint64_t size, uint32_t ctime)
{
    return (struct nfs3_attr){.type = NFS3_REG, .size = size, .mtime = {ctime, 0}, .ctime = {ctime, 0}};
}

static void trust_grows(void **state)
{
    const struct attr_limits limits = {3 * (int64_t)S, 10 * (int64_t)S};
    struct attr_cache c = {.known = false};
    struct nfs3_attr a = at(5, 100), b = at(6, 101);

    (void)state;
    assert_int_equal(attr_cache_left(&c, 0), 0);
    assert_true(attr_cache_take(&c, &a, &limits, 0, 0));
    assert_int_equal(attr_cache_left(&c, 1 * (int64_t)S), 2 * (int64_t)S);
    assert_false(attr_cache_take(&c, &a, &limits, 4 * (int64_t)S, 4 * (int64_t)S)); /* unchanged: twice as long */
    assert_int_equal(attr_cache_left(&c, 4 * (int64_t)S), 6 * (int64_t)S);
    assert_false(attr_cache_take(&c, &a, &limits, 11 * (int64_t)S, 11 * (int64_t)S)); /* at most max */
    assert_int_equal(attr_cache_left(&c, 11 * (int64_t)S), 10 * (int64_t)S);
    assert_true(attr_cache_take(&c, &b, &limits, 12 * (int64_t)S, 12 * (int64_t)S)); /* changed: min again */
    assert_int_equal(attr_cache_left(&c, 12 * (int64_t)S), 3 * (int64_t)S);
    attr_cache_expire(&c);
    assert_int_equal(attr_cache_left(&c, 12 * (int64_t)S), 0);
}

static void overtaken(void **state)
{
    const struct attr_limits limits = {S, S};
    struct attr_cache c = {.known = false};
    struct nfs3_attr first = at(100, 50), older = at(80, 49), same_tick = at(90, 50), shrunk = at(10, 50);

    (void)state;
    attr_cache_take(&c, &first, &limits, 1, 10);
    assert_false(attr_cache_take(&c, &older, &limits, 2, 11)); /* sent before 10: an answer that was overtaken */
    assert_int_equal(c.attr.size, 100);
    assert_false(attr_cache_take(&c, &same_tick, &limits, 3, 12)); /* a slow clock: files only grow by such calls */
    assert_int_equal(c.attr.size, 100);
    assert_true(attr_cache_take(&c, &shrunk, &limits, 20, 21)); /* asked later: true whatever it says */
    assert_int_equal(c.attr.size, 10);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_node_for_a_handle), cmocka_unit_test(names),     cmocka_unit_test(many),
        cmocka_unit_test(trust_grows),           cmocka_unit_test(overtaken),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
