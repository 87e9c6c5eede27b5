/* Locks against a table with an entry for each byte and owner. needs: full */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "emu/model/random.h"
#include "nfsbal/client/locks.h"
#include "tests/support/seed.h"

enum { BYTES = 24, OWNERS = 5, STEPS = 60000 };

struct waiter {
    struct lock_wait wait; /* first: granted() casts */
    bool waits;
};

static uint8_t model[OWNERS][BYTES]; /* enum lock_type; the last byte stands for all that follow */
static struct waiter waiters[OWNERS];

static struct lock any(struct random *state, unsigned owner)
{
    uint64_t first = random_next(state) % BYTES, last = first + random_next(state) % (BYTES - first);

    if (last == BYTES - 1)
        last = UINT64_MAX;
    return (struct lock){.type = (enum lock_type)(random_next(state) % 3),
                         .first = first,
                         .last = last,
                         .owner = owner,
                         .file = &model[owner][random_next(state) % 2]};
}

static unsigned last_byte(const struct lock *l) { return l->last == UINT64_MAX ? BYTES - 1 : (unsigned)l->last; }

static bool conflicts(const struct lock *want)
{
    for (unsigned o = 0; o < OWNERS; o++)
        for (uint64_t i = want->first; o != want->owner && want->type != LOCK_FREE && i <= last_byte(want); i++)
            if (model[o][i] == LOCK_EXCLUSIVE || (model[o][i] && want->type == LOCK_EXCLUSIVE))
                return true;
    return false;
}

static void set(const struct lock *want)
{
    for (uint64_t i = want->first; i <= last_byte(want); i++)
        model[want->owner][i] = (uint8_t)want->type;
}

static void granted(struct lock_wait *w, int error)
{
    struct waiter *me = (struct waiter *)(void *)w;

    assert_int_equal(error, 0);
    assert_true(me->waits);
    assert_false(conflicts(&w->want));
    me->waits = false;
    set(&w->want);
}

/* Whether `owner` waits, through others, for itself. */
static bool circle(uint64_t owner, const struct lock *want, uint64_t from, unsigned depth)
{
    for (unsigned o = 0; o < OWNERS; o++) {
        bool blocks = false;

        for (uint64_t i = want->first; o != from && i <= last_byte(want); i++)
            blocks |= model[o][i] == LOCK_EXCLUSIVE || (model[o][i] && want->type == LOCK_EXCLUSIVE);
        if (blocks &&
            (o == owner || (depth < OWNERS && waiters[o].waits && circle(owner, &waiters[o].wait.want, o, depth + 1))))
            return true;
    }
    return false;
}

/* Every byte as the list tells it to somebody who asks for it. */
static void compare(const struct lock_list *l)
{
    for (unsigned i = 0; i < BYTES; i++) {
        bool exclusive = false, held = false;
        const struct lock *c;
        struct lock want = {LOCK_EXCLUSIVE, i, i == BYTES - 1 ? UINT64_MAX : i, OWNERS, 0, NULL};

        for (unsigned o = 0; o < OWNERS; o++) {
            held |= model[o][i] != 0;
            exclusive |= model[o][i] == LOCK_EXCLUSIVE;
        }
        c = locks_conflict(l, &want);
        assert_int_equal(c != NULL, held);
        assert_true(!c || (c->first <= i && c->last >= i && model[c->owner][i] == c->type));
        want.type = LOCK_SHARED;
        assert_int_equal(locks_conflict(l, &want) != NULL, exclusive);
    }
}

static void nobody_could_have_it(void)
{
    for (unsigned o = 0; o < OWNERS; o++)
        assert_true(!waiters[o].waits || conflicts(&waiters[o].wait.want));
}

static void random_locks(void **state)
{
    struct random draws = random_stream(test_seed(), "locks");
    struct lock_list list = {.begun = false};
    struct locks all = {.begun = false};
    unsigned waited = 0, deadlocks = 0;

    (void)state;
    for (unsigned i = 0; i < STEPS; i++) {
        unsigned owner = (unsigned)(random_next(&draws) % OWNERS);
        struct lock want = any(&draws, owner);
        int rc;

        if (waiters[owner].waits) {
            if (random_next(&draws) % 4 == 0) {
                locks_forget(&all, &waiters[owner].wait);
                waiters[owner].waits = false;
            }
            continue;
        }
        if (random_next(&draws) % 16 == 0) {
            memset(model[owner], 0, sizeof model[owner]);
            locks_drop(&all, &list, owner, NULL);
            continue;
        }
        rc = locks_set(&list, &want, false);
        assert_int_equal(rc, conflicts(&want) ? -EAGAIN : 0);
        if (rc == 0) {
            set(&want);
        } else {
            bool dead = circle(owner, &want, owner, 0);

            waiters[owner].wait.granted = granted;
            rc = locks_wait(&all, &list, &waiters[owner].wait, &want, true);
            assert_int_equal(rc, dead ? -EDEADLK : 0);
            waiters[owner].waits = rc == 0;
            waited += rc == 0;
            deadlocks += rc != 0;
        }
        locks_grant(&all, &list);
        nobody_could_have_it();
        compare(&list);
    }
    assert_true(waited > STEPS / 100 && deadlocks > STEPS / 1000);
    locks_free(&list);
}

static void whole_files(void **state)
{
    struct lock_list list = {.begun = false};
    struct lock one = {LOCK_SHARED, 0, UINT64_MAX, 1, 0, &list}, two = {LOCK_SHARED, 0, UINT64_MAX, 2, 0, &one};
    struct locks all = {.begun = false};

    (void)state;
    assert_int_equal(locks_set(&list, &one, true), 0);
    assert_int_equal(locks_set(&list, &two, true), 0);
    two.type = LOCK_EXCLUSIVE;
    assert_int_equal(locks_set(&list, &two, true), -EAGAIN); /* and it has none any more */
    one.type = LOCK_EXCLUSIVE;
    assert_int_equal(locks_set(&list, &one, true), 0);
    locks_drop(&all, &list, 0, &list); /* the open file that it was taken through */
    assert_int_equal(locks_set(&list, &two, true), 0);
    locks_free(&list);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(random_locks), cmocka_unit_test(whole_files)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
