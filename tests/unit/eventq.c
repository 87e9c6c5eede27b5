/* The event queue: order, ties, moves, cancels, and what an event may do to the queue while it runs. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <cmocka.h>

#include "emu/fabric/eventq.h"

struct probe {
    struct event event; /* first: the callback gets it back */
    int name;
    void (*then)(struct probe *self, ps_t now);
};

static struct eventq *q;
static int ran[64];
static ps_t ran_at[64];
static int n_ran;
static struct probe p[8];

static void run(struct event *e, ps_t now)
{
    struct probe *self = (struct probe *)e;

    ran[n_ran] = self->name;
    ran_at[n_ran++] = now;
    if (self->then)
        self->then(self, now);
}

static int set_up(void **state)
{
    (void)state;
    q = eventq_new();
    n_ran = 0;
    memset(p, 0, sizeof p);
    for (int i = 0; i < 8; i++) {
        p[i].event.run = run;
        p[i].name = i;
    }
    return q ? 0 : -1;
}

static int tear_down(void **state)
{
    (void)state;
    eventq_free(q);
    return 0;
}

static void expect_order(const int *order, int n)
{
    assert_int_equal(n_ran, n);
    for (int i = 0; i < n; i++)
        assert_int_equal(ran[i], order[i]);
}

static void in_order_of_time(void **state)
{
    (void)state;
    eventq_set(q, &p[0].event, 30);
    eventq_set(q, &p[1].event, 10);
    eventq_set(q, &p[2].event, 20);
    assert_int_equal(eventq_next(q), 10);
    assert_int_equal(eventq_count(q), 3);
    assert_int_equal(eventq_run(q, 25), 2);
    assert_int_equal(eventq_now(q), 25);
    assert_int_equal(eventq_run(q, PS_NEVER), 1);
    assert_int_equal(eventq_now(q), 30);
    assert_int_equal(eventq_next(q), PS_NEVER);
    assert_false(eventq_step(q));
    expect_order((int[]){1, 2, 0}, 3);
}

static void ties_first_in_first_out(void **state)
{
    (void)state;
    for (int i = 0; i < 8; i++)
        eventq_set(q, &p[i].event, 5);
    /* A move counts as a new insertion, even to the same time. */
    eventq_set(q, &p[2].event, 5);
    eventq_run(q, 5);
    expect_order((int[]){0, 1, 3, 4, 5, 6, 7, 2}, 8);
}

static void moves_and_cancels(void **state)
{
    (void)state;
    for (int i = 0; i < 6; i++)
        eventq_set(q, &p[i].event, 10 * (i + 1));
    eventq_set(q, &p[5].event, 5);  /* forward */
    eventq_set(q, &p[0].event, 55); /* back */
    eventq_cancel(q, &p[2].event);
    eventq_cancel(q, &p[2].event); /* harmless */
    assert_false(event_pending(&p[2].event));
    assert_true(event_pending(&p[5].event));
    eventq_run(q, 100);
    expect_order((int[]){5, 1, 3, 4, 0}, 5);
    assert_false(event_pending(&p[5].event));
}

static void again(struct probe *self, ps_t now)
{
    if (now < 40)
        eventq_set(q, &self->event, now + 10);
}

static void an_event_queues_itself(void **state)
{
    (void)state;
    p[0].then = again;
    eventq_set(q, &p[0].event, 10);
    eventq_set(q, &p[1].event, 25);
    eventq_run(q, 100);
    expect_order((int[]){0, 0, 1, 0, 0}, 5);
}

static void same_time(struct probe *self, ps_t now)
{
    (void)self;
    eventq_set(q, &p[3].event, now);
    eventq_set(q, &p[4].event, now);
    assert_int_equal(eventq_next(q), now);
}

static void queued_for_now_runs_after_those_waiting(void **state)
{
    (void)state;
    p[0].then = same_time;
    eventq_set(q, &p[0].event, 10);
    eventq_set(q, &p[1].event, 10);
    eventq_run(q, 10);
    expect_order((int[]){0, 1, 3, 4}, 4);
}

static void cancel_all(struct probe *self, ps_t now)
{
    (void)now;
    for (int i = 0; i < 8; i++)
        eventq_cancel(q, &p[i].event);
    assert_int_equal(eventq_next(q), PS_NEVER);
    assert_int_equal(eventq_count(q), 0);
    eventq_set(q, &p[6].event, 90);
    eventq_set(q, &p[7].event, 80);
    eventq_cancel(q, &p[6].event);
    /* Its memory may be gone when its function returns. */
    memset(&self->event, 0xff, sizeof self->event);
}

static void an_event_cancels_the_others_and_dies(void **state)
{
    (void)state;
    p[1].then = cancel_all;
    for (int i = 0; i < 8; i++)
        eventq_set(q, &p[i].event, 10 * i);
    eventq_run(q, 100);
    expect_order((int[]){0, 1, 7}, 3);
    assert_int_equal(ran_at[2], 80);
}

static void free_accepts_null(void **state)
{
    (void)state;
    eventq_free(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(in_order_of_time, set_up, tear_down),
        cmocka_unit_test_setup_teardown(ties_first_in_first_out, set_up, tear_down),
        cmocka_unit_test_setup_teardown(moves_and_cancels, set_up, tear_down),
        cmocka_unit_test_setup_teardown(an_event_queues_itself, set_up, tear_down),
        cmocka_unit_test_setup_teardown(queued_for_now_runs_after_those_waiting, set_up, tear_down),
        cmocka_unit_test_setup_teardown(an_event_cancels_the_others_and_dies, set_up, tear_down),
        cmocka_unit_test(free_accepts_null),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
