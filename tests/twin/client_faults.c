/* Unstable writes, reads and truncations over three paths while a server loses replies, does writes late, restarts and
 * refuses: held against a file in memory. After a sync the server is restarted (what was not committed is gone), and every
 * byte must be the last one written. needs: full */
#include "nfsbal/client/stable.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "emu/model/random.h"
#include "nfsbal/client/loop.h"
#include "nfsbal/client/pool.h"
#include "tests/support/fake_nfs.h"
#include "tests/support/seed.h"

enum { SIZE = 24 << 10, UNDER_WAY = 8, OPERATIONS = 120, SCHEDULES = 10, SCHEDULES_LONG = 150, QUARANTINE_MS = 150 };

struct schedule {
    struct random random;
    struct loop *loop;
    struct fake_nfs *fake;
    struct paths_server servers[3];
    struct paths_config config;
    struct paths *paths;
    struct pool *pool;
    struct stable *stable;
    struct stable_file *file;
    struct nfs3_fh fh;
    uint8_t model[SIZE + 4096];
    uint64_t size, last;
    unsigned out, faults;
    bool ready, synced, quiet;
    struct loop_timer heal, hang;
    unsigned down; /* VIP that is away */
};

static enum fake_action hook(void *context, struct fake_call *c)
{
    struct schedule *s = context;

    if (s->quiet || c->mount || random_below(&s->random, 100) >= 6)
        return FAKE_ANSWER;
    s->faults++;
    c->after_ms = (int64_t)random_below(&s->random, QUARANTINE_MS - 50);
    switch (random_below(&s->random, 6)) {
    case 0:
        return FAKE_RESET;
    case 1:
        return FAKE_LOSE_REPLY;
    case 2:
        return c->procedure == NFS3_WRITE || c->procedure == NFS3_SETATTR ? FAKE_DO_LATE : FAKE_RESET;
    case 3:
        return FAKE_DELAY;
    case 4:
        return c->procedure == NFS3_WRITE ? FAKE_JUKEBOX : FAKE_ANSWER;
    default:
        return c->procedure == NFS3_WRITE ? FAKE_DO_LATE : FAKE_LOSE_REPLY;
    }
}

static void hung(void *context)
{
    const struct schedule *s = context;

    fail_msg("nothing happened for 20 s, %u operations under way", s->out);
}

static void run_until(struct schedule *s, const bool *done)
{
    loop_timer_start(s->loop, &s->hang, 20 * NS_PER_S, hung, s);
    while (!*done)
        loop_run(s->loop);
    loop_timer_stop(&s->hang);
}

static void on_ready(void *context, const char *problem)
{
    struct schedule *s = context;

    assert_null(problem);
    s->ready = true;
    loop_stop(s->loop);
}

static void on_written(void *arg, int error, const struct nfs3_attr *attr)
{
    struct schedule *s = arg;

    (void)attr;
    assert_int_equal(error, 0);
    s->out--;
    loop_stop(s->loop);
}

static void on_synced(void *arg, int error, const struct nfs3_attr *attr)
{
    struct schedule *s = arg;

    (void)attr;
    assert_int_equal(error, 0);
    s->synced = true;
    loop_stop(s->loop);
}

static void sync_all(struct schedule *s)
{
    s->synced = false;
    assert_int_equal(stable_sync(s->file, on_synced, s), 0);
    run_until(s, &s->synced);
}

static void check_server(struct schedule *s, const char *when)
{
    uint64_t size;
    const uint8_t *data = fake_nfs_data(s->fake, "file", &size);

    if (size != s->size)
        fail_msg("%s: %llu bytes, not %llu", when, (unsigned long long)size, (unsigned long long)s->size);
    for (uint64_t i = 0; i < size; i++)
        if (data[i] != s->model[i])
            fail_msg("%s: byte %llu is %d, not %d", when, (unsigned long long)i, data[i], s->model[i]);
}

static void write_some(struct schedule *s, uint8_t value)
{
    /* Often over what was written just before: a late copy of that would show. */
    uint64_t offset = random_below(&s->random, 5) < 2 ? s->last : random_below(&s->random, SIZE);
    uint32_t length = 1 + (uint32_t)random_below(&s->random, 4095);
    struct buffer *b = pool_get(s->pool, 4096);

    s->last = offset;
    memset(b->data, value, length);
    memset(s->model + offset, value, length);
    if (offset + length > s->size)
        s->size = offset + length;
    s->out++;
    assert_int_equal(stable_write(s->file, b, 0, offset, length,
                                  random_below(&s->random, 8) ? NFS3_UNSTABLE : NFS3_FILE_SYNC, on_written, s),
                     0);
    buffer_release(b);
}

struct answer {
    struct schedule *schedule;
    struct request request;
    bool done;
    enum nfs3_status status;
    struct nfs3_fh fh;
};

static void on_done(struct request *r, const struct nfs3_result *result)
{
    struct answer *a = r->arg;

    a->done = true;
    a->status = result->status;
    if (result->fh)
        a->fh = *result->fh;
    loop_stop(a->schedule->loop);
}

static struct nfs3_fh call(struct schedule *s, struct nfs3_call c)
{
    struct answer a = {.schedule = s};

    a.request.call = c;
    a.request.done = on_done;
    a.request.arg = &a;
    a.request.want = REQUEST_ANY_PATH;
    paths_submit(s->paths, &a.request);
    run_until(s, &a.done);
    assert_int_equal(a.status, NFS3_SUCCESS);
    return a.fh;
}

static void drain(struct schedule *s)
{
    bool idle = s->out == 0;

    while (!idle) {
        loop_run(s->loop);
        idle = s->out == 0;
    }
}

static void truncate_it(struct schedule *s)
{
    uint64_t size = random_below(&s->random, SIZE);

    drain(s);
    stable_truncate(s->file, size);
    call(s, (struct nfs3_call){.procedure = NFS3_SETATTR, .fh = s->fh, .attr = {.set_size = true, .size = size}});
    if (size < s->size)
        memset(s->model + size, 0, s->size - size);
    s->size = size;
    sync_all(s);
    /* SETATTR's own size is not stable before something commits it. */
    call(s, (struct nfs3_call){.procedure = NFS3_COMMIT, .fh = s->fh});
}

static void back(void *context)
{
    struct schedule *s = context;

    fake_nfs_vip(s->fake, s->down, true);
}

static void a_fault(struct schedule *s)
{
    if (s->heal.active)
        return;
    if (random_below(&s->random, 2)) {
        fake_nfs_restart(s->fake);
        return;
    }
    s->down = (unsigned)random_below(&s->random, 3);
    fake_nfs_vip(s->fake, s->down, false);
    loop_timer_start(s->loop, &s->heal, (int64_t)random_below(&s->random, 150) * NS_PER_MS, back, s);
}

static void one_operation(struct schedule *s, unsigned i)
{
    switch (random_below(&s->random, 20)) {
    case 0:
        truncate_it(s);
        break;
    case 1:
        sync_all(s);
        break;
    case 2:
        a_fault(s);
        break;
    default:
        while (s->out >= UNDER_WAY)
            loop_run(s->loop);
        write_some(s, (uint8_t)(i + 1));
        break;
    }
}

static void run_schedule(uint64_t seed)
{
    struct schedule *s = calloc(1, sizeof *s);
    struct fake_hooks hooks = {.call = hook, .context = s};

    s->random = random_stream(seed, "client faults");
    s->loop = loop_new();
    s->fake = fake_nfs_new(s->loop, 3, &hooks);
    fake_nfs_config(s->fake, &s->config, s->servers);
    if (random_below(&s->random, 3) == 0) { /* a write goes out in pieces, or is answered short */
        uint32_t most = 700 + (uint32_t)random_below(&s->random, 1000);

        fake_nfs_writes(s->fake, random_below(&s->random, 2) ? most : 1 << 20, most);
    }
    s->config.quarantine_ms = QUARANTINE_MS;
    s->config.failback_ms = 20;
    s->config.spread = PATHS_SPREAD_STRIPE;
    s->config.choice = (enum paths_choice)random_below(&s->random, 3);
    s->quiet = true;
    s->paths = paths_new(s->loop, &s->config, on_ready, s);
    run_until(s, &s->ready);
    s->fh = call(s, (struct nfs3_call){.procedure = NFS3_CREATE, .fh = paths_root(s->paths)->fh, .name = "file"});
    s->quiet = false;
    s->pool = pool_new(64 << 20);
    s->stable = stable_new(s->loop, s->paths, random_below(&s->random, 2) ? 1 << 20 : 16 << 10);
    s->file = stable_open(s->stable, &s->fh, NULL);
    loop_timer_start(s->loop, &s->hang, 60 * NS_PER_S, hung, s);
    for (unsigned i = 0; i < OPERATIONS; i++)
        one_operation(s, i);
    drain(s);
    sync_all(s);
    s->quiet = true;
    fake_nfs_restart(s->fake);
    check_server(s, "after the last sync");
    assert_int_equal(stable_kept(s->stable), 0);
    /* What is still to be done late must find nothing newer under it. */
    call(s, (struct nfs3_call){.procedure = NFS3_NULL});
    loop_timer_stop(&s->hang);
    loop_timer_stop(&s->heal);
    stable_close(s->file);
    stable_free(s->stable);
    paths_free(s->paths);
    fake_nfs_free(s->fake);
    loop_free(s->loop);
    pool_free(s->pool);
    assert_true(s->faults > 0);
    free(s);
}

static void schedules(void **state)
{
    const uint64_t *n = *state;

    for (uint64_t i = 0; i < *n; i++) {
        print_message("schedule %llu\n", (unsigned long long)i);
        run_schedule(test_seed() * 1000 + i);
    }
}

/* An argument is how many schedules. */
int main(int argc, char **argv)
{
    const char *is_long = getenv("TEST_LONG");
    uint64_t n = argc > 1                                 ? strtoull(argv[1], NULL, 10)
                 : is_long && strcmp(is_long, "yes") == 0 ? SCHEDULES_LONG
                                                          : SCHEDULES;
    const struct CMUnitTest tests[] = {cmocka_unit_test_prestate(schedules, &n)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
