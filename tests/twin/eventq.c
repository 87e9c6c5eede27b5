/* The heap against a sorted list: random insertions, moves, cancels, and events that do the same while they run. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "emu/fabric/eventq.h"
#include "emu/model/random.h"
#include "tests/support/seed.h"

enum { MANY = 3000 };

struct item {
    struct event event;
    struct item *next; /* of the list */
    bool listed;
    ps_t at; /* in the list */
};

static struct eventq *q;
static struct item items[MANY];
static struct item *list; /* by time, equal times in order of insertion */
static struct random draws;
static uint64_t n_run, n_changed;

static void list_remove(struct item *it)
{
    struct item **p = &list;

    if (!it->listed)
        return;
    while (*p != it)
        p = &(*p)->next;
    *p = it->next;
    it->listed = false;
}

static void list_set(struct item *it, ps_t at)
{
    struct item **p = &list;

    list_remove(it);
    while (*p && (*p)->at <= at)
        p = &(*p)->next;
    it->at = at;
    it->next = *p;
    it->listed = true;
    *p = it;
}

/* Few distinct values, so that ties are common, on all scales from picoseconds to minutes. */
static ps_t delay(void) { return (ps_t)(random_below(&draws, 12) << 5 * random_below(&draws, 9)); }

/* One change to both. */
static void change(unsigned population, ps_t now)
{
    struct item *it = &items[random_below(&draws, population)];

    n_changed++;
    if (random_below(&draws, 8) == 0) {
        eventq_cancel(q, &it->event);
        list_remove(it);
    } else {
        ps_t at = now + delay();

        eventq_set(q, &it->event, at);
        list_set(it, at);
    }
}

static unsigned population;

static void run(struct event *e, ps_t now)
{
    struct item *it = (struct item *)e;

    assert_ptr_equal(it, list);
    assert_int_equal(now, list->at);
    assert_false(event_pending(e));
    list_remove(it);
    n_run++;
    for (uint64_t i = random_below(&draws, 4); i > 0; i--)
        change(population, now);
    assert_int_equal(eventq_next(q), list ? list->at : PS_NEVER);
    if (random_below(&draws, 2)) {
        eventq_set(q, e, now + 20);
        list_set(it, now + 20);
    }
}

static void against_a_sorted_list(void **state)
{
    static const unsigned populations[] = {1, 2, 3, 5, 17, 100, MANY};

    (void)state;
    for (size_t i = 0; i < sizeof populations / sizeof *populations; i++) {
        q = eventq_new();
        list = NULL;
        population = populations[i];
        draws = random_stream(test_seed() + population, "eventq");
        for (unsigned j = 0; j < population; j++)
            items[j] = (struct item){.event = {.run = run}};
        n_run = n_changed = 0;
        for (int round = 0; round < 2000; round++) {
            size_t listed = 0;

            for (uint64_t j = random_below(&draws, 6); j > 0; j--)
                change(population, eventq_now(q));
            assert_int_equal(eventq_next(q), list ? list->at : PS_NEVER);
            for (uint64_t j = random_below(&draws, 4); j > 0; j--)
                eventq_step(q);
            /* Time may pass without an event. */
            if (list && list->at > eventq_now(q))
                eventq_run(q, eventq_now(q) + (list->at - eventq_now(q)) / 2);
            if (round % 64)
                continue;
            for (struct item *it = list; it; it = it->next) {
                assert_true(event_pending(&it->event));
                listed++;
            }
            assert_int_equal(eventq_count(q), listed);
        }
        assert_true(n_run > 100);
        eventq_free(q);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(against_a_sorted_list)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
