/* The client against a scripted server: lost replies, late writes, restarts, servers that serve something else.
 * needs: full */
#include "nfsbal/client/path.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "nfsbal/client/loop.h"
#include "nfsbal/client/pool.h"
#include "nfsbal/client/stable.h"
#include "tests/support/client_bed.h"

static void every_procedure(void **state)
{
    struct bed b;
    struct answer a;
    struct nfs3_fh fh, dir;
    struct nfs3_call c;
    char data[100];

    (void)state;
    bed_new(&b, 1);
    bed_mount(&b);
    assert_string_equal(b.problem, "");
    fh = bed_make_file(&b, "file");
    c = (struct nfs3_call){.procedure = NFS3_WRITE, .fh = fh, .data = "hello", .count = 5, .stable = NFS3_FILE_SYNC};
    assert_int_equal(bed_call(&b, &a, c), NFS3_SUCCESS);
    assert_int_equal(a.count, 5);
    c = (struct nfs3_call){.procedure = NFS3_READ, .fh = fh, .offset = 1, .count = sizeof data, .data_out = data};
    assert_int_equal(bed_call(&b, &a, c), NFS3_SUCCESS);
    assert_int_equal(a.count, 4);
    assert_memory_equal(data, "ello", 4);
    assert_int_equal(bed_call(&b, &a, bed_named(&b, NFS3_LOOKUP, "file")), NFS3_SUCCESS);
    assert_true(nfs3_fh_equal(&a.fh, &fh));
    assert_int_equal(a.attr.size, 5);
    assert_int_equal(bed_call(&b, &a, bed_named(&b, NFS3_LOOKUP, "nothing")), NFS3_ENOENT);
    assert_int_equal(bed_call(&b, &a, bed_named(&b, NFS3_MKDIR, "dir")), NFS3_SUCCESS);
    dir = a.fh;
    c = bed_named(&b, NFS3_SYMLINK, "link");
    c.target = "where/it/leads";
    assert_int_equal(bed_call(&b, &a, c), NFS3_SUCCESS);
    c = (struct nfs3_call){.procedure = NFS3_READLINK, .fh = a.fh};
    assert_int_equal(bed_call(&b, &a, c), NFS3_SUCCESS);
    assert_string_equal(a.text, "where/it/leads");
    c = bed_named(&b, NFS3_MKNOD, "pipe");
    c.type = NFS3_FIFO;
    assert_int_equal(bed_call(&b, &a, c), NFS3_SUCCESS);
    assert_int_equal(a.attr.type, NFS3_FIFO);
    c = (struct nfs3_call){.procedure = NFS3_LINK, .fh = fh, .fh2 = dir, .name2 = "second"};
    assert_int_equal(bed_call(&b, &a, c), NFS3_SUCCESS);
    c = bed_named(&b, NFS3_RENAME, "file");
    c.fh2 = dir;
    c.name2 = "moved";
    assert_int_equal(bed_call(&b, &a, c), NFS3_SUCCESS);
    for (int plus = 0; plus < 2; plus++) {
        c = (struct nfs3_call){
            .procedure = plus ? NFS3_READDIRPLUS : NFS3_READDIR, .fh = dir, .count = 8192, .max_count = 32768};
        assert_int_equal(bed_call(&b, &a, c), NFS3_SUCCESS);
        assert_int_equal(a.n_entries, 2);
    }
    c = (struct nfs3_call){.procedure = NFS3_SETATTR, .fh = fh, .attr = {.set_size = true, .size = 3}};
    assert_int_equal(bed_call(&b, &a, c), NFS3_SUCCESS);
    assert_int_equal(a.attr.size, 3);
    for (int i = 0; i < 6; i++) {
        static const enum nfs3_procedure plain[] = {NFS3_NULL,   NFS3_GETATTR,  NFS3_ACCESS,
                                                    NFS3_FSSTAT, NFS3_PATHCONF, NFS3_COMMIT};

        c = (struct nfs3_call){.procedure = plain[i], .fh = fh};
        assert_int_equal(bed_call(&b, &a, c), NFS3_SUCCESS);
    }
    c = (struct nfs3_call){.procedure = NFS3_REMOVE, .fh = dir, .name = "second"};
    assert_int_equal(bed_call(&b, &a, c), NFS3_SUCCESS);
    assert_int_equal(bed_call(&b, &a, c), NFS3_ENOENT);
    assert_int_equal(bed_call(&b, &a, bed_named(&b, NFS3_RMDIR, "dir")), NFS3_SUCCESS);
    bed_free(&b);
}

static void what_cannot_be_sent(void **state)
{
    struct bed b;
    struct answer a;
    char name[300];

    (void)state;
    bed_new(&b, 1);
    bed_mount(&b);
    memset(name, 'x', sizeof name);
    name[256] = '\0';
    assert_int_equal(bed_call(&b, &a, bed_named(&b, NFS3_LOOKUP, name)), NFS3_EINVAL);
    assert_int_equal(bed_call(&b, &a, bed_named(&b, NFS3_LOOKUP, "")), NFS3_EINVAL);
    bed_free(&b);
}

/* A call whose reply is lost after it was done must look as if it was done once. */
static void lost_replies(void **state)
{
    static const struct {
        enum nfs3_procedure procedure;
        const char *name, *before; /* a file made first, or a directory for RMDIR */
        enum nfs3_create_mode mode;
    } rules[] = {
        {NFS3_REMOVE, "a", "a", 0},
        {NFS3_RMDIR, "d", NULL, 0},
        {NFS3_RENAME, "b", "b", 0},
        {NFS3_LINK, "c", "c", 0},
        {NFS3_MKDIR, "e", NULL, 0},
        {NFS3_MKNOD, "f", NULL, 0},
        {NFS3_SYMLINK, "g", NULL, 0},
        {NFS3_CREATE, "h", NULL, NFS3_GUARDED},
        {NFS3_CREATE, "i", NULL, NFS3_EXCLUSIVE},
        {NFS3_CREATE, "j", NULL, NFS3_UNCHECKED},
    };
    struct bed b;

    (void)state;
    for (size_t i = 0; i < sizeof rules / sizeof rules[0]; i++) {
        struct nfs3_call c;
        struct answer a;
        struct nfs3_fh fh = {0};

        bed_new(&b, 2);
        bed_mount(&b);
        if (rules[i].before)
            fh = bed_make_file(&b, rules[i].before);
        if (rules[i].procedure == NFS3_RMDIR)
            bed_call(&b, &a, bed_named(&b, NFS3_MKDIR, rules[i].name));
        c = bed_named(&b, rules[i].procedure, rules[i].name);
        c.mode = rules[i].mode;
        c.verifier = 12345;
        c.type = NFS3_FIFO;
        c.target = "there";
        if (c.procedure == NFS3_LINK)
            c.fh = fh;
        c.fh2 = bed_root(&b);
        c.name2 = "second";
        bed_next_is(&b, rules[i].procedure, FAKE_LOSE_REPLY, 0);
        assert_int_equal(bed_call(&b, &a, c), NFS3_SUCCESS);
        assert_int_equal(a.request.lost, 1);
        assert_int_equal(fake_nfs_executed(b.fake, rules[i].procedure), 2);
        if (c.procedure == NFS3_MKDIR || c.procedure == NFS3_CREATE || c.procedure == NFS3_SYMLINK)
            assert_int_equal(a.fh.size, 16); /* as a first answer would have had */
        bed_free(&b);
    }
}

/* The same errors without a lost reply, or with something else in the place, are errors. */
static void real_errors(void **state)
{
    struct bed b;
    struct answer a;
    struct nfs3_call c;

    (void)state;
    bed_new(&b, 2);
    bed_mount(&b);
    bed_make_file(&b, "there");
    assert_int_equal(bed_call(&b, &a, bed_named(&b, NFS3_REMOVE, "nothing")), NFS3_ENOENT);
    assert_int_equal(bed_call(&b, &a, bed_named(&b, NFS3_MKDIR, "there")), NFS3_EEXIST);
    bed_next_is(&b, NFS3_MKDIR, FAKE_RESET, 0);
    assert_int_equal(bed_call(&b, &a, bed_named(&b, NFS3_MKDIR, "there")), NFS3_EEXIST); /* a file, not our directory */
    c = bed_named(&b, NFS3_RENAME, "nothing");
    c.fh2 = bed_root(&b);
    c.name2 = "there";
    b.times = 1;
    b.procedure = NFS3_RENAME;
    a.request.fileid = 0;
    bed_start(&b, &a, c);
    a.request.fileid = 999; /* what was to be renamed: not what is there */
    bed_await(&a);
    assert_int_equal(a.status, NFS3_ENOENT);
    c = bed_named(&b, NFS3_SYMLINK, "link");
    c.target = "one";
    assert_int_equal(bed_call(&b, &a, c), NFS3_SUCCESS);
    c.target = "another";
    bed_next_is(&b, NFS3_SYMLINK, FAKE_RESET, 0);
    assert_int_equal(bed_call(&b, &a, c), NFS3_EEXIST);
    bed_free(&b);
}

static struct nfs3_call write_call(const struct nfs3_fh *fh, uint64_t offset, const void *data, uint32_t count)
{
    return (struct nfs3_call){.procedure = NFS3_WRITE, .fh = *fh, .offset = offset, .data = data, .count = count};
}

/* A write that was lost with its connection is done late all the same. What was written after it must stay. */
static void late_write(void **state)
{
    struct bed b;
    struct answer a, later, beside;
    struct nfs3_fh fh;
    uint64_t size;
    int64_t began;

    (void)state;
    bed_new(&b, 2);
    bed_mount(&b);
    fh = bed_make_file(&b, "file");
    bed_next_is(&b, NFS3_WRITE, FAKE_DO_LATE, 250);
    began = loop_clock();
    assert_int_equal(bed_call(&b, &a, write_call(&fh, 0, "AAAA", 4)), NFS3_SUCCESS);
    assert_true(loop_clock() - began < 200 * NS_PER_MS);
    assert_int_equal(a.request.lost, 1);
    bed_start(&b, &later, write_call(&fh, 2, "BBBB", 4));
    bed_start(&b, &beside, write_call(&fh, 6, "CC", 2)); /* overlaps what waits, not the fence: in order all the same */
    bed_run_for(&b, 100);
    assert_false(later.done);
    bed_await(&later);
    bed_await(&beside);
    assert_true(loop_clock() - began > 350 * NS_PER_MS); /* the quarantine is 400 ms */
    bed_run_for(&b, 50);
    assert_memory_equal(fake_nfs_data(b.fake, "file", &size), "AABBBBCC", 8);
    assert_int_equal(fake_nfs_executed(b.fake, NFS3_WRITE), 4);
    bed_free(&b);
}

/* The same with a size that was set late: it would cut what came after. */
static void late_truncation(void **state)
{
    struct bed b;
    struct answer a;
    struct nfs3_fh fh;
    struct nfs3_call c;
    uint64_t size;

    (void)state;
    bed_new(&b, 2);
    bed_mount(&b);
    fh = bed_make_file(&b, "file");
    bed_next_is(&b, NFS3_SETATTR, FAKE_DO_LATE, 250);
    c = (struct nfs3_call){.procedure = NFS3_SETATTR, .fh = fh, .attr = {.set_size = true, .size = 0}};
    assert_int_equal(bed_call(&b, &a, c), NFS3_SUCCESS);
    assert_int_equal(bed_call(&b, &a, write_call(&fh, 0, "data", 4)), NFS3_SUCCESS);
    bed_run_for(&b, 300);
    assert_memory_equal(fake_nfs_data(b.fake, "file", &size), "data", 4);
    assert_int_equal(size, 4);
    bed_free(&b);
}

static void overlapping_writes_wait(void **state)
{
    struct bed b;
    struct answer a, over, beside;
    struct nfs3_fh fh;

    (void)state;
    bed_new(&b, 4);
    bed_mount(&b);
    fh = bed_make_file(&b, "file");
    bed_next_is(&b, NFS3_WRITE, FAKE_DELAY, 150);
    bed_start(&b, &a, write_call(&fh, 0, "AAAA", 4));
    bed_run_for(&b, 30);
    bed_start(&b, &over, write_call(&fh, 3, "B", 1));
    bed_start(&b, &beside, write_call(&fh, 4, "C", 1));
    bed_run_for(&b, 30);
    assert_false(a.done);
    assert_false(over.done);
    assert_true(beside.done);
    bed_await(&over);
    assert_true(a.done);
    bed_free(&b);
}

/* A server that is slow is waited for; nothing is sent twice. */
static void slow_is_not_dead(void **state)
{
    struct bed b;
    struct answer a;
    struct nfs3_fh fh;

    (void)state;
    bed_new(&b, 2);
    b.config.timeo_ms = 400;
    bed_mount(&b);
    fh = bed_make_file(&b, "file");
    bed_next_is(&b, NFS3_WRITE, FAKE_DELAY, 1500); /* five times the bound */
    assert_int_equal(bed_call(&b, &a, write_call(&fh, 0, "AAAA", 4)), NFS3_SUCCESS);
    assert_int_equal(a.request.lost, 0);
    assert_int_equal(fake_nfs_executed(b.fake, NFS3_WRITE), 1);
    assert_non_null(strstr(b.reports, "not responding"));
    bed_run_for(&b, 300);
    assert_non_null(strstr(b.reports, "responding again"));
    bed_free(&b);
}

static void soft_gives_up(void **state)
{
    struct bed b;
    struct answer a, next;
    struct nfs3_fh fh;

    (void)state;
    bed_new(&b, 1);
    b.config.soft = true;
    b.config.timeo_ms = 100;
    b.config.retrans = 1;
    bed_mount(&b);
    fh = bed_make_file(&b, "file");
    bed_next_is(&b, NFS3_WRITE, FAKE_DELAY, 600);
    assert_int_equal(bed_call(&b, &a, write_call(&fh, 0, "AAAA", 4)), NFS3_TIMED_OUT);
    /* It may still be done: what overlaps waits for it. */
    bed_start(&b, &next, write_call(&fh, 0, "B", 1));
    bed_run_for(&b, 60);
    assert_false(next.done);
    bed_await(&next);
    assert_int_equal(next.status, NFS3_TIMED_OUT);
    bed_run_for(&b, 600);
    assert_int_equal(bed_call(&b, &a, write_call(&fh, 0, "C", 1)), NFS3_SUCCESS);
    bed_free(&b);
}

static void soft_mount_of_nothing(void **state)
{
    struct bed b;

    (void)state;
    bed_new(&b, 1);
    fake_nfs_vip(b.fake, 0, false);
    b.config.soft = true;
    bed_mount(&b);
    assert_non_null(strstr(b.problem, "refused"));
    bed_free(&b);
}

static void jukebox_is_waited_out(void **state)
{
    struct bed b;
    struct answer a;
    struct nfs3_fh fh;

    (void)state;
    bed_new(&b, 1);
    bed_mount(&b);
    fh = bed_make_file(&b, "file");
    bed_next_is(&b, NFS3_WRITE, FAKE_JUKEBOX, 0);
    b.times = 2;
    assert_int_equal(bed_call(&b, &a, write_call(&fh, 0, "AAAA", 4)), NFS3_SUCCESS);
    assert_int_equal(fake_nfs_executed(b.fake, NFS3_WRITE), 1);
    bed_free(&b);
}

static void who_serves_something_else(void **state)
{
    struct bed b;
    struct path_info info;

    (void)state;
    for (int handle = 0; handle < 2; handle++) {
        bed_new(&b, 3);
        fake_nfs_other(b.fake, 2, !handle, handle);
        bed_mount(&b);
        assert_string_equal(b.problem, "");
        assert_true(paths_info(b.paths, 2, &info));
        assert_int_equal(info.state, PATH_REFUSED);
        assert_non_null(strstr(info.problem, handle ? "root handle" : "another file system"));
        assert_true(paths_info(b.paths, 1, &info));
        assert_int_equal(info.state, PATH_UP);
        bed_free(&b);
    }
}

static unsigned in_state(const struct bed *b, enum path_state s)
{
    struct path_info info;
    unsigned n = 0;

    for (size_t i = 0; i < paths_count(b->paths); i++)
        n += paths_info(b->paths, i, &info) && info.state == s;
    return n;
}

/* Dead, back, returning, in use; added, down, up, removed. */
static void paths_come_and_go(void **state)
{
    struct bed b;
    struct answer a;
    struct paths_server third;

    (void)state;
    bed_new(&b, 3);
    third = b.servers[2];
    b.config.n_servers = 2;
    bed_mount(&b);
    assert_int_equal(in_state(&b, PATH_UP), 2);
    fake_nfs_vip(b.fake, 1, false);
    bed_run_for(&b, 50);
    assert_int_equal(in_state(&b, PATH_DEAD), 1);
    bed_make_file(&b, "while-one-is-dead");
    fake_nfs_vip(b.fake, 1, true);
    for (int i = 0; i < 100 && !in_state(&b, PATH_RETURNING); i++)
        bed_run_for(&b, 20);
    assert_int_equal(in_state(&b, PATH_RETURNING), 1);
    bed_run_for(&b, 150);
    assert_int_equal(in_state(&b, PATH_UP), 2);
    assert_int_equal(paths_add(b.paths, &third), 0);
    assert_int_equal(paths_add(b.paths, &third), -EEXIST);
    bed_run_for(&b, 100);
    assert_int_equal(in_state(&b, PATH_UP), 3);
    assert_int_equal(paths_set_down(b.paths, "127.0.0.1", true), 0);
    assert_int_equal(paths_remove(b.paths, "127.0.0.2"), 0);
    assert_int_equal(paths_remove(b.paths, "127.0.0.2"), -ENOENT);
    assert_int_equal(bed_call(&b, &a, bed_named(&b, NFS3_LOOKUP, "while-one-is-dead")), NFS3_SUCCESS);
    assert_int_equal(a.request.path, 2);
    assert_int_equal(paths_set_down(b.paths, "127.0.0.1", false), 0);
    bed_run_for(&b, 200);
    assert_int_equal(in_state(&b, PATH_UP), 2);
    bed_free(&b);
}

/* Nobody there: hard waits, and goes on when one is back. */
static void all_gone(void **state)
{
    struct bed b;
    struct answer a;

    (void)state;
    bed_new(&b, 2);
    bed_mount(&b);
    fake_nfs_vip(b.fake, 0, false);
    fake_nfs_vip(b.fake, 1, false);
    bed_start(&b, &a, bed_named(&b, NFS3_CREATE, "file"));
    bed_run_for(&b, 600);
    assert_false(a.done);
    fake_nfs_vip(b.fake, 1, true);
    bed_await(&a);
    assert_int_equal(a.status, NFS3_SUCCESS);
    bed_free(&b);
}

static void forgotten(void **state)
{
    struct bed b;
    struct answer a, other;
    struct nfs3_fh fh;

    (void)state;
    bed_new(&b, 1);
    bed_mount(&b);
    fh = bed_make_file(&b, "file");
    bed_next_is(&b, NFS3_WRITE, FAKE_DELAY, 100);
    bed_start(&b, &a, write_call(&fh, 0, "AAAA", 4));
    bed_start(&b, &other, write_call(&fh, 0, "BBBB", 4));
    bed_run_for(&b, 20);
    paths_forget(&other.request); /* held */
    paths_forget(&a.request);     /* under way */
    bed_run_for(&b, 200);
    assert_false(a.done || other.done);
    assert_int_equal(bed_call(&b, &a, write_call(&fh, 0, "CCCC", 4)), NFS3_SUCCESS);
    bed_start(&b, &a, write_call(&fh, 0, "DDDD", 4));
    paths_free(b.paths); /* cancels */
    b.paths = NULL;
    assert_true(a.done);
    assert_int_equal(a.status, NFS3_CANCELLED);
    bed_free(&b);
}

/* --- unstable writes ----------------------------------------------------------------------------------------------- */

struct synced {
    struct bed *bed;
    int done, error;
};

static void on_stable(void *arg, int error, const struct nfs3_attr *attr)
{
    struct synced *s = arg;

    (void)attr;
    s->done++;
    s->error = error;
    loop_stop(s->bed->loop);
}

static void put(struct stable_file *f, struct pool *pool, struct synced *s, uint64_t offset, const char *text)
{
    struct buffer *buffer = pool_get(pool, 4096);

    memcpy(buffer->data, text, strlen(text));
    s->done = 0;
    assert_int_equal(stable_write(f, buffer, 0, offset, (uint32_t)strlen(text), NFS3_UNSTABLE, on_stable, s), 0);
    buffer_release(buffer);
    while (!s->done)
        bed_run(s->bed);
    assert_int_equal(s->error, 0);
}

static void sync_it(struct stable_file *f, struct synced *s)
{
    s->done = 0;
    assert_int_equal(stable_sync(f, on_stable, s), 0);
    while (!s->done)
        bed_run(s->bed);
}

static void restart_before_commit(void **state)
{
    struct bed b;
    struct synced s = {.bed = &b};
    struct pool *pool = pool_new(1 << 20);
    struct stable *stable;
    struct stable_file *f;
    struct nfs3_fh fh;
    uint64_t size;

    (void)state;
    bed_new(&b, 2);
    bed_mount(&b);
    fh = bed_make_file(&b, "file");
    stable = stable_new(b.loop, b.paths, 1 << 20);
    f = stable_open(stable, &fh, NULL);
    put(f, pool, &s, 0, "AAAAAAAA");
    put(f, pool, &s, 2, "BB"); /* over the middle */
    put(f, pool, &s, 12, "C");
    assert_int_equal(stable_kept(stable), 9);
    fake_nfs_restart(b.fake);
    assert_non_null(fake_nfs_data(b.fake, "file", &size));
    assert_int_equal(size, 0); /* it is gone there */
    sync_it(f, &s);
    assert_int_equal(s.error, 0);
    assert_int_equal(stable_kept(stable), 0);
    fake_nfs_restart(b.fake);
    assert_memory_equal(fake_nfs_data(b.fake, "file", &size), "AABBAAAA\0\0\0\0C", 13);
    put(f, pool, &s, 0, "XXXX"); /* cut off again before anybody syncs */
    put(f, pool, &s, 6, "YY");
    stable_truncate(f, 7);
    assert_int_equal(stable_kept(stable), 5);
    stable_close(f);
    stable_free(stable);
    bed_free(&b);
    pool_free(pool);
}

/* What is longer than the server takes goes out in pieces over all paths, each once. A newer write over a piece that
 * was not sent yet comes after it. */
static void written_in_pieces(void **state)
{
    struct bed b;
    struct synced s = {.bed = &b}, older = {.bed = &b};
    struct pool *pool = pool_new(1 << 20);
    struct stable *stable;
    struct stable_file *f;
    struct nfs3_fh fh;
    struct buffer *buffer = pool_get(pool, 4096);
    uint64_t size;

    (void)state;
    bed_new(&b, 2);
    b.config.choice = PATHS_ROUND_ROBIN;
    fake_nfs_writes(b.fake, 6, 4); /* and short answers */
    bed_mount(&b);
    fh = bed_make_file(&b, "file");
    stable = stable_new(b.loop, b.paths, 1 << 20);
    f = stable_open(stable, &fh, NULL);
    memcpy(buffer->data, "0123456789abcdef", 16);
    assert_int_equal(stable_write(f, buffer, 0, 0, 16, NFS3_UNSTABLE, on_stable, &older), 0);
    buffer_release(buffer);
    put(f, pool, &s, 9, "XY");
    assert_int_equal(older.done, 1);
    assert_int_equal(fake_nfs_executed(b.fake, NFS3_WRITE), 4 + 1);
    assert_int_equal(stable_kept(stable), 16);
    fake_nfs_restart(b.fake); /* now each has to be written again */
    sync_it(f, &s);
    assert_int_equal(s.error, 0);
    assert_int_equal(stable_kept(stable), 0);
    fake_nfs_restart(b.fake);
    assert_memory_equal(fake_nfs_data(b.fake, "file", &size), "012345678XYbcdef", 16);
    stable_close(f);
    stable_free(stable);
    bed_free(&b);
    pool_free(pool);
}

/* An error of a write comes to the next sync, once. */
static void errors_are_kept(void **state)
{
    struct bed b;
    struct synced s = {.bed = &b}, lost = {.bed = &b};
    struct pool *pool = pool_new(1 << 20);
    struct stable *stable;
    struct stable_file *f;
    struct nfs3_fh fh;
    struct answer a;
    struct buffer *buffer = pool_get(pool, 4096);

    (void)state;
    bed_new(&b, 1);
    bed_mount(&b);
    fh = bed_make_file(&b, "file");
    stable = stable_new(b.loop, b.paths, 1 << 20);
    f = stable_open(stable, &fh, NULL);
    memset(buffer->data, 'x', 10);
    assert_int_equal(bed_call(&b, &a, bed_named(&b, NFS3_REMOVE, "file")), NFS3_SUCCESS);
    assert_int_equal(stable_write(f, buffer, 0, 0, 10, NFS3_UNSTABLE, on_stable, &lost), 0);
    buffer_release(buffer);
    sync_it(f, &s);
    assert_int_equal(s.error, ESTALE);
    assert_int_equal(lost.error, ESTALE);
    sync_it(f, &s);
    assert_int_equal(s.error, 0);
    stable_close(f);
    stable_free(stable);
    bed_free(&b);
    pool_free(pool);
}

/* --- replies no server sends ---------------------------------------------------------------------------------------- */

static void be32(uint8_t *p, uint32_t v)
{
    for (int i = 0; i < 4; i++)
        p[i] = (uint8_t)(v >> (24 - 8 * i));
}

static size_t length_at, length_value;

static void lie(struct fake_call *c)
{
    if (length_at + 4 <= c->reply_size)
        be32(c->reply + length_at, (uint32_t)length_value);
}

/* Each 32-bit word of each reply in turn becomes each hostile number: an error or an answer, never a crash, and the next
 * call works. */
static void hostile_lengths(void **state)
{
    static const uint32_t values[] = {0x7ffffff0, 0x7fffffff, 0x80000000, 0xfffffff0, 0xfffffffc, 0xffffffff, 65, 0};
    static const enum nfs3_procedure asked[] = {NFS3_READDIRPLUS, NFS3_READDIR, NFS3_READ,  NFS3_LOOKUP, NFS3_READLINK,
                                                NFS3_CREATE,      NFS3_GETATTR, NFS3_WRITE, NFS3_COMMIT};
    struct bed b;
    struct nfs3_fh fh;
    size_t bad = 0;

    (void)state;
    bed_new(&b, 1);
    b.config.soft = true;
    b.config.timeo_ms = 100;
    bed_mount(&b);
    b.mutate = lie;
    fh = bed_make_file(&b, "file");
    for (size_t p = 0; p < sizeof asked / sizeof asked[0]; p++)
        for (length_at = 24; length_at < 200; length_at += 4)
            for (size_t v = 0; v < sizeof values / sizeof values[0]; v += 1 + length_at % 3) {
                struct nfs3_call c = {
                    .procedure = asked[p], .fh = fh, .name = "file", .count = 4096, .max_count = 8192, .data = "0123"};
                struct answer a;

                if (asked[p] == NFS3_READDIRPLUS || asked[p] == NFS3_READDIR || asked[p] == NFS3_LOOKUP ||
                    asked[p] == NFS3_CREATE)
                    c.fh = bed_root(&b);
                if (asked[p] == NFS3_WRITE)
                    c.count = 4;
                length_value = values[v];
                bed_next_is(&b, asked[p], FAKE_MUTATE, 0);
                bad += bed_call(&b, &a, c) != NFS3_SUCCESS || a.request.bad;
            }
    assert_true(bad > 0); /* some of these lies must have been found out */
    b.times = 0;
    bed_free(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_procedure),
        cmocka_unit_test(what_cannot_be_sent),
        cmocka_unit_test(lost_replies),
        cmocka_unit_test(real_errors),
        cmocka_unit_test(late_write),
        cmocka_unit_test(late_truncation),
        cmocka_unit_test(overlapping_writes_wait),
        cmocka_unit_test(slow_is_not_dead),
        cmocka_unit_test(soft_gives_up),
        cmocka_unit_test(soft_mount_of_nothing),
        cmocka_unit_test(jukebox_is_waited_out),
        cmocka_unit_test(who_serves_something_else),
        cmocka_unit_test(paths_come_and_go),
        cmocka_unit_test(all_gone),
        cmocka_unit_test(forgotten),
        cmocka_unit_test(restart_before_commit),
        cmocka_unit_test(written_in_pieces),
        cmocka_unit_test(errors_are_kept),
        cmocka_unit_test(hostile_lengths),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
