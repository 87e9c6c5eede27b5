/* Write-behind against an array: random writes, waits, answers out of order, errors and lack of memory.
 * needs: full
 *
 * A file is an array of words; each write writes its own number. What is checked: two WRITEs to one word are never out at the
 * same time, none crosses a multiple of wsize, a wait ends when and only when everything older is answered, and in the end the
 * server has what was written last, but for what it was told that was dropped.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "emu/model/random.h"
#include "nfsbal/client/writeback.h"
#include "tests/support/seed.h"

enum { WORDS = 16384, WSIZE = 8192, FILES = 3, PENDING = 64, WAITS = 8, LONGEST = 5000 };

struct wait {
    struct wb_wait wait;
    int file;
    bool active, ended;
    uint32_t from, to, version; /* words; the last write before it */
};

static struct wb wb;
static struct pool *pool;
static struct wb_file files[FILES];
static uint32_t wanted[FILES][WORDS], server[FILES][WORDS];
static bool lost[FILES][WORDS]; /* dropped since it was written last */
static struct extent *pending[PENDING];
static int n_pending, n_dropped, n_idle;
static struct wait waits[WAITS];
static struct random draws;
static int64_t now;
static uint32_t version;

static int index_of(const struct wb_file *f) { return (int)(f - files); }

static void write_out(void *context, struct extent *e)
{
    (void)context;
    assert_true(e->size <= WSIZE && e->offset / WSIZE == (extent_end(e) - 1) / WSIZE);
    for (int i = 0; i < n_pending; i++)
        assert_false(pending[i]->file == e->file && extent_overlaps(pending[i], e->offset, extent_end(e)));
    assert_in_range(n_pending, 0, PENDING - 1);
    pending[n_pending++] = e;
}

static void dropped(void *context, struct wb_file *f, uint64_t offset, uint32_t size, int error)
{
    (void)context;
    assert_int_equal(error, -ENOSPC);
    n_dropped++;
    for (uint64_t w = offset / 4; w < (offset + size) / 4; w++)
        lost[index_of(f)][w] = true;
}

static void idle(void *context, struct wb_file *f)
{
    (void)context;
    n_idle++;
    assert_null(f->current.root);
}

/* Is a word that this wait is for still in memory? Asked of the pending list and the tree, not of the counts. */
static bool still_held(const struct wait *x)
{
    const struct extent *e;
    struct wb_file *f = &files[x->file];

    if (!f->listed)
        return false;
    TAILQ_FOREACH (e, &f->flying, link)
        if (e->sequence <= x->wait.sequence && extent_overlaps(e, 4ULL * x->from, 4ULL * x->to))
            return true;
    for (uint64_t at = 4ULL * x->from; (e = extent_tree_first(&f->current, at)) && e->offset < 4ULL * x->to;
         at = extent_end(e))
        if (e->sequence <= x->wait.sequence)
            return true;
    return false;
}

static void wait_done(struct wb_wait *w)
{
    struct wait *x = (struct wait *)w;

    assert_true(x->active && !x->ended && !still_held(x));
    x->ended = true;
}

static void check_waits(void)
{
    for (int i = 0; i < WAITS; i++) {
        struct wait *x = &waits[i];

        if (!x->active)
            continue;
        assert_true(x->ended || still_held(x));
        if (!x->ended)
            continue;
        for (uint32_t w = x->from; w < x->to; w++)
            if (wanted[x->file][w] <= x->version && !lost[x->file][w])
                assert_int_equal(server[x->file][w], wanted[x->file][w]);
        x->active = false;
    }
}

static void answer(int i, bool fail)
{
    struct extent *e = pending[i];
    int f = index_of(e->file);

    pending[i] = pending[--n_pending];
    if (!fail)
        memcpy((char *)server[f] + e->offset, extent_bytes(e), e->size);
    wb_written(&wb, e, fail ? -ENOSPC : 0, now);
}

static void do_write(void)
{
    static uint32_t words[LONGEST];
    int f = (int)random_below(&draws, FILES), rc;
    uint32_t from = (uint32_t)random_below(&draws, WORDS),
             n = 1 + (uint32_t)random_below(&draws, 1 + random_below(&draws, LONGEST));
    static uint32_t next[FILES];

    if (random_below(&draws, 2))
        from = next[f] % WORDS; /* goes on where it was */
    if (from + n > WORDS)
        n = WORDS - from;
    version++;
    for (uint32_t i = 0; i < n; i++)
        words[i] = version;
    rc = wb_write(&wb, &files[f], 4ULL * from, words, 4 * n, random_below(&draws, 8) ? 0 : WB_NOW, now);
    if (rc == -EAGAIN)
        return;
    assert_int_equal(rc, 0);
    next[f] = from + n;
    for (uint32_t i = 0; i < n; i++) {
        wanted[f][from + i] = version;
        lost[f][from + i] = false;
    }
}

static void do_wait(void)
{
    for (int i = 0; i < WAITS; i++) {
        struct wait *x = &waits[i];

        if (x->active)
            continue;
        *x = (struct wait){.wait = {.done = wait_done}, .file = (int)random_below(&draws, FILES), .active = true};
        x->from = (uint32_t)random_below(&draws, WORDS);
        x->to = x->from + 1 + (uint32_t)random_below(&draws, WORDS - x->from);
        x->version = version;
        if (wb_wait(&wb, &files[x->file], &x->wait, 4ULL * x->from, 4ULL * x->to, random_below(&draws, 2), now))
            x->ended = true;
        return;
    }
}

static void run(bool errors)
{
    static const struct wb_config config = {.wsize = WSIZE, .in_flight = 16 * WSIZE, .writes = PENDING, .delay = 1000};
    static const struct wb_ops ops = {write_out, dropped, idle};

    pool = pool_new(512 * 1024);
    wb_init(&wb, &config, pool, &ops, NULL);
    for (int step = 0; step < 20000; step++) {
        switch (random_below(&draws, 8)) {
        case 0:
            do_wait();
            break;
        case 1:
        case 2:
        case 3:
            do_write();
            break;
        case 4:
            now += (int64_t)random_below(&draws, 500);
            if (now >= wb.due)
                wb_pump(&wb, now);
            break;
        default:
            if (n_pending > 0)
                answer((int)random_below(&draws, (uint64_t)n_pending), errors && random_below(&draws, 20) == 0);
        }
        check_waits();
        assert_true(pool_used(pool) <= pool_limit(pool));
    }
    now += 2000;
    wb_pump(&wb, now);
    while (n_pending > 0)
        answer((int)random_below(&draws, (uint64_t)n_pending), false);
    check_waits();
    for (int f = 0; f < FILES; f++) {
        assert_false(files[f].listed);
        for (int w = 0; w < WORDS; w++)
            if (!lost[f][w])
                assert_int_equal(server[f][w], wanted[f][w]);
    }
    assert_int_equal(wb.held_bytes, 0);
    assert_int_equal(wb.flying, 0);
    assert_int_equal(pool_used(pool), 0);
    assert_true(n_idle > 0);
    pool_free(pool);
}

static void no_errors(void **state)
{
    (void)state;
    draws = random_stream(test_seed(), "writeback");
    run(false);
    assert_int_equal(n_dropped, 0);
    for (int f = 0; f < FILES; f++)
        assert_int_equal(wb_take_error(&files[f]), 0);
}

static void with_errors(void **state)
{
    int told = 0;

    (void)state;
    draws = random_stream(test_seed(), "writeback errors");
    run(true);
    assert_true(n_dropped > 0);
    for (int f = 0; f < FILES; f++) {
        told += wb_take_error(&files[f]) == -ENOSPC;
        assert_int_equal(wb_take_error(&files[f]), 0);
    }
    assert_true(told > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(no_errors), cmocka_unit_test(with_errors)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
